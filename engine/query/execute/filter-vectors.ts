import { RowSet } from '../../row-set/row-set.ts'
import { SEGMENT_ROWS, type TableSnapshot, type VectorSegment, vectorStart } from '../../storage/snapshot.ts'
import { passes, scoreOf, type Similarity } from '../../vector/similarity.ts'
import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { VectorFilter } from '../plan/physical-plan.ts'
import { isPresent, readsSegments } from './cell-reader.ts'
import type { QueryBudget } from './query-budget.ts'

/**
 * The candidates whose vectors have a score that passes. Complete: every one of them is looked at.
 * Cost: O(candidates × dimension).
 */
export function filterVectors(
  { attribute, similarity, test }: VectorFilter,
  table: TableSnapshot,
  candidates: RowSet,
  budget: QueryBudget,
): RowSet {
  const read = scoreReader(table, attribute, similarity, candidates.size)
  const ids = candidates.toIds()
  const passed = new Uint32Array(ids.length)
  let count = 0
  for (let i = 0; i < ids.length; i++) {
    if (i % SEGMENT_ROWS === 0) budget.examine(Math.min(SEGMENT_ROWS, ids.length - i))
    const score = read(ids[i]!)
    if (score !== undefined && passes(test, score)) passed[count++] = ids[i]!
  }
  return RowSet.fromSorted(passed.slice(0, count))
}

/**
 * A function that gives the score of single rows; undefined for null and for what has none.
 * @param expectedRows how many are going to be read: decides between the column and the rows themselves
 */
export function scoreReader(
  table: TableSnapshot,
  attribute: StorageAttribute,
  similarity: Similarity,
  expectedRows: number,
): (rowId: number) => number | undefined {
  if (!readsSegments(table, expectedRows) && table.rowsToDecode(attribute, 0) > 0) {
    return rowId => {
      const vector = table.row(rowId)?.value(attribute)
      return Array.isArray(vector) ? scoreOf(similarity, Float32Array.from(vector)) : undefined
    }
  }
  const column = table.column(attribute)
  const segments: VectorSegment[] = []
  return rowId => {
    if (rowId >= table.rowIdLimit) return undefined
    const index = Math.floor(rowId / SEGMENT_ROWS)
    segments[index] ??= column.segment(index) as VectorSegment
    const segment = segments[index]!
    const entry = rowId % SEGMENT_ROWS
    return isPresent(segment, entry)
      ? scoreOf(similarity, segment.floats, vectorStart(segment.starts[entry]!))
      : undefined
  }
}
