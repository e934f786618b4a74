/** Searches of vectors: number of neighbours requested from an index, and results without one. */
import t, { type Test } from 'tap'
import { filterVectors } from '../../../../engine/query/scan/filter-vectors.ts'
import { filterByIndex, firstCount } from '../../../../engine/query/operators/index-search.ts'
import { orderByScore } from '../../../../engine/query/execute/order-by-score.ts'
import { QueryBudget } from '../../../../engine/query/scan/query-budget.ts'
import { toParams } from '../../../../engine/query/parse/parse-params.ts'
import { chooseVectorAccess, vectorSearches } from '../../../../engine/query/plan/vector-access.ts'
import { RowSet } from '../../../../engine/row-set/row-set.ts'
import type { Snapshot } from '../../../../engine/data/snapshot.ts'
import type { Similarity } from '../../../../engine/vector/math/similarity.ts'
import type { VectorIndex } from '../../../../engine/data/vector-index.ts'
import { openTestEngine } from '../../../support/engine/test-engine.ts'
import { insertRows } from '../../../support/servers/test-server.ts'
import { readItems, vectorModel } from '../../../support/engine/vector-items.ts'
import { createRowStore } from '../../../support/engine/write-rows.ts'

const ROWS = 600
const NEAR_0: Similarity = { metric: 'euclidean', vector: Float32Array.of(0) }

/**
 * Rows at 0, 1, 2 …, and an index that finds all of them and records the numbers of neighbours requested.
 * @param gone a deleted row that the index still finds, as the nearest
 */
function openIndexed(t: Test, gone?: number) {
  const rows = createRowStore(t.testdir({}), vectorModel({ dimension: 1, hnsw: {} }))
  rows.commit(write => {
    for (let row = 0; row < ROWS; row++) write.insert('Item', { ID: row, embedding: [row] })
  })
  const snapshot = rows.open().snapshot()
  const attribute = rows.attribute('Item', 'embedding')
  const asked: number[] = []
  const nearest: VectorIndex['nearest'] = (_, count) => {
    asked.push(count)
    const near = Array.from({ length: Math.min(count, ROWS) }, (_, row) => row)
    if (gone !== undefined) near[0] = gone
    return { near, bounds: Float64Array.from({ length: 2 * near.length }, (_, i) => i >>> 1), unknown: [] }
  }
  const index: VectorIndex = { metric: 'euclidean', cost: () => 0, nearest }
  const indexed: Snapshot = {
    ...snapshot,
    table: each => snapshot.table(each),
    vectorIndexes: { find: () => index, neededCounts: new Map() },
  }
  t.teardown(async () => {
    snapshot.release()
    await rows.environment.close()
  })
  return { attribute, indexed, asked }
}

function open(t: Test, gone?: number) {
  const { attribute, indexed, asked } = openIndexed(t, gone)
  /** @returns number of candidates nearer to 0 than `threshold`, and the numbers of neighbours requested */
  return (threshold: number, candidates?: RowSet): { found: number | undefined; asked: number[] } => {
    asked.length = 0
    const found = filterByIndex(
      {
        kind: 'VectorFilter',
        attribute,
        similarity: NEAR_0,
        test: { comparator: 'less', threshold },
        access: 'index',
        wanted: firstCount(indexed.vectorIndexes!, attribute),
      },
      indexed.table(attribute.dataClass),
      candidates ?? indexed.table(attribute.dataClass).live,
      { snapshot: indexed, budget: new QueryBudget() },
    )
    return { found: found?.size, asked: [...asked] }
  }
}

t.test('a search is repeated with more candidates if more than half of them pass', async t => {
  const search = open(t)
  t.strictSame(search(50), { found: 50, asked: [100] })
  t.strictSame(search(51), { found: 51, asked: [100, 170] })
})

t.test('a search begins with the number that the previous one needed', async t => {
  const search = open(t)
  t.strictSame(search(100), { found: 100, asked: [100, 170] })
  t.strictSame(search(90), { found: 90, asked: [170] })
  t.strictSame(search(10), { found: 10, asked: [170] })
  t.strictSame(search(10), { found: 10, asked: [100] })
})

t.test('a threshold that too many rows pass is left to a scan', async t => {
  const search = open(t)
  t.strictSame(search(200), { found: undefined, asked: [100, 170] })
  t.strictSame(search(10), { found: 10, asked: [100] })
})

t.test('a row that was deleted since the index was built is not found', async t => {
  t.strictSame(open(t, ROWS + 7)(10), { found: 9, asked: [100] })
})

t.test('only candidates are found, and for few candidates no index is searched', async t => {
  const search = open(t)
  const rows = (count: number) => RowSet.fromIds(Array.from({ length: count }, (_, row) => row + 5))
  t.strictSame(search(10, rows(ROWS - 5)), { found: 5, asked: [100] })
  t.strictSame(search(10, rows(2)), { found: undefined, asked: [] })
})

