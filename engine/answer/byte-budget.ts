/** Unit of the budget: small enough for small bodies, large enough to count terabytes in 31 bits. */
const UNIT_BYTES = 1024
/** Maximum size of portions that may exceed the limit by an eighth, so that a few large portions do not block all others. */
const SMALL_BYTES = 64 * 1024

/** A budget for another thread: plain data. */
export interface SharedBudget {
  readonly limitBytes: number
  readonly usedUnits: Int32Array
}

/**
 * Bytes in use under one limit, counted in memory that all threads of the process share. Every portion is rounded up to whole KiB, so the
 * amount released equals the amount reserved.
 */
export class ByteBudget {
  readonly limitBytes: number
  private readonly limit: number
  /** Bytes in use in whole KiB, as one word. */
  private readonly usedUnits: Int32Array

  constructor({ limitBytes, usedUnits }: SharedBudget) {
    this.limitBytes = limitBytes
    this.limit = Math.floor(limitBytes / UNIT_BYTES)
    this.usedUnits = usedUnits
  }

  static of(limitBytes: number): ByteBudget {
    return new ByteBudget({ limitBytes, usedUnits: new Int32Array(new SharedArrayBuffer(4)) })
  }

  get sharedBudget(): SharedBudget {
    return { limitBytes: this.limitBytes, usedUnits: this.usedUnits }
  }

  get usedBytes(): number {
    return Atomics.load(this.usedUnits, 0) * UNIT_BYTES
  }

  /** @returns false, with nothing reserved, when the limit would be exceeded */
  tryReserve(bytes: number): boolean {
    return this.tryGrow(0, bytes)
  }

  /** Resizes a portion from `from` to `to` bytes. @returns false, with nothing changed, when the limit would be exceeded */
  tryGrow(from: number, to: number): boolean {
    const limit = to <= SMALL_BYTES ? this.limit + (this.limit >> 3) : this.limit
    return this.tryAdd(unitsOf(to) - unitsOf(from), limit)
  }

  /** Reserves up to twice the limit, for portions that should not be refused. */
  tryReserveUrgently(bytes: number): boolean {
    return this.tryAdd(unitsOf(bytes), 2 * this.limit)
  }

  release(bytes: number): void {
    Atomics.sub(this.usedUnits, 0, unitsOf(bytes))
  }

  private tryAdd(units: number, limit: number): boolean {
    if (Atomics.add(this.usedUnits, 0, units) + units <= limit || units <= 0) return true
    Atomics.sub(this.usedUnits, 0, units)
    return false
  }
}

const unitsOf = (bytes: number): number => Math.ceil(bytes / UNIT_BYTES)
