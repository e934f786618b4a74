import type { RelatedEntityAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import type { SortKey } from '../../query/bind/bind-order-by.ts'
import type { Predicate } from '../../query/bind/predicate.ts'
import { SMALL } from '../../query/aggregate/summary.ts'
import type { RemoteQuery, RemoteValues } from '../../query/plan/nodes/remote-query.ts'
import { quoteName } from './quote.ts'
import type { RemoteTable } from './remote-table.ts'
import type { ColumnForm } from './column-form.ts'
import { propertyAt } from './json-test.ts'
import { columnOf, type From, relatedBy } from './from.ts'
import { PredicateSql, type SqlScope, storageOf } from './predicate-sql.ts'
import { similarityOrder } from './similarity.ts'
import type { Statement } from './statement.ts'

/** The parts of a query that select rows for the statements below. */
type Selected = Pick<RemoteQuery, 'among' | 'referring' | 'predicate'>

interface Page extends Selected {
  readonly isListed?: boolean
  readonly orderBy: readonly SortKey[]
  readonly skip: number
  /** Maximum number of rows; Infinity for all rows. */
  readonly count: number
  /** `all`: values of the attributes in the order of the table, stamp, time. `key`: only the key. */
  readonly columns: 'all' | 'key'
  /** True to add the {@link STATE} of the database. */
  readonly isCounted: boolean
}

/** Statement of a page, in the order of the query, then of the key. */
export function pageStatement(table: RemoteTable, page: Page, scope: SqlScope): Statement {
  const sql = new PredicateSql(scope)
  const from = sql.from(table)
  const where = whereOf(page, from, sql)
  const joins: string[] = []
  const order = page.orderBy.flatMap((key, i, { length }) => orderOf(key, i === length - 1, from, sql, scope, joins))
  const selectList = page.columns === 'key' ? selectOf(table.dataClass.key, from) : rowOf(from)
  return sql.parameters.select(
    page.isCounted ? `${selectList}, ${STATE}` : selectList,
    [
      `FROM ${from.source}`,
      ...joins,
      where,
      `ORDER BY ${[...order, ...(page.isListed ? [sql.placeAmong(table.dataClass.key, page.among!, from)] : keyOrder(from))].join(', ')}`,
      // Not a parameter: a plan that suits any number is a poor plan for a page.
      Number.isFinite(page.count) ? `LIMIT ${Math.trunc(page.count)}` : '',
      page.skip > 0 ? `OFFSET ${sql.parameters.add(String(page.skip), 'int8')}` : '',
    ]
      .filter(part => part !== '')
      .join(' '),
  )
}

/**
 * SQL of the state that a statement sees. Equal states include the same committed transactions, so that the same statement has the same
 * result.
 */
const STATE = 'pg_current_snapshot()'

/**
 * Statement of the number of rows of a selection, and of the {@link STATE} for which the number is valid. The state is null if a table can
 * change other than by transactions of the database.
 */
export function countStatement(table: RemoteTable, selection: Selected, scope: SqlScope): Statement {
  const sql = new PredicateSql(scope)
  const from = sql.from(table)
  const where = whereOf(selection, from, sql)
  return sql.parameters.select(`count(*), ${sql.isOrdinary ? STATE : 'NULL'}`, `FROM ${from.source} ${where}`.trimEnd())
}

/** Statement of the rows with these keys, in any order. */
export function keysStatement(table: RemoteTable, keys: readonly Value[], scope: SqlScope): Statement {
  const sql = new PredicateSql(scope)
  const from = sql.from(table)
  return sql.parameters.statement(
    `SELECT ${rowOf(from)} FROM ${from.source} WHERE ${sql.among(table.dataClass.key, keys, from)}`,
  )
}

/** Commands that need the same rights as reading rows of these tables, and read none. */
export const readRightsStatement = (tables: readonly RemoteTable[]): Statement => ({
  text: tables
    .map(table => {
      const from = new PredicateSql(NO_SCOPE).from(table)
      return `SELECT ${rowOf(from)} FROM ${from.source} WHERE false`
    })
    .join('; '),
  values: [],
  isPlain: true,
})

/** Statement of the rows whose foreign key is one of these, each in the order of the key. */
export function referencingStatement(
  table: RemoteTable,
  { foreignKey }: RelatedEntityAttribute,
  keys: readonly Value[],
  count: number,
  scope: SqlScope,
): Statement {
  const sql = new PredicateSql(scope)
  const from = sql.from(table)
  const isAmong = sql.among(foreignKey, keys, from)
  return sql.parameters.statement(
    `SELECT ${rowOf(from)} FROM ${from.source} WHERE ${isAmong} ORDER BY ${keyOrder(from).join(', ')} LIMIT ${sql.parameters.add(String(count), 'int8')}`,
  )
}

/** Statement of the distinct non-null values of an attribute in the rows for which a condition is true. */
export function valuesStatement(
  table: RemoteTable,
  attribute: StorageAttribute,
  predicate: Predicate,
  count: number,
  scope: SqlScope,
): Statement {
  const sql = new PredicateSql(scope)
  const from = sql.from(table)
  const value = selectOf(attribute, from)
  return sql.parameters.statement(
    `SELECT DISTINCT ${value} FROM ${from.source} WHERE ${value} IS NOT NULL AND ${sql.condition(predicate, from)} LIMIT ${sql.parameters.add(String(count), 'int8')}`,
  )
}

/**
 * Statement of the number of values, their sum, least and greatest value. For doubles, the whole parts are added in units of 2^64, and the
 * fractions in a fifth column: see {@link sumOfParts}.
 * @param isWhole true to add doubles without splitting them: if one of them is not finite, neither is the sum
 */
export function totalsStatement(
  table: RemoteTable,
  selection: Selected,
  of: RemoteValues,
  scope: SqlScope,
  isWhole: boolean,
): Statement {
  const sql = new PredicateSql(scope)
  const { value, firstColumn, source, form } = valuesSource(table, selection, of, sql, scope)
  const number =
    of.properties.length === 0
      ? isWhole && form.domain?.type === 'float8'
        ? firstColumn
        : value
      : `CASE WHEN jsonb_typeof(${value}) = 'number' THEN (${value})::numeric END`
  const type = of.properties.length === 0 ? form.domain?.type : undefined
  // The shortest decimal of a float is not equal to the float.
  const sums = {
    float8: [`sum(trunc(v) * '${SMALL}'::float8)`, ', sum(v - trunc(v))'],
    float4: ['sum(v::text::numeric)', ''],
  }
  const [sum, more] = sums[type as keyof typeof sums] ?? ['sum(v)', '']
  return sql.parameters.statement(
    `SELECT count(v), ${sum}, min(v), max(v)${more} FROM (SELECT ${number} AS v ${source}) AS s`,
  )
}

/**
 * Statement of the distinct values, each with its first key and the number of its rows. A value has three columns: for a property, its JSON
 * type, number and folded text; for another attribute, its value and two nulls.
 */
export function distinctStatement(
  table: RemoteTable,
  selection: Selected,
  of: RemoteValues,
  count: number,
  scope: SqlScope,
): Statement {
  const sql = new PredicateSql(scope)
  const { value, source, from, form } = valuesSource(table, selection, of, sql, scope)
  const key = selectOf(table.dataClass.key, from)
  const keyForm = table.forms.get(table.dataClass.key)!
  const first = { uuid: 'min(k::text)', bool: 'bool_and(k)' }[keyForm.identityType ?? ''] ?? 'min(k)'
  const attribute = storageOf(of.attribute)
  const columns =
    of.properties.length > 0
      ? jsonParts(value, sql)
      : [form.isText ? sql.foldOf(attribute, value) : value, 'NULL::numeric', 'NULL::text']
  return sql.parameters.statement(
    `SELECT a, b, c, ${first}, count(*) FROM (SELECT ${columns[0]} AS a, ${columns[1]} AS b, ${columns[2]} AS c, ${key} AS k ${source}) AS s WHERE a IS NOT NULL GROUP BY a, b, c LIMIT ${sql.parameters.add(String(count), 'int8')}`,
  )
}

/** JSON type, number and folded text of a value inside of JSON; null for objects, arrays and null. */
const jsonParts = (value: string, sql: PredicateSql): readonly string[] => [
  `CASE WHEN jsonb_typeof(${value}) IN ('number', 'string', 'boolean') THEN jsonb_typeof(${value}) END`,
  `CASE jsonb_typeof(${value}) WHEN 'number' THEN (${value})::numeric WHEN 'boolean' THEN (${value})::bool::int4 END`,
  sql.fold(`CASE WHEN jsonb_typeof(${value}) = 'string' THEN ${value} #>> '{}' END`),
]

/** SQL of a value, and of the rows that have it: the part of the statement after the list of a SELECT. */
function valuesSource(
  table: RemoteTable,
  selection: Selected,
  { relations, attribute, properties }: RemoteValues,
  sql: PredicateSql,
  scope: SqlScope,
): { value: string; firstColumn: string; source: string; from: From; form: ColumnForm } {
  const from = sql.from(table)
  const where = whereOf(selection, from, sql)
  const joins: string[] = []
  const last = follow(relations, from, sql, scope, joins)
  const { form, firstColumn, sorted } = columnOf(storageOf(attribute), last)
  const value = properties.length > 0 ? propertyAt(sorted, properties, sql) : sorted
  const source = [`FROM ${from.source}`, ...joins, where].filter(part => part !== '').join(' ')
  return { value, firstColumn, source, from, form }
}

/** Scope for statements that select rows by their keys. */
export const NO_SCOPE: SqlScope = {
  areKeysGiven: true,
  tables: { find: () => undefined },
  keysWhere: () => [],
  valuesWhere: () => [],
}

function whereOf({ among, referring, predicate }: Selected, from: From, sql: PredicateSql): string {
  const conditions: string[] = []
  if (among) conditions.push(sql.among(from.table.dataClass.key, among, from))
  if (referring) conditions.push(sql.among(referring.relation.foreignKey, [referring.key], from))
  if (predicate) conditions.push(sql.condition(predicate, from))
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}

const columnsOf = (attribute: StorageAttribute, { table, alias }: From): string[] =>
  table.columns.get(attribute)!.map(({ name }) => `${alias}.${quoteName(name)}`)

const selectOf = (attribute: StorageAttribute, from: From): string =>
  from.table.forms.get(attribute)!.select(...columnsOf(attribute, from))

/** Texts of {@link rowOf} by alias. */
const knownRows = new WeakMap<RemoteTable, Map<string, string>>()

/** Values of the attributes in the order of the table, stamp, time. */
export function rowOf(from: From): string {
  const { table, alias } = from
  const rows = knownRows.get(table) ?? new Map<string, string>()
  knownRows.set(table, rows)
  const row = rows.get(alias) ?? makeRow(from)
  rows.set(alias, row)
  return row
}

function makeRow(from: From): string {
  const { table, alias } = from
  const values = [...table.columns.keys()].map(attribute => selectOf(attribute, from))
  return [...values, table.stamp(alias), table.timestamp ? `${alias}.${table.timestamp}` : 'NULL'].join(', ')
}

/**
 * Order of the key in the database, which the index of the primary key serves. UUIDs that are stored as texts have the order of their
 * values.
 */
function keyOrder(from: From): string[] {
  const { key } = from.table.dataClass
  const form = from.table.forms.get(key)!
  const isSpelled = key.type === 'uuid' && form.identityType === undefined
  return isSpelled ? [`${form.sorted(...columnsOf(key, from))} COLLATE "C"`] : columnsOf(key, from)
}

/**
 * Joins the tables along N→1 relations.
 * @param joins receives the joins
 * @returns the last table
 */
function follow(
  relations: readonly RelatedEntityAttribute[],
  start: From,
  sql: PredicateSql,
  scope: SqlScope,
  joins: string[],
): From {
  let from = start
  for (const { foreignKey, target } of relations) {
    const table = scope.tables.find(target)
    if (!table) throw RemoteErrors.NOT_HERE(ELSEWHERE, start.table.dataClass.name)
    const other = sql.from(table)
    const joinKeys = relatedBy(foreignKey, from, target.key, other)
    joins.push(`LEFT JOIN ${other.source} ON ${joinKeys.key} = ${joinKeys.foreignKey}`)
    from = { ...other, isOptional: true }
  }
  return from
}

const ELSEWHERE = 'an order or an aggregate over a relation to another place'

/**
 * @param isLast true if only this key orders the rows for which the keys before it are equal
 * @param joins receives the joins along the relations of the key
 */
function orderOf(
  key: SortKey,
  isLast: boolean,
  start: From,
  sql: PredicateSql,
  scope: SqlScope,
  joins: string[],
): string[] {
  const from = follow(key.relations, start, sql, scope, joins)
  if (key.similarity) return [similarityOrder(key, from, sql.parameters)]
  const attribute = storageOf(key.attribute)
  const { form, fits, sorted, compared } = columnOf(attribute, from)
  const ascending = key.descending ? 'DESC' : 'ASC'
  const lowest = `${ascending} NULLS ${key.descending ? 'LAST' : 'FIRST'}`
  if (key.properties.length > 0) return jsonOrder(sorted, key, sql).map(each => `${each} ${lowest}`)
  const hasNulls =
    key.relations.length > 0 ||
    attribute.head !== undefined ||
    from.table.columns.get(attribute)!.some(each => each.isNullable)
  // A column that has a value in every row is sorted unchanged, so that an index can be used. Its order may be finer than the
  // milliseconds of the values; entities with the same date-only value are ordered by their keys.
  const isExact = !form.isCut || (isLast && !attribute.simpleDate)
  if (!hasNulls && form.domain && isExact) return [`${compared()} ${ascending}`]
  if (!form.isText) return [`${sorted} ${lowest}`]
  return [`${sql.foldOf(attribute, sorted)} ${hasNulls || fits !== undefined ? lowest : ascending}`]
}

/** Numbers are below texts, and these below bools; objects and arrays are highest, all equal. */
function jsonOrder(json: string, { properties }: SortKey, sql: PredicateSql): string[] {
  const value = propertyAt(json, properties, sql)
  const [, number, text] = jsonParts(value, sql)
  const rank = `CASE jsonb_typeof(${value}) WHEN 'number' THEN 1 WHEN 'string' THEN 2 WHEN 'boolean' THEN 3 WHEN 'object' THEN 4 WHEN 'array' THEN 4 END`
  return [rank, number!, text!]
}
