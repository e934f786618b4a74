import { SEGMENT_ROWS, SEGMENT_WORDS, type VectorSegment, vectorStart } from '../../storage/snapshot.ts'
import type { VectorComparer } from '../../simd/segment-kernels.ts'
import { lengthOf, scoreOf, type Similarity } from '../../vector/similarity.ts'

/** Scores of rows, each with how far it may be off from the exact one. NaN: nothing is known of it. */
export interface Scores {
  readonly count: number
  readonly values: Float64Array
  readonly errors: Float64Array
}

/** Of those of the rows that have a vector, in their order. Valid until the next call. */
export type SegmentScorer = (segment: VectorSegment, rows: Uint32Array) => Scores

/**
 * Scores segment by segment: by a kernel in single precision where the segment is in shared memory, else exactly.
 *
 * A kernel sums a sixteenth of the products in each lane, so that with u = 2^-24 the sum is off by less than
 * (dimension / 16 + 10) u of the product of the lengths; here it is taken for twice that. Products of lengths
 * beyond {@link MAX_LENGTH} and below its inverse could leave the range of a Float32.
 * Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), 3.1.
 */
export function segmentScorer(similarity: Similarity): SegmentScorer {
  const values = new Float64Array(SEGMENT_ROWS)
  const errors = new Float64Array(SEGMENT_ROWS)
  const { metric, vector } = similarity
  const length = lengthOf(vector)
  const isDistance = metric === 'euclidean'
  const asked = isDistance || length === 0 ? vector : Float32Array.from(vector, number => number / length)
  const relative = (vector.length / 8 + 20) * 2 ** -24
  let comparer: VectorComparer | null | undefined
  return (segment, rows) => {
    if (segment.page && comparer === undefined) {
      comparer = segment.page.kernels.vectorComparer(asked, isDistance) ?? null
    }
    if (!segment.page || !comparer) return exactScores(similarity, segment, rows, values, errors)
    const compared = comparer(segment.page.address, rows)
    const count = compared.length / 2
    for (let i = 0; i < count; i++) {
      const sum = compared[2 * i]!
      const ofStored = compared[2 * i + 1]!
      if (isDistance) {
        const distance = Math.sqrt(sum)
        values[i] = distance
        errors[i] = relative * distance + LEAST
      } else if (ofStored < MAX_LENGTH && ofStored > 1 / MAX_LENGTH && length !== 0) {
        values[i] = metric === 'cosine' ? sum / ofStored : sum * length
        errors[i] = metric === 'cosine' ? relative : relative * ofStored * length
      } else values[i] = Number.NaN
    }
    return { count, values, errors }
  }
}

const MAX_LENGTH = 1e18
/** Squares of what is smaller vanish. */
const LEAST = 1e-19

function exactScores(
  similarity: Similarity,
  segment: VectorSegment,
  rows: Uint32Array,
  values: Float64Array,
  errors: Float64Array,
): Scores {
  let count = 0
  for (let word = 0; word < SEGMENT_WORDS; word++) {
    for (let bits = rows[word]! & segment.present[word]!; bits !== 0; bits &= bits - 1) {
      const start = segment.starts[word * 32 + (31 - Math.clz32(bits & -bits))]!
      values[count] = scoreOf(similarity, segment.floats, vectorStart(start)) ?? Number.NaN
      errors[count++] = 0
    }
  }
  return { count, values, errors }
}
