import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { quoteName } from './quote.ts'
import type { ColumnForm } from './column-form.ts'
import { isStorable } from './parameters.ts'
import type { RemoteColumn, RemoteTable } from './remote-table.ts'
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
  const statement =
    rows.length === 1 ? valuesStatement(table, rows[0]!, timestamp) : arraysStatement(table, rows, timestamp)
  if (statement) return statement
  const sql = new PredicateSql(NO_SCOPE)
  const from = sql.from(table)
  const names = Object.keys(recordOf(table, rows[0]!, timestamp))
  const columns = names.map(name => quoteName(name)).join(', ')
  const returningClause = `RETURNING ${writtenRow(from)}`
  if (names.length === 0)
    return sql.parameters.statement(`INSERT INTO ${from.source} DEFAULT VALUES ${returningClause}`)
  const json = sql.parameters.add(recordsText(table, rows, timestamp), 'json')
  const selectList = names.map(name => sentValue(name, table)).join(', ')
  return sql.parameters.statement(
    `INSERT INTO ${from.source} (${columns}) SELECT ${selectList} FROM json_to_recordset(${json}) AS r (${typesOf(names, table)}) ${returningClause}`,
  )
}

/** Statement that inserts a row, with a parameter for each value. @returns undefined if some value has to be sent as JSON, or there is none */
function valuesStatement(table: RemoteTable, row: ColumnValues, timestamp: string): Statement | undefined {
  const sql = new PredicateSql(NO_SCOPE)
  const from = sql.from(table)
  const assignments = assignmentsOf(table, row, timestamp, sql, INSERTED)
  if (!assignments || assignments.length === 0) return undefined
  const columns = assignments.map(({ name }) => name).join(', ')
  const values = assignments.map(({ value }) => value).join(', ')
  return sql.parameters.statement(
    `INSERT INTO ${from.source} (${columns}) VALUES (${values}) RETURNING ${writtenRow(from)}`,
  )
}

/**
 * Statement that inserts rows, with an array for each column, which takes the database less time than JSON. @returns undefined if some value
 * has to be sent as JSON, or there is none
 */
function arraysStatement(table: RemoteTable, rows: readonly ColumnValues[], timestamp: string): Statement | undefined {
  const { timestamp: timestampColumn } = table.dataClass.remote!
  const attributes = [...rows[0]!.keys()]
  if (attributes.length === 0) return undefined
  const sql = new PredicateSql(NO_SCOPE)
  const from = sql.from(table)
  const names: string[] = []
  const arrays: string[] = []
  for (const attribute of attributes) {
    const column = sentColumn(table, attribute, INSERTED)
    if (!column) return undefined
    const text = arrayOf(rows, attribute, table.forms.get(attribute)!, NUMERIC.has(column.type))
    if (!isStorable(text)) return undefined
    names.push(quoteName(column.name))
    arrays.push(sql.parameters.add(text, `${column.type}[]`))
  }
  if (new Set(names).size < names.length) return undefined
  const values = names.map((_, i) => `r.c${i}`)
  const aliases = names.map((_, i) => `c${i}`).join(', ')
  if (timestampColumn !== undefined) {
    names.push(quoteName(timestampColumn))
    values.push(sql.parameters.add(timestamp, table.writtenColumns.get(timestampColumn)!.type))
  }
  return sql.parameters.statement(
    `INSERT INTO ${from.source} (${names.join(', ')}) SELECT ${values.join(', ')} FROM unnest(${arrays.join(', ')}) AS r (${aliases}) RETURNING ${writtenRow(from)}`,
  )
}

