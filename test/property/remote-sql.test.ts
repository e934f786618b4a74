/**
 * Conditions and orders in SQL give the rows that the engine finds in memory among the values that it reads: every type of column
 * that an attribute can have, with values at the edges of both. Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { fold } from '../../engine/base/text/fold.ts'
import type { StorageAttribute } from '../../engine/catalog/attribute.ts'
import { valueAmong } from '../../engine/catalog/property-columns.ts'
import { jsonTypeOf, propertyOf } from '../../engine/catalog/property.ts'
import { TYPES } from '../../engine/catalog/types/registry.ts'
import type { Value } from '../../engine/catalog/value.ts'
import { PredicateSql } from '../../engine/postgres/sql/predicate-sql.ts'
import { pageStatement } from '../../engine/postgres/sql/statements.ts'
import { Unfit } from '../../engine/postgres/sql/unfit.ts'
import type { SortKey } from '../../engine/query/bind/bind-order-by.ts'
import { jsonMatcherOf, jsonScalar, matcherOf } from '../../engine/query/bind/match-value.ts'
import type { Predicate, Scalar } from '../../engine/query/bind/predicate.ts'
import { ProtocolError } from '../../engine/base/errors.ts'
import { ALL_FILTERS, COLUMNS, columns, MODEL, SQL } from '../support/databases/remote-columns.ts'
import { openRemoteSql, type RemoteSql } from '../support/databases/remote-sql.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'

/** Values of the rows, read as the engine reads them. */
async function readRows(sql: RemoteSql): Promise<Map<number, Map<StorageAttribute, Value>>> {
  const table = sql.table('Thing')
  const page = { orderBy: [], skip: 0, count: Number.POSITIVE_INFINITY, columns: 'all', isCounted: false } as const
  const cells = await sql.run(
    pageStatement(table, { ...page, among: undefined, referring: undefined, predicate: undefined }, sql.scope),
  )
  return new Map(
    cells.map(row => {
      const values = new Map<StorageAttribute, Value>()
      for (const [i, attribute] of [...table.columns.keys()].entries()) {
        const cell = row[i]!
        const value = cell === null ? null : table.forms.get(attribute)!.read(cell)
        values.set(attribute, value instanceof Unfit ? null : value)
      }
      return [Number(row[0]), values]
    }),
  )
}

/** Value in the form for comparisons. */
function scalarOf(value: Value, { type }: StorageAttribute): Scalar {
  switch (TYPES[type].cell) {
    case 'text':
      return fold(value as string)
    case 'bit':
      return Number(value)
    default:
      return value as Scalar
  }
}

function isTrue(predicate: Predicate, values: ReadonlyMap<StorageAttribute, Value>): boolean {
  switch (predicate.kind) {
    case 'always':
      return true
    case 'never':
      return false
    case 'and':
      return predicate.inputs.every(input => isTrue(input, values))
    case 'or':
      return predicate.inputs.some(input => isTrue(input, values))
    case 'complement':
      return !isTrue(predicate.input, values)
    case 'except':
      return isTrue(predicate.left, values) && !isTrue(predicate.right, values)
    case 'json':
      return jsonMatcherOf(predicate.test)(valueAmong(values, predicate.attribute as StorageAttribute))
    case 'isNull':
      return (valueAmong(values, predicate.attribute as StorageAttribute) === null) !== predicate.negated
    case 'test': {
      const attribute = predicate.attribute as StorageAttribute
      const value = valueAmong(values, attribute)
      return value !== null && matcherOf(predicate.test)(scalarOf(value, attribute)) !== predicate.negated
    }
    default:
      throw new Error(predicate.kind)
  }
}

/** Filters that the engine accepts, bound. */
function bound(
  sql: RemoteSql,
  filters: Iterable<readonly [string, unknown[]]>,
): { text: string; predicate: Predicate }[] {
  const found: { text: string; predicate: Predicate }[] = []
  for (const [filter, params] of filters) {
    try {
      found.push({ text: `${filter} ${JSON.stringify(params)}`, predicate: sql.predicate('Thing', filter, params) })
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
    }
  }
  return found
}

