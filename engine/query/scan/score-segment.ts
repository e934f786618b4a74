import type { RowSet } from '../../row-set/row-set.ts'
import { type Column, SEGMENT_ROWS, SEGMENT_WORDS, type VectorSegment, vectorStart } from '../../data/snapshot.ts'
import { type CodeScorer, MAX_PAGES, type Scored, type VectorScorer } from '../../data/kernels.ts'
import { lengthOf, scoreOf, type Similarity } from '../../vector/math/similarity.ts'
import { forEachBatch, rowIdOf, type SegmentBatch } from './segment-batch.ts'
import { type CodedQuestion, codeQuestion, isUsual } from '../../vector/math/vector-codes.ts'

/**
 * Scores the rows that have a vector, in order: returns the minimum and maximum possible score of each. NaN means any score, or
 * none. Valid until the next call.
 */
type SegmentScorer = (
  segment: VectorSegment,
  rows: Uint32Array,
  /** Set for a batch of several segments, of which `segment` is the first; `rows` are those of all of them. */
  pages?: readonly number[],
) => Float32Array | Float64Array

/**
 * Scores segment by segment: by a kernel in single precision if the segment is in shared memory, else exactly.
 *
 * A kernel sums a sixteenth of the products in each lane, so that with u = 2^-24 the error of the sum is less than
 * (dimension / 16 + 10) u of the product of the lengths; the tolerance here is twice that.
 * Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), 3.1.
 */
export function segmentScorer(similarity: Similarity): SegmentScorer {
  const { metric, vector } = similarity
  const length = lengthOf(vector)
  // A zero vector becomes NaN, which is correct: it has no cosine.
  const isDirection = metric === 'cosine' || (metric === 'dot' && length > 0)
  const question = {
    metric,
    vector: isDirection ? vector.map(number => number / length) : vector,
    // Beyond the range of f32 there are no bounds.
    scale: isUsual(length) ? length : Number.NaN,
    tolerance: (vector.length / 8 + 20) * 2 ** -24,
  }
  // Allocated only if needed: with 64 KB for each query, garbage collection would take more time than the kernels.
  let exact: Float64Array | undefined
  let scorer: VectorScorer | null | undefined
  return (segment, rows, pages) => {
    if (segment.page && scorer === undefined) scorer = segment.page.kernels.vectors.scorer(question) ?? null
    if (segment.page && scorer) return scorer(pages ?? [segment.page.address], rows)
    exact ??= new Float64Array(2 * SEGMENT_ROWS)
    return exactScores(similarity, segment, rows, exact)
  }
}

/** Batch size of a kernel. */
const SCORED_AT_ONCE = { segments: MAX_PAGES, rows: SEGMENT_ROWS }

/** Returns the rows whose score may reach a limit, with bounds. Valid until the next call. */
type LimitScorer = (segment: VectorSegment, rows: Uint32Array, limit: number) => Scored

/**
 * Scores vectors that may reach a limit, segment by segment: by their codes if the segment is in shared memory, which is three
 * to five times faster than {@link segmentScorer} but gives wider bounds.
 * @param above true to find scores from the limit up, false from the limit down
 */
export function limitScorer(similarity: Similarity, above: boolean): LimitScorer {
  const codes = new Codes(similarity, above)
  const score = segmentScorer(similarity)
  return (segment, rows, limit) => {
    const scorer = codes.scorer(segment)
    return scorer
      ? scorer([segment.page!.address], rows, limit)
      : within(limit, above, score(segment, rows), segment, rows)
  }
}

/**
 * Scores rows that may be far apart and may reach a limit. If there are few rows in each segment, a kernel handles many segments
 * at once, so that the memory accesses to their rows overlap.
 * @param limit returns the current limit, which may tighten as rows are taken
 */
