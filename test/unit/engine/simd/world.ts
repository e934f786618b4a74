import { SEGMENT_ROWS, SEGMENT_WORDS } from '../../../../engine/data/snapshot.ts'
import { SKETCHES_HEADER_BYTES } from '../../../../engine/vector/math/sketch.ts'
import fc from '../../../support/runner/fast-check.ts'

export const LAYOUT = {
  present: 72,
  values: 600,
  textLength: 4,
  textBytes: 8,
  vectorLength: 12,
  vectorNumbers: 16,
  vectorCodes: 600,
  vectorSketches: 588,
}

/** Plan of a random column, determined by its seed. */
export interface ColumnPlan {
  readonly seed: number
  readonly segments: number
  /** Shares of the rows that have a value and that are candidates. */
  readonly present: number
  readonly candidates: number
}

const share = fc.constantFrom(0, 0.02, 0.5, 0.95, 1)
export const columnPlan: fc.Arbitrary<ColumnPlan> = fc.record({
  seed: fc.nat(),
  segments: fc.integer({ min: 0, max: 3 }),
  present: share,
  candidates: share,
})

/** A shared memory with columns and bitmaps in it, at addresses from `start` on. */
export class World {
  readonly words: Uint32Array
  readonly floats: Float64Array
  private seed = 1
  private end: number

  constructor(
    readonly memory: WebAssembly.Memory,
    private readonly start = 8192,
  ) {
    this.words = new Uint32Array(memory.buffer)
    this.floats = new Float64Array(memory.buffer)
    this.end = start
  }

  /** Forgets all allocations, without clearing the memory: code that needs zeros must write them. */
  reset(seed: number): void {
    this.end = this.start
    this.seed = seed
  }

  /** A number in [0, 1). */
  random(): number {
    this.seed = (Math.imul(this.seed, 1664525) + 1013904223) >>> 0
    return this.seed / 2 ** 32
  }

  pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.random() * values.length)]!
  }

  /** @returns an address that is a multiple of 8 and sometimes not of 16 */
  allocate(bytes: number): number {
    const address = this.end
    this.end += Math.ceil(bytes / 8) * 8 + (this.random() < 0.5 ? 8 : 0)
    return address
  }

  bitmap(words: number, share: number): number {
    const address = this.allocate(words * 4)
    for (let bit = 0; bit < words * 32; bit++) this.setBit(address, bit, this.random() < share)
    return address
  }

  /** @returns the address of an ASCII text, whose length sometimes has the highest bit set, which kernels must ignore */
  text(text: string): number {
    const address = this.allocate(LAYOUT.textBytes + text.length + 1)
    this.words[(address + LAYOUT.textLength) >>> 2] = text.length + (this.random() < 0.5 ? 0x80000000 : 0)
    // A letter follows, which must not be read as part of the text.
    Buffer.from(this.memory.buffer).write(`${text}a`, address + LAYOUT.textBytes, 'latin1')
    return address
  }

  /** @returns the address of a pattern, as the kernels read it */
  pattern(parts: readonly string[]): number {
    const address = this.allocate(4 + parts.length * 4 + parts.join('').length + parts.length * 3)
    let word = address >>> 2
    this.words[word++] = parts.length
    for (const part of parts) {
      this.words[word++] = part.length
      Buffer.from(this.memory.buffer).write(part, word * 4, 'latin1')
      word += (part.length + 3) >>> 2
    }
    return address
  }

  /** @param write stores the value of a row at an index of the array of its type */
  column(
    { segments, present, candidates }: ColumnPlan,
    valueBytes: number,
    write: (index: number, isPresent: boolean) => void,
  ) {
    const list = this.allocate(segments * 4)
    for (let segment = 0; segment < segments; segment++) {
      const address = this.allocate(LAYOUT.values + SEGMENT_ROWS * valueBytes)
      this.words[(list >>> 2) + segment] = address
      for (let row = 0; row < SEGMENT_ROWS; row++) {
        const isPresent = this.random() < present
        this.setBit(address + LAYOUT.present, row, isPresent)
        write((address + LAYOUT.values) / valueBytes + row, isPresent)
      }
    }
    return {
      segments: list,
      count: segments,
      words: segments * SEGMENT_WORDS,
      rows: segments * SEGMENT_ROWS,
      candidates: this.bitmap(segments * SEGMENT_WORDS, candidates),
      out: this.allocate(segments * SEGMENT_WORDS * 4),
      /** Index of a row's value in the array of its type; undefined when it has none. */
      indexOf: (row: number): number | undefined => {
        const address = this.words[(list >>> 2) + Math.floor(row / SEGMENT_ROWS)]!
        const entry = row % SEGMENT_ROWS
        return this.hasBit(address + LAYOUT.present, entry) ? (address + LAYOUT.values) / valueBytes + entry : undefined
      },
    }
  }

  /** Gives the segments of a column random sketches of `bytes` bytes each, with random headers. */
  addSketches({ segments, count }: { segments: number; count: number }, bytes: number): void {
    for (let segment = 0; segment < count; segment++) {
      const sketches = this.allocate(SKETCHES_HEADER_BYTES + SEGMENT_ROWS * bytes)
      this.words[(this.words[(segments >>> 2) + segment]! + LAYOUT.vectorSketches) >>> 2] = sketches
      const end = (sketches + SKETCHES_HEADER_BYTES + SEGMENT_ROWS * bytes) >>> 2
      for (let word = sketches >>> 2; word < end; word++) {
        // The low bits of a single random number repeat early.
        this.words[word] = (this.random() * 2 ** 32) ^ (this.random() * 2 ** 16)
      }
    }
  }

  hasBit(bitmap: number, bit: number): boolean {
    return ((this.words[(bitmap >>> 2) + (bit >>> 5)]! >>> (bit & 31)) & 1) === 1
  }

  setBit(bitmap: number, bit: number, isSet: boolean): void {
    const word = (bitmap >>> 2) + (bit >>> 5)
    const mask = 1 << (bit & 31)
    this.words[word] = isSet ? this.words[word]! | mask : this.words[word]! & ~mask
  }

  slice(bitmap: number, words: number): Uint32Array {
    return this.words.slice(bitmap >>> 2, (bitmap >>> 2) + words)
  }
}

/** Bitmap of the rows below `rows` that pass, by a plain loop. */
export function expectedBits(rows: number, passes: (row: number) => boolean): { bits: Uint32Array; hits: number } {
  const bits = new Uint32Array(rows / 32)
  let hits = 0
  for (let row = 0; row < rows; row++) {
    if (!passes(row)) continue
    bits[row >>> 5]! |= 1 << (row & 31)
    hits++
  }
  return { bits, hits }
}

/** Bytes without a value: kernels read them and must ignore them. */
export const GARBAGE = [Number.NaN, Number.POSITIVE_INFINITY, -1, 1e300, 2 ** 32, 0.5]
