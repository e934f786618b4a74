import type { StorageAttribute } from '../../catalog/attribute.ts'
import { RowSet } from '../../row-set/row-set.ts'
import type { SketchScanner } from '../../simd/segment-kernels.ts'
import { SEGMENT_ROWS, SEGMENT_WORDS, type VectorSegment } from '../../storage/snapshot.ts'
import { lengthOf, type Similarity } from '../../vector/similarity.ts'
import { type LeastSums, MAX_SUM, sketchQuestion, type SketchQuestion } from '../../vector/sketch.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import type { QueryContext } from './evaluate.ts'
import type { Nearest } from './nearest-candidates.ts'
import { scoreRows } from './score-segment.ts'
import { Best } from './top-candidates.ts'

/**
 * So many standard deviations below a limit is still looked at. Estimates of what is near scatter a fourth more than others.
 * Of many nearest most are further from the limit, and the limit is rather too low.
 */
const THRESHOLD_DEVIATIONS = 3.5
const FEW_DEVIATIONS = 3
const MANY_DEVIATIONS = 2
const MANY = 50

/** Those of the rows of a segment that are probably as near as a limit. Valid until the next call. */
export type NearFilter = (segment: VectorSegment, rows: Uint32Array, limit: number) => Uint32Array

/** Leaves out what is hardly near, by its sketch; without sketches nothing. */
export function nearFilter(similarity: Similarity): NearFilter {
  const sketches = new Sketches(similarity, THRESHOLD_DEVIATIONS)
  return (segment, rows, limit) => {
    const scanner = sketches.of(segment)
    return scanner ? scanner.near(segment.page!.address, rows, sketches.leastSums(segment, limit)) : rows
  }
}

/** So many times what is wanted is scored, of those with the highest sums, to see how near the wanted ones are at least. */
const SCORED = 4
/** So many times what is wanted is remembered: mostly those that are as near are among them. */
export const REMEMBERED = 24

/**
 * Rows among which the first `count` of an order by similarity probably are, by their sketches.
 * @returns `rows` when there are no sketches, or when some have no vector
 */
export function nearestBySketches(
  { attribute, descending }: SortKey,
  similarity: Similarity,
  rows: RowSet,
  count: number,
  { snapshot, budget }: QueryContext,
): Nearest {
  const all = { rows, limit: undefined }
  if (rows.size < REMEMBERED * count) return all
  const table = snapshot.table(attribute.dataClass)
  const column = table.column(attribute as StorageAttribute)
  const sketches = new Sketches(similarity, count < MANY ? FEW_DEVIATIONS : MANY_DEVIATIONS)
  highest.clear(REMEMBERED * count)
  const segments = Math.ceil(table.rowIdLimit / SEGMENT_ROWS)
  let isSketched = true
  rows.forEachBlock(SEGMENT_WORDS, (index, wanted) => {
    budget.examine(SEGMENT_ROWS)
    const segment = column.segment(index) as VectorSegment
    const scanner = sketches.of(segment)
    isSketched &&= scanner !== undefined && hasAll(segment, wanted)
    if (!isSketched) return
    const found = scanner!.sums(segment.page!.address, wanted, highest.least)
    highest.add(index * SEGMENT_ROWS, found, (index + 1) / segments)
  })
  if (!isSketched) return all
  const leastScored = highest.leastOf(SCORED * count)
  const scored = highest.rows(leastScored)
  const limit = worstOf(scored)
  if (similarity.metric === 'cosine') {
    const { whole } = sketches.sumsOf(limit)
    if (whole >= highest.least) return { rows: highest.rows(Math.min(whole, leastScored)), limit }
  }
  const words = new Uint32Array(segments * SEGMENT_WORDS)
  rows.forEachBlock(SEGMENT_WORDS, (index, wanted) => {
    const segment = column.segment(index) as VectorSegment
    const least = sketches.leastSums(segment, limit)
    words.set(sketches.of(segment)!.near(segment.page!.address, wanted, least), index * SEGMENT_WORDS)
  })
  const near = RowSet.fromWords(words.subarray(0, (table.rowIdLimit + 31) >>> 5))
  return { rows: near.or(scored), limit }

  /** So good are the scores of `count` of them at least. */
  function worstOf(some: RowSet): number {
    const worsts = new Best(count)
    const any = descending ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
    const take = (_: number, least: number, most: number): void => {
      const worst = descending ? -least : most
      // Of a zero vector neither bound is known.
      if (worst < worsts.last) worsts.add(worst)
    }
    scoreRows(some, column, similarity, descending, () => any, take)
    return descending ? -worsts.last : worsts.last
  }
}

