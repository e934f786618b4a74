import { quantity } from '../../base/counted.ts'
import { withoutZeros } from '../../base/decimal-digits.ts'
import { parseClock } from '../../base/time/read-clock.ts'

export const DAY = 86_400_000
const HOUR = 3_600_000
const MINUTE = 60_000

/**
 * Bits of the fields of a declaration such as `interval day to minute`, in the modifier above the 16 bits for the digits of the seconds.
 */
const FIELDS = { year: 1 << 2, month: 1 << 1, day: 1 << 3, hour: 1 << 10, minute: 1 << 11, second: 1 << 12 }
const ALL_DIGITS = 0xffff
const MAX_DIGITS = 6

type Field = keyof typeof FIELDS

/** The smallest field that a column keeps. Source: `AdjustIntervalForTypmod` of PostgreSQL. */
function smallestOf(modifier: number): Field {
  const fields = modifier < 0 ? FIELDS.second : modifier >> 16
  const smallestFirst = ['second', 'minute', 'hour', 'day', 'month', 'year'] as const
  return smallestFirst.find(field => (fields & FIELDS[field]) !== 0) ?? 'second'
}

function digitsOf(modifier: number): number {
  const digits = modifier < 0 ? ALL_DIGITS : modifier & ALL_DIGITS
  return Math.min(digits, MAX_DIGITS)
}

/** Milliseconds of the smallest duration that a column keeps; 0 if it keeps none. */
export function unitOfInterval(modifier: number): number {
  switch (smallestOf(modifier)) {
    case 'second':
      return 10 ** Math.max(0, 3 - digitsOf(modifier))
    case 'minute':
      return MINUTE
    case 'hour':
      return HOUR
    case 'day':
      return DAY
    default:
      return 0
  }
}

/** True if a column drops times, so that days have to be sent as days. */
export const keepsDaysOnly = (modifier: number): boolean => smallestOf(modifier) === 'day'

/** Maximum length of the text of an interval; every interval is shorter. */
const MAX_LENGTH = 200
const SHOWN =
  /^(?:[-+]?\d+ years?)? ?(?:([-+]?\d+) mons?)? ?(?:([-+]?\d+) days?)? ?(?:[-+]?(\d+:\d\d:\d\d)(?:\.\d+)?)?$/

/** Returns a check of texts. It describes the expected text if the column would round the seconds or drop fields. */
export function lossOfInterval(modifier: number): (text: string) => string | undefined {
  const smallest = smallestOf(modifier)
  const digits = digitsOf(modifier)
  return text => {
    if (text.length > MAX_LENGTH) return `an interval of at most ${MAX_LENGTH} characters`
    const fractions = Array.from(
      text.matchAll(/\.(\d+)/g),
      ([, fractionDigits]) => withoutZeros(fractionDigits!).length,
    )
    const places = smallest === 'second' ? digits : 0
    if (Math.max(0, ...fractions) > places)
      return `an interval with at most ${quantity(places, 'digit')} after the seconds`
    if (smallest === 'second') return undefined
    const match = SHOWN.exec(text)
    const [, months = 0, days = 0, clock = '0:00:00'] = match ?? []
    const unit = unitOfInterval(modifier)
    const isTimeKept = unit === 0 || unit === DAY ? parseClock(clock) === 0 : parseClock(clock)! % unit === 0
    const isKept = isTimeKept && (unit > 0 || Number(days) === 0) && (smallest !== 'year' || Number(months) === 0)
    return match && isKept
      ? undefined
      : `an interval such as 1 day 02:00:00, of which nothing is smaller than a ${smallest}`
  }
}
