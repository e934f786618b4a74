import type { RelatedEntityAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import type { SortKey } from '../../query/bind/bind-order-by.ts'
import type { Predicate } from '../../query/bind/predicate.ts'
import type { RemoteQuery } from '../../query/nodes/remote-query.ts'
import { quoteName } from '../quote.ts'
import type { RemoteTable } from '../remote-table.ts'
import { propertyOf } from './json-test.ts'
import { type From, PredicateSql, type SqlScope, stored } from './predicate-sql.ts'
import type { Statement } from './statement.ts'

/** Selection of the statements below. */
type Selected = Pick<RemoteQuery, 'among' | 'referring' | 'predicate'>

interface Page extends Selected {
  readonly orderBy: readonly SortKey[]
  readonly skip: number
  /** Infinity for all. */
  readonly count: number
  /** `all`: values of the attributes in the order of the table, stamp, time. `key`: the key alone. */
  readonly columns: 'all' | 'key'
}

/** Statement of a page, in the order of the query, then of the key. */
export function pageStatement(table: RemoteTable, page: Page, scope: SqlScope): Statement {
  const sql = new PredicateSql(scope)
  const from = sql.from(table)
  const where = whereOf(page, from, sql)
  const joins: string[] = []
  const order = page.orderBy.flatMap(key => orderOf(key, from, sql, scope, joins))
  const selected = page.columns === 'key' ? selectOf(table.dataClass.key, from) : rowOf(from)
  return sql.parameters.statement(
    [
      `SELECT ${selected} FROM ${table.from} AS ${from.alias}`,
      ...joins,
      where,
      `ORDER BY ${[...order, ...keyOrder(from)].join(', ')}`,
      Number.isFinite(page.count) ? `LIMIT ${sql.parameters.add(String(page.count), 'int8')}` : '',
      page.skip > 0 ? `OFFSET ${sql.parameters.add(String(page.skip), 'int8')}` : '',
    ]
      .filter(part => part !== '')
      .join(' '),
  )
}

/** Statement that counts the rows of a selection. */
export function countStatement(table: RemoteTable, selected: Selected, scope: SqlScope): Statement {
  const sql = new PredicateSql(scope)
  const from = sql.from(table)
  return sql.parameters.statement(
    `SELECT count(*) FROM ${table.from} AS ${from.alias} ${whereOf(selected, from, sql)}`.trimEnd(),
  )
}

/** Statement of the rows with these keys, in any order. */
export function keysStatement(table: RemoteTable, keys: readonly Value[]): Statement {
  const sql = new PredicateSql(NO_SCOPE)
  const from = sql.from(table)
  const { key } = table.dataClass
  const isAmong = isComposite(table) ? partsAmong(keys, from, sql) : sql.among(key, keys, from)
  return sql.parameters.statement(`SELECT ${rowOf(from)} FROM ${table.from} AS ${from.alias} WHERE ${isAmong}`)
}

/** Statement of the rows whose foreign key is one of these, each in the order of the key. */
export function referencingStatement(
  table: RemoteTable,
  { foreignKey }: RelatedEntityAttribute,
  keys: readonly Value[],
  count: number,
): Statement {
  const sql = new PredicateSql(NO_SCOPE)
  const from = sql.from(table)
  const isAmong = sql.among(foreignKey, keys, from)
  return sql.parameters.statement(
    `SELECT ${rowOf(from)} FROM ${table.from} AS ${from.alias} WHERE ${isAmong} ORDER BY ${keyOrder(from).join(', ')} LIMIT ${sql.parameters.add(String(count), 'int8')}`,
  )
}

/** Statement of the different values, not null, of an attribute in the rows for which a condition is true. */
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
    `SELECT DISTINCT ${value} FROM ${table.from} AS ${from.alias} WHERE ${value} IS NOT NULL AND ${sql.condition(predicate, from)} LIMIT ${sql.parameters.add(String(count), 'int8')}`,
  )
}

const NO_SCOPE: SqlScope = {
  tables: { find: () => undefined },
  keysWhere: () => [],
  valuesWhere: () => [],
}

const isComposite = ({ columns, dataClass }: RemoteTable): boolean => columns.get(dataClass.key)!.length > 1

function whereOf({ among, referring, predicate }: Selected, from: From, sql: PredicateSql): string {
  const { table } = from
  const conditions: string[] = []
  if (among) {
    conditions.push(isComposite(table) ? partsAmong(among, from, sql) : sql.among(table.dataClass.key, among, from))
  }
  if (referring) conditions.push(sql.among(referring.relation.foreignKey, [referring.key], from))
  if (predicate) conditions.push(sql.condition(predicate, from))
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}

