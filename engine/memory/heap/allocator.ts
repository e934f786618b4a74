import { type Address, offsetBy } from './address.ts'
import { HEAP_START, type Part, PARTS, type SharedHeap } from './shared-heap.ts'

/** Thrown when there is no room for an allocation. */
export class MemoryFull extends Error {}

/** State saved in an image. */
export interface AllocatorState {
  next: Address
  /** A size and the addresses of the freed blocks that have it. */
  freed: [size: number, addresses: Address[]][]
  used: number[]
}

/**
 * Blocks of the shared heap. Only the writer thread allocates, so the bookkeeping is in this thread's own memory. Sizes are
 * rounded up to classes, 32 for each power of two; a freed block is reused for its class.
 */
export class Allocator {
  private next: Address
  private readonly freeBlocks: Map<number, Address[]>
  /** Bytes of blocks that are allocated, as rounded, by {@link PARTS}. */
  readonly bytesByPart: number[]

  constructor(
    private readonly heap: SharedHeap,
    state?: AllocatorState,
  ) {
    this.next = state?.next ?? HEAP_START
    this.freeBlocks = new Map(state?.freed)
    this.bytesByPart = state?.used ?? PARTS.map(() => 0)
  }

  get usedBytes(): number {
    return this.bytesByPart.reduce((sum, bytes) => sum + bytes, 0)
  }

  /** Address after the last block. */
  get end(): Address {
    return this.next
  }

  get state(): AllocatorState {
    return { next: this.next, freed: [...this.freeBlocks], used: this.bytesByPart }
  }

  /**
   * Allocates a block, whose content is undefined.
   * @param part purpose of the block. Some room is reserved for directories, because memory can be freed only after a new version
   * @throws {MemoryFull}
   */
  allocate(bytes: number, part: Part): Address {
    const size = sizeClass(bytes)
    const reusedBlock = this.freeBlocks.get(size)?.pop()
    const reserve = Math.min(MAX_RESERVE_BYTES, (this.heap.size - HEAP_START) / 8)
    const end = part === 'directories' ? this.heap.size : this.heap.size - reserve
    if (reusedBlock === undefined && this.next + size > end) {
      throw new MemoryFull(`no room for ${bytes} bytes in ${this.heap.size}`)
    }
    this.bytesByPart[PARTS.indexOf(part)]! += size
    if (reusedBlock !== undefined) {
      this.heap.preserve(reusedBlock, size)
      return reusedBlock
    }
    const address = this.next
    this.next = offsetBy(address, size)
    return address
  }

  /** @param bytes as passed to {@link allocate} */
  free(address: Address, bytes: number, part: Part): void {
    const size = sizeClass(bytes)
    this.bytesByPart[PARTS.indexOf(part)]! -= size
    const list = this.freeBlocks.get(size)
    if (list) list.push(address)
    else this.freeBlocks.set(size, [address])
  }
}

const MAX_RESERVE_BYTES = 4 * 1024 * 1024
const SMALL_BYTES = 512

/** Rounds up to a multiple of 8, above 512 to a multiple of a 32nd of the power of two below. */
export function sizeClass(bytes: number): number {
  if (bytes <= SMALL_BYTES) return (bytes + 7) & ~7
  const step = 1 << (26 - Math.clz32(bytes - 1))
  return Math.ceil(bytes / step) * step
}
