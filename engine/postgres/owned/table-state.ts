import type { DataClass } from '../../catalog/dataclass.ts'
import type { Cells } from '../database/database.ts'
import { arrayText } from '../sql/parameters.ts'
import type { Statement } from '../sql/statement.ts'

/** A table as the catalog of its database describes it. */
export interface TableState {
  /** As in `pg_class`: `r` for a table, `p` for a partitioned one. */
  readonly kind: string
  readonly comment: string | null
  /** By name. */
  readonly columns: Readonly<Record<string, ColumnState>>
  /** Columns of the primary key. */
  readonly key: readonly string[] | null
  /** Names of its indexes that are valid. */
  readonly indexes: readonly string[]
  /** By name. */
  readonly foreignKeys: Readonly<Record<string, { readonly target: readonly string[]; readonly onDelete: string }>>
}

export interface ColumnState {
  /** As `format_type` writes it. */
  readonly type: string
  readonly isMandatory: boolean
  /** SQL of the value of a new row. */
  readonly initial: string | null
  readonly isIdentity: boolean
}

/** State of a database, as far as statements that make tables need it. */
export interface DatabaseState {
  /** By schema and name, as {@link placeOf} joins them. */
  readonly tables: ReadonlyMap<string, TableState>
  readonly schemas: ReadonlySet<string>
  /** The database has the type `vector`. */
  readonly hasVectors: boolean
  readonly hasFold: boolean
  readonly hasTriggers: boolean
}

export const placeOf = (schema: string, table: string): string => JSON.stringify([schema, table])

const STATE = `
SELECT w.schema, w.name, to_regnamespace(quote_ident(w.schema)) IS NOT NULL, to_regtype('vector') IS NOT NULL,
  to_regprocedure('tesser.fold(text)') IS NOT NULL,
  to_regprocedure('tesser.stamp()') IS NOT NULL AND to_regprocedure('tesser.number()') IS NOT NULL,
  CASE WHEN c.oid IS NOT NULL THEN json_build_object(
    'kind', c.relkind, 'comment', obj_description(c.oid, 'pg_class'),
    'columns', (SELECT coalesce(json_object_agg(a.attname, json_build_object('type', format_type(a.atttypid, a.atttypmod),
        'isMandatory', a.attnotnull, 'initial', pg_get_expr(d.adbin, d.adrelid), 'isIdentity', a.attidentity <> '')), '{}')
      FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
    'key', (SELECT json_agg(a.attname ORDER BY k.n) FROM pg_constraint o, unnest(o.conkey) WITH ORDINALITY k (attnum, n), pg_attribute a
      WHERE o.conrelid = c.oid AND o.contype = 'p' AND a.attrelid = c.oid AND a.attnum = k.attnum),
    'indexes', (SELECT coalesce(json_agg(i.relname), '[]') FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
      WHERE x.indrelid = c.oid AND x.indisvalid),
    'foreignKeys', (SELECT coalesce(json_object_agg(o.conname, json_build_object('target', json_build_array(tn.nspname, t.relname),
        'onDelete', CASE o.confdeltype WHEN 'n' THEN 'SET NULL' WHEN 'c' THEN 'CASCADE' ELSE 'NO ACTION' END)), '{}')
      FROM pg_constraint o JOIN pg_class t ON t.oid = o.confrelid JOIN pg_namespace tn ON tn.oid = t.relnamespace
      WHERE o.conrelid = c.oid AND o.contype = 'f')) END
FROM unnest($1::text[], $2::text[]) AS w (schema, name)
LEFT JOIN pg_namespace n ON n.nspname = w.schema LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = w.name`

/** Statement of the names of dataclasses with the comments of their tables. */
export const marksStatement = (dataClasses: readonly DataClass[]): Statement => ({
  text: `SELECT w.class, obj_description(c.oid, 'pg_class') FROM unnest($1::text[], $2::text[], $3::text[]) AS w (class, schema, name)
JOIN pg_namespace n ON n.nspname = w.schema JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = w.name`,
  values: [
    arrayText(dataClasses.map(({ name }) => name)),
    arrayText(dataClasses.map(({ remote }) => remote!.schema)),
    arrayText(dataClasses.map(({ remote }) => remote!.table)),
  ],
})

export const stateStatement = (places: readonly (readonly [schema: string, table: string])[]): Statement => ({
  text: STATE,
  values: [arrayText(places.map(([schema]) => schema)), arrayText(places.map(([, table]) => table))],
})

/** @param rows of {@link stateStatement} */
export function readState(rows: readonly Cells[]): DatabaseState {
  const tables = new Map<string, TableState>()
  const schemas = new Set<string>()
  for (const [schema, name, hasSchema, , , , table] of rows as string[][]) {
    if (hasSchema === 't') schemas.add(schema!)
    if (table) tables.set(placeOf(schema!, name!), JSON.parse(table) as TableState)
  }
  const [, , , hasVectors, hasFold, hasTriggers] = rows[0]!
  return { tables, schemas, hasVectors: hasVectors === 't', hasFold: hasFold === 't', hasTriggers: hasTriggers === 't' }
}
