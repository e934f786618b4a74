import type { StorageAttribute } from '../../catalog/attribute.ts'
import { RowSet } from '../../row-set/row-set.ts'
import { type Column, SEGMENT_ROWS, SEGMENT_WORDS } from '../../data/snapshot.ts'
import type { Similarity } from '../../vector/math/similarity.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import type { QueryContext } from '../operators/query-context.ts'
import { scansSegments } from '../scan/filter-vectors.ts'
import { scoreRows } from '../scan/score-segment.ts'
import { Best } from './top-candidates.ts'

/** Candidates for the first `count` rows of an order by similarity: rows that their codes cannot exclude. */
export class NearestCandidates {
  /** The `count` best of the worst possible scores: a candidate has to reach the last of these. Better scores are lower here. */
  private readonly worsts: Best
  private readonly rowIds: number[] = []
  /** Best possible score of each row. */
  private readonly bests: number[] = []

  constructor(
    private readonly column: Column,
    private readonly similarity: Similarity,
    private readonly descending: boolean,
    count: number,
  ) {
    this.worsts = new Best(count)
  }

  /** Score that at least `count` rows reach. */
  get limit(): number {
    return this.descending ? -this.worsts.last : this.worsts.last
  }

  /** @param rows rows that have vectors, each added only once */
  add(rows: RowSet): void {
    const { column, similarity, descending, worsts, rowIds, bests } = this
    const limit = () => this.limit
    scoreRows(rows, column, similarity, descending, limit, (rowId, least, most) => {
      const best = descending ? -most : least
      // A score that is not known (NaN) may be any value, so its row stays.
      if (best > worsts.last) return
      rowIds.push(rowId)
      bests.push(best)
      const worst = descending ? -least : most
      if (worst < worsts.last) worsts.add(worst)
    })
  }

  rows(): RowSet {
    const { bests, worsts } = this
    return RowSet.fromIds(this.rowIds.filter((_, i) => !(bests[i]! > worsts.last)))
  }
}

/**
 * Candidates among `rows` for the first `count` rows of an order by similarity.
 * @returns `rows` when the selection would not pay off, or when some have no vector
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
  let hasNull = false
  rows.forEachBlock(SEGMENT_WORDS, (index, bits) => {
    budget.examine(SEGMENT_ROWS)
    const { presence: present } = column.segment(index)
    for (let word = 0; word < SEGMENT_WORDS; word++) if (bits[word]! & ~present[word]!) hasNull = true
  })
  if (hasNull) return rows
  const candidates = new NearestCandidates(column, similarity, descending, count)
  candidates.add(rows)
  return candidates.rows()
}
