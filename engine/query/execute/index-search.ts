import { RowSet } from '../../row-set/row-set.ts'
import type { TableSnapshot } from '../../storage/snapshot.ts'
import { passes } from '../../vector/similarity.ts'
import type { VectorFilter } from '../plan/physical-plan.ts'
import { MIN_CANDIDATES_SHARE, maxFound } from '../plan/vector-access.ts'
import type { QueryContext } from './evaluate.ts'
import { scoreReader } from './filter-vectors.ts'

/** Nearest that are asked for at first. */
const FIRST_COUNT = 64

/**
 * The candidates whose score passes, found by asking the index for more and more of the nearest until one of them fails.
 * @returns undefined when there are too many, or the thread does not have the index
 */
export function filterByIndex(
  { attribute, similarity, test }: VectorFilter,
  table: TableSnapshot,
  candidates: RowSet,
  { snapshot, budget }: QueryContext,
): RowSet | undefined {
  const index = snapshot.vectorIndexes?.find(attribute)
  if (!index?.nearest || candidates.size < MIN_CANDIDATES_SHARE * table.live.size) return undefined
  const read = scoreReader(table, attribute, similarity, FIRST_COUNT)
  for (let count = FIRST_COUNT; count <= maxFound(table.live.size); count *= 4) {
    const { near, unknown } = index.nearest(similarity.vector, count)
    budget.examine(near.length + unknown.length)
    const isHit = (rowId: number): boolean => {
      const score = table.live.has(rowId) ? read(rowId) : undefined
      return score !== undefined && passes(test, score)
    }
    // All that pass are nearer than the last one then.
    if (near.length === count && isHit(near.at(-1)!)) continue
    return RowSet.fromIds([...near, ...unknown].filter(rowId => candidates.has(rowId) && isHit(rowId)))
  }
  return undefined
}

/**
 * Rows among which the nearest `count` are, but for what the index misses.
 * @returns undefined when a scan costs less, or the thread does not have the index
 */
export function nearestByIndex(
  { attribute, similarity }: VectorFilter,
  rows: RowSet,
  count: number,
  { snapshot, budget }: QueryContext,
): RowSet | undefined {
  const index = snapshot.vectorIndexes?.find(attribute)
  const table = snapshot.table(attribute.dataClass)
  const share = rows.size / Math.max(1, table.live.size)
  if (!index?.nearest || share < MIN_CANDIDATES_SHARE) return undefined
  // Of the nearest this share are among the rows.
  for (let wanted = Math.ceil(count / share); wanted <= maxFound(table.live.size); wanted *= 2) {
    const { near, unknown } = index.nearest(similarity.vector, wanted)
    budget.examine(near.length + unknown.length)
    const found = near.filter(rowId => rows.has(rowId))
    if (found.length >= count) return RowSet.fromIds([...found, ...unknown.filter(rowId => rows.has(rowId))])
  }
  return undefined
}
