import type { VectorMetric } from '../catalog/attribute.ts'
import {
  type CodeScorer,
  MAX_PAGES,
  MAX_SUMMED_PAGES,
  type SketchScanner,
  type VectorKernels,
  type VectorQuestion,
  type VectorScorer,
} from '../data/kernels.ts'
import { SEGMENT_ROWS, SEGMENT_WORDS } from '../data/snapshot.ts'
import type { LeastSums, SketchQuestion } from '../vector/math/sketch.ts'
import type { CodedQuestion } from '../vector/math/vector-codes.ts'
import type { Kernels, MemoryLayout } from './kernels.ts'

/** Limits a sum to 16 bits. */
const toSum = (sum: number): number => Math.max(0, Math.min(0x7fff, sum))

const METRIC_CODES: Record<VectorMetric, number> = { cosine: 0, dot: 1, euclidean: 2 }

/** Kernels for vectors in WebAssembly with SIMD. */
export class SimdVectorKernels implements VectorKernels {
  private readonly words: Uint32Array
  private readonly singles: Float32Array
  private readonly bytes: Uint8Array

  /** @param data address of scratch memory, a multiple of 16 @param end its end */
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

  /** See {@link Kernels.scoreVectors}. */
  scorer({ vector, metric, scale, tolerance }: VectorQuestion): VectorScorer | undefined {
    const { singles, data, kernels } = this
    const { length } = vector
    const { list, mask, end: out } = this.manyPages(data + 8 * Math.ceil(length / 2))
    if (out + SEGMENT_ROWS * 8 + 4 > this.end) return undefined
    const code = METRIC_CODES[metric]
    return (pages, rows) => {
      // Other kernels use the same memory.
      singles.set(vector, data >>> 2)
      this.loadMany(pages, rows, list, mask)
      const count = kernels.scoreVectors(list, pages.length, mask, data, length, code, scale, tolerance, out)
      return singles.subarray(out >>> 2, (out >>> 2) + 2 * count)
    }
  }

  /** See {@link Kernels.scoreCodes}. */
  codeScorer(
    { numbers, step, error, length }: CodedQuestion,
    metric: VectorMetric,
    above: boolean,
  ): CodeScorer | undefined {
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

  /** See {@link Kernels.filterSketches}. */
  sketchScanner({ table }: SketchQuestion): SketchScanner | undefined {
    const { words, bytes, singles, data, kernels, layout } = this
    const { list, mask, end: room } = this.manyPages(data + Math.ceil(table.length / 16) * 16)
    const sumsStart = room + 64
    if (sumsStart + MAX_SUMMED_PAGES * SEGMENT_ROWS * 8 > this.end) return undefined
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
        const count = filter(pages, rows, { whole: least, first: 0, firstBytes: table.length / 32 }, sumsStart)
        return words.subarray(sumsStart >>> 2, (sumsStart >>> 2) + 2 * count)
      },
      lengths: page => {
        const at = words[(page + layout.vectorSketches) >>> 2]! >>> 2
        return { shortest: singles[at]!, longest: singles[at + 1]! }
      },
    }
  }

  /** Addresses of a list of {@link MAX_PAGES} segments and their bitmaps, and of the memory after them. */
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
