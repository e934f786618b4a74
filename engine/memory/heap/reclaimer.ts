import type { SharedHeap } from './shared-heap.ts'

/** Memory that an older version needs, which may still be read, but later versions do not need. */
interface Retired {
  /** Sequence of the first version that had it; 0 if readers of any earlier version may access it. */
  readonly born: number
  /** Sequence of the first version that does not have it. */
  readonly retired: number
  readonly free: () => void
}

/**
 * Frees replaced memory as soon as no thread has pinned a version that needs it. A long query holds only what its own version
 * needs, not what was allocated and replaced meanwhile.
 */
export class Reclaimer {
  private fresh: Retired[] = []
  /** Memory that a pinned version needed when it was last checked. */
  private heldMemory: Retired[] = []
  private heldFor: readonly number[] = []

  constructor(private readonly heap: SharedHeap) {}

  /** @param retired sequence of the version that is being created */
  retire(born: number, retired: number, free: () => void): void {
    this.fresh.push({ born, retired, free })
  }

  /** To be called after a version has been published. */
  reclaim(): void {
    const pins = this.heap.pinned()
    const isChanged = pins.length !== this.heldFor.length || pins.some((pin, i) => pin !== this.heldFor[i])
    const candidates = isChanged ? this.heldMemory.concat(this.fresh) : this.fresh
    const pinnedMemory = isChanged ? [] : this.heldMemory
    this.fresh = []
    for (const candidate of candidates) {
      if (pins.some(pin => isIn(pin, candidate))) pinnedMemory.push(candidate)
      else candidate.free()
    }
    this.heldMemory = pinnedMemory
    this.heldFor = pins
  }

  get size(): number {
    return this.fresh.length + this.heldMemory.length
  }
}

/** Sequences wrap around, so they are compared by their difference. */
const isIn = (pin: number, { born, retired }: Retired): boolean =>
  ((pin - retired) | 0) < 0 && (born === 0 || ((pin - born) | 0) >= 0)
