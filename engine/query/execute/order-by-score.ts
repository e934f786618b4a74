import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import type { Similarity } from '../../vector/math/similarity.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import type { QueryContext } from '../operators/query-context.ts'
import { scansSegments, scoreReader } from '../scan/filter-vectors.ts'
import { boundsOfScores } from '../scan/score-segment.ts'

/** Maximum number of rows; more are sorted like any other order. */
const MAX_ROWS = 4096

/**
 * Minimum and maximum possible score of each row, in single precision.
 * @returns undefined if there are too many rows, or some bounds are not known
 */
export function boundsOfFew(
  rows: RowSet,
  { attribute }: SortKey,
  similarity: Similarity,
  { snapshot }: QueryContext,
): Float64Array | undefined {
  const table = snapshot.table(attribute.dataClass)
  if (rows.size > MAX_ROWS || !scansSegments(table, attribute as StorageAttribute, rows.size)) return undefined
  return boundsOfScores(rows, table.column(attribute as StorageAttribute), similarity)
}

/**
 * Orders rows by score, then by id. Bounds decide about most rows; only rows with overlapping bounds are scored exactly.
 * @param bounds minimum and maximum possible score of each row
 */
export function orderByScore(
  rowIds: ArrayLike<number>,
  bounds: Float64Array,
  { attribute, descending }: SortKey,
  similarity: Similarity,
  { snapshot }: QueryContext,
): Uint32Array {
  // Best and worst possible score of each row. Better scores are lower here.
  const bests = new Float64Array(rowIds.length)
  const worsts = new Float64Array(rowIds.length)
  const order: number[] = []
  for (let i = 0; i < rowIds.length; i++) {
    bests[i] = descending ? -bounds[2 * i + 1]! : bounds[2 * i]!
    worsts[i] = descending ? -bounds[2 * i]! : bounds[2 * i + 1]!
    order.push(i)
  }
  order.sort((i, j) => bests[i]! - bests[j]!)
  const orderedIds = new Uint32Array(order.length)
  for (let i = 0; i < order.length; i++) orderedIds[i] = rowIds[order[i]!]!
  const read = scoreReader(snapshot.table(attribute.dataClass), attribute as StorageAttribute, similarity, 1)
  let worst = Number.NEGATIVE_INFINITY
  for (let start = 0, i = 0; i <= order.length; i++) {
    if (i === order.length || bests[order[i]!]! > worst) {
      if (i - start > 1) orderedIds.subarray(start, i).set(exactly(orderedIds.subarray(start, i)))
      start = i
    }
    if (i < order.length) worst = Math.max(worst, worsts[order[i]!]!)
  }
  return orderedIds

  function exactly(alike: Uint32Array): number[] {
    const scoredRows = Array.from(alike, rowId => ({ rowId, score: read(rowId) ?? Number.NaN }))
    scoredRows.sort((a, b) => (descending ? b.score - a.score : a.score - b.score) || a.rowId - b.rowId)
    return scoredRows.map(({ rowId }) => rowId)
  }
}