/** Keys of the rows that each predicate finds, with one statement. */
async function keysFound(sql: RemoteSql, predicates: readonly Predicate[]): Promise<number[][]> {
  const writer = new PredicateSql(sql.scope)
  const from = writer.from(sql.table('Thing'))
  const conditions = predicates.map(predicate => `(${writer.condition(predicate, from)}) IS TRUE`)
  const rows = await sql.run(
    writer.parameters.statement(
      `SELECT ${from.alias}."ID", ${conditions.join(', ')} FROM ${from.table.from} AS ${from.alias} ORDER BY 1`,
    ),
  )
  return predicates.map((_, i) => rows.filter(row => row[i + 1] === 't').map(row => Number(row[0])))
}

const FILTERS_OF_STATEMENT = 100

/** Compares rows by one key of an order, as `engine/query/execute/sort-keys.ts` describes it. */
function compareBy({ attribute, properties, descending }: SortKey) {
  const keyOf = (values: ReadonlyMap<StorageAttribute, Value>): readonly [number, Scalar] => {
    const own = attribute as StorageAttribute
    const value = properties.reduce<unknown>(propertyOf, values.get(own) ?? null) ?? null
    if (value === null) return [0, 0]
    if (properties.length === 0) return [1, scalarOf(value as Value, own)]
    const type = jsonTypeOf(value)
    return type === 'container'
      ? [4, 0]
      : [{ number: 1, text: 2, bool: 3 }[type], jsonScalar(value as string | number | boolean)]
  }
  return (a: ReadonlyMap<StorageAttribute, Value>, b: ReadonlyMap<StorageAttribute, Value>): number => {
    const [rankA, scalarA] = keyOf(a)
    const [rankB, scalarB] = keyOf(b)
    const difference = rankA - rankB || (scalarA < scalarB ? -1 : scalarA > scalarB ? 1 : 0)
    return descending ? -difference : difference
  }
}

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
  await server.run(SQL)
  const sql = await openRemoteSql(server, MODEL)
  t.teardown(() => sql.close())
  const rows = await readRows(sql)

  for (const [name, filters] of Object.entries(ALL_FILTERS)) {
    t.test(`filters of ${name}: ${columns[name]!.type}`, async t => {
      const all = bound(sql, filters())
      t.ok(all.length > 2, `${all.length} filters`)
      const wrong: string[] = []
      for (let start = 0; start < all.length; start += FILTERS_OF_STATEMENT) {
        const part = all.slice(start, start + FILTERS_OF_STATEMENT)
        const found = await keysFound(
          sql,
          part.map(({ predicate }) => predicate),
        )
        for (const [i, { text, predicate }] of part.entries()) {
          const expected = [...rows].filter(([, values]) => isTrue(predicate, values)).map(([key]) => key)
          const show = (keys: readonly number[]): string =>
            JSON.stringify(keys.map(key => String(rows.get(key)!.get(attributeOf(name)))))
          if (String(found[i]) !== String(expected))
            wrong.push(`${text}: ${show(found[i]!)} instead of ${show(expected)}`)
        }
      }
      t.same(wrong, [])
    })
  }
  const attributeOf = (name: string): StorageAttribute =>
    sql.dataClass('Thing').attributesByName.get(name) as StorageAttribute

  const orders = [
    ...Object.keys(COLUMNS),
    ...['json.p', 'jsonb.p', 'jsonb.p.q', 'jsonb.length', 'jsonb.0', 'jsonb.p.0.q'],
  ]
  // Exact numbers that are read as one double keep their order.
  const finer = ['number_numeric', 'json.p', 'jsonb.p']
  for (const name of orders) {
    t.test(`order by ${name}`, async t => {
      for (const text of [name, `${name} desc`]) {
        const orderBy = sql.orderBy('Thing', text)
        const compare = compareBy(orderBy[0]!)
        const page = { orderBy, skip: 0, count: Number.POSITIVE_INFINITY, columns: 'key', isCounted: false } as const
        const found = await sql.run(
          pageStatement(
            sql.table('Thing'),
            { ...page, among: undefined, referring: undefined, predicate: undefined },
            sql.scope,
          ),
        )
        const keys = found.map(([key]) => Number(key))
        const isInOrder = (a: number, b: number): boolean => {
          const difference = compare(rows.get(a)!, rows.get(b)!)
          return difference < 0 || (difference === 0 && (a < b || finer.includes(name)))
        }
        t.equal(keys.length, rows.size)
        t.same(
          keys.filter((key, i) => i > 0 && !isInOrder(keys[i - 1]!, key)),
          [],
          text,
        )
      }
    })
  }
}
