import type {
  ByteSink,
  NumberSummary,
  ReferenceCollector,
  RowInserts,
  RowSlices,
  SegmentFilter,
  SegmentKernels,
} from '../data/kernels.ts'
import { SEGMENT_WORDS } from '../data/snapshot.ts'
import { type Kernels, type MemoryLayout, simdKernels } from './kernels.ts'
import { SimdVectorKernels } from './vector-kernels.ts'

/** Offsets in the rows of a dataclass, in bytes from their addresses. */
interface RowBytes {
  /** Start of their slots in the text, and end of the last. */
  readonly offsets: number
  readonly end: number
  readonly text: number
}

// Offsets in the scratch memory.
const PAGE = 0
const RESULT = 16
const MASK = 64
const DATA = MASK + SEGMENT_WORDS * 4

/** Maximum length of a list: each value is compared with each entry. */
const MAX_LIST = 16
/** Number of additional bytes for keeping the alignment of inserts, and for reads beyond them. */
const INSERT_MARGIN = 31
/** Rows that are copied or touched at a time. */
const MAX_ROWS = 256

/**
 * WebAssembly kernels with SIMD, called segment by segment, with bitmaps in separate arrays: copying the 512 bytes of a segment's bitmap
 * back and forth costs a sixth of filtering the segment.
 */
export class SimdSegmentKernels implements SegmentKernels {
  readonly vectors: SimdVectorKernels
  private readonly words: Uint32Array
  private readonly floats: Float64Array
  private readonly bytes: Uint8Array
  private readonly bits: Uint32Array
  private readonly list: number
  private readonly result: number
  private readonly mask: number
  private readonly data: number
  private readonly dataWords: number
  private readonly end: number

  private constructor(
    private readonly kernels: Kernels,
    layout: MemoryLayout,
    { buffer }: WebAssembly.Memory,
    scratch: number,
    scratchBytes: number,
  ) {
    this.words = new Uint32Array(buffer)
    this.floats = new Float64Array(buffer)
    this.bytes = new Uint8Array(buffer)
    this.list = scratch + PAGE
    this.result = scratch + RESULT
    this.mask = scratch + MASK
    this.data = scratch + DATA
    this.bits = new Uint32Array(buffer, this.mask, SEGMENT_WORDS)
    this.dataWords = (scratchBytes - DATA) >>> 2
    this.end = scratch + scratchBytes
    this.vectors = new SimdVectorKernels(kernels, layout, buffer, this.data, this.end)
  }

  /**
   * @param scratch address of memory that only this thread uses, a multiple of 8
   * @returns undefined where WebAssembly has no SIMD: loops in JavaScript do the same
   */
  static open(
    memory: WebAssembly.Memory,
    layout: MemoryLayout,
    scratch: number,
    scratchBytes: number,
  ): SimdSegmentKernels | undefined {
    const kernels = simdKernels(memory, layout)
    return kernels && new SimdSegmentKernels(kernels, layout, memory, scratch, scratchBytes)
  }

  inRange(lower: number, upper: number, inside: boolean): SegmentFilter {
    return this.filter((list, mask) => this.kernels.filterF64(list, 1, mask, lower, upper, inside, mask))
  }

  isOneOf(pointers: readonly number[], inside: boolean): SegmentFilter | undefined {
    const { data } = this
    const { length } = pointers
    if (length > MAX_LIST) return undefined
    this.words.set(pointers, data >>> 2)
    return this.filter((list, mask) => this.kernels.filterU32(list, 1, mask, data, length, inside, mask))
  }

  hasPattern(parts: readonly Uint8Array[], inside: boolean): SegmentFilter | undefined {
    const { words, data } = this
    const lengths = parts.map(part => (part.length + 3) >>> 2)
    if (1 + parts.length + lengths.reduce((sum, length) => sum + length, 0) > this.dataWords) return undefined
    let at = data >>> 2
    words[at++] = parts.length
    for (const [i, part] of parts.entries()) {
      words[at++] = part.length
      new Uint8Array(words.buffer, at * 4, part.length).set(part)
      at += lengths[i]!
    }
    return this.filter((list, mask) => this.kernels.filterPattern(list, 1, mask, data, inside, mask))
  }

