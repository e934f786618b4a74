import type { Scalar } from '../bind/predicate.ts'

/** A value as it is aggregated: a {@link Scalar}, or a bool inside JSON. */
export type Item = Scalar | boolean

export interface Extreme {
  readonly value: Scalar
  /** The first row that has it. */
  readonly rowId: number
}

/** Everything that one pass over values tells. Numbers are below texts; bools and what is inside JSON only count. */
export class Summary {
  count = 0
  /** Of the values that are numbers. */
  readonly numbers = new Sum()
  min: Extreme | undefined
  max: Extreme | undefined

  /** Rows have to come in ascending order. */
  add(value: Item | object, rowId: number): void {
    this.count++
    if (typeof value === 'boolean' || typeof value === 'object') return
    if (typeof value !== 'string') this.numbers.add(value)
    if (this.min === undefined || compareItems(value, this.min.value) < 0) this.min = { value, rowId }
    if (this.max === undefined || compareItems(value, this.max.value) > 0) this.max = { value, rowId }
  }

  /** The same for `count` numbers that have been looked at together. */
  addNumbers(count: number, high: number, low: number, min: Extreme, max: Extreme): void {
    this.count += count
    this.numbers.addTogether(count, high, low)
    if (this.min === undefined || compareItems(min.value, this.min.value) < 0) this.min = min
    if (this.max === undefined || compareItems(max.value, this.max.value) > 0) this.max = max
  }
}

/**
 * A sum in two doubles: `low` collects what rounding takes from `high`, so that ten times 0.1 is 1. Of integers both are
 * exact. The step is TwoSum, which has no branch: Knuth, The Art of Computer Programming, volume 2, 4.2.2, theorem B.
 */
export class Sum {
  count = 0
  private high = 0
  private low = 0
  /** Of the integers that do not fit a double. Only a 64-bit attribute has such. */
  private big = 0n

  add(value: number | bigint): void {
    this.count++
    if (typeof value === 'bigint') this.big += value
    else this.addHigh(value)
  }

  /** The sum of `count` other numbers. */
  addTogether(count: number, high: number, low: number): void {
    this.count += count
    this.addHigh(high)
    this.low += low
  }

  /** Not finite when it is beyond what a double can hold. */
  get total(): number {
    return this.high + this.low
  }

  /** The total of integers to the last digit, for up to 2^27 of them: `low` stays a safe integer then. */
  get integerTotal(): bigint {
    return this.big + BigInt(this.high) + BigInt(this.low)
  }

  private addHigh(value: number): void {
    const sum = this.high + value
    const part = sum - this.high
    this.low += this.high - (sum - part) + (value - part)
    this.high = sum
  }
}

/** Ascending: numbers by value, texts by the code units of their folds, bools. */
export function compareItems(a: Item, b: Item): number {
  const rankA = rank(a)
  const rankB = rank(b)
  if (rankA !== rankB) return rankA - rankB
  return a < b ? -1 : a > b ? 1 : 0
}

const rank = (item: Item): number => (typeof item === 'string' ? 1 : typeof item === 'boolean' ? 2 : 0)
