import { lengthOf } from './similarity.ts'

/**
 * Vectors as integers: a quarter of the memory for a scan to read, with an error bound. The codes of a vector v:
 *
 * ```
 * f32 scale, f32 error, f32 ‖v‖, an unused word
 * i8 × numbers, padded with zeros to {@link codeCount}
 * ```
 *
 * so that v / ‖v‖ = scale × numbers + e, where ‖e‖ is at most `error`. For a direction q = step × integers + r, v q / ‖v‖ then
 * differs from the product of the numbers by at most error ‖q‖ + (1 + error) ‖r‖.
 * Source: the inequality of Cauchy and Schwarz.
 */
const CODES_HEADER_BYTES = 16
/** Numbers that kernels read at a time. */
const NUMBERS_AT_ONCE = 16
const MAX_CODE = 127
const MAX_QUESTION_CODE = 32_767
/** Maximum usual length: products of lengths above it or below its inverse could leave the range of f32. */
const MAX_LENGTH = 1e18
/** Upper bound of the rounding when errors, lengths and bounds are converted to f32. */
const ROUNDING = 1e-6

const codeCount = (dimension: number): number => Math.ceil(dimension / NUMBERS_AT_ONCE) * NUMBERS_AT_ONCE

export const codesBytes = (dimension: number): number => CODES_HEADER_BYTES + codeCount(dimension)

/** True if products with other vectors of such a length stay in the range of f32. */
export const isUsual = (length: number): boolean => length < MAX_LENGTH && length > 1 / MAX_LENGTH

/**
 * Writes the codes of a vector. A vector without a usual length has no bounded error.
 * @param start of the vector in `floats`
 * @param singles memory with room for the codes at byte `address` @param bytes the same memory
 */
export function writeCodes(
  floats: Float32Array,
  start: number,
  dimension: number,
  singles: Float32Array,
  bytes: Uint8Array,
  address: number,
): void {
  const length = lengthOf(floats, start, dimension)
  let greatest = 0
  for (let i = start; i < start + dimension; i++) greatest = Math.max(greatest, Math.abs(floats[i]!))
  const scale = isUsual(length) ? Math.fround(greatest / length / MAX_CODE) : 0
  const numbers = address + CODES_HEADER_BYTES
  bytes.fill(0, numbers, numbers + codeCount(dimension))
  let squaredLoss = 0
  if (scale > 0) {
    for (let i = 0; i < dimension; i++) {
      const number = floats[start + i]! / length
      const code = Math.round(number / scale)
      bytes[numbers + i] = code
      squaredLoss += (number - scale * code) ** 2
    }
  }
  const at = address >>> 2
  singles[at] = scale
  singles[at + 1] = scale > 0 ? Math.sqrt(squaredLoss) * (1 + ROUNDING) : Number.POSITIVE_INFINITY
  singles[at + 2] = length
}

/** Operand of a comparison with codes. */
export interface CodedQuestion {
  /** As many integers as {@link codeCount} returns. */
  readonly numbers: Int16Array
  /** Scale of the numbers: the vector's direction is `step` × numbers, up to `error`. */
  readonly step: number
  readonly error: number
  /** ‖vector‖ */
  readonly length: number
}

/** @returns undefined if the vector has no usual length */
export function codeQuestion(vector: Float32Array): CodedQuestion | undefined {
  const length = lengthOf(vector)
  if (!isUsual(length)) return undefined
  const numbers = new Int16Array(codeCount(vector.length))
  // No sum of products may leave 32 bits.
  const maxCode = Math.min(MAX_QUESTION_CODE, Math.floor((2 ** 31 - 1) / (MAX_CODE * numbers.length)))
  let greatest = 0
  for (let i = 0; i < vector.length; i++) greatest = Math.max(greatest, Math.abs(vector[i]!))
  const step = greatest / length / maxCode
  let squaredLoss = 0
  for (let i = 0; i < vector.length; i++) {
    const number = vector[i]! / length
    numbers[i] = Math.round(number / step)
    squaredLoss += (number - step * numbers[i]!) ** 2
  }
  return { numbers, step, error: Math.sqrt(squaredLoss) * (1 + ROUNDING) + ROUNDING, length }
}
