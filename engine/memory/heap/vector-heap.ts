import { readNumbers } from '../../row-format/read-value.ts'
import type { VectorOptions } from '../../catalog/attribute.ts'
import { SEGMENT_ROWS, VECTOR_HEADER_BYTES, vectorStart } from '../../data/snapshot.ts'
import { lengthOf } from '../../vector/math/similarity.ts'
import { blockOf, SKETCHES_HEADER_BYTES, sketchBytes, sketchesBytes, writeSketch } from '../../vector/math/sketch.ts'
import { codesBytes, writeCodes } from '../../vector/math/vector-codes.ts'
import { type Address, addressAt, offsetBy, wordAt, wordIndex } from './address.ts'
import { PAGE_CODES, PAGE_SKETCHES, type Workspace } from './pages.ts'

/** Offsets for kernels: of length and numbers in a vector, of codes and sketches in the page of a segment. */
export const VECTOR_LAYOUT = {
  vectorLength: VECTOR_HEADER_BYTES - 4,
  vectorNumbers: VECTOR_HEADER_BYTES,
  vectorCodes: PAGE_CODES,
  vectorSketches: PAGE_SKETCHES,
}

// Words before a vector: the sequence of the version that it was created for, and the address of its codes.
const VECTOR_BORN = 0
const VECTOR_CODES = 1
/** Word of a page with the address of its sketches. */
const SKETCHES = PAGE_SKETCHES / 4

/** Address of the codes of a vector. */
export const codesOf = (words: Uint32Array, vector: Address): Address => addressAt(words, vector, VECTOR_CODES)

/** State saved in an image. */
export interface VectorHeapState {
  vectors: SlotsState
  codes: SlotsState
  freed: Address[]
  sketches: Address[]
}

interface SlotsState {
  chunks: Address[]
  used: number
}

const CHUNK_BYTES = 2 ** 17
/** Alignment of numbers for vector instructions, in bytes. */
const ALIGNMENT = 16

/**
 * The vectors of a column, for the writer. A change copies one vector, not a page of vectors. Vectors are contiguous, because a scan reads
 * all of them: when they were stored between their rows, it took five times as long. For the same reason their codes, which are most of
 * what a scan reads, have separate chunks.
 *
 * The sketches of a segment are one block, by rows, and change in place: readers of an earlier version may miss a row that is being
 * changed, as searches by sketches may miss any row.
 */
export class VectorHeap {
  private readonly vectors: Slots
  private readonly codes: Slots
  /** Addresses of unused vectors. They keep their codes. */
  private freeVectors: Address[]
  /** Blocks of sketches. */
  private sketches: Address[]
  private readonly dimension: number
  /** Bytes of the sketches; 0 without sketches: answers may miss rows only where an index may be used. */
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
    this.freeVectors = state?.freed ?? []
  }

  get state(): VectorHeapState {
    const { vectors, codes, freeVectors: freed, sketches } = this
    return { vectors: vectors.state, codes: codes.state, freed, sketches }
  }

  /** @param start start of its JSON text in the memory @returns its address @throws {MemoryFull} */
  put(start: number, end: number): Address {
    const { heap, sequence } = this.space
    const freeVector = this.freeVectors.pop()
    const address = freeVector ?? this.vectors.allocate()
    const codes = freeVector === undefined ? this.codes.allocate() : codesOf(heap.words, address)
    heap.preserve(address, this.vectors.slotBytes)
    heap.preserve(codes, this.codes.slotBytes)
    const at = vectorStart(address)
    readNumbers(heap.bytes, start, end, heap.singles, at)
    heap.words[wordIndex(address, VECTOR_BORN)] = sequence
    heap.words[wordIndex(address, VECTOR_CODES)] = codes
    heap.singles[at - 1] = lengthOf(heap.singles, at, this.dimension)
    writeCodes(heap.singles, at, this.dimension, heap.singles, heap.bytes, codes)
    return address
  }

  /**
   * Writes the sketch of a vector that is the value of a row.
   * @param page writable page of the row @param address address of the vector
   * @throws {MemoryFull}
   */
  sketch(page: Address, entry: number, address: Address): void {
    const { dimension, sketchBytes } = this
    if (sketchBytes === 0) return
    const { heap } = this.space
    const { singles } = heap
    const sketches = addressAt(heap.words, page, SKETCHES) || this.addSketches(page)
    const block = blockOf(0, entry, sketchBytes)
    heap.preserve(sketches, SKETCHES_HEADER_BYTES)
    heap.preserve(offsetBy(sketches, block.address), block.length)
    const start = vectorStart(address)
    const length = singles[start - 1]!
    const lengths = wordIndex(sketches, 0)
    singles[lengths] = Math.min(singles[lengths]!, length)
    singles[lengths + 1] = Math.max(singles[lengths + 1]!, length)
    writeSketch(singles, start, dimension, heap.bytes, sketches, entry)
  }

  private addSketches(page: Address): Address {
    const { allocator, heap } = this.space
    const sketches = allocator.allocate(sketchesBytes(this.dimension, SEGMENT_ROWS), 'vectors')
    this.sketches.push(sketches)
    heap.singles.set([Number.POSITIVE_INFINITY, 0], wordIndex(sketches, 0))
    heap.words[wordIndex(page, SKETCHES)] = sketches
    return sketches
  }

  /** Frees a vector as of the version that is being created. */
  retire(address: Address): void {
    const { heap, reclaimer, sequence } = this.space
    const { freeVectors } = this
    reclaimer.retire(wordAt(heap.words, address, VECTOR_BORN), sequence, () => freeVectors.push(address))
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
    this.freeVectors = []
  }
}

/** Slots of one size, contiguous in chunks. */
class Slots {
  readonly slotBytes: number
  private readonly perChunk: number
  private chunks: Address[]
  /** Number of allocated slots in the last chunk. */
  private slotCount: number

  constructor(
    private readonly space: Workspace,
    bytes: number,
    state?: SlotsState,
  ) {
    this.slotBytes = Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
    this.perChunk = Math.floor((CHUNK_BYTES - ALIGNMENT) / this.slotBytes)
    this.chunks = state?.chunks ?? []
    this.slotCount = state?.used ?? this.perChunk
  }

  get state(): SlotsState {
    const { chunks, slotCount: used } = this
    return { chunks, used }
  }

  /** @throws {MemoryFull} */
  allocate(): Address {
    if (this.slotCount === this.perChunk) {
      this.chunks.push(this.space.allocator.allocate(CHUNK_BYTES, 'vectors'))
      this.slotCount = 0
    }
    const first = Math.ceil(this.chunks.at(-1)! / ALIGNMENT) * ALIGNMENT
    return (first + this.slotCount++ * this.slotBytes) as Address
  }

  /** Frees all slots as of the version that is being created. */
  clear(): void {
    const { allocator, reclaimer, sequence } = this.space
    const { chunks } = this
    reclaimer.retire(0, sequence, () => {
      for (const chunk of chunks) allocator.free(chunk, CHUNK_BYTES, 'vectors')
    })
    this.chunks = []
    this.slotCount = this.perChunk
  }
}
