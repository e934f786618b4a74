import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass, RemoteStorage } from '../../catalog/dataclass.ts'
import type { Cells } from '../database/database.ts'
import { markOf, uniqueIndexes } from '../owned/table-spec.ts'
import { quoteName } from '../sql/quote.ts'
import type { RemoteColumn, RemoteTable, WrittenColumn } from '../sql/remote-table.ts'
import { columnForm } from '../sql/column-form.ts'
import { arrayText } from '../sql/parameters.ts'
import type { Statement } from '../sql/statement.ts'

/**
 * The state of the database (`pg_current_snapshot`) changes with every change of the rows of a table. It need not where rows are elsewhere, or
 * have a store of their own, as in other databases that speak the protocol of PostgreSQL; and policies show each user other rows.
 */
const KEEPS_COUNTS = `c.relkind = 'r' AND NOT c.relrowsecurity AND (SELECT amname FROM pg_am WHERE oid = c.relam) = 'heap'
  AND version() LIKE 'PostgreSQL %' AND version() NOT LIKE '%-YB-%' AND NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`

/** The type of a column is that under its domains. */
const COLUMNS = `
WITH RECURSIVE wanted AS (
  SELECT c.oid, n.nspname, c.relname, c.relkind, ${KEEPS_COUNTS} AS keeps FROM unnest($1::text[], $2::text[]) AS w (schema, name)
  JOIN pg_namespace n ON n.nspname = w.schema JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = w.name
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')),
base AS (
  SELECT a.attrelid, a.attnum, a.atttypid AS type, a.atttypmod AS modifier
  FROM wanted w JOIN pg_attribute a ON a.attrelid = w.oid WHERE a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT b.attrelid, b.attnum, t.typbasetype, CASE WHEN b.modifier = -1 THEN t.typtypmod ELSE b.modifier END
  FROM base b JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'd')
SELECT w.nspname, w.relname, w.relkind, a.attname, t.typname, b.modifier, a.attnotnull, t.typtype = 'e',
  a.attidentity <> '' OR (d.adbin IS NOT NULL AND a.attgenerated = ''), a.attgenerated <> '',
  to_regprocedure('tesser.fold(text)') IS NOT NULL, format_type(a.atttypid, a.atttypmod), obj_description(w.oid, 'pg_class'), w.keeps
FROM wanted w JOIN base b ON b.attrelid = w.oid JOIN pg_attribute a ON a.attrelid = b.attrelid AND a.attnum = b.attnum
JOIN pg_type t ON t.oid = b.type AND t.typtype <> 'd'
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum`

/** A table as the catalog of its database describes it. */
interface Described {
  readonly kind: string
  readonly columns: Map<string, RemoteColumn>
  readonly hasFold: boolean
  readonly keepsCounts: boolean
  readonly comment: string | null
}

/** Statement that describes the tables of dataclasses. {@link readTables} takes its rows. */
export const tablesStatement = (dataClasses: readonly DataClass[]): Statement => ({
  isDescription: true,
  text: COLUMNS,
  values: [
    arrayText(dataClasses.map(({ remote }) => remote!.schema)),
    arrayText(dataClasses.map(({ remote }) => remote!.table)),
  ],
})

/** The tables of dataclasses; for one that does not fit its model, the reasons. */
export function readTables(
  dataClasses: readonly DataClass[],
  rows: readonly Cells[],
): Map<DataClass, RemoteTable | readonly string[]> {
  const described = new Map<string, Described>()
  for (const row of rows) {
    const [
      schema,
      table,
      kind,
      name,
      type,
      modifier,
      isMandatory,
      isEnum,
      hasDefault,
      isGenerated,
      hasFold,
      sqlType,
      comment,
      keepsCounts,
    ] = row as string[]
    const key = JSON.stringify([schema, table])
    const known = described.get(key) ?? {
      kind: kind!,
      columns: new Map(),
      hasFold: hasFold === 't',
      keepsCounts: keepsCounts === 't',
      comment: comment ?? null,
    }
    described.set(key, known)
    known.columns.set(name!, {
      name: name!,
      type: type!,
      modifier: Number(modifier),
      sqlType: sqlType!,
      isNullable: isMandatory !== 't',
      isEnum: isEnum === 't',
      hasDefault: hasDefault === 't',
      isGenerated: isGenerated === 't',
    })
  }
  return new Map(
    dataClasses.map(dataClass => {
      const { schema, table } = dataClass.remote!
      return [dataClass, tableOf(dataClass, dataClass.remote!, described.get(JSON.stringify([schema, table])))]
    }),
  )
}

