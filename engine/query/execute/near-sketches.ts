import type { StorageAttribute } from '../../catalog/attribute.ts'
import { RowSet } from '../../row-set/row-set.ts'
import { MAX_SUMMED_PAGES, type SketchScanner } from '../../simd/vector-kernels.ts'
import { SEGMENT_ROWS, SEGMENT_WORDS, type VectorSegment } from '../../storage/snapshot.ts'
import { lengthOf, type Similarity } from '../../vector/similarity.ts'
import { type LeastSums, MAX_SUM, sketchQuestion, type SketchQuestion } from '../../vector/sketch.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import type { QueryContext } from './evaluate.ts'
import { NearestCandidates } from './nearest-candidates.ts'
import { forEachBatch, rowIdOf, type SegmentBatch } from './segment-batch.ts'

/**
 * So many standard deviations below a limit is still looked at. Estimates of what is near scatter up to a fourth more than
 * others. Of many nearest most are further from the limit, and the limit is rather too low.
 */
const THRESHOLD_DEVIATIONS = 3.6
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

/** So many times what is wanted is scored at first, of those with the highest sums, to see how near the wanted ones are. */
const SCORED = 4
/** So many times what is wanted is remembered: mostly those that are as near are among them. */
export const REMEMBERED = 24
const MIN_REMEMBERED = 1000
/** As a sample tells it only roughly, how many pass. */
const SPARE = 1.3
/** Rows of a sample: so many at least, and so many that pass. */
const SAMPLED = { rows: 2048, passing: 32 }
const WORD_BITS = Math.log2(SEGMENT_WORDS)
const SUMMED_AT_ONCE = { segments: MAX_SUMMED_PAGES, rows: Number.POSITIVE_INFINITY }

/**
 * Rows among which the first `count` of an order by similarity probably are, by their sketches.
 * @param rows that have vectors
 * @returns undefined when there are no sketches
 */
export function nearestBySketches(
  { attribute, descending }: SortKey,
  similarity: Similarity,
  rows: RowSet,
  count: number,
  { snapshot, budget }: QueryContext,
): RowSet | undefined {
  if (rows.size < REMEMBERED * count) return undefined
  const table = snapshot.table(attribute.dataClass)
  const column = table.column(attribute as StorageAttribute)
  const sketches = new Sketches(similarity, count < MANY ? FEW_DEVIATIONS : MANY_DEVIATIONS)
  budget.examine(rows.size)
  const room = Math.min(rows.size, SPARE * Math.max(REMEMBERED * count, MIN_REMEMBERED))
  const sampled = Math.max(SAMPLED.rows, (SAMPLED.passing * rows.size) / room)
  if (!sum(0, Math.max(1, Math.floor(rows.size / sampled)))) return undefined
  const least = sums.leastOf((sums.size * room) / rows.size)
  if (!sum(least)) return undefined
  const leastScored = sums.leastOf(SCORED * count)
  const candidates = new NearestCandidates(column, similarity, descending, count)
  candidates.add(sums.rows(leastScored))
  const limit = candidates.limit
  const whole = similarity.metric === 'cosine' ? sketches.sumsOf(limit).whole : 0
  // Else the sample was like few others.
  candidates.add(whole >= least ? sums.rows(whole, leastScored) : asNear().minus(sums.rows(leastScored)))
  return candidates.rows()

  /**
   * Remembers those whose sums are at least so much.
   * @param step of the rows by 32 every so manieth, for a sample
   * @returns whether all have sketches
   */
  function sum(least: number, step = 1): boolean {
    let isSketched = true
    sums.clear()
    forEachBatch(rows, column, SUMMED_AT_ONCE, batch => {
      budget.examine(0)
      const { segments, pages, wanted } = batch
      const scanner = sketches.of(segments[0]!)
      isSketched &&= scanner !== undefined && pages.every(page => scanner.has(page))
      if (!isSketched) return
      if (step > 1) keepEvery(step, batch)
      sums.add(batch, scanner!.sums(pages, wanted, least))
    })
    return isSketched
  }

  /** All that are probably as near as the limit. */
  function asNear(): RowSet {
    const words = new Uint32Array(Math.ceil(table.rowIdLimit / SEGMENT_ROWS) * SEGMENT_WORDS)
    rows.forEachBlock(SEGMENT_WORDS, (index, wanted) => {
      const segment = column.segment(index) as VectorSegment
      const least = sketches.leastSums(segment, limit)
      words.set(sketches.of(segment)!.near(segment.page!.address, wanted, least), index * SEGMENT_WORDS)
    })
    return RowSet.fromWords(words.subarray(0, (table.rowIdLimit + 31) >>> 5))
  }
}

