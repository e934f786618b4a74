import { readFileSync } from 'node:fs'
import { outputUrl } from '../base/output-root.ts'

/** Offsets, in bytes. */
export interface MemoryLayout {
  /** From the address of a segment: its bitmap of rows with a value, and its values. */
  readonly present: number
  readonly values: number
  /** From the address of a text: u32 its length, of which the highest bit does not count, and its bytes. */
  readonly textLength: number
  readonly textBytes: number
  /** From the address of a vector: f32 its length, and its f32 numbers. */
  readonly vectorLength: number
  readonly vectorNumbers: number
  /** From the address of a segment: u32 addresses of the codes of its vectors. */
  readonly vectorCodes: number
  /** From the address of a segment: u32 address of the sketches of its vectors. */
  readonly vectorSketches: number
}

/**
 * Loops over columns in shared memory. All run on `count` consecutive segments of a column, 4096 rows each; `segments` is
 * the address of a list of their addresses, u32 each. Addresses are byte offsets in the memory, multiples of 4, and of 8
 * for f64 values and what is written as such; nothing checks them. Where a row has no value, what stands there is read
 * and may be anything; a value is never NaN.
 *
 * Bitmaps have 128 words for each segment. `candidates` are the rows to look at; 0, where it says so, all that have a
 * value: not for segments to which a writer adds rows that a reader must not see yet. `out` gets the rows that pass, and
 * may be the same as `candidates`; 0 only counts them.
 *
 * Loops in JavaScript (`../query/execute`) do the same where there are none, with the same answers to the last bit.
 */
export interface Kernels {
  /**
   * Rows with a value v where lower <= v <= upper, or with `inside` false those with any other value. With infinite
   * bounds, lower = upper, and neighbours of a bound that is itself left out, this is every comparison of numbers.
   * @param candidates may be 0
   * @returns number of rows
   */
  filterF64(
    segments: number,
    count: number,
    candidates: number,
    lower: number,
    upper: number,
    inside: boolean,
    out: number,
  ): number

  /**
   * Rows with a value that is in a list of `length` u32, or with `inside` false those with any other value. For short
   * lists: each value is compared with each of them.
   * @param candidates may be 0
   * @returns number of rows
   */
  filterU32(
    segments: number,
    count: number,
    candidates: number,
    list: number,
    length: number,
    inside: boolean,
    out: number,
  ): number

  /**
   * Rows whose value is the address of a text that has some parts in this order, the first at its start and the last at
   * its end, or with `inside` false those with any other. Reads up to 16 bytes behind a text.
   * @param candidates may be 0
   * @param pattern address of u32 number of parts, at least 2, then of each u32 its length and its bytes, filled up to
   * whole words
   * @returns number of rows
   */
  filterPattern(
    segments: number,
    count: number,
    candidates: number,
    pattern: number,
    inside: boolean,
    out: number,
  ): number

  /**
   * Sum, minimum and maximum of f64 values: writes four f64 to `result`: the sum, what rounding took from it, minimum and
   * maximum. Of nothing they are 0, 0, Infinity and -Infinity; none is -0.
   *
   * Sum and rest together are exact for integers, while the sum of magnitudes of what was rounded away stays below 2^53.
   * For any n values the sum is as good as one with twice the digits that is rounded at the end: it is off by at most
   * 2^-53 of itself and n² 2^-106 of the sum of magnitudes. Beyond the largest double both are NaN.
   * @param candidates may be 0
   * @returns number of values
   * Source: Ogita, Rump, Oishi, Accurate Sum and Dot Product (2005), algorithm 4.4 and proposition 4.5.
   */
  aggregateF64(segments: number, count: number, candidates: number, result: number): number

  /**
   * Rows whose f64 value is a row id that is in the bitmap `targets` of `targetWords` words.
   * @param candidates may be 0
   * @returns number of rows
   */
  semiJoin(
    segments: number,
    count: number,
    candidates: number,
    targets: number,
    targetWords: number,
    out: number,
  ): number

  /**
   * Scores of the vectors whose addresses are the values of the candidates, against one of `dimension` f32 at `query`, in
   * single precision: for each, in their order, the least and the greatest f32 that the exact score can be go to `out`; NaN
   * where that cannot be told.
   * @param candidates may be 0
   * @param metric 0: Σab / ‖a‖; 1: scale Σab; 2: √Σ(a - b)²
   * @param tolerance how far the score may be off: relative to ‖a‖, of distances to themselves
   * @param out a word behind them is written to
   * @returns number of vectors
   */
  scoreVectors(
    segments: number,
    count: number,
    candidates: number,
    query: number,
    dimension: number,
    metric: number,
    scale: number,
    tolerance: number,
    out: number,
  ): number

