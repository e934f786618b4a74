import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { quoteName } from './quote.ts'
import type { RemoteTable } from './remote-table.ts'
import type { From } from './from.ts'
import { PredicateSql } from './predicate-sql.ts'
import { partsOf } from './key-parts.ts'
import { NO_SCOPE, rowOf } from './statements.ts'
import type { Statement } from './statement.ts'

/** New values of columns, by attribute. */
export type ColumnValues = ReadonlyMap<StorageAttribute, Value>

/**
 * Statement that inserts rows with values for the same attributes, in order, and returns them. Columns without a value get their
 * defaults. The database converts the values by the types of the columns.
 * @param timestamp time of the rows, if the table has a column for it
 */
export function insertStatement(table: RemoteTable, rows: readonly ColumnValues[], timestamp: string): Statement {
  const sql = new PredicateSql(NO_SCOPE)
  const from = sql.from(table)
  const records = rows.map(values => recordOf(table, values, timestamp))
  const names = Object.keys(records[0]!)
  const columns = names.map(name => quoteName(name)).join(', ')
  const returningClause = `RETURNING ${writtenRow(from)}`
  if (names.length === 0)
    return sql.parameters.statement(`INSERT INTO ${from.source} DEFAULT VALUES ${returningClause}`)
  const json = sql.parameters.add(JSON.stringify(records), 'json')
  const selectList = names.map(name => sentValue(name, table)).join(', ')
  return sql.parameters.statement(
    `INSERT INTO ${from.source} (${columns}) SELECT ${selectList} FROM json_to_recordset(${json}) AS r (${typesOf(names, table)}) ${returningClause}`,
  )
}

/** Statement that converts a value to the type of its column, and fails if the database cannot. */
export function conversionStatement(table: RemoteTable, attribute: StorageAttribute, value: Value): Statement {
  const sql = new PredicateSql(NO_SCOPE)
  const record = recordOf(table, new Map([[attribute, value]]))
  const names = Object.keys(record)
  const json = sql.parameters.add(JSON.stringify(record), 'json')
  const selectList = names.map(name => sentValue(name, table)).join(', ')
  return sql.parameters.statement(`SELECT ${selectList} FROM json_to_record(${json}) AS r (${typesOf(names, table)})`)
}

/** Additional condition of a change. */
type Condition = (parameters: PredicateSql['parameters']) => string

/** Statement that changes a row if it still has a stamp, and returns it. @param also condition that must be true as well */
export function updateStatement(
  table: RemoteTable,
  key: Value,
  stamp: number,
  values: ColumnValues,
  timestamp: string,
  also?: Condition,
): Statement {
  const sql = new PredicateSql(NO_SCOPE)
  const from = sql.from(table)
  const record = recordOf(table, values, timestamp)
  const names = Object.keys(record)
  const json = sql.parameters.add(JSON.stringify(record), 'json')
  const { stamp: column } = table.dataClass.remote!
  const sets = [
    ...names.map(name => `${quoteName(name)} = ${sentValue(name, table)}`),
    ...(column === undefined ? [] : [`${quoteName(column)} = coalesce(${from.alias}.${quoteName(column)}, 1) + 1`]),
  ]
  return sql.parameters.statement(
    `UPDATE ${from.source} SET ${sets.join(', ')} FROM json_to_record(${json}) AS r (${typesOf(names, table)}) WHERE ${sql.among(table.dataClass.key, [key], from)} AND ${hasStamp(stamp, from, sql)}${further(also, sql)} RETURNING ${writtenRow(from)}`,
  )
}

/**
 * Statement that deletes a row if it still has a stamp, and returns whether the row had it. @param also condition that must be true as well
 */
export function deleteStatement(table: RemoteTable, key: Value, stamp: number, also?: Condition): Statement {
  const sql = new PredicateSql(NO_SCOPE)
  const from = sql.from(table)
  return sql.parameters.statement(
    `DELETE FROM ${from.source} WHERE ${sql.among(table.dataClass.key, [key], from)} AND ${hasStamp(stamp, from, sql)}${further(also, sql)} RETURNING true`,
  )
}

/** Statement that checks whether a row still has a stamp. */
export function stillStatement(table: RemoteTable, key: Value, stamp: number): Statement {
  const sql = new PredicateSql(NO_SCOPE)
  const from = sql.from(table)
  return sql.parameters.statement(
    `SELECT true FROM ${from.source} WHERE ${sql.among(table.dataClass.key, [key], from)} AND ${hasStamp(stamp, from, sql)}`,
  )
}

/** Statement that deletes the rows with these keys that still have their stamps, and returns a row for each of them. */
export function deletionStatement(table: RemoteTable, keys: ReadonlyMap<number, readonly Value[]>): Statement {
  const sql = new PredicateSql(NO_SCOPE)
  const from = sql.from(table)
  const conditions = Array.from(
    keys,
    ([stamp, keys]) => `${sql.among(table.dataClass.key, keys, from)} AND ${hasStamp(stamp, from, sql)}`,
  )
  const statement = sql.parameters.statement(
    `DELETE FROM ${from.source} WHERE ${conditions.join(' OR ')} RETURNING true`,
  )
  return { ...statement, isPlain: true }
}

const further = (condition: Condition | undefined, { parameters }: PredicateSql): string =>
  condition ? ` AND ${condition(parameters)}` : ''

const writtenRow = (from: From): string =>
  rowOf(from.table.isReadAgain ? { ...from, table: { ...from.table, stamp: () => '1' } } : from)

/** SQL of columns with their types. Other columns are left out, since their domains may refuse null. */
const typesOf = (names: readonly string[], { writtenColumns }: RemoteTable): string =>
  names.map(name => `${quoteName(name)} ${writtenColumns.get(name)!.type}`).join(', ')

const sentValue = (name: string, { writtenColumns }: RemoteTable): string =>
  writtenColumns.get(name)!.value(`r.${quoteName(name)}`)

const hasStamp = (stamp: number, { table, alias }: From, { parameters }: PredicateSql): string =>
  `${table.stamp(alias)} = ${parameters.add(String(stamp), 'int8')}`

/** Values by column, as JSON that the database converts. @param timestamp of a change */
function recordOf(table: RemoteTable, values: ColumnValues, timestamp?: string): Record<string, unknown> {
  const record: Record<string, unknown> = Object.create(null)
  for (const [attribute, value] of values) {
    const columns = table.columns.get(attribute)!
    if (columns.length > 1) {
      // Values of the single columns have precedence.
      const parts = value === null ? undefined : partsOf(String(value), columns.length)
      for (const [i, { name }] of columns.entries()) record[name] ??= parts?.[i] ?? null
    } else record[columns[0]!.name] = value === null ? null : table.forms.get(attribute)!.json(value)
  }
  const { timestamp: column } = table.dataClass.remote!
  if (column !== undefined && timestamp !== undefined) record[column] = timestamp
  return record
}
