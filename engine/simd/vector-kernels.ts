import type { Metric } from '../catalog/attribute.ts'
import { SEGMENT_ROWS, SEGMENT_WORDS } from '../storage/snapshot.ts'
import type { LeastSums, SketchQuestion } from '../vector/sketch.ts'
import type { CodedQuestion } from '../vector/vector-codes.ts'
import type { Kernels, MemoryLayout } from './kernels.ts'

/** What vectors are compared with: see {@link Kernels.scoreVectors}. */
export interface VectorQuestion {
  readonly vector: Float32Array
  readonly metric: Metric
  readonly scale: number
  readonly tolerance: number
}

/**
 * @param pages of {@link MAX_PAGES} segments at most @param rows of all of them, {@link SEGMENT_ROWS} at most, or of one
 * @returns of each of the rows that has a vector two numbers: a view that is valid until the next call
 */
export type VectorScorer = (pages: readonly number[], rows: Uint32Array) => Float32Array

/** Rows of a segment, ascending, and of each the least and the greatest that its score can be. */
export interface Scored {
  readonly entries: Uint32Array
  readonly bounds: Float32Array | Float64Array
}

/**
 * Rows whose score may be as good as the limit, as views that are valid until the next call.
 * @param pages of {@link MAX_PAGES} segments at most @param rows of all of them, {@link SEGMENT_ROWS} at most, or of one
 * @returns rows of the second segment follow those of the first, from {@link SEGMENT_ROWS} on
 */
export type CodeScorer = (pages: readonly number[], rows: Uint32Array, limit: number) => Scored
export const MAX_PAGES = 32
/** As many as there is room for the sums of all of their rows. */
export const MAX_SUMMED_PAGES = 6

/** Sums have 16 bits. */
const toSum = (sum: number): number => Math.max(0, Math.min(0x7fff, sum))

/** Compares sketches. What it returns are views that are valid until the next call. */
export interface SketchScanner {
  /** Whether a segment has sketches. */
  has(page: number): boolean
  /** Those of the rows whose sums are at least so much. */
  near(page: number, rows: Uint32Array, least: LeastSums): Uint32Array
  /**
   * Of each of the rows whose whole sum is at least so much its row and its sum, one after the other.
   * @param pages of {@link MAX_SUMMED_PAGES} segments at most @param rows of all of them
   * @returns rows of the second segment follow those of the first, from {@link SEGMENT_ROWS} on
   */
  sums(pages: readonly number[], rows: Uint32Array, least: number): Uint32Array
  /** How long the shortest and the longest vector of a segment may be. */
  lengths(page: number): { readonly shortest: number; readonly longest: number }
}

const METRIC_CODES: Record<Metric, number> = { cosine: 0, dot: 1, euclidean: 2 }

/** The kernels for vectors of one thread, for many segments at a time. They share its scratch memory with all others. */
export class VectorKernels {
  private readonly words: Uint32Array
  private readonly singles: Float32Array
  private readonly bytes: Uint8Array

  /** @param data address of scratch memory, a multiple of 16 @param end where it ends */
  constructor(
    private readonly kernels: Kernels,
    private readonly layout: MemoryLayout,
    buffer: ArrayBufferLike,
    private readonly data: number,
    private readonly end: number,
  ) {
    this.words = new Uint32Array(buffer)
    this.singles = new Float32Array(buffer)
    this.bytes = new Uint8Array(buffer)
  }

  /**
   * Scores vectors: see {@link Kernels.scoreVectors}.
   * @returns undefined when there is no room for the vector that they are compared with
   */
  scorer({ vector, metric, scale, tolerance }: VectorQuestion): VectorScorer | undefined {
    const { singles, data, kernels } = this
    const { length } = vector
    const { list, mask, end: out } = this.manyPages(data + 8 * Math.ceil(length / 2))
    if (out + SEGMENT_ROWS * 8 + 4 > this.end) return undefined
    const code = METRIC_CODES[metric]
    return (pages, rows) => {
      // Other kernels work in the same memory.
      singles.set(vector, data >>> 2)
      this.loadMany(pages, rows, list, mask)
      const count = kernels.scoreVectors(list, pages.length, mask, data, length, code, scale, tolerance, out)
      return singles.subarray(out >>> 2, (out >>> 2) + 2 * count)
    }
  }

  /**
   * Scores vectors by their codes: see {@link Kernels.scoreCodes}.
   * @param above whether scores up from the limit are wanted, or down from it
   * @returns undefined when there is no room for the vector that they are compared with
   */
  codeScorer({ numbers, step, error, length }: CodedQuestion, metric: Metric, above: boolean): CodeScorer | undefined {
    const { words, singles, data, kernels } = this
    const { list, mask, end: entries } = this.manyPages(data + 2 * numbers.length)
    const bounds = entries + SEGMENT_ROWS * 4
    if (bounds + SEGMENT_ROWS * 8 + 8 > this.end) return undefined
    const query = new Int16Array(words.buffer, data, numbers.length)
    const code = METRIC_CODES[metric]
    return (pages, rows, limit) => {
      query.set(numbers)
      this.loadMany(pages, rows, list, mask)
      const of = [list, pages.length, mask, data, numbers.length, code, step, error, length] as const
      const count = kernels.scoreCodes(...of, limit, above, entries, bounds)
      return {
        entries: words.subarray(entries >>> 2, (entries >>> 2) + count),
        bounds: singles.subarray(bounds >>> 2, (bounds >>> 2) + 2 * count),
      }
    }
  }

  /** @returns undefined when there is no room for the question */
  sketchScanner({ table }: SketchQuestion): SketchScanner | undefined {
    const { words, bytes, singles, data, kernels, layout } = this
    const { list, mask, end: room } = this.manyPages(data + Math.ceil(table.length / 16) * 16)
    const found = room + 64
    if (found + MAX_SUMMED_PAGES * SEGMENT_ROWS * 8 > this.end) return undefined
    const filter = (
      pages: readonly number[],
      rows: Uint32Array,
      { whole, first, firstBytes }: LeastSums,
      into: number,
    ): number => {
      bytes.set(table, data)
      this.loadMany(pages, rows, list, mask)
      const of = [list, pages.length, mask, data, table.length / 32] as const
      return kernels.filterSketches(...of, toSum(whole), firstBytes, toSum(first), mask, into, room)
    }
    return {
      has: page => words[(page + layout.vectorSketches) >>> 2] !== 0,
      near: (page, rows, least) => {
        filter([page], rows, least, 0)
        return words.subarray(mask >>> 2, (mask >>> 2) + SEGMENT_WORDS)
      },
      sums: (pages, rows, least) => {
        const count = filter(pages, rows, { whole: least, first: 0, firstBytes: table.length / 32 }, found)
        return words.subarray(found >>> 2, (found >>> 2) + 2 * count)
      },
      lengths: page => {
        const at = words[(page + layout.vectorSketches) >>> 2]! >>> 2
        return { shortest: singles[at]!, longest: singles[at + 1]! }
      },
    }
  }

  /** Where a list of {@link MAX_PAGES} segments and their bitmaps are, and what comes behind them. */
  private manyPages(start: number) {
    const list = start
    const mask = list + 4 * MAX_PAGES
    return { list, mask, end: mask + 4 * SEGMENT_WORDS * MAX_PAGES }
  }

  private loadMany(pages: readonly number[], rows: Uint32Array, list: number, mask: number): void {
    this.words.set(pages, list >>> 2)
    this.words.set(rows, mask >>> 2)
  }
}