  /**
   * The same from codes (`../vector/vector-codes.ts`), of those candidates whose score can be as good as a limit: their
   * rows go to `entries`, u32, and the bounds to `bounds`, two f32 each, which are further apart than those of
   * {@link scoreVectors}. What cannot be told is among them, with NaN or infinite bounds.
   * @param candidates may be 0
   * @param query address of `dimension` i16, a multiple of 16
   * @param step @param queryError @param queryLength of `CodedQuestion`
   * @param above whether scores up from the limit are wanted, or down from it
   * @returns number of rows
   */
  scoreCodes(
    segments: number,
    count: number,
    candidates: number,
    query: number,
    dimension: number,
    metric: number,
    step: number,
    queryError: number,
    queryLength: number,
    limit: number,
    above: boolean,
    entries: number,
    bounds: number,
  ): number

  /**
   * Candidates whose sketch (`../vector/sketch.ts`) has a sum of at least `least`.
   * @param candidates may be 0
   * @param table address of 4 × 8 × `bytes` entries of up to 31
   * @param bytes of a sketch, a multiple of 4
   * @param firstBytes as many, a multiple of 4: only rows whose sum over these is at least `firstLeast` are looked at further
   * @param out may be the same as `candidates`
   * @param found gets the row and the sum of each of these, two u32; 0: they are not wanted
   * @param room address of 64 bytes to work in
   * @returns number of rows
   */
  filterSketches(
    segments: number,
    count: number,
    candidates: number,
    table: number,
    bytes: number,
    least: number,
    firstBytes: number,
    firstLeast: number,
    out: number,
    found: number,
    room: number,
  ): number

  /**
   * Copies slices of the texts of rows, and what is inserted between them, as `,{`, one after the other, `}`, until `outEnd`
   * is too near. Reads up to 15 bytes behind a row and behind what is inserted.
   * @param rows address of u32 addresses of rows
   * @param offsets from the address of a row: where its slots begin in its text, u32 each, ascending, and where the last ends
   * @param text from the address of a row
   * @param slices address of the slots of each slice as two u32, the first and the one behind the last; the first is
   * 0xffffffff for the start of the text. They ascend. Among them 0xfffffffe with the number of an insert
   * @param lastSlot the greatest slot that is the end of a slice
   * @param inserts of each row, one after the other, `insertCount` times where they are in `insertBytes`, two u32 each
   * @param result gets u32 the end of what was written
   * @returns number of rows copied
   */
  copyRows(
    rows: number,
    count: number,
    offsets: number,
    text: number,
    slices: number,
    slicesEnd: number,
    lastSlot: number,
    inserts: number,
    insertCount: number,
    insertBytes: number,
    out: number,
    outEnd: number,
    result: number,
  ): number

  /**
   * Brings rows into the cache, all at a time. @param end from the address of a row: where its text ends, u32
   * @param result is written to
   */
  touchRows(rows: number, count: number, end: number, text: number, result: number): void

  /** Sets the bits of the row ids that are values of the candidates. @param candidates may be 0 */
  markReferenced(segments: number, count: number, candidates: number, targets: number, targetWords: number): void
}

/** The kernels of one thread for one memory: make them once. Undefined where WebAssembly has no SIMD. */
export function simdKernels(memory: WebAssembly.Memory, layout: MemoryLayout): Kernels | undefined {
  if (cached === undefined) cached = compileFirst() ?? null
  return cached ? instantiate(cached, memory, layout) : undefined
}

export function instantiate(module: WebAssembly.Module, memory: WebAssembly.Memory, layout: MemoryLayout): Kernels {
  const instance = new WebAssembly.Instance(module, {
    env: { memory },
    segment: { presentOffset: layout.present, valuesOffset: layout.values },
    pattern: { textLengthOffset: layout.textLength, textBytesOffset: layout.textBytes },
    vector: { vectorLengthOffset: layout.vectorLength, vectorNumbersOffset: layout.vectorNumbers },
    'vector-codes': { vectorCodesOffset: layout.vectorCodes },
    sketch: { sketchesOffset: layout.vectorSketches },
  })
  return instance.exports as Kernels
}

let cached: WebAssembly.Module | null | undefined

/** With relaxed SIMD, as Node.js has it from 22 on, and without. They give the same results. */
export const KERNEL_FILES = ['engine/simd/kernels-relaxed.wasm', 'engine/simd/kernels.wasm']

function compileFirst(): WebAssembly.Module | undefined {
  for (const file of KERNEL_FILES) {
    const module = compile(file)
    if (module) return module
  }
  return undefined
}

export function compile(file: string): WebAssembly.Module | undefined {
  try {
    return new WebAssembly.Module(readFileSync(outputUrl(file)))
  } catch (error) {
    // An engine or a processor without some instructions fails so; anything else is a broken build.
    if (error instanceof WebAssembly.CompileError) return undefined
    throw error
  }
}
