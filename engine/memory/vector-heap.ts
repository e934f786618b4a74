import { readNumbers } from '../storage/read-value.ts'
import type { VectorOptions } from '../catalog/attribute.ts'
import { SEGMENT_ROWS, VECTOR_HEADER_BYTES, vectorStart } from '../storage/snapshot.ts'
import { lengthOf } from '../vector/similarity.ts'
import { blockOf, SKETCHES_HEADER_BYTES, sketchBytes, sketchesBytes, writeSketch } from '../vector/sketch.ts'
import { codesBytes, writeCodes } from '../vector/vector-codes.ts'
import { PAGE_CODES, PAGE_SKETCHES, type Workspace } from './pages.ts'
import type { SharedHeap } from './shared-heap.ts'

/** For kernels: where its length and its numbers are, from the address of a vector, and codes and sketches of a segment. */
export const VECTOR_LAYOUT = {
  vectorLength: VECTOR_HEADER_BYTES - 4,
  vectorNumbers: VECTOR_HEADER_BYTES,
  vectorCodes: PAGE_CODES,
  vectorSketches: PAGE_SKETCHES,
}

/** Address of the codes of a vector. */
export const codesOf = ({ words }: SharedHeap, address: number): number => words[(address >>> 2) + 1]!

/** What an image keeps of it. */
export interface VectorHeapState {
  vectors: SlotsState
  codes: SlotsState
  freed: number[]
  sketches: number[]
}

interface SlotsState {
  chunks: number[]
  used: number
}

const CHUNK_BYTES = 2 ** 17
/** Vector instructions want their numbers at multiples of it. */
const ALIGNMENT = 16

/**
 * The vectors of a column, for the writer. A change copies one vector and not a page of them. They lie one behind the
 * other, because a scan reads all of them: between the rows that they came with they took five times as long. Their codes,
 * which are mostly all that it reads, are in chunks of their own for that.
 *
 * The sketches of a segment are one block, by rows, and change in place: readers of a version before may miss a row that
 * is just being changed, as what answers from sketches may miss any.
 */
export class VectorHeap {
  private readonly vectors: Slots
  private readonly codes: Slots
  /** Vectors that nobody has any more. They keep their codes. */
  private freed: number[]
  /** Blocks of sketches. */
  private sketches: number[]
  private readonly dimension: number
  /** 0: there are none. Only where an index may be asked, answers may miss anything. */
  private readonly sketchBytes: number

  constructor(
    private readonly space: Workspace,
    { dimension, hnsw }: VectorOptions,
    state?: VectorHeapState,
  ) {
    this.dimension = dimension
    this.sketchBytes = hnsw ? sketchBytes(dimension) : 0
    this.sketches = state?.sketches ?? []
    this.vectors = new Slots(space, VECTOR_HEADER_BYTES + 4 * dimension, state?.vectors)
    this.codes = new Slots(space, codesBytes(dimension), state?.codes)
    this.freed = state?.freed ?? []
  }

  get state(): VectorHeapState {
    const { vectors, codes, freed, sketches } = this
    return { vectors: vectors.state, codes: codes.state, freed, sketches }
  }

  /** @param start of its JSON text in the memory @returns its address @throws {MemoryFull} */
  put(start: number, end: number): number {
    const { heap, sequence } = this.space
    const freed = this.freed.pop()
    const address = freed ?? this.vectors.allocate()
    const codes = freed === undefined ? this.codes.allocate() : codesOf(heap, address)
    heap.preserve(address, this.vectors.slotBytes)
    heap.preserve(codes, this.codes.slotBytes)
    const at = vectorStart(address)
    readNumbers(heap.bytes, start, end, heap.singles, at)
    heap.words[address >>> 2] = sequence
    heap.words[(address >>> 2) + 1] = codes
    heap.singles[at - 1] = lengthOf(heap.singles, at, this.dimension)
    writeCodes(heap.singles, at, this.dimension, heap.singles, heap.bytes, codes)
    return address
  }

  /**
   * Writes the sketch of a vector that is the value of a row.
   * @param page that may be changed @param address of the vector
   * @throws {MemoryFull}
   */
  sketch(page: number, entry: number, address: number): void {
    const { dimension, sketchBytes } = this
    if (sketchBytes === 0) return
    const { heap } = this.space
    const { singles } = heap
    const sketches = heap.words[(page + PAGE_SKETCHES) >>> 2] || this.addSketches(page)
    const block = blockOf(sketches, entry, sketchBytes)
    heap.preserve(sketches, SKETCHES_HEADER_BYTES)
    heap.preserve(block.address, block.length)
    const start = vectorStart(address)
    const length = singles[start - 1]!
    singles[sketches >>> 2] = Math.min(singles[sketches >>> 2]!, length)
    singles[(sketches >>> 2) + 1] = Math.max(singles[(sketches >>> 2) + 1]!, length)
    writeSketch(singles, start, dimension, heap.bytes, sketches, entry)
  }

  private addSketches(page: number): number {
    const { allocator, heap } = this.space
    const sketches = allocator.allocate(sketchesBytes(this.dimension, SEGMENT_ROWS), 'vectors')
    this.sketches.push(sketches)
    heap.singles[sketches >>> 2] = Number.POSITIVE_INFINITY
    heap.singles[(sketches >>> 2) + 1] = 0
    heap.words[(page + PAGE_SKETCHES) >>> 2] = sketches
    return sketches
  }

  /** As of the version that is being made, nobody has it any more. */
  retire(address: number): void {
    const { heap, reclaimer, sequence } = this.space
    const { freed } = this
    reclaimer.retire(heap.words[address >>> 2]!, sequence, () => freed.push(address))
  }

  /** To be called after all vectors have been retired. */
  clear(): void {
    const { allocator, reclaimer, sequence } = this.space
    const { sketches, dimension } = this
    this.vectors.clear()
    this.codes.clear()
    reclaimer.retire(0, sequence, () => {
      for (const each of sketches) allocator.free(each, sketchesBytes(dimension, SEGMENT_ROWS), 'vectors')
    })
    this.sketches = []
    this.freed = []
  }
}

/** Places of one size, one behind the other in chunks. */
class Slots {
  readonly slotBytes: number
  private readonly perChunk: number
  private chunks: number[]
  /** Slots of the last chunk that have been given away. */
  private used: number

  constructor(
    private readonly space: Workspace,
    bytes: number,
    state?: SlotsState,
  ) {
    this.slotBytes = Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
    this.perChunk = Math.floor((CHUNK_BYTES - ALIGNMENT) / this.slotBytes)
    this.chunks = state?.chunks ?? []
    this.used = state?.used ?? this.perChunk
  }

  get state(): SlotsState {
    const { chunks, used } = this
    return { chunks, used }
  }

  /** @throws {MemoryFull} */
  allocate(): number {
    if (this.used === this.perChunk) {
      this.chunks.push(this.space.allocator.allocate(CHUNK_BYTES, 'vectors'))
      this.used = 0
    }
    const first = Math.ceil(this.chunks.at(-1)! / ALIGNMENT) * ALIGNMENT
    return first + this.used++ * this.slotBytes
  }

  /** As of the version that is being made, nobody has any of them any more. */
  clear(): void {
    const { allocator, reclaimer, sequence } = this.space
    const { chunks } = this
    reclaimer.retire(0, sequence, () => {
      for (const chunk of chunks) allocator.free(chunk, CHUNK_BYTES, 'vectors')
    })
    this.chunks = []
    this.used = this.perChunk
  }
}
