import { readNumbers } from '../storage/read-value.ts'
import { VECTOR_HEADER_BYTES, vectorStart } from '../storage/snapshot.ts'
import { lengthOf } from '../vector/similarity.ts'
import type { Workspace } from './pages.ts'

/** For kernels: where its length and its numbers are, from the address of a vector. */
export const VECTOR_LAYOUT = { vectorLength: VECTOR_HEADER_BYTES - 4, vectorNumbers: VECTOR_HEADER_BYTES }

/**
 * The vectors of a column, for the writer: a block for each, so that a change copies one vector and not a page of them.
 * Those that are added one after the other mostly lie so too.
 */
export class VectorHeap {
  private readonly blockBytes: number
  private readonly floats: Float32Array

  constructor(
    private readonly space: Workspace,
    private readonly dimension: number,
  ) {
    this.blockBytes = VECTOR_HEADER_BYTES + 4 * dimension
    this.floats = space.heap.singles
  }

  /** @param start of its JSON text in the memory @returns its address @throws {MemoryFull} */
  put(start: number, end: number): number {
    const { heap, allocator, sequence } = this.space
    const address = allocator.allocate(this.blockBytes, 'vectors')
    const at = vectorStart(address)
    readNumbers(heap.bytes, start, end, this.floats, at)
    heap.words[address >>> 2] = sequence
    this.floats[at - 1] = lengthOf(this.floats, at, this.dimension)
    return address
  }

  /** As of the version that is being made, nobody has it any more. */
  retire(address: number): void {
    const { heap, allocator, reclaimer, sequence } = this.space
    const born = heap.words[address >>> 2]!
    reclaimer.retire(born, sequence, () => allocator.free(address, this.blockBytes, 'vectors'))
  }
}
