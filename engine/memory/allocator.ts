import { HEAP_START, type SharedHeap } from './shared-heap.ts'

/** There is no room for what was asked for. */
export class MemoryFull extends Error {}

/**
 * Blocks of the shared heap. Only the writer thread allocates, so that everything about it is in this thread's own memory.
 * Sizes are rounded up to classes, eight for each power of two; a freed block serves its class again.
 */
export class Allocator {
  private next = HEAP_START
  private readonly freed = new Map<number, number[]>()
  /** Bytes of blocks that are allocated, as rounded. */
  usedBytes = 0

  constructor(private readonly heap: SharedHeap) {}

  /**
   * A block whose content is left over from what was there.
   * @param isDirectory of what makes a version, for which some room is kept: without it nothing could be taken out either
   * @throws {MemoryFull}
   */
  allocate(bytes: number, isDirectory = false): number {
    const size = sizeClass(bytes)
    const reused = this.freed.get(size)?.pop()
    const end = isDirectory ? this.heap.size : this.heap.size - Math.min(MAX_RESERVE_BYTES, this.heap.size / 8)
    if (reused === undefined && this.next + size > end) {
      throw new MemoryFull(`no room for ${bytes} bytes in ${this.heap.size}`)
    }
    this.usedBytes += size
    if (reused !== undefined) return reused
    const address = this.next
    this.next += size
    return address
  }

  /** @param bytes as asked for */
  free(address: number, bytes: number): void {
    const size = sizeClass(bytes)
    this.usedBytes -= size
    const list = this.freed.get(size)
    if (list) list.push(address)
    else this.freed.set(size, [address])
  }
}

const MAX_RESERVE_BYTES = 4 * 1024 * 1024
const SMALL_BYTES = 128

/** Multiples of 8 up to 128, then of an eighth of the power of two below. */
export function sizeClass(bytes: number): number {
  const step = bytes <= SMALL_BYTES ? 8 : 2 ** (28 - Math.clz32(bytes - 1))
  return Math.ceil(bytes / step) * step
}