/** Condition for keys of several columns, which an index of these serves. */
function partsAmong(keys: readonly Value[], from: From, sql: PredicateSql): string {
  const columns = from.table.columns.get(from.table.dataClass.key)!
  const lists = keys.map(key => partsOf(String(key))).filter(parts => parts.length === columns.length)
  const own = columns.map(({ name }) => `${from.alias}.${quoteName(name)}::text`)
  const arrays = columns.map((_, i) =>
    sql.parameters.list(
      lists.map(parts => parts[i]!),
      'text',
    ),
  )
  return `(${own.join(', ')}) IN (SELECT * FROM unnest(${arrays.join(', ')}))`
}

/** Parts of a key of several columns. */
function partsOf(key: string): string[] {
  const parts = ['']
  for (const [character] of key.matchAll(/\\[\s\S]|[\s\S]/g)) {
    if (character === '~') parts.push('')
    else parts[parts.length - 1] += character.length > 1 ? character.slice(1) : character
  }
  return parts
}

const columnsOf = (attribute: StorageAttribute, { table, alias }: From): string[] =>
  table.columns.get(attribute)!.map(({ name }) => `${alias}.${quoteName(name)}`)

const selectOf = (attribute: StorageAttribute, from: From): string =>
  from.table.forms.get(attribute)!.select(...columnsOf(attribute, from))

function rowOf(from: From): string {
  const { table, alias } = from
  const values = [...table.columns.keys()].map(attribute => selectOf(attribute, from))
  const ofRow = (sql: string): string => (sql.startsWith('"') || sql === 'xmin' ? `${alias}.${sql}` : sql)
  return [...values, ofRow(table.stamp), table.timestamp ? ofRow(table.timestamp) : 'NULL'].join(', ')
}

/** Order of the key: texts by the order of their bytes. */
function keyOrder(from: From): string[] {
  const { table } = from
  const { key } = table.dataClass
  const form = table.forms.get(key)!
  if (isComposite(table)) return columnsOf(key, from)
  const sorted = form.sorted(...columnsOf(key, from))
  return [form.isText && key.type !== 'uuid' ? `${sorted} COLLATE "C"` : columnsOf(key, from)[0]!]
}

/** @param joins receives the joins along the relations of the key */
function orderOf(key: SortKey, start: From, sql: PredicateSql, scope: SqlScope, joins: string[]): string[] {
  if (key.similarity) throw RemoteErrors.NOT_HERE('an order by similarity', start.table.dataClass.name)
  let from = start
  for (const { foreignKey, target } of key.relations) {
    const table = scope.tables.find(target)
    if (!table) throw RemoteErrors.NOT_HERE('an order over a relation to another place', start.table.dataClass.name)
    const other = sql.from(table)
    joins.push(
      `LEFT JOIN ${table.from} AS ${other.alias} ON ${columnsOf(target.key, other)[0]} = ${columnsOf(foreignKey, from)[0]}`,
    )
    from = other
  }
  const attribute = stored(key.attribute)
  const { form, sorted } = sql.column(attribute, from)
  const direction = key.descending ? 'DESC' : 'ASC'
  const isNullable =
    key.relations.length > 0 ||
    attribute.head !== undefined ||
    from.table.columns.get(attribute)!.some(each => each.isNullable)
  const nulls = isNullable ? ` NULLS ${key.descending ? 'LAST' : 'FIRST'}` : ''
  if (key.properties.length > 0)
    return jsonOrder(sorted, key, sql).map(each => `${each} ${direction} NULLS ${key.descending ? 'LAST' : 'FIRST'}`)
  return [`${form.isText ? sql.folded(attribute, sorted) : sorted} ${direction}${nulls}`]
}

/** Numbers are below texts, and these below bools; objects and arrays are highest, all equal. */
function jsonOrder(json: string, { properties }: SortKey, sql: PredicateSql): string[] {
  const value = properties.reduce((inner, name) => `(${propertyOf(inner, name, sql)})`, json)
  const rank = `CASE jsonb_typeof(${value}) WHEN 'number' THEN 1 WHEN 'string' THEN 2 WHEN 'boolean' THEN 3 WHEN 'object' THEN 4 WHEN 'array' THEN 4 END`
  const number = `CASE jsonb_typeof(${value}) WHEN 'number' THEN (${value})::numeric WHEN 'boolean' THEN (${value})::bool::int4 END`
  const text = sql.fold(`CASE WHEN jsonb_typeof(${value}) = 'string' THEN ${value} #>> '{}' END`)
  return [rank, number, text]
}
