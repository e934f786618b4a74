/** How much is asked of an index of vectors to find all above a threshold. */
import t, { type Test } from 'tap'
import { filterByIndex } from '../../../../engine/query/execute/index-search.ts'
import { QueryBudget } from '../../../../engine/query/execute/query-budget.ts'
import { wantedAbove } from '../../../../engine/query/plan/vector-access.ts'
import type { Snapshot } from '../../../../engine/storage/snapshot.ts'
import type { VectorIndex } from '../../../../engine/vector/vector-index.ts'
import { vectorModel } from '../../../support/vector-items.ts'
import { createRowStore } from '../../../support/write-rows.ts'

const ROWS = 600

/** Rows at 0, 1, 2 …, and an index that finds all of them and counts how many it is asked for. */
function open(t: Test) {
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
    return { near, bounds: Float64Array.from({ length: 2 * near.length }, (_, i) => i >>> 1), unknown: [] }
  }
  const index: VectorIndex = { metric: 'euclidean', cost: () => 1, nearest }
  const indexed: Snapshot = { ...snapshot, table: each => snapshot.table(each), vectorIndexes: { find: () => index } }
  t.teardown(async () => {
    snapshot.release()
    await rows.environment.close()
  })
  /** @returns how many there are nearer to 0, and how many were asked for each time */
  return (threshold: number): { found: number | undefined; asked: number[] } => {
    asked.length = 0
    const found = filterByIndex(
      {
        kind: 'VectorFilter',
        attribute,
        similarity: { metric: 'euclidean', vector: Float32Array.of(0) },
        test: { comparator: 'less', threshold },
        access: 'index',
        wanted: wantedAbove(attribute),
      },
      indexed.table(attribute.dataClass),
      indexed.table(attribute.dataClass).live,
      { snapshot: indexed, budget: new QueryBudget() },
    )
    return { found: found?.size, asked: [...asked] }
  }
}

t.test('half of the candidates may pass and no more: else a search has not surely found all that do', async t => {
  const search = open(t)
  t.strictSame(search(50), { found: 50, asked: [100] })
  t.strictSame(search(51), { found: 51, asked: [100, 170] })
})

t.test('a search begins with what the one before had to ask for', async t => {
  const search = open(t)
  t.strictSame(search(100), { found: 100, asked: [100, 170] })
  t.strictSame(search(90), { found: 90, asked: [170] })
  t.strictSame(search(10), { found: 10, asked: [170] })
  t.strictSame(search(10), { found: 10, asked: [100] })
})

t.test('what too many pass is left to a scan', async t => {
  const search = open(t)
  t.strictSame(search(200), { found: undefined, asked: [100, 170] })
  t.strictSame(search(10), { found: 10, asked: [100] })
})
