import { RowSet } from '../../row-set/row-set.ts'
import type { TableSnapshot } from '../../data/snapshot.ts'
import { passes } from '../../vector/math/similarity.ts'
import { effortOf, MEASURED_COUNT, type VectorIndexes } from '../../data/vector-index.ts'
import type { VectorFilter } from './vector-filter.ts'
import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { QueryContext } from './query-context.ts'
import { scoreReader } from '../scan/filter-vectors.ts'

/** Minimum share of all rows that are candidates: below it, scanning them costs less than finding enough of them in an index. */
export const MIN_CANDIDATES_SHARE = 0.25
/** Maximum number of rows to search for in an index: beyond it a scan costs less and misses none. */
export const maxFound = (rows: number): number => Math.max(256, 0.0025 * rows)

/** Number of nearest rows in the first search for all above a threshold: as many as the last search needed. */
export const firstCount = ({ neededCounts: counts }: VectorIndexes, attribute: StorageAttribute): number =>
  counts.get(attribute) ?? MEASURED_COUNT

/**
 * Factor on the number of nearest rows in the next search, if the last one may not have found all. A larger first search, which needs
 * no second one, took twice as long for thresholds of 384 numbers (454 µs and 235).
 */
const GROWTH = 1.7
/** Minimum ratio of candidates to wanted rows: a search misses more among its last candidates. */
const CANDIDATES_PER_HIT = 2

/** Maximum number of hits for which a search for `count` nearest rows is assumed to have found all of them. */
const maxHits = (count: number): number => (MEASURED_COUNT * effortOf(count)) / CANDIDATES_PER_HIT

/**
 * Finds candidates whose score passes, by searching the index for more and more of the nearest rows until enough of them fail.
 * @returns undefined when there are too many, or no index can be searched
 * @throws {Suspended}
 */
export function filterByIndex(
  { attribute, similarity, test, wanted = MEASURED_COUNT }: VectorFilter,
  table: TableSnapshot,
  candidates: RowSet,
  { snapshot, budget }: QueryContext,
): RowSet | undefined {
  const { vectorIndexes } = snapshot
  const index = vectorIndexes?.find(attribute)
  if (!vectorIndexes || !index?.nearest || candidates.size < MIN_CANDIDATES_SHARE * table.live.size) return undefined
  const read = scoreReader(table, attribute, similarity, MEASURED_COUNT)
  const isHit = (rowId: number): boolean => {
    const score = table.live.has(rowId) ? read(rowId) : undefined
    return score !== undefined && passes(test, score)
  }
  for (let count = wanted; count <= maxFound(table.live.size); count = Math.ceil(count * GROWTH)) {
    const { near, bounds, unknown } = index.nearest(similarity.vector, count)
    budget.examine(near.length + unknown.length)
    const isNear = (rowId: number, i: number): boolean => {
      const isSure = bounds !== undefined && passes(test, bounds[2 * i]!) === passes(test, bounds[2 * i + 1]!)
      return isSure ? passes(test, bounds[2 * i]!) && table.live.has(rowId) : isHit(rowId)
    }
    const hits = near.filter(isNear)
    if (near.length === count && hits.length > maxHits(count)) continue
    vectorIndexes.neededCounts.set(attribute, hits.length > maxHits(MEASURED_COUNT) ? count : MEASURED_COUNT)
    hits.push(...unknown.filter(isHit))
    return RowSet.fromIds(candidates === table.live ? hits : hits.filter(rowId => candidates.has(rowId)))
  }
  return undefined
}

/** Rows that an index has found. */
interface Found {
  readonly rowIds: readonly number[]
  /** Minimum and maximum possible score of each row; undefined if not known for all. */
  readonly bounds: Float64Array | undefined
}

/**
 * Rows that include the nearest `count`, except any that the index misses.
 * @returns undefined when a scan costs less, or no index can be searched
 * @throws {Suspended}
 */
export function nearestByIndex(
  { attribute, similarity, wanted: first = 0 }: VectorFilter,
  rows: RowSet,
  count: number,
  { snapshot, budget }: QueryContext,
): Found | undefined {
  const index = snapshot.vectorIndexes?.find(attribute)
  const table = snapshot.table(attribute.dataClass)
  const share = rows.size / Math.max(1, table.live.size)
  if (!index?.nearest || share < MIN_CANDIDATES_SHARE) return undefined
  for (let searchCount = Math.max(first, count); searchCount <= maxFound(table.live.size); searchCount *= 2) {
    const { near, bounds, unknown } = index.nearest(similarity.vector, searchCount)
    budget.examine(near.length + unknown.length)
    const hits = near.filter(rowId => rows.has(rowId))
    if (hits.length < count) continue
    if (unknown.length > 0) {
      return { rowIds: [...hits, ...unknown.filter(rowId => rows.has(rowId))], bounds: undefined }
    }
    return {
      rowIds: hits,
      bounds: hits.length === near.length ? bounds : bounds?.filter((_, i) => rows.has(near[i >>> 1]!)),
    }
  }
  return undefined
}