t.test(
  'an index is searched for a page of the nearest, with the size of the page as the number, up to a limit',
  async t => {
    const { attribute, indexed } = openIndexed(t)
    const similarity: Similarity = { metric: 'euclidean', vector: Float32Array.of(1) }
    const key = { path: 'embedding', relations: [], attribute, properties: [], descending: false, similarity }
    const filter = { kind: 'VectorFilter', attribute, similarity, test: undefined, access: 'scan' } as const
    for (const [count, searched] of [
      [5, [5]],
      [256, [256]],
      [257, []],
    ] as const) {
      const chosen = chooseVectorAccess(filter, attribute.dataClass, {
        snapshot: indexed,
        order: { keys: [key], count },
        passesFew: () => false,
      })
      t.match(chosen, { access: searched.length > 0 ? 'index' : 'scan' })
      t.same(
        vectorSearches(chosen, attribute.dataClass).map(search => search.count),
        searched,
      )
    }
  },
)

t.test(
  'an index is searched for a threshold that few rows pass, first with the number that the last search needed',
  async t => {
    const { attribute, indexed } = openIndexed(t)
    const test = { comparator: 'less', threshold: 3 } as const
    const similarity: Similarity = { metric: 'euclidean', vector: Float32Array.of(1) }
    const filter = { kind: 'VectorFilter', attribute, similarity, test, access: 'scan' } as const
    const chosen = (isFew: boolean) =>
      chooseVectorAccess(filter, attribute.dataClass, { snapshot: indexed, order: undefined, passesFew: () => isFew })
    t.same(chosen(false), filter)
    t.same(chosen(true), { ...filter, access: 'index', wanted: 100 })
    indexed.vectorIndexes!.neededCounts.set(attribute, 170)
    t.same(chosen(true), { ...filter, access: 'index', wanted: 170 })
  },
)

t.test('among few candidates of many rows all that pass are found', async t => {
  const { attribute, indexed } = openIndexed(t)
  const test = { comparator: 'less', threshold: 500 } as const
  const found = filterVectors(
    { attribute, similarity: NEAR_0, test },
    indexed.table(attribute.dataClass),
    RowSet.fromIds([3, 400, 499, 500, 599]),
    new QueryBudget(),
  )
  t.same([...found.toIds()], [3, 400, 499])
})

t.test('rows are found as soon as they have a score', async t => {
  const engine = await openTestEngine(t, { model: vectorModel({ dimension: 2 }), memoryBytes: 2 ** 24 })
  await insertRows(engine.saves, 'Item', [
    { ID: 0, embedding: [1, 0] },
    { ID: 1, embedding: null },
    { ID: 2, embedding: [0, 0] },
  ])
  const params = toParams([{ vector: [1, 0], threshold: null }])
  const scored = async () => (await readItems(engine, { filter: 'embedding > :1', params, orderBy: 'ID' })).keys
  t.same([await scored(), await scored()], [[0], [0]])
  const body = Buffer.from('{"__KEY":"1","__STAMP":1,"embedding":[0,1]}')
  await engine.saves.write({ kind: 'save', dataClass: 'Item', body, mode: 'update', atomic: false })
  t.same(await scored(), [0, 1])
})

t.test('rows are ordered by bounds of scores where these do not overlap, otherwise by exact scores', async t => {
  const rows = createRowStore(t.testdir({}), vectorModel({ dimension: 1 }))
  const distances = [5, 3, 9, 1, 3, 8]
  rows.commit(write => {
    for (const [ID, distance] of distances.entries()) write.insert('Item', { ID, embedding: [distance] })
  })
  const snapshot = rows.open().snapshot()
  t.teardown(async () => {
    snapshot.release()
    await rows.environment.close()
  })
  const attribute = rows.attribute('Item', 'embedding')
  const similarity = NEAR_0
  const context = { snapshot, budget: new QueryBudget() }
  const slacks = [0, 4, 0.1, 2, 0, 6]
  for (let turn = 0; turn < 36; turn++) {
    const slack = (row: number) => slacks[row % slacks.length]!
    const bounds = Float64Array.from(
      distances.flatMap((distance, row) => [
        distance - slack(row + turn),
        distance + slack(row + Math.floor(turn / 6)),
      ]),
    )
    for (const [descending, order] of [
      [false, [3, 1, 4, 0, 5, 2]],
      [true, [2, 5, 0, 1, 4, 3]],
    ] as const) {
      const key = { path: 'embedding', relations: [], attribute, properties: [], descending, similarity }
      const ordered = orderByScore([...distances.keys()], bounds, key, similarity, context)
      t.same([...ordered], order, `within ${[...bounds]}, ${descending ? 'descending' : 'ascending'}`)
    }
  }
})
