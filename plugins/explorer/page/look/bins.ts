/** Ranges of values for histograms and time series, with limits that are easy to read. */

/** Values from `from` (inclusive) to `to` (exclusive). */
export interface Range {
  readonly from: number
  readonly to: number
}

interface Bin extends Range {
  readonly count: number
}

export interface Counted<Value = unknown> {
  readonly value: Value
  readonly count: number
}

/** 1, 2 or 5 times a power of ten: the smallest step that divides a span into at most `most` parts. */
export function niceStep(span: number, most: number): number {
  const power = 10 ** Math.floor(Math.log10(span / most))
  return [1, 2, 5, 10].map(each => exact(each * power)).find(each => span / each <= most) ?? exact(20 * power)
}

/** Ranges of equal width that cover all numbers from `min` to `max`; at most `most` + 2. */
export function numberRanges(min: number, max: number, most: number, isInteger: boolean): Range[] {
  const span = max > min ? max - min : Math.abs(max) || 1
  // Limits of finer ranges would be rounded to the same number.
  const finest = niceStep(Math.max(Math.abs(min), Math.abs(max), 1e-290), 1e12)
  return rangesOf(min, max, Math.max(niceStep(Math.max(span, finest), most), finest, isInteger ? 1 : 0))
}

function rangesOf(min: number, max: number, step: number): Range[] {
  let first = Math.floor(min / step)
  let last = Math.floor(max / step)
  // Quotients are rounded too.
  while (exact(first * step) > min) first--
  while (exact((last + 1) * step) <= max) last++
  return Array.from({ length: last - first + 1 }, (_, i) => ({
    from: exact((first + i) * step),
    to: exact((first + i + 1) * step),
  }))
}

/** Removes the last digits, which are subject to rounding errors. */
const exact = (value: number): number => Number(value.toPrecision(14))

const SECOND = 1000
const HOUR = 3600 * SECOND
const DAY = 24 * HOUR
const DURATIONS = [
  ...[1, 2, 5, 10, 15, 30].map(seconds => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map(minutes => minutes * 60 * SECOND),
  ...[1, 2, 3, 6, 12].map(hours => hours * HOUR),
]

/** Ranges of durations in milliseconds. */
export function durationRanges(min: number, max: number, most: number): Range[] {
  const step = DURATIONS.find(each => (max - min) / each <= most)
  return rangesOf(min, max, step ?? DAY * Math.max(1, niceStep((max - min) / DAY, most)))
}

/** Steps of a time series. */
export const STEPS = ['hour', 'day', 'month', 'year', 'decade'] as const
export type Step = (typeof STEPS)[number]

/** Approximate length of each step in milliseconds. */
const LENGTHS: Readonly<Record<Step, number>> = {
  hour: HOUR,
  day: DAY,
  month: 30.44 * DAY,
  year: 365.25 * DAY,
  decade: 3652.5 * DAY,
}

/** The finest step that divides a period into at most `most` parts. */
export const stepOf = (min: number, max: number, most: number): Step =>
  STEPS.find(each => (max - min) / LENGTHS[each] <= most) ?? 'decade'

/** Calendar ranges in UTC, from the range with `min` to the range with `max`. Undefined if there are more than `most`. */
export function dateRanges(min: number, max: number, step: Step, most: number): Range[] | undefined {
  const ranges: Range[] = []
  let from = startOf(min, step)
  while (from <= max) {
    if (ranges.length >= most) return undefined
    const to = after(from, step)
    ranges.push({ from, to })
    from = to
  }
  return ranges
}

function startOf(time: number, step: Step): number {
  const date = new Date(time)
  if (step === 'hour') return Math.floor(time / HOUR) * HOUR
  if (step === 'day') return Math.floor(time / DAY) * DAY
  const year = date.getUTCFullYear()
  if (step === 'month') return utc(year, date.getUTCMonth())
  return utc(step === 'year' ? year : Math.floor(year / 10) * 10, 0)
}

function after(start: number, step: Step): number {
  const date = new Date(start)
  const year = date.getUTCFullYear()
  if (step === 'hour' || step === 'day') return start + LENGTHS[step]
  return step === 'month' ? utc(year, date.getUTCMonth() + 1) : utc(year + (step === 'year' ? 1 : 10), 0)
}

/** UTC time of a month; `Date.UTC` would map years below 100 to the 20th century. */
const utc = (year: number, month: number): number => new Date(0).setUTCFullYear(year, month, 1)

/** Number of values in each range. Ranges are ascending and contiguous. */
export function countInRanges(ranges: readonly Range[], values: readonly Counted<number>[]): Bin[] {
  const counts = ranges.map(() => 0)
  for (const { value, count } of values) counts[rangeOf(ranges, value)]! += count
  return ranges.map((range, i) => ({ ...range, count: counts[i]! }))
}

/** Position of the range that contains a value. */
function rangeOf(ranges: readonly Range[], value: number): number {
  let low = 0
  let high = ranges.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (ranges[middle]!.from <= value) low = middle
    else high = middle - 1
  }
  return low
}

/** Round numbers for the marks of an axis from 0 (or a negative minimum) to `max`. */
export function ticks(min: number, max: number, most: number): number[] {
  if (min === max) return [min]
  const step = niceStep(max - min, most)
  const first = Math.ceil(min / step)
  return Array.from({ length: Math.floor(max / step) - first + 1 }, (_, i) => exact((first + i) * step))
}