  isIn(bitmap: Uint32Array): SegmentFilter | undefined {
    const { data } = this
    const { length } = bitmap
    if (length > this.dataWords) return undefined
    this.words.set(bitmap, data >>> 2)
    return this.filter((list, mask) => this.kernels.semiJoin(list, 1, mask, data, length, mask))
  }

  collector(words: number): ReferenceCollector | undefined {
    const { data } = this
    if (words > this.dataWords) return undefined
    const at = data >>> 2
    this.words.fill(0, at, at + words)
    return {
      add: (page, rows) => {
        this.load(page, rows)
        this.kernels.markReferenced(this.list, 1, this.mask, data, words)
      },
      bitmap: () => this.words.slice(at, at + words),
    }
  }

  summarise(page: number, rows: Uint32Array): NumberSummary {
    this.load(page, rows)
    const count = this.kernels.aggregateF64(this.list, 1, this.mask, this.result)
    const { floats } = this
    const at = this.result >>> 3
    return { count, high: floats[at]!, low: floats[at + 1]!, min: floats[at + 2]!, max: floats[at + 3]! }
  }

  /**
   * Copies slices of rows as entities with commas between: see {@link Kernels.copyRows}.
   * @param addresses of the rows
   * @param inserts for each row, as many as the slices have
   * @param sink receives bytes that are valid until its `copy` returns
   * @returns number of rows copied: fewer when one is too large for the scratch memory, none when the inserts are
   */
  copyRows(
    addresses: Uint32Array,
    { offsets, text }: RowBytes,
    { slots, lastSlot, inserts: insertCount }: RowSlices,
    inserts: RowInserts,
    sink: ByteSink,
  ): number {
    const { words, data, result } = this
    const rows = data + slots.length * 4
    const atOnce = Math.min(addresses.length, MAX_ROWS)
    const ranges = rows + atOnce * 4
    const insertBytes = (ranges + atOnce * insertCount * 8 + 7) & ~7
    const free = (insertBytes + inserts.bytes.length + INSERT_MARGIN) & ~7
    if (free > this.end) return 0
    words.set(slots, data >>> 2)
    this.bytes.set(inserts.bytes, insertBytes + (inserts.bytes.byteOffset & 7))
    let copiedCount = 0
    while (copiedCount < addresses.length) {
      const some = addresses.subarray(copiedCount, copiedCount + atOnce)
      words.set(some, rows >>> 2)
      words.set(
        inserts.ranges.subarray(copiedCount * insertCount * 2, (copiedCount + atOnce) * insertCount * 2),
        ranges >>> 2,
      )
      // The first entity has no comma.
      const skippedBytes = copiedCount === 0 ? 1 : 0
      // V8 copies out of shared memory by words where both sides are aligned alike, otherwise by bytes: 7 times slower.
      const start = free + 8 + (sink.length & 7)
      const count = this.kernels.copyRows(
        rows,
        some.length,
        offsets,
        text,
        data,
        rows,
        lastSlot,
        ranges,
        insertCount,
        insertBytes + (inserts.bytes.byteOffset & 7),
        start - skippedBytes,
        this.end,
        result,
      )
      if (count === 0) break
      sink.copy(this.bytes, start, words[result >>> 2]!)
      copiedCount += count
    }
    return copiedCount
  }

  /** Prefetches rows into the cache, so that reads do not wait for each. @param addresses 256 at most */
  touchRows(addresses: Uint32Array, { end, text }: RowBytes): void {
    const { data } = this
    this.words.set(addresses.subarray(0, MAX_ROWS), data >>> 2)
    this.kernels.touchRows(data, Math.min(addresses.length, MAX_ROWS), end, text, this.result)
  }

  private filter(run: (list: number, mask: number) => void): SegmentFilter {
    const { list, mask, bits } = this
    return (page, candidates) => {
      this.load(page, candidates)
      run(list, mask)
      return bits
    }
  }

  private load(page: number, rows: Uint32Array): void {
    this.words[this.list >>> 2] = page
    this.bits.set(rows)
  }
}
