import type { RemoteColumn } from '../sql/remote-table.ts'
import { arrayText } from '../sql/parameters.ts'
import type { Cells, Statement } from '../sql/statement.ts'

/** A table, view or other relation in `pg_class`, as the catalog of its database describes it. */
export interface CatalogTable {
  readonly schema: string
  readonly name: string
  /** `relkind`: `r` table, `p` partitioned table, `v` view, `m` materialized view, `f` foreign table. */
  readonly kind: string
  readonly comment: string | null
  readonly mayRead: boolean
  /** True if the user of the connection may insert, update and delete. */
  readonly mayWrite: boolean
  /** Other tables inherit from it, or are its partitions. */
  readonly hasHeirs: boolean
  /** It has rules, which rewrite statements. */
  readonly hasRules: boolean
  /** The state of the database changes with every change of its rows: see `RemoteTable.isOrdinary`. */
  readonly keepsCounts: boolean
  /** Columns by name, in the order of the table. */
  readonly columns: ReadonlyMap<string, CatalogColumn>
  /** Valid indexes, in the order of their creation. */
  readonly indexes: readonly CatalogIndex[]
  /** Foreign keys in the order of their names. */
  readonly foreignKeys: readonly CatalogForeignKey[]
  /** Checks and exclusion constraints. */
  readonly checks: readonly { readonly name: string; readonly columns: readonly string[] }[]
}

export interface CatalogColumn extends RemoteColumn {
  /** The domain of the column refuses null. */
  readonly isMandatoryDomain: boolean
  /** SQL of the value of a new row, or of the expression that computes the column. */
  readonly initial: string | null
  /** SQL of the initial value in the column's domain. */
  readonly domainInitial: string | null
  /** `a` if the column is always generated, `d` by default; otherwise empty. */
  readonly identity: string
  readonly isArray: boolean
}

interface CatalogIndex {
  readonly name: string
  readonly isPrimary: boolean
  readonly isUnique: boolean
  readonly hasCondition: boolean
  /** Names of columns, without columns that are only included; null for an expression. */
  readonly columns: readonly (string | null)[]
  /** Names of the columns in its expressions and its condition, in the order of the table. */
  readonly inputs: readonly string[]
}

interface CatalogForeignKey {
  readonly name: string
  readonly columns: readonly string[]
  readonly target: { readonly schema: string; readonly table: string; readonly columns: readonly string[] }
  readonly onDelete: 'NO ACTION' | 'SET NULL' | 'CASCADE'
}

/** Tables and schemas at some places, and functions of the server in their database. */
export interface PlacesCatalog {
  /** Tables by schema and name, as {@link placeOf} joins them. */
  readonly tables: ReadonlyMap<string, CatalogTable>
  /** Existing schemas of the places. */
  readonly schemas: ReadonlySet<string>
  /** The database has the type `vector`. */
  readonly hasVectors: boolean
  readonly hasFold: boolean
  readonly hasTriggers: boolean
}

export const placeOf = (schema: string, table: string): string => JSON.stringify([schema, table])

/**
 * True if the state of the database (`pg_current_snapshot`) changes with every change of the rows of a table. It may not if rows are
 * elsewhere or in a separate store, as in other databases that speak the protocol of PostgreSQL; and policies show each user different
 * rows.
 */
const KEEPS_COUNTS = `c.relkind = 'r' AND NOT c.relrowsecurity AND (SELECT amname FROM pg_am WHERE oid = c.relam) = 'heap'
    AND version() LIKE 'PostgreSQL %' AND version() NOT LIKE '%-YB-%' AND NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`

/** SQL of the names of columns. @param relation their table @param numbers an array */
const columnNames = (relation: string, numbers: string): string =>
  `SELECT json_agg(a.attname ORDER BY k.n) FROM unnest(${numbers}) WITH ORDINALITY k (attnum, n)
      LEFT JOIN pg_attribute a ON a.attrelid = ${relation} AND a.attnum = k.attnum`

/** SQL of the names of the columns on which the index `i` of the table `c` depends. */
const INPUTS = `SELECT coalesce(json_agg(a.attname ORDER BY a.attnum), '[]') FROM pg_attribute a WHERE a.attrelid = c.oid AND EXISTS (
        SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
          AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid AND d.refobjsubid = a.attnum)`

/**
 * SQL of schema, name and description of relations. The type of a column is the base type of its domains.
 * @param relations SQL of their `schema`, `name` and `oid`, which is null for one that does not exist
 * @param more SQL of further columns
 */
