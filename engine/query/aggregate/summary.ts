import type { NumberSummary } from '../../data/kernels.ts'
import { SEGMENT_ROWS } from '../../data/snapshot.ts'
import type { Scalar } from '../bind/predicate.ts'
import { joinLanes, type Lane } from '../scan/segment-summary.ts'

/** A value in aggregation: a {@link Scalar}, or a bool inside JSON. */
export type Item = Scalar | boolean

interface Extreme {
  readonly value: Scalar
  /** The first row with the value. */
  readonly rowId: number
}

/** Results that {@link Summary} and databases have. */
export interface Totals {
  readonly count: number
  readonly numbers: { readonly count: number; readonly total: number; readonly integerTotal: bigint }
  readonly min: Extreme | undefined
  readonly max: Extreme | undefined
}

/** Results of one pass over values. Numbers are lower than texts; bools, objects and arrays inside JSON are only counted. */
export class Summary implements Totals {
  count = 0
  /** Sum of the values that are numbers. */
  readonly numbers: Sum
  min: Extreme | undefined
  max: Extreme | undefined

  /**
   * @param isRestricted true if there may be hidden rows: then positions of rows must not influence the rounding of a sum
   * @param scale see {@link inRange}
   */
  constructor(
    private readonly isRestricted = false,
    scale = 1,
  ) {
    this.numbers = new Sum(scale)
  }

  /** Adds a value. Rows have to be in ascending order. */
  add(value: Item | object, rowId: number): void {
    this.count++
    if (typeof value === 'boolean' || typeof value === 'object') return
    if (typeof value !== 'string') this.numbers.add(value, this.isRestricted ? this.numbers.count : rowId)
    if (this.min === undefined || compareItems(value, this.min.value) < 0) this.min = { value, rowId }
    if (this.max === undefined || compareItems(value, this.max.value) > 0) this.max = { value, rowId }
  }

  /**
   * Adds the summary of numbers of a segment.
   * @param rowOf returns the first row of the segment with a value
   */
  addNumbers({ count, high, low, min, max }: NumberSummary, rowOf: (value: number) => number): void {
    if (count === 0) return
    this.count += count
    this.numbers.addSegment(count, { high, low })
    if (this.min === undefined || compareItems(min, this.min.value) < 0) this.min = { value: min, rowId: rowOf(min) }
    if (this.max === undefined || compareItems(max, this.max.value) > 0) this.max = { value: max, rowId: rowOf(max) }
  }
}

/**
 * Result of a pass over values. If a sum leaves the range of doubles, even if the total is within it, a second pass is made with a factor
 * for the values. A power of two changes no digit.
 */
export function inRange<T extends Pick<Totals, 'numbers'>>(pass: (scale: number) => T): T {
  const totals = pass(1)
  return Number.isFinite(totals.numbers.total) ? totals : pass(SMALL)
}

/** Factor that keeps a sum of 2^64 doubles in their range. */
export const SMALL = 2 ** -64

/**
 * A sum in two doubles: `low` collects the rounding errors of `high`, so that ten times 0.1 is 1. For integers both are exact.
 * Each step is TwoSum, which has no branch: Knuth, The Art of Computer Programming, volume 2, 4.2.2, theorem B.
 *
 * Rounding depends on the order of the steps, which is the same however the rows are read: even and odd rows of a segment are
 * summed separately, as in the kernels, then segment by segment.
 */
export class Sum {
  count = 0
  private readonly sum: Lane = { high: 0, low: 0 }
  /** Lanes of the segment that is being added row by row. */
  private readonly lanes: readonly [Lane, Lane] = [
    { high: 0, low: 0 },
    { high: 0, low: 0 },
  ]
  private segment = -1
  /** Sum of the integers that do not fit a double; only in 64-bit attributes. */
  private big = 0n

  /** @param scale factor of the values while they are added, a power of two */
  constructor(private readonly scale = 1) {}

  /** @param place position of the value, such as its row id; ascending */
  add(value: number | bigint, place: number): void {
    this.count++
    if (typeof value === 'bigint') {
      this.big += value
      return
    }
    const segment = Math.floor(place / SEGMENT_ROWS)
    if (segment !== this.segment) {
      this.endSegment()
      this.segment = segment
    }
    addTo(this.lanes[(place & 1) as 0 | 1], value * this.scale)
  }

  /** Adds the sum of `count` numbers of a segment, without a scale. */
  addSegment(count: number, { high, low }: Lane): void {
    this.endSegment()
    this.count += count
    addTo(this.sum, high)
    this.sum.low += low
  }

  /** Total as a double; not finite if beyond its range. */
  get total(): number {
    this.endSegment()
    return (this.sum.high + this.sum.low) / this.scale
  }

  /** Exact total of up to 2^27 integers, for which `low` stays a safe integer. */
  get integerTotal(): bigint {
    this.endSegment()
    return this.big + BigInt(this.sum.high) + BigInt(this.sum.low)
  }

  private endSegment(): void {
    if (this.segment === -1) return
    const { high, low } = joinLanes(...this.lanes)
    addTo(this.sum, high)
    this.sum.low += low
    for (const lane of this.lanes) lane.high = lane.low = 0
    this.segment = -1
  }
}

function addTo(lane: Lane, value: number): void {
  const sum = lane.high + value
  const part = sum - lane.high
  lane.low += lane.high - (sum - part) + (value - part)
  lane.high = sum
}

/** Compares items: numbers by value, then texts by the code units of their folds, then bools. */
export function compareItems(a: Item, b: Item): number {
  const rankA = rank(a)
  const rankB = rank(b)
  if (rankA !== rankB) return rankA - rankB
  return a < b ? -1 : a > b ? 1 : 0
}

const rank = (item: Item): number => (typeof item === 'string' ? 1 : typeof item === 'boolean' ? 2 : 0)
