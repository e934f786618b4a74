/**
 * Pages read along the order of an index equal those of a sort: ascending and descending, with further keys, deep and
 * shallow, of all rows, of a range of the same attribute, and of the result of any filter.
 */
import t from 'tap'
import type { SortKey } from '../../../../engine/query/bind/bind-order-by.ts'
import { bindOrderBy } from '../../../../engine/query/bind/bind-order-by.ts'
import { orderScan } from '../../../../engine/query/execute/order-scan.ts'
import { QueryBudget } from '../../../../engine/query/scan/query-budget.ts'
import { orderOf } from '../../../../engine/query/execute/sort-keys.ts'
import { sortPositions } from '../../../../engine/query/execute/top-n.ts'
import { parseOrderBy } from '../../../../engine/query/parse/parse-order-by.ts'
import { RowSet } from '../../../../engine/row-set/row-set.ts'
import type { StorageAttribute } from '../../../../engine/catalog/attribute.ts'
import { publicView } from '../../../../engine/catalog/view.ts'
import { fakeStore } from '../../../support/engine/fake-table.ts'
import { staffCatalog } from '../../../support/fixtures/staff.ts'
import { randomOf } from '../../../support/base/random.ts'
import { runQuery } from '../../../support/engine/run-query.ts'

const catalog = staffCatalog()
const employee = catalog.dataClassesByName.get('Employee')!
const random = randomOf(3)
const ROWS = 3_000
const entities = {
  Employee: Array.from({ length: ROWS }, (_, ID) =>
    random.chance(0.1)
      ? undefined
      : {
          ID,
          name: random.chance(0.1) ? null : `n${random.integer(0, 400)}`,
          age: random.chance(0.2) ? null : random.integer(0, 3),
          salary: random.chance(0.1) ? null : random.integer(0, 50),
          companyID: null,
        },
  ),
  Company: [],
}
const store = fakeStore(catalog, entities)
const table = store.table(employee)
const context = { snapshot: store, budget: new QueryBudget() }
const sortedBy = (keys: readonly SortKey[], rowIds: Uint32Array): number[] =>
  [...sortPositions(rowIds.length, orderOf(keys, rowIds, context))].map(position => rowIds[position]!)

for (const orderBy of [
  'name',
  'name desc',
  'age',
  'age desc',
  'name, salary desc',
  'name desc, salary',
  'age desc, name',
]) {
  t.test(`order by ${orderBy}`, async t => {
    const keys = bindOrderBy(parseOrderBy(orderBy), employee, publicView(catalog))
    const { order } = table.index(keys[0]!.attribute as StorageAttribute)!
    for (let i = 0; i < 40; i++) {
      const [a, b] = [random.integer(0, order!.size), random.integer(0, order!.size)]
      const span = random.chance(0.5) ? { start: 0, end: order!.size } : { start: Math.min(a, b), end: Math.max(a, b) }
      const members = random.chance(0.5)
        ? RowSet.fromIds(table.live.toIds().filter(() => random.chance(0.3)))
        : undefined
      const skip = random.chance(0.3) ? 0 : random.integer(0, order!.size)
      const count = random.chance(0.1) ? Number.POSITIVE_INFINITY : random.integer(0, 80)
      // With further keys, a span begins and ends at the boundary of a value, as the spans of an index do.
      const whole = {
        start: span.start && order!.same(order!.rowIds({ start: span.start - 1, end: span.start })[0]!).end,
        end: span.end && order!.same(order!.rowIds({ start: span.end - 1, end: span.end })[0]!).end,
      }
      const rowIds = order!
        .rowIds(whole)
        .filter(rowId => !members || members.has(rowId))
        .sort()
      const maxRows = Number.POSITIVE_INFINITY
      const found = orderScan({ order: order!, span: whole, members, keys, skip, count, maxRows }, context)
      t.same([...found!], sortedBy(keys, rowIds).slice(skip, skip + count), `skip ${skip} count ${count}`)
    }
  })
}

t.test('a scan that finds too few rows is given up', async t => {
  const keys = bindOrderBy(parseOrderBy('name'), employee, publicView(catalog))
  const { order } = table.index(keys[0]!.attribute as StorageAttribute)!
  const last = order!.rowIds({ start: order!.size - 1, end: order!.size })
  const scan = { order: order!, span: { start: 0, end: order!.size }, members: RowSet.fromIds(last), keys }
  t.equal(orderScan({ ...scan, skip: 0, count: 1, maxRows: 600 }, context), undefined)
  t.same(orderScan({ ...scan, skip: 0, count: 1, maxRows: 10_000 }, context), last)
})

const queries = [
  { name: 'all rows', query: {} },
  { name: 'a range of the same attribute', query: { filter: 'name > n1 and name < n2' } },
  { name: 'a prefix of the same attribute', query: { filter: 'name begin n39' } },
  { name: 'one value', query: { filter: 'name = n39' } },
  { name: 'a pattern that too many values of the index match', query: { filter: 'name = "n3@9"' } },
  { name: 'a range and another condition', query: { filter: 'name >= n35 and salary > 10' } },
  { name: 'no value', query: { filter: 'name = null' } },
  { name: 'another attribute', query: { filter: 'salary > 5' } },
  { name: 'nothing', query: { filter: 'name = nobody' } },
]
for (const { name, query } of queries) {
  t.test(`pages of ${name} are parts of the whole sort`, async t => {
    for (const orderBy of ['name', 'name desc', 'name, salary', 'age desc']) {
      const all = runQuery(catalog, store, { ...query, orderBy })
      const expected = sortedBy(
        bindOrderBy(parseOrderBy(orderBy), employee, publicView(catalog)),
        Uint32Array.from(all.rowIds).sort(),
      )
      t.same([...all.rowIds], expected, orderBy)
      for (const skip of [0, 7, all.count >> 1, all.count - 1, all.count + 5]) {
        const page = runQuery(catalog, store, { ...query, orderBy, skip, top: 9 })
        t.same([...page.rowIds], expected.slice(Math.max(0, skip), skip + 9), `${orderBy} skip ${skip}`)
        t.equal(page.count, all.count)
      }
    }
  })
}

t.test('deleted members are sorted as null, on every page', async t => {
  const members = RowSet.fromIds(Uint32Array.from({ length: ROWS }, (_, rowId) => rowId))
  for (const [orderBy, sign] of [
    ['name', 1],
    ['name desc', -1],
  ] as const) {
    const nameOf = (rowId: number) => entities.Employee[rowId]?.name ?? ''
    const expected = [...members].sort((a, b) => {
      const [left, right] = [nameOf(a), nameOf(b)]
      return left === right ? a - b : left < right ? -sign : sign
    })
    const source = { kind: 'set', members } as const
    for (const [skip, top] of [
      [0, 10],
      [250, 10],
      [ROWS - 10, 10],
      [ROWS - 400, 300],
    ] as const) {
      const page = runQuery(catalog, store, { source, orderBy, skip, top })
      t.same([...page.rowIds], expected.slice(skip, skip + top), `${orderBy} ${skip}`)
    }
  }
})
