import { lengthOf } from './similarity.ts'

/** Number of rows that a search by sketches keeps for each wanted row: the nearest rows are usually among them. */
export const CANDIDATES_PER_NEAREST = 24

/**
 * Sketches of vectors: two bits for each number, which give the approximate direction of a vector. A vector is rotated by a fixed
 * rotation that was chosen at random, so that its numbers are normally distributed, whatever the vector was; of each number the
 * sketch keeps which of the four levels of a quantizer it has. With D numbers and the level l of each of them
 *
 *     cosine of v and q  ≈  Σ l(vᵢ) qᵢ / ((1 - ε) √D)        v, q rotated and 1 long
 *
 * with a normally distributed error of √(ε / (1 - ε) / D). So a sketch shows which vectors are hardly near, at a tenth of the
 * cost of their numbers, but never for certain.
 * Source: Gao and Long, RaBitQ: Quantizing High-Dimensional Vectors with a Theoretical Error Bound (2024).
 *
 * A segment has them in blocks of 32 rows, so that 16 rows are looked up at a time: each block has 4 numbers of all its rows, the
 * first 2 in the low half of a byte, then the next 4.
 * Source: André, Kermarrec, Le Scouarnec, Cache locality is not enough: PQ fast scan (2015).
 *
 * ```
 * f32 length of the shortest vector, f32 of the longest one, 8 unused bytes
 * u8 × 32 × sketchBytes, for each block
 * ```
 */
export const SKETCHES_HEADER_BYTES = 16
const BLOCK_ROWS = 32
/** Numbers that kernels take at a time. */
const NUMBERS_AT_ONCE = 16
/** Numbers in a byte. */
const NUMBERS_PER_BYTE = 4
/** The quantizer with four levels that loses least of a normal distribution: ±LOW up to BORDER, then ±HIGH; ε is LOST. */
const BORDER = 0.9816
const LOW = 0.4528
const HIGH = 1.51
const LOST = 0.1175
// Source: Max, Quantizing for Minimum Distortion (1960), table 1.
/** Minimum dimension: shorter sketches are too imprecise. Above the maximum, sums could exceed 16 bits. */
const MIN_DIMENSION = 64
const MAX_DIMENSION = 2048
/** Maximum entry of a table: eight entries are added in a byte. */
const MAX_ENTRY = 31
/** Number of vector numbers that select a table entry, and number of entries to select from. */
const GROUP = 2
const ENTRIES = 16
const GROUPS_AT_ONCE = NUMBERS_AT_ONCE / GROUP
export const MAX_SUM = (MAX_DIMENSION / GROUP) * MAX_ENTRY

/** Bytes of a sketch; 0 if vectors of this dimension have none. */
export const sketchBytes = (dimension: number): number =>
  dimension < MIN_DIMENSION || dimension > MAX_DIMENSION ? 0 : rotatedDimension(dimension) / NUMBERS_PER_BYTE

export const sketchesBytes = (dimension: number, rows: number): number =>
  SKETCHES_HEADER_BYTES + rows * sketchBytes(dimension)

const rotatedDimension = (dimension: number): number => Math.ceil(dimension / NUMBERS_AT_ONCE) * NUMBERS_AT_ONCE

/** Address and length of the block that holds a row of a segment. @param bytes size of a sketch */
export const blockOf = (sketches: number, entry: number, bytes: number): { address: number; length: number } => ({
  address: sketches + SKETCHES_HEADER_BYTES + Math.floor(entry / BLOCK_ROWS) * BLOCK_ROWS * bytes,
  length: BLOCK_ROWS * bytes,
})

/** Writes the sketch of the vector at `start` in `floats` for a row of a segment. */
export function writeSketch(
  floats: Float32Array,
  start: number,
  dimension: number,
  bytes: Uint8Array,
  sketches: number,
  entry: number,
): void {
  const numbers = rotationOf(dimension).rotate(floats, start, dimension)
  const border = (BORDER * lengthOf(floats, start, dimension)) / Math.sqrt(numbers.length)
  let at = blockOf(sketches, entry, numbers.length / NUMBERS_PER_BYTE).address + (entry % BLOCK_ROWS)
  for (let i = 0; i < numbers.length; i += NUMBERS_PER_BYTE, at += BLOCK_ROWS) {
    let bits = 0
    for (let j = NUMBERS_PER_BYTE - 1; j >= 0; j--) {
      const number = numbers[i + j]!
      bits = (bits << 2) | (number > 0 ? 1 : 0) | (Math.abs(number) > border ? 2 : 0)
    }
    bytes[at] = bits
  }
}

/** Levels by the two bits of a number. */
const LEVELS = [-LOW, LOW, -HIGH, HIGH]

/** Operand of a comparison with sketches. */
export interface SketchQuestion {
  /** The 16 possible sums of each pair of numbers, scaled to integers up to {@link MAX_ENTRY}. */
  readonly table: Uint8Array
  /** Minimum sums of table entries for vectors with this cosine, less a number of standard deviations. */
  sumsOf(cosine: number, deviations: number): LeastSums
}

export interface LeastSums {
  readonly whole: number
  /** Minimum sum over the first `firstBytes` bytes of a sketch, after which most far vectors are ruled out. */
  readonly first: number
  readonly firstBytes: number
}

/** A sum over the first groups of numbers. */
interface Part {
  readonly groups: number
  /** Maximum of the sum. */
  readonly most: number
  /** Sum of the squares of the numbers of the question. */
  readonly squares: number
}

