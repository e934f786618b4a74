import type { StorageAttribute } from '../../catalog/attribute.ts'
import { RowSet } from '../../row-set/row-set.ts'
import { SEGMENT_ROWS, SEGMENT_WORDS } from '../../storage/snapshot.ts'
import type { Similarity } from '../../vector/similarity.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import type { QueryContext } from './evaluate.ts'
import { scansSegments } from './filter-vectors.ts'
import { scoreRows } from './score-segment.ts'
import { Best } from './top-candidates.ts'

/** Rows among which the first of an order by similarity are. */
export interface Nearest {
  readonly rows: RowSet
  /** As many of them as are wanted have a score that is at least as good. Undefined: that is not known. */
  readonly limit: number | undefined
}

/**
 * Those of the rows among which the first `count` of an order by similarity are, with those that their codes do not tell
 * from them.
 * @returns `rows` when it would not pay, or when some have no vector
 */
export function nearestCandidates(
  { attribute, descending }: SortKey,
  similarity: Similarity,
  { rows, limit }: Nearest,
  count: number,
  { snapshot, budget }: QueryContext,
): RowSet {
  const table = snapshot.table(attribute.dataClass)
  if (rows.size < 2 * count || !scansSegments(table, attribute as StorageAttribute, rows.size)) return rows
  const column = table.column(attribute as StorageAttribute)
  let hasNull = false
  rows.forEachBlock(SEGMENT_WORDS, (index, wanted) => {
    budget.examine(SEGMENT_ROWS)
    const { present } = column.segment(index)
    for (let word = 0; word < SEGMENT_WORDS; word++) if (wanted[word]! & ~present[word]!) hasNull = true
  })
  if (hasNull) return rows
  // Of each score the worst that it may be: as good as the last of these is good enough. What is better is lower here.
  const worsts = new Best(count)
  const sign = descending ? -1 : 1
  const known = limit === undefined ? Number.POSITIVE_INFINITY : sign * limit
  const last = () => Math.min(worsts.last, known)
  const rowIds: number[] = []
  /** The best that each of their scores may be. */
  const bests: number[] = []
  const limitNow = () => sign * last()
  scoreRows(rows, column, similarity, descending, limitNow, (rowId, least, most) => {
    const best = descending ? -most : least
    // What is not known may be anything.
    if (best > last()) return
    rowIds.push(rowId)
    bests.push(best)
    const worst = descending ? -least : most
    if (worst < worsts.last) worsts.add(worst)
  })
  const found = rowIds.filter((_, i) => !(bests[i]! > last()))
  return RowSet.fromSorted(Uint32Array.from(found))
}