export function scoreRows(
  rows: RowSet,
  column: Column,
  similarity: Similarity,
  above: boolean,
  limit: () => number,
  take: (rowId: number, least: number, most: number) => void,
): void {
  const codes = new Codes(similarity, above)
  let scoreOne: LimitScorer | undefined
  const tell = ({ entries, bounds }: Scored, batch: Pick<SegmentBatch, 'indexes'>): void => {
    for (let i = 0; i < entries.length; i++) take(rowIdOf(entries[i]!, batch), bounds[2 * i]!, bounds[2 * i + 1]!)
  }
  forEachBatch(rows, column, SCORED_AT_ONCE, batch => {
    const { segments, indexes, pages, wantedRows } = batch
    const scorer = codes.scorer(segments[0]!)
    if (scorer) return tell(scorer(pages, wantedRows, limit()), batch)
    scoreOne ??= limitScorer(similarity, above)
    for (const [i, segment] of segments.entries()) {
      const ofOne = wantedRows.subarray(i * SEGMENT_WORDS, (i + 1) * SEGMENT_WORDS)
      tell(scoreOne(segment, ofOne, limit()), { indexes: [indexes[i]!] })
    }
  })
}

/**
 * Minimum and maximum possible score of each row, in order, in single precision.
 * @returns undefined if not known for all rows
 */
export function boundsOfScores(rows: RowSet, column: Column, similarity: Similarity): Float64Array | undefined {
  const score = segmentScorer(similarity)
  const bounds = new Float64Array(2 * rows.size)
  let end = 0
  forEachBatch(rows, column, SCORED_AT_ONCE, ({ segments, pages, wantedRows }) => {
    const scores = score(segments[0]!, wantedRows, pages)
    bounds.set(scores, end)
    end += scores.length
  })
  return end === bounds.length && !bounds.some(Number.isNaN) ? bounds : undefined
}

/** A similarity in the form for kernels that read codes. */
class Codes {
  private readonly question: CodedQuestion | undefined
  private cachedScorer: CodeScorer | null | undefined

  constructor(
    private readonly similarity: Similarity,
    private readonly above: boolean,
  ) {
    this.question = codeQuestion(similarity.vector)
  }

  /** @returns undefined if the segment is not in shared memory, or the vector cannot be compared by codes */
  scorer({ page }: VectorSegment): CodeScorer | undefined {
    if (!page) return undefined
    if (this.cachedScorer === undefined) {
      this.cachedScorer =
        (this.question && page.kernels.vectors.codeScorer(this.question, this.similarity.metric, this.above)) ?? null
    }
    return this.cachedScorer ?? undefined
  }
}

function within(
  limit: number,
  above: boolean,
  scores: ArrayLike<number>,
  { presence: present }: VectorSegment,
  rows: Uint32Array,
): Scored {
  const entries = new Uint32Array(scores.length / 2)
  const bounds = new Float64Array(scores.length)
  let count = 0
  for (let word = 0, i = 0; word < SEGMENT_WORDS; word++) {
    for (let bits = rows[word]! & present[word]!; bits !== 0; bits &= bits - 1, i += 2) {
      if (above ? scores[i + 1]! < limit : scores[i]! > limit) continue
      entries[count] = word * 32 + (31 - Math.clz32(bits & -bits))
      bounds[2 * count] = scores[i]!
      bounds[2 * count++ + 1] = scores[i + 1]!
    }
  }
  return { entries: entries.subarray(0, count), bounds: bounds.subarray(0, 2 * count) }
}

function exactScores(
  similarity: Similarity,
  segment: VectorSegment,
  rows: Uint32Array,
  scores: Float64Array,
): Float64Array {
  let count = 0
  for (let word = 0; word < SEGMENT_WORDS; word++) {
    for (let bits = rows[word]! & segment.presence[word]!; bits !== 0; bits &= bits - 1) {
      const start = segment.starts[word * 32 + (31 - Math.clz32(bits & -bits))]!
      const score = scoreOf(similarity, segment.floats, vectorStart(start)) ?? Number.NaN
      scores[count++] = score
      scores[count++] = score
    }
  }
  return scores.subarray(0, count)
}
