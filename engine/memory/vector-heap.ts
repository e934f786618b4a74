import { readNumbers } from '../storage/read-value.ts'
import { VECTOR_HEADER_BYTES, vectorStart } from '../storage/snapshot.ts'
import { lengthOf } from '../vector/similarity.ts'
import type { Workspace } from './pages.ts'

/** For kernels: where its length and its numbers are, from the address of a vector. */
export const VECTOR_LAYOUT = { vectorLength: VECTOR_HEADER_BYTES - 4, vectorNumbers: VECTOR_HEADER_BYTES }

/** What an image keeps of it. */
export interface VectorHeapState {
  chunks: number[]
  used: number
  freed: number[]
}

const CHUNK_BYTES = 2 ** 17
/** Vector instructions want their numbers at multiples of it. */
const ALIGNMENT = 16

/**
 * The vectors of a column, for the writer. A change copies one vector and not a page of them. They lie one behind the
 * other, because a scan reads all of them: between the rows that they came with they took five times as long.
 */
export class VectorHeap {
  private chunks: number[]
  /** Vectors of the last chunk that have been given away. */
  private used: number
  private freed: number[]
  private readonly vectorBytes: number
  private readonly perChunk: number

  constructor(
    private readonly space: Workspace,
    private readonly dimension: number,
    state?: VectorHeapState,
  ) {
    this.vectorBytes = Math.ceil((VECTOR_HEADER_BYTES + 4 * dimension) / ALIGNMENT) * ALIGNMENT
    this.perChunk = Math.floor((CHUNK_BYTES - ALIGNMENT) / this.vectorBytes)
    this.chunks = state?.chunks ?? []
    this.used = state?.used ?? this.perChunk
    this.freed = state?.freed ?? []
  }

  get state(): VectorHeapState {
    const { chunks, used, freed } = this
    return { chunks, used, freed }
  }

  /** @param start of its JSON text in the memory @returns its address @throws {MemoryFull} */
  put(start: number, end: number): number {
    const { heap, sequence } = this.space
    const address = this.allocate()
    heap.preserve(address, this.vectorBytes)
    const at = vectorStart(address)
    readNumbers(heap.bytes, start, end, heap.singles, at)
    heap.words[address >>> 2] = sequence
    heap.singles[at - 1] = lengthOf(heap.singles, at, this.dimension)
    return address
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
    const { chunks } = this
    reclaimer.retire(0, sequence, () => {
      for (const chunk of chunks) allocator.free(chunk, CHUNK_BYTES, 'vectors')
    })
    this.chunks = []
    this.freed = []
    this.used = this.perChunk
  }

  private allocate(): number {
    const freed = this.freed.pop()
    if (freed !== undefined) return freed
    if (this.used === this.perChunk) {
      this.chunks.push(this.space.allocator.allocate(CHUNK_BYTES, 'vectors'))
      this.used = 0
    }
    const first = Math.ceil(this.chunks.at(-1)! / ALIGNMENT) * ALIGNMENT
    return first + this.used++ * this.vectorBytes
  }
}
