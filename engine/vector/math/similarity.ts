import type { VectorMetric } from '../../catalog/attribute.ts'

/** Operand of a comparison with the vectors of an attribute. */
export interface Similarity {
  readonly metric: VectorMetric
  /** Float32, like stored vectors: a vector that was read and sent back is equal to itself. */
  readonly vector: Float32Array
}

/**
 * A condition on a score. Without a threshold every score passes.
 */
export interface ScoreTest {
  readonly comparator: 'less' | 'lessOrEqual' | 'greater' | 'greaterOrEqual'
  readonly threshold: number
}

/** True if scores above the threshold pass, false if those below it do. */
export const wantsAbove = ({ comparator }: ScoreTest): boolean =>
  comparator === 'greater' || comparator === 'greaterOrEqual'

/** True if the more similar of two vectors has the higher score. */
export const isHigherNearer = (metric: VectorMetric): boolean => metric !== 'euclidean'

/**
 * The score of a stored vector against the vector of the similarity, in double precision:
 *
 * | metric | score | more similar |
 * |---|---|---|
 * | cosine | Σab / (‖a‖ ‖b‖), from -1 to 1 | higher |
 * | dot | Σab | higher |
 * | euclidean | √Σ(a - b)², a distance | lower |
 *
 * @param floats memory with the stored vector, of the same dimension, at index `start`
 * @returns undefined for the cosine of a zero vector, which has no direction Source: base specification, 4.3.2; protocol notes, 2.12.
 */
export function scoreOf({ metric, vector }: Similarity, floats: ArrayLike<number>, start = 0): number | undefined {
  const { length } = vector
  if (metric === 'euclidean') {
    let sum = 0
    for (let i = 0; i < length; i++) {
      const difference = floats[start + i]! - vector[i]!
      sum += difference * difference
    }
    return Math.sqrt(sum)
  }
  let dot = 0
  if (metric === 'dot') {
    for (let i = 0; i < length; i++) dot += floats[start + i]! * vector[i]!
    return dot
  }
  let squares = 0
  let ofVector = 0
  for (let i = 0; i < length; i++) {
    const a = floats[start + i]!
    const b = vector[i]!
    dot += a * b
    squares += a * a
    ofVector += b * b
  }
  if (squares === 0 || ofVector === 0) return undefined
  // One root, so that the cosine of a vector with itself is exactly 1; rounding must not exceed it.
  return Math.max(-1, Math.min(1, dot / Math.sqrt(squares * ofVector)))
}

/** Length ‖a‖ of a vector inside an array of floats, in double precision: squares of Float32 are far within its range. */
export function lengthOf(floats: Float32Array, start = 0, dimension = floats.length): number {
  let sum = 0
  for (let i = start; i < start + dimension; i++) sum += floats[i]! * floats[i]!
  return Math.sqrt(sum)
}

export function passes(test: ScoreTest | undefined, score: number): boolean {
  switch (test?.comparator) {
    case 'less':
      return score < test.threshold
    case 'lessOrEqual':
      return score <= test.threshold
    case 'greater':
      return score > test.threshold
    case 'greaterOrEqual':
      return score >= test.threshold
    case undefined:
      return true
  }
}
