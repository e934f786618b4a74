import { readFileSync } from 'node:fs'
import { outputUrl } from '../base/output-root.ts'

/** Layout of the shared memory: offsets in bytes. */
export interface MemoryLayout {
  /** From the address of a segment: its bitmap of rows with a value, and its values. */
  readonly present: number
  readonly values: number
  /** From the address of a text: its length, u32 whose highest bit is ignored, and its bytes. */
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
 * Loops over columns in shared memory. All run on `count` consecutive segments of a column, 4096 rows each; `segments` is the
 * address of a list of their addresses, u32 each. Addresses are byte offsets in the memory, multiples of 4, and of 8 for f64
 * values and results; nothing checks them. The cells of rows without a value are read and may hold anything; a value is never
 * NaN.
 *
 * Bitmaps have 128 words for each segment. `candidates` are the rows to test; 0, where allowed, stands for all rows with a value,
 * but not for segments to which a writer adds rows that a reader must not see yet. `out` receives the rows that pass, and may be
 * the same as `candidates`; 0 only counts them.
 *
 * Without kernels, loops in JavaScript (`../query/execute`) give the same answers, to the last bit.
 */
export interface Kernels {
  /**
   * Rows with a value v where lower <= v <= upper, or with `inside` false those with any other value. Infinite bounds, lower =
   * upper, and the neighbour of an exclusive bound express every comparison of numbers.
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
   * Rows with a value that is in a list of `length` u32, or with `inside` false those with any other value. For short lists: each
   * value is compared with each entry.
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
   * Rows whose value is the address of a text that has some parts in this order, the first at its start and the last at its end,
   * or with `inside` false those with any other. Reads up to 16 bytes beyond a text.
   * @param candidates may be 0
   * @param pattern address of the number of parts, u32, at least 2, then for each part its length, u32, and its bytes, padded to
   *   whole words
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
   * Sum, minimum and maximum of f64 values: writes four f64 to `result`: the sum, its rounding error, minimum and maximum.
   * Without values they are 0, 0, Infinity and -Infinity; none is -0.
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
   * Scores of the vectors whose addresses are the values of the candidates, against one of `dimension` f32 at `query`, in single
   * precision: for each, in order, the lowest and the highest f32 that the exact score can be are written to `out`; NaN if
   * unknown.
   * @param candidates may be 0
   * @param metric 0: Σab / ‖a‖; 1: scale Σab; 2: √Σ(a - b)²
   * @param tolerance maximum error of a score: relative to ‖a‖, for distances relative to themselves
   * @param out one word after the scores is overwritten
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
   * Bounds of scores from codes (`../vector/math/vector-codes.ts`), for those candidates whose score may reach a limit: their
   * rows are written to `entries`, u32, and the bounds to `bounds`, two f32 each, which are wider than those of {@link
   * scoreVectors}. Rows with an unknown score are included, with NaN or infinite bounds.
   * @param candidates may be 0
   * @param query address of `dimension` i16, a multiple of 16
   * @param step @param queryError @param queryLength from `CodedQuestion`
   * @param above whether scores from the limit up are wanted, or from it down
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
   * Candidates whose sketch (`../vector/math/sketch.ts`) has a sum of at least `least`.
   * @param candidates may be 0
   * @param table address of 4 × 8 × `bytes` entries of up to 31
   * @param bytes of a sketch, a multiple of 4
   * @param firstBytes first bytes of a sketch, a multiple of 4: rows whose sum over these is below `firstLeast` are dropped early
   * @param out may be the same as `candidates`
   * @param sums receives the row and the sum of each row that passes, two u32; 0 if they are not wanted
   * @param room address of 64 bytes of scratch memory
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
    sums: number,
    room: number,
  ): number

  /**
   * Copies rows as `,{`, slices of their texts with inserts between them, `}`, until `outEnd` is too near. Reads up to 15 bytes
   * beyond a row and beyond the inserts.
   * @param rows address of u32 addresses of rows
   * @param offsets from the address of a row: starts of its slots in its text, u32 each, ascending, and the end of the last
   * @param text from the address of a row
   * @param slices address of the slots of each slice as two u32, the first and the one after the last; the first is 0xffffffff
   *   for the start of the text. They ascend. An insert among them is 0xfffffffe with its number
   * @param lastSlot the highest slot that is the end of a slice
   * @param inserts for each row in turn, `insertCount` ranges in `insertBytes`, two u32 each
   * @param result receives the end of the output, u32
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
   * Prefetches rows into the cache, all at once. @param end from the address of a row: end of its text, u32
   * @param result is overwritten
   */
  touchRows(rows: number, count: number, end: number, text: number, result: number): void

  /** Sets the bits of the row ids that are values of the candidates. @param candidates may be 0 */
  markReferenced(segments: number, count: number, candidates: number, targets: number, targetWords: number): void
}

/** Creates the kernels of one thread for one memory; to be called once. Undefined where WebAssembly has no SIMD. */
export function simdKernels(memory: WebAssembly.Memory, layout: MemoryLayout): Kernels | undefined {
  if (compiledModule === undefined) compiledModule = compileFirst() ?? null
  return compiledModule ? instantiate(compiledModule, memory, layout) : undefined
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

let compiledModule: WebAssembly.Module | null | undefined

/** With relaxed SIMD, which Node.js has from 22 on, and without. They give the same results. */
export const KERNEL_FILES = ['engine/simd/kernels-relaxed.wasm', 'engine/simd/kernels.wasm']

/** Instructions that the kernels use on this machine; undefined where WebAssembly has no SIMD. */
export function describeKernels(): string | undefined {
  const file = KERNEL_FILES.find(each => compile(each) !== undefined)
  if (file === undefined) return undefined
  return file === KERNEL_FILES[0] ? 'relaxed SIMD' : 'SIMD'
}

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
    // An engine or a processor that lacks some instructions throws this; anything else is a broken build.
    if (error instanceof WebAssembly.CompileError) return undefined
    throw error
  }
}