function hasAll({ present }: VectorSegment, wanted: Uint32Array): boolean {
  for (let word = 0; word < SEGMENT_WORDS; word++) if ((wanted[word]! & ~present[word]!) !== 0) return false
  return true
}

/** The first rows are not all remembered that will be too many in the end, though they may be the nearest. */
const MIN_SHARE = 0.2

/** The rows with the highest sums. Its arrays are used again: new ones for each query keep the garbage collector busy. */
class HighestSums {
  private readonly counts = new Uint32Array(MAX_SUM + 1)
  private rowIds = new Uint32Array(2 ** 14)
  private sums = new Uint16Array(2 ** 14)
  private size = 0
  /** How many of them have at least the least sum. */
  private above = 0
  private room = 0
  /** As many as there is room for are not below it. */
  least = 0

  /** @param room how many are wanted */
  clear(room: number): void {
    // Those that were counted are mostly few, and far from the highest that there can be.
    for (let i = 0; i < this.size; i++) this.counts[this.sums[i]!] = 0
    this.size = 0
    this.above = 0
    this.room = room
    this.least = 0
  }

  /**
   * @param found the row from `start` on and the sum of each, one after the other
   * @param share of all rows that have been looked at
   */
  add(start: number, found: Uint32Array, share: number): void {
    const { counts } = this
    const end = this.size + found.length / 2
    if (end > this.rowIds.length) this.grow(end)
    const { rowIds, sums } = this
    for (let i = 0, at = this.size; at < end; i += 2, at++) {
      rowIds[at] = start + found[i]!
      sums[at] = found[i + 1]!
      counts[found[i + 1]!]!++
    }
    this.above += end - this.size
    this.size = end
    const room = this.room * Math.max(MIN_SHARE, share)
    for (; this.above - counts[this.least]! >= room; this.least++) this.above -= counts[this.least]!
  }

  /** At least `count` have such a sum. */
  leastOf(count: number): number {
    let { least, above } = this
    for (; above - this.counts[least]! >= count; least++) above -= this.counts[least]!
    return least
  }

  /** Those with at least a sum. */
  rows(least: number): RowSet {
    const { rowIds, sums } = this
    let count = 0
    for (let i = 0; i < this.size; i++) if (sums[i]! >= least) count++
    const rows = new Uint32Array(count)
    for (let i = this.size - 1; count > 0; i--) if (sums[i]! >= least) rows[--count] = rowIds[i]!
    return RowSet.fromSorted(rows)
  }

  private grow(room: number): void {
    const { rowIds, sums } = this
    const length = Math.max(room, 2 * rowIds.length)
    this.rowIds = new Uint32Array(length)
    this.rowIds.set(rowIds)
    this.sums = new Uint16Array(length)
    this.sums.set(sums)
  }
}

const highest = new HighestSums()

/** What is asked of the sketches of vectors. */
class Sketches {
  private readonly question: SketchQuestion | undefined
  private readonly length: number
  private scanner: SketchScanner | null | undefined

  constructor(
    private readonly similarity: Similarity,
    private readonly deviations: number,
  ) {
    this.question = sketchQuestion(similarity.vector)
    this.length = lengthOf(similarity.vector)
  }

  /** @returns undefined: the segment has none */
  of({ page }: VectorSegment): SketchScanner | undefined {
    if (!page || !this.question) return undefined
    if (this.scanner === undefined) this.scanner = page.kernels.sketchScanner(this.question) ?? null
    return this.scanner?.has(page.address) ? this.scanner : undefined
  }

  sumsOf(cosine: number): LeastSums {
    return this.question!.sumsOf(cosine, this.deviations)
  }

  /** What vectors of the segment whose score is as good as a limit mostly have. */
  leastSums({ page }: VectorSegment, limit: number): LeastSums {
    const { metric } = this.similarity
    if (metric === 'cosine') return this.sumsOf(limit)
    const { shortest, longest } = this.scanner!.lengths(page!.address)
    const cosine =
      metric === 'dot'
        ? limit / (this.length * (limit > 0 ? longest : shortest))
        : leastCosine(limit, this.length, shortest, longest)
    // What is not known may be anything.
    return cosine > -1 ? this.sumsOf(cosine) : { first: 0, whole: 0 }
  }
}

/** Of two vectors that are no further apart than a distance, one of a length, the other between two. */
function leastCosine(distance: number, length: number, shortest: number, longest: number): number {
  const rest = length ** 2 - distance ** 2
  // By the law of cosines (l² + rest) / (2 l length), which is least where l² = rest.
  const other = Math.min(longest, Math.max(shortest, Math.sqrt(Math.max(0, rest))))
  return (other + rest / other) / (2 * length)
}