const describe = (relations: string, more = ''): string => `
WITH RECURSIVE wanted AS (${relations}),
base AS (
  SELECT a.attrelid, a.attnum, a.atttypid AS type, a.atttypmod AS modifier, false AS mandatory, NULL::text COLLATE "C" AS initial
  FROM pg_attribute a WHERE a.attrelid IN (SELECT oid FROM wanted) AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT b.attrelid, b.attnum, t.typbasetype, CASE WHEN b.modifier = -1 THEN t.typtypmod ELSE b.modifier END,
    b.mandatory OR t.typnotnull, coalesce(b.initial, t.typdefault)
  FROM base b JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'd'),
columns AS (
  SELECT a.attrelid, json_agg(json_build_object('name', a.attname, 'type', t.typname, 'modifier', b.modifier,
    'sqlType', format_type(a.atttypid, a.atttypmod), 'isNullable', NOT a.attnotnull, 'isMandatoryDomain', b.mandatory,
    'labels', (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = t.oid),
    'isArray', t.typcategory = 'A' AND t.typelem <> 0, 'isGenerated', a.attgenerated <> '', 'identity', a.attidentity,
    'hasDefault', a.attidentity <> '' OR (d.adbin IS NOT NULL AND a.attgenerated = ''),
    'initial', pg_get_expr(d.adbin, d.adrelid), 'domainInitial', b.initial) ORDER BY a.attnum) AS list
  FROM base b JOIN pg_attribute a USING (attrelid, attnum) JOIN pg_type t ON t.oid = b.type AND t.typtype <> 'd'
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum GROUP BY a.attrelid)
SELECT w.schema, w.name, CASE WHEN c.oid IS NOT NULL THEN json_build_object('schema', w.schema, 'name', w.name,
  'kind', c.relkind, 'comment', obj_description(c.oid, 'pg_class'), 'keepsCounts', ${KEEPS_COUNTS},
  'mayRead', has_table_privilege(c.oid, 'SELECT') AND has_schema_privilege(c.relnamespace, 'USAGE'),
  'mayWrite', has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE'),
  'hasRules', c.relhasrules, 'hasHeirs', EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid), 'columns', coalesce(l.list, '[]'),
  'indexes', (SELECT coalesce(json_agg(json_build_object('name', x.relname, 'isPrimary', i.indisprimary, 'isUnique', i.indisunique,
      'hasCondition', i.indpred IS NOT NULL, 'columns', (${columnNames('c.oid', 'i.indkey::int2[]')} WHERE k.n <= i.indnkeyatts),
      'inputs', CASE WHEN i.indexprs IS NULL AND i.indpred IS NULL THEN '[]' ELSE (${INPUTS}) END) ORDER BY i.indexrelid), '[]')
    FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid WHERE i.indrelid = c.oid AND i.indisvalid),
  'foreignKeys', (SELECT coalesce(json_agg(json_build_object('name', o.conname, 'columns', (${columnNames('c.oid', 'o.conkey')}),
      'target', json_build_object('schema', tn.nspname, 'table', t.relname, 'columns', (${columnNames('t.oid', 'o.confkey')})),
      'onDelete', CASE o.confdeltype WHEN 'n' THEN 'SET NULL' WHEN 'c' THEN 'CASCADE' ELSE 'NO ACTION' END) ORDER BY o.conname), '[]')
    FROM pg_constraint o JOIN pg_class t ON t.oid = o.confrelid JOIN pg_namespace tn ON tn.oid = t.relnamespace
    WHERE o.conrelid = c.oid AND o.contype = 'f' AND o.conparentid = 0),
  'checks', (SELECT coalesce(json_agg(json_build_object('name', o.conname, 'columns', coalesce((${columnNames('c.oid', 'o.conkey')}), '[]'))), '[]')
    FROM pg_constraint o WHERE o.conrelid = c.oid AND o.contype IN ('c', 'x'))) END${more}
FROM wanted w LEFT JOIN pg_class c ON c.oid = w.oid LEFT JOIN columns l ON l.attrelid = c.oid`

const PLACES = describe(
  `SELECT p.schema, p.name, c.oid FROM unnest($1::text[], $2::text[]) AS p (schema, name)
  LEFT JOIN pg_namespace n ON n.nspname = p.schema LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = p.name`,
  `, to_regnamespace(quote_ident(w.schema)) IS NOT NULL, to_regtype('vector') IS NOT NULL, to_regprocedure('tesser.fold(text)') IS NOT NULL,
  to_regprocedure('tesser.stamp()') IS NOT NULL AND to_regprocedure('tesser.number()') IS NOT NULL`,
)

/** Describes all tables and views except partitions and those of the database itself or of extensions. {@link readTable} reads its rows. */
export const ALL_TABLES = `${describe(
  `SELECT n.nspname AS schema, c.relname AS name, c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`,
)}
ORDER BY w.schema <> 'public', w.schema, w.name`

/** Describes the tables at some places. {@link readPlaces} reads its rows. */
export const placesStatement = (places: readonly { readonly schema: string; readonly table: string }[]): Statement => ({
  text: PLACES,
  values: [arrayText(places.map(({ schema }) => schema)), arrayText(places.map(({ table }) => table))],
})

/** @returns undefined if the place of a row has no table */
export function readTable([, , description]: Cells): CatalogTable | undefined {
  if (!description) return undefined
  const table = JSON.parse(description) as Omit<CatalogTable, 'columns'> & {
    readonly columns: readonly CatalogColumn[]
  }
  return { ...table, columns: new Map(table.columns.map(column => [column.name, column])) }
}

/** @param rows at least one */
export function readPlaces(rows: readonly Cells[]): PlacesCatalog {
  const tables = rows.flatMap(row => readTable(row) ?? [])
  const [, , , , hasVectors, hasFold, hasTriggers] = rows[0]!
  return {
    tables: new Map(tables.map(table => [placeOf(table.schema, table.name), table])),
    schemas: new Set(rows.flatMap(([schema, , , hasSchema]) => (hasSchema === 't' ? schema! : []))),
    hasVectors: hasVectors === 't',
    hasFold: hasFold === 't',
    hasTriggers: hasTriggers === 't',
  }
}
