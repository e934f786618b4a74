import type { StorageAttribute } from '../../catalog/attribute.ts'
import { RowSet } from '../../row-set/row-set.ts'
import { SEGMENT_ROWS, SEGMENT_WORDS, type VectorSegment } from '../../storage/snapshot.ts'
import type { Similarity } from '../../vector/similarity.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import type { QueryContext } from './evaluate.ts'
import { scansSegments } from './filter-vectors.ts'
import { limitScorer } from './score-segment.ts'
import { Best } from './top-candidates.ts'

/**
 * Rows among which the first `count` of an order by similarity are, with those that their codes do not tell from
 * them.
 * @returns `rows` when it would not pay, or when some have no vector
 */
export function nearestCandidates(
  { attribute, descending }: SortKey,
  similarity: Similarity,
  rows: RowSet,
  count: number,
  { snapshot, budget }: QueryContext,
): RowSet {
  const table = snapshot.table(attribute.dataClass)
  if (rows.size < 2 * count || !scansSegments(table, attribute as StorageAttribute, rows.size)) return rows
  const column = table.column(attribute as StorageAttribute)
  const score = limitScorer(similarity, descending)
  // Of each score the worst that it may be: as good as the last of these is good enough.
  const worsts = new Best(count)
  const rowIds: number[] = []
  /** The best that each of their scores may be. */
  const bests: number[] = []
  let hasNull = false
  rows.forEachBlock(SEGMENT_WORDS, (index, wanted) => {
    budget.examine(SEGMENT_ROWS)
    const segment = column.segment(index) as VectorSegment
    for (let word = 0; word < SEGMENT_WORDS; word++) if (wanted[word]! & ~segment.present[word]!) hasNull = true
    const { entries, bounds } = score(segment, wanted, descending ? -worsts.last : worsts.last)
    for (let i = 0; i < entries.length; i++) {
      const best = descending ? -bounds[2 * i + 1]! : bounds[2 * i]!
      // What is not known may be anything.
      if (best > worsts.last) continue
      rowIds.push(index * SEGMENT_ROWS + entries[i]!)
      bests.push(best)
      const worst = descending ? -bounds[2 * i]! : bounds[2 * i + 1]!
      if (worst < worsts.last) worsts.add(worst)
    }
  })
  if (hasNull) return rows
  const found = rowIds.filter((_, i) => !(bests[i]! > worsts.last))
  return RowSet.fromSorted(Uint32Array.from(found))
}