/** Some from everywhere, by 32. */
function keepEvery(step: number, { indexes, wanted }: SegmentBatch): void {
  for (let i = 0; i < wanted.length; i++) {
    const word = indexes[i >>> WORD_BITS]! * SEGMENT_WORDS + (i & (SEGMENT_WORDS - 1))
    if (word % step !== 0) wanted[i] = 0
  }
}

/** Rows with their sums. Its arrays are used again: new ones for each query keep the garbage collector busy. */
class Sums {
  private readonly counts = new Uint32Array(MAX_SUM + 1)
  private rowIds = new Uint32Array(2 ** 14)
  private sums = new Uint16Array(2 ** 14)
  private highest = 0
  size = 0

  clear(): void {
    for (let i = 0; i < this.size; i++) this.counts[this.sums[i]!] = 0
    this.highest = 0
    this.size = 0
  }

  /** @param found a row of the batch and its sum, one after the other */
  add(batch: SegmentBatch, found: Uint32Array): void {
    const { counts } = this
    const end = this.size + found.length / 2
    if (end > this.rowIds.length) this.grow(end)
    const { rowIds, sums } = this
    let { highest } = this
    for (let i = 0, at = this.size; at < end; i += 2, at++) {
      const sum = found[i + 1]!
      rowIds[at] = rowIdOf(found[i]!, batch)
      sums[at] = sum
      counts[sum]!++
      if (sum > highest) highest = sum
    }
    this.highest = highest
    this.size = end
  }

  /** The highest sum that so many have at least; 0: there are not so many. */
  leastOf(count: number): number {
    let least = this.highest
    for (let above = this.counts[least]!; above < count && least > 0; above += this.counts[least]!) least--
    return least
  }

  /** Those with at least a sum, and less than another. */
  rows(least: number, below = Number.POSITIVE_INFINITY): RowSet {
    const { rowIds, sums } = this
    let count = 0
    for (let sum = least; sum <= this.highest && sum < below; sum++) count += this.counts[sum]!
    const rows = new Uint32Array(count)
    for (let i = 0, at = 0; at < count; i++) if (sums[i]! >= least && sums[i]! < below) rows[at++] = rowIds[i]!
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

const sums = new Sums()

/** What is asked of the sketches of vectors. */
class Sketches {
  private readonly question: SketchQuestion | undefined
  private readonly length: number
  private scanner: SketchScanner | null | undefined
  private last: { readonly cosine: number; readonly sums: LeastSums } | undefined

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
    if (this.scanner === undefined) this.scanner = page.kernels.vectors.sketchScanner(this.question) ?? null
    return this.scanner?.has(page.address) ? this.scanner : undefined
  }

  sumsOf(cosine: number): LeastSums {
    if (this.last?.cosine !== cosine) this.last = { cosine, sums: this.question!.sumsOf(cosine, this.deviations) }
    return this.last.sums
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
    return this.sumsOf(cosine > -1 ? cosine : Number.NEGATIVE_INFINITY)
  }
}

/** Of two vectors that are no further apart than a distance, one of a length, the other between two. */
function leastCosine(distance: number, length: number, shortest: number, longest: number): number {
  const rest = length ** 2 - distance ** 2
  // By the law of cosines (l² + rest) / (2 l length), which is least where l² = rest.
  const other = Math.min(longest, Math.max(shortest, Math.sqrt(Math.max(0, rest))))
  return (other + rest / other) / (2 * length)
}
