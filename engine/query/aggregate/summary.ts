import type { NumberSummary } from '../../data/kernels.ts'
import { SEGMENT_ROWS } from '../../data/snapshot.ts'
import type { Scalar } from '../bind/predicate.ts'
import { joinLanes, type Lane } from '../scan/segment-summary.ts'

/** A value as it is aggregated: a {@link Scalar}, or a bool inside JSON. */
export type Item = Scalar | boolean

interface Extreme {
  readonly value: Scalar
  /** The first row that has it. */
  readonly rowId: number
}

/** Everything that one pass over values tells. Numbers are below texts; bools and what is inside JSON only count. */
export class Summary {
  count = 0
  /** Sum of the values that are numbers. */
  readonly numbers = new Sum()
  min: Extreme | undefined
  max: Extreme | undefined

  /** @param isRestricted there may be rows between these that may not be seen: where a row is must not decide about a sum */
  constructor(private readonly isRestricted = false) {}

  /** Rows have to come in ascending order. */
  add(value: Item | object, rowId: number): void {
    this.count++
    if (typeof value === 'boolean' || typeof value === 'object') return
    if (typeof value !== 'string') this.numbers.add(value, this.isRestricted ? this.numbers.count : rowId)
    if (this.min === undefined || compareItems(value, this.min.value) < 0) this.min = { value, rowId }
    if (this.max === undefined || compareItems(value, this.max.value) > 0) this.max = { value, rowId }
  }

  /**
   * The same for numbers of a segment that have been looked at together.
   * @param rowOf the first row of them that has a value
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
 * A sum in two doubles: `low` collects what rounding takes from `high`, so that ten times 0.1 is 1. Of integers both are
 * exact. The step is TwoSum, which has no branch: Knuth, The Art of Computer Programming, volume 2, 4.2.2, theorem B.
 *
 * Rounding depends on the order of the steps. It is the same however the rows are read: even and odd rows of a segment
 * apart, as the kernels have them, then segment by segment.
 */
class Sum {
  count = 0
  private readonly sum: Lane = { high: 0, low: 0 }
  /** Lanes of the segment that is being added row by row. */
  private readonly lanes: readonly [Lane, Lane] = [
    { high: 0, low: 0 },
    { high: 0, low: 0 },
  ]
  private segment = -1
  /** Sum of the integers that do not fit a double. Only a 64-bit attribute has such. */
  private big = 0n

  /** @param place of the value among others: a row id. Ascending */
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
    addTo(this.lanes[(place & 1) as 0 | 1], value)
  }

  /** The sum of `count` numbers of a segment. */
  addSegment(count: number, { high, low }: Lane): void {
    this.endSegment()
    this.count += count
    addTo(this.sum, high)
    this.sum.low += low
  }

  /** Not finite when it is beyond what a double can hold. */
  get total(): number {
    this.endSegment()
    return this.sum.high + this.sum.low
  }

  /** The total of integers to the last digit, for up to 2^27 of them: `low` stays a safe integer then. */
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

/** Ascending: numbers by value, texts by the code units of their folds, bools. */
export function compareItems(a: Item, b: Item): number {
  const rankA = rank(a)
  const rankB = rank(b)
  if (rankA !== rankB) return rankA - rankB
  return a < b ? -1 : a > b ? 1 : 0
}

const rank = (item: Item): number => (typeof item === 'string' ? 1 : typeof item === 'boolean' ? 2 : 0)
