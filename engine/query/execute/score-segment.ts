import { SEGMENT_ROWS, SEGMENT_WORDS, type VectorSegment, vectorStart } from '../../storage/snapshot.ts'
import type { CodeScorer, Scored, VectorScorer } from '../../simd/segment-kernels.ts'
import { lengthOf, scoreOf, type Similarity } from '../../vector/similarity.ts'
import { codeQuestion, isUsual } from '../../vector/vector-codes.ts'

/**
 * Scores of those of the rows that have a vector, in their order: of each the least and the greatest that it can be. NaN:
 * it may be anything, or nothing. Valid until the next call.
 */
export type SegmentScorer = (segment: VectorSegment, rows: Uint32Array) => Float32Array | Float64Array

/**
 * Scores segment by segment: by a kernel in single precision where the segment is in shared memory, else exactly.
 *
 * A kernel sums a sixteenth of the products in each lane, so that with u = 2^-24 the sum is off by less than
 * (dimension / 16 + 10) u of the product of the lengths; here it is taken for twice that.
 * Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), 3.1.
 */
export function segmentScorer(similarity: Similarity): SegmentScorer {
  const { metric, vector } = similarity
  const length = lengthOf(vector)
  // A zero vector becomes NaN by that, which is right: it has no cosine.
  const isDirection = metric === 'cosine' || (metric === 'dot' && length > 0)
  const question = {
    metric,
    vector: isDirection ? vector.map(number => number / length) : vector,
    // Beyond the range of f32 there are no bounds.
    scale: isUsual(length) ? length : Number.NaN,
    tolerance: (vector.length / 8 + 20) * 2 ** -24,
  }
  const exact = new Float64Array(2 * SEGMENT_ROWS)
  let scorer: VectorScorer | null | undefined
  return (segment, rows) => {
    if (segment.page && scorer === undefined) scorer = segment.page.kernels.vectorScorer(question) ?? null
    return segment.page && scorer ? scorer(segment.page.address, rows) : exactScores(similarity, segment, rows, exact)
  }
}

/** Rows whose score may be as good as a limit, with bounds. Valid until the next call. */
export type LimitScorer = (segment: VectorSegment, rows: Uint32Array, limit: number) => Scored

/**
 * Scores segment by segment what can reach a limit: by the codes of the vectors where the segment is in shared memory,
 * which is three to five times faster than by {@link segmentScorer} and has wider bounds.
 * @param above whether scores up from the limit are wanted, or down from it
 */
export function limitScorer(similarity: Similarity, above: boolean): LimitScorer {
  const question = codeQuestion(similarity.vector)
  const score = segmentScorer(similarity)
  let scorer: CodeScorer | null | undefined
  return (segment, rows, limit) => {
    if (segment.page && scorer === undefined) {
      scorer = (question && segment.page.kernels.codeScorer(question, similarity.metric, above)) ?? null
    }
    if (segment.page && scorer) return scorer(segment.page.address, rows, limit)
    return within(limit, above, score(segment, rows), segment, rows)
  }
}

function within(
  limit: number,
  above: boolean,
  scores: ArrayLike<number>,
  { present }: VectorSegment,
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
    for (let bits = rows[word]! & segment.present[word]!; bits !== 0; bits &= bits - 1) {
      const start = segment.starts[word * 32 + (31 - Math.clz32(bits & -bits))]!
      const score = scoreOf(similarity, segment.floats, vectorStart(start)) ?? Number.NaN
      scores[count++] = score
      scores[count++] = score
    }
  }
  return scores.subarray(0, count)
}