/** Types whose texts need no quotes in an array. */
const NUMERIC = new Set(['bool', 'int2', 'int4', 'int8', 'float4', 'float8', 'numeric'])
const SPECIAL = /["\\]/
const SPECIALS = /["\\]/g

/** Text of an array with the values of an attribute. */
function arrayOf(
  rows: readonly ColumnValues[],
  attribute: StorageAttribute,
  form: ColumnForm,
  isNumeric: boolean,
): string {
  const elements = rows.map(row => {
    const value = row.get(attribute)!
    if (value === null) return 'NULL'
    const text = String(form.json(value))
    if (isNumeric) return text
    return SPECIAL.test(text) ? `"${text.replace(SPECIALS, '\\$&')}"` : `"${text}"`
  })
  return `{${elements.join(',')}}`
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
 * Statement that changes a row if it still has a stamp and if all of these values differ from its own; otherwise it changes nothing. Its row
 * begins with `t` and is the changed row, or with `f` and is the row as it is. It returns no row if there is none.
 * @param also condition that must be true as well
 * @returns undefined if different values of a column may be read as the same value, so that SQL cannot compare them
 */
export function updateDifferentStatement(
  table: RemoteTable,
  key: Value,
  stamp: number,
  values: ColumnValues,
  timestamp: string,
  also?: Condition,
): Statement | undefined {
  const sql = new PredicateSql(NO_SCOPE)
  const from = sql.from(table)
  const assignments = assignmentsOf(table, values, timestamp, sql, COMPARED)
  if (!assignments || [...values.keys()].some(attribute => table.forms.get(attribute)!.isCut)) return undefined
  const { stamp: column } = table.dataClass.remote!
  const sets = assignments.map(({ name, value }) => `${name} = ${value}`)
  if (column !== undefined) sets.push(`${quoteName(column)} = coalesce(${from.alias}.${quoteName(column)}, 1) + 1`)
  const differ = assignments.flatMap(({ name, value, attribute }) => {
    if (!attribute) return []
    const own = `${from.alias}.${name}`
    // A value that the attribute cannot have is read as null.
    const fits = values.get(attribute) === null ? table.forms.get(attribute)!.fits?.(own) : undefined
    return fits ?? `${own} IS DISTINCT FROM ${value}`
  })
  const isKey = (at: From): string => sql.among(table.dataClass.key, [key], at)
  const conditions = [isKey(from), hasStamp(stamp, from, sql), ...differ].join(' AND ')
  const update = `UPDATE ${from.source} SET ${sets.join(', ')} WHERE ${conditions}${further(also, sql)} RETURNING true, ${rowOf(from)}`
  const other = sql.from(table)
  const otherwise = `SELECT false, ${rowOf(other)} FROM ${other.source} WHERE ${isKey(other)} AND NOT EXISTS (SELECT FROM changed)`
  return sql.parameters.statement(`WITH changed AS (${update}) SELECT * FROM changed UNION ALL ${otherwise}`)
}

/** Types of columns whose values are sent as parameters; {@link COMPARED}: values that are equal in SQL are read as the same value. */
const COMPARED = new Set([
  'bool',
  'int2',
  'int4',
  'int8',
  'float4',
  'float8',
  'numeric',
  'text',
  'varchar',
  'uuid',
  'date',
])
const INSERTED = new Set([...COMPARED, 'timestamp', 'timestamptz'])

interface Assignment {
  /** Quoted name of the column. */
  readonly name: string
  /** SQL of the value: a parameter. */
  readonly value: string
  /** Undefined for the time of the change. */
  readonly attribute?: StorageAttribute
}

/** Values by column, as parameters, which take the database less time than JSON. @returns undefined if some value has to be sent as JSON */
function assignmentsOf(
  table: RemoteTable,
  values: ColumnValues,
  timestamp: string,
  { parameters }: PredicateSql,
  types: ReadonlySet<string>,
): Assignment[] | undefined {
  const { timestamp: timestampColumn } = table.dataClass.remote!
  const assignments: Assignment[] = []
  for (const [attribute, value] of values) {
    const column = sentColumn(table, attribute, types)
    if (!column) return undefined
    const text = value === null ? null : String(table.forms.get(attribute)!.json(value))
    if (text !== null && !isStorable(text)) return undefined
    // Null is a parameter too, since each text of a statement is prepared.
    assignments.push({ name: quoteName(column.name), value: parameters.add(text, column.type), attribute })
  }
  if (timestampColumn === undefined) return assignments
  const { type } = table.writtenColumns.get(timestampColumn)!
  return [...assignments, { name: quoteName(timestampColumn), value: parameters.add(timestamp, type) }]
}

const STRUCTURED = new Set(['object', 'vector', 'image', 'blob'])

/** The column of an attribute whose values are parameters of one of these types; undefined if they have to be sent as JSON. */
function sentColumn(
  { columns, forms, dataClass }: RemoteTable,
  attribute: StorageAttribute,
  types: ReadonlySet<string>,
): RemoteColumn | undefined {
  const [column, ...others] = columns.get(attribute)!
  const { name, type, labels } = column!
  const { stamp, timestamp } = dataClass.remote!
  const isScalar = others.length === 0 && labels === null && !STRUCTURED.has(attribute.type)
  const isSent = isScalar && types.has(type) && !forms.get(attribute)!.convert && name !== stamp && name !== timestamp
  return isSent ? column : undefined
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

/** JSON of records with values for the same attributes. Texts that are joined take half of the time of objects. */
function recordsText(table: RemoteTable, rows: readonly ColumnValues[], timestamp: string): string {
  const { timestamp: timestampColumn } = table.dataClass.remote!
  const attributes = [...rows[0]!.keys()]
  const columns = attributes.map(attribute => table.columns.get(attribute)!)
  const names = columns.map(([column]) => column!.name)
  // Several attributes can have the same column, which one of them determines.
  const isPlain = columns.every(each => each.length === 1) && new Set([...names, timestampColumn]).size > names.length
  if (!isPlain) return JSON.stringify(rows.map(values => recordOf(table, values, timestamp)))
  const parts = attributes.map((attribute, i) => ({
    attribute,
    name: `${JSON.stringify(names[i])}:`,
    form: table.forms.get(attribute)!,
  }))
  const time = timestampColumn === undefined ? [] : [`${JSON.stringify(timestampColumn)}:${JSON.stringify(timestamp)}`]
  const records = rows.map(values => {
    const members = parts.map(({ attribute, name, form }) => {
      const value = values.get(attribute)!
      return `${name}${value === null ? 'null' : JSON.stringify(form.json(value))}`
    })
    return `{${[...members, ...time].join(',')}}`
  })
  return `[${records.join(',')}]`
}

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
