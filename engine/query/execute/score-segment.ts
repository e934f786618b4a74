import { SEGMENT_ROWS, SEGMENT_WORDS, type VectorSegment, vectorStart } from '../../storage/snapshot.ts'
import type { VectorScorer } from '../../simd/segment-kernels.ts'
import { lengthOf, scoreOf, type Similarity } from '../../vector/similarity.ts'

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
    scale: length,
    tolerance: (vector.length / 8 + 20) * 2 ** -24,
  }
  const exact = new Float64Array(2 * SEGMENT_ROWS)
  let scorer: VectorScorer | null | undefined
  return (segment, rows) => {
    if (segment.page && scorer === undefined) scorer = segment.page.kernels.vectorScorer(question) ?? null
    return segment.page && scorer ? scorer(segment.page.address, rows) : exactScores(similarity, segment, rows, exact)
  }
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