/** True for a key and for a foreign key. */
const isIdentity = ({ key, attributes }: DataClass, attribute: StorageAttribute): boolean =>
  attribute === key || attributes.some(each => each.kind === 'relatedEntity' && each.foreignKey === attribute)

const cutKey = ({ name, type }: StorageAttribute, column: RemoteColumn): string =>
  `the column ${quoteName(column.name)} is of type ${column.sqlType}; ${name}, a ${type}, would show several of its values as one key: a string holds them all`

function tableOf(
  dataClass: DataClass,
  { schema, table, stamp, timestamp, owned, columns: wanted }: RemoteStorage,
  described: Described | undefined,
): RemoteTable | readonly string[] {
  const from = quoteName(schema, table)
  if (!described && owned) return [`${from} is not there yet; if it cannot be made, the log has the reason`]
  if (!described) return [`there is no table or view ${from}, or this role may not see it`]
  if (owned && described.comment !== markOf(dataClass))
    return [`${from} is not as the model of this server wants it; if it cannot be made so, the log has the reason`]
  const problems: string[] = []
  const columnOf = (name: string): RemoteColumn | undefined => {
    const found = described.columns.get(name)
    if (!found) problems.push(`${from} has no column ${quoteName(name)}`)
    return found
  }
  const columns = new Map<RemoteColumn, readonly RemoteColumn[]>() as unknown as Map<
    Parameters<typeof columnForm>[0],
    readonly RemoteColumn[]
  >
  const forms = new Map<Parameters<typeof columnForm>[0], Exclude<ReturnType<typeof columnForm>, string>>()
  for (const [attribute, names] of wanted) {
    const found = names.map(columnOf)
    if (!found.every(column => column !== undefined)) continue
    const form = columnForm(attribute, found)
    if (typeof form === 'string') problems.push(form)
    else if (form.isCut && isIdentity(dataClass, attribute)) problems.push(cutKey(attribute, found[0]!))
    else {
      columns.set(attribute, found)
      forms.set(attribute, form)
    }
  }
  const check = (name: string | undefined, types: RegExp, wanted: string): void => {
    const found = name === undefined ? undefined : columnOf(name)
    if (found && !types.test(found.type))
      problems.push(`the column ${quoteName(found.name)} is of type ${found.type}; ${wanted}`)
  }
  check(stamp, /^(int[248]|numeric)$/, 'a stamp is a whole number')
  check(timestamp, /^(timestamp|timestamptz|date)$/, 'the time of a change is a timestamp')
  if (problems.length > 0) return problems
  const hasRows = described.kind === 'r' || described.kind === 'p' || described.kind === 'm'
  return {
    dataClass,
    from,
    columns,
    forms,
    stamp: stamp !== undefined ? stampOf(quoteName(stamp)) : hasRows ? alias => `${alias}.xmin::text::int8` : () => '1',
    hasStamps: stamp !== undefined || hasRows,
    isReadAgain: stamp === undefined && described.kind === 'p',
    timestamp: timestamp === undefined ? undefined : quoteName(timestamp),
    written: writtenColumns(described, columns, forms),
    isOrdinary: described.keepsCounts,
    hasFold: described.hasFold,
    uniqueIndexes: owned ? uniqueIndexes(dataClass) : undefined,
  }
}

/** A stamp has 32 bits, and a row that never had one has the first. */
const stampOf =
  (name: string) =>
  (alias: string): string =>
    `(coalesce(${alias}.${name}, 1)::int8 & 4294967295)`

function writtenColumns(
  described: Described,
  columns: RemoteTable['columns'],
  forms: RemoteTable['forms'],
): RemoteTable['written'] {
  const written = new Map<string, WrittenColumn>()
  for (const { name, sqlType } of described.columns.values()) written.set(name, { type: sqlType, value: sent => sent })
  for (const [attribute, [column]] of columns) {
    const { convert } = forms.get(attribute)!
    if (convert) written.set(column!.name, { type: 'text', value: convert })
  }
  return written
}