/** @returns undefined if vectors of this dimension have no sketches, or the vector has no direction */
export function sketchQuestion(vector: Float32Array): SketchQuestion | undefined {
  const dimension = vector.length
  const length = lengthOf(vector)
  if (sketchBytes(dimension) === 0 || !(length > 0)) return undefined
  const numbers = rotationOf(dimension).rotate(vector, 0, dimension)
  const groups = numbers.length / GROUP
  let widest = 0
  for (let i = 0; i < numbers.length; i += GROUP) {
    widest = Math.max(widest, (2 * HIGH * (Math.abs(numbers[i]!) + Math.abs(numbers[i + 1]!))) / length)
  }
  const step = widest / MAX_ENTRY
  const unit = (1 - LOST) * Math.sqrt(numbers.length)
  const table = new Uint8Array(groups * ENTRIES)
  const parts: Part[] = []
  let most = 0
  let squares = 0
  for (let group = 0; group < groups; group++) {
    const a = numbers[group * GROUP]! / length
    const b = numbers[group * GROUP + 1]! / length
    const middle = HIGH * (Math.abs(a) + Math.abs(b))
    for (let bits = 0; bits < ENTRIES; bits++) {
      const sum = middle + a * LEVELS[bits & 3]! + b * LEVELS[bits >> 2]!
      // Rounds by truncation: Math.round takes longer.
      table[group * ENTRIES + bits] = sum / step + 0.5
    }
    most += middle
    squares += a * a + b * b
    if ((group + 1) % GROUPS_AT_ONCE === 0) parts.push({ groups: group + 1, most, squares })
  }
  const wholePart = parts.at(-1)!
  const leastOf = ({ groups, most, squares }: Part, cosine: number, deviations: number): number => {
    // Variance of the rest, estimated from a part of the numbers, loss of their levels, and up to half a step of each entry.
    const variance = (squares * (1 - squares) + (squares * LOST) / (1 - LOST)) / numbers.length
    const deviation = Math.sqrt(Math.max(0, variance) + (groups * step ** 2) / 12 / unit ** 2)
    return Math.floor(((squares * cosine - deviations * deviation) * unit + most) / step)
  }
  return {
    table,
    sumsOf(cosine, deviations) {
      let best = { part: wholePart, cost: 1 }
      for (const part of parts) {
        // Estimated for a vector unrelated to the query vector, as most are.
        const scatter = Math.sqrt(part.squares / (1 - LOST) / numbers.length)
        const away = (leastOf(part, cosine, deviations) * step - part.most) / unit / scatter
        const share = part.groups / groups
        const cost = share + (1 - share) * (1 - (1 - tailOf(away)) ** BLOCK_ROWS)
        if (cost < best.cost) best = { part, cost }
      }
      return {
        whole: leastOf(wholePart, cosine, deviations),
        first: leastOf(best.part, cosine, deviations),
        firstBytes: (best.part.groups * GROUP) / NUMBERS_PER_BYTE,
      }
    },
  }
}

/** Upper bound of the share of a normal distribution above a number of standard deviations. Source: Chernoff's bound. */
const tailOf = (deviations: number): number => (deviations > 0 ? Math.exp(-(deviations ** 2) / 2) / 2 : 1)

/**
 * A rotation that mixes all numbers of a vector in O(D log D): random signs, then a Walsh-Hadamard transform, six times. If D is
 * not a power of two, the first and the last numbers are transformed in turns, and halves are mixed in between.
 * Source: Ailon, Chazelle, The Fast Johnson-Lindenstrauss Transform (2009).
 */
class Rotation {
  private readonly signs: readonly Float64Array[]
  private readonly numbers: Float64Array
  private readonly window: number

  constructor(dimension: number) {
    this.numbers = new Float64Array(dimension)
    this.window = 2 ** Math.floor(Math.log2(dimension))
    let state = 0x9e3779b9
    const sign = (): number => {
      // Source: Marsaglia, Xorshift RNGs (2003).
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      return state & 0x10000 ? 1 : -1
    }
    this.signs = Array.from({ length: ROUNDS }, () => Float64Array.from({ length: dimension }, sign))
  }

  /** @returns the rotated numbers, valid until the next call */
  rotate(floats: Float32Array, start: number, dimension: number): Float64Array {
    const { numbers, window } = this
    numbers.fill(0)
    for (let i = 0; i < dimension; i++) numbers[i] = floats[start + i]!
    const rest = numbers.length - window
    for (const [round, signs] of this.signs.entries()) {
      for (let i = 0; i < numbers.length; i++) numbers[i]! *= signs[i]!
      transform(numbers, round % 2 === 0 ? 0 : rest, window)
      if (rest > 0) mixHalves(numbers)
    }
    return numbers
  }
}

const ROUNDS = 6
const rotations = new Map<number, Rotation>()

function rotationOf(dimension: number): Rotation {
  const rotationDimension = rotatedDimension(dimension)
  let rotation = rotations.get(rotationDimension)
  if (!rotation) {
    rotation = new Rotation(rotationDimension)
    rotations.set(rotationDimension, rotation)
  }
  return rotation
}

/** Walsh-Hadamard transform, which preserves lengths. */
function transform(numbers: Float64Array, start: number, count: number): void {
  for (let half = 1; half < count; half *= 2) {
    for (let at = start; at < start + count; at += 2 * half) {
      for (let i = at; i < at + half; i++) {
        const a = numbers[i]!
        const b = numbers[i + half]!
        numbers[i] = a + b
        numbers[i + half] = a - b
      }
    }
  }
  const scale = 1 / Math.sqrt(count)
  for (let i = start; i < start + count; i++) numbers[i]! *= scale
}

function mixHalves(numbers: Float64Array): void {
  const half = numbers.length / 2
  for (let i = 0; i < half; i++) {
    const a = numbers[i]!
    const b = numbers[i + half]!
    numbers[i] = (a + b) * Math.SQRT1_2
    numbers[i + half] = (a - b) * Math.SQRT1_2
  }
}
