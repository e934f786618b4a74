import { excerpt } from '../../base/text/excerpt.ts'
import { SMALL } from '../../query/aggregate/summary.ts'

/** Values in the texts of PostgreSQL, whose session has `datestyle = ISO`, `intervalstyle = postgres` and `timezone = UTC`. */

const LARGE_INTEGER = /^-?\d{16,}$/

/** A number; an integer beyond 2^53 is a bigint. */
export function readNumber(text: string): number | bigint {
  const number = Number(text)
  if (!Number.isFinite(number)) throw new Error(`${excerpt(text)} is not a finite number`)
  return LARGE_INTEGER.test(text) && !Number.isSafeInteger(number) ? BigInt(text) : number
}

/** An integer of 64 bits in a column that can have others. */
export function readWhole(text: string): number | bigint {
  const [, whole] = /^(-?\d+)(?:\.0*)?$/.exec(text) ?? []
  if (whole === undefined || BigInt.asIntN(64, BigInt(whole)) !== BigInt(whole)) {
    throw new Error(`${excerpt(text)} is not an integer of 64 bits`)
  }
  return readNumber(whole)
}

/** A number, rounded to a double. */
export function readDouble(text: string): number {
  const number = Number(text)
  if (!Number.isFinite(number)) throw new Error(`${excerpt(text)} is not a number that a double can hold`)
  return number
}

/**
 * Decimal text of a sum of doubles, or `Infinity` if it is beyond their range. The database has added fractions, and apart from them, in
 * units of 2^64, whole parts, without rounding up to 2^53. Digits of the fractions that rounding has made are cut, so that ten times 0.1
 * is 1. All of it as decimals would take the database three times as long.
 */
export function sumOfParts(count: number, whole: string, fractions: string): string {
  const certain = count === 1 ? 17 : Math.min(15, Math.floor(-Math.log10(Math.sqrt(count) * 2 ** -53)))
  return String(Number(whole) / SMALL + Number(Number(fractions).toPrecision(certain)))
}

const MAX_DIGITS = 18

/** A decimal in units of the last of `scale` places. @throws {Error} it has more places */
export function readScaledText(text: string, scale: number): number | bigint {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  const kept = fraction.slice(0, scale).padEnd(scale, '0')
  if (whole === '' || /[1-9]/.test(fraction.slice(scale)))
    throw new Error(`${excerpt(text)} has more than ${scale} digits after the point`)
  const digits = (whole + kept).replace(/^0+(?=\d)/, '')
  if (digits.length > MAX_DIGITS) throw new Error(`${excerpt(text)} has more than ${MAX_DIGITS} digits`)
  const value = BigInt(sign + digits)
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

const MOMENT = /^(\d{4,6})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(?:\+00)?)?( BC)?$/

const [ZERO, NINE, HYPHEN, POINT, COLON] = [48, 57, 45, 46, 58] as const

/** True for `2020-01-31` and `2020-01-31 10:00:00`, with or without a fraction and `+00`. */
function isUsual(text: string): boolean {
  const { length } = text
  if (text.charCodeAt(0) === ZERO || text.charCodeAt(4) !== HYPHEN) return false
  if (length === 10) return true
  if (text.charCodeAt(13) !== COLON) return false
  const before = text.charCodeAt(length - 3)
  const isFraction = text.charCodeAt(19) === POINT && (before === POINT || (before >= ZERO && before <= NINE))
  return length === 19 || isFraction || text.endsWith('+00')
}

/** Two digits as a number. */
const pair = (text: string, at: number): number => (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO

/** Milliseconds since 1970 of a date, or of a time in UTC. */
export function readDateTime(text: string): number {
  // Without an expression: dates take half of the time of reading a row.
  if (isUsual(text)) {
    const year = pair(text, 0) * 100 + pair(text, 2)
    const day = Date.UTC(year, pair(text, 5) - 1, pair(text, 8))
    if (text.length === 10) return day
    return day + ((pair(text, 11) * 60 + pair(text, 14)) * 60 + pair(text, 17)) * 1000 + Number(fractionOf(text))
  }
  const [, year, month, day, hours = '0', minutes = '0', seconds = '0', fraction = '', isBefore] =
    MOMENT.exec(text) ?? []
  if (year === undefined) throw new Error(`${excerpt(text)} is not a date`)
  const date = new Date(0)
  // A year before 100 would be taken for one of the last century.
  date.setUTCFullYear(isBefore ? 1 - Number(year) : Number(year), Number(month) - 1, Number(day))
  date.setUTCHours(Number(hours), Number(minutes), Number(seconds), Number(fraction.padEnd(3, '0').slice(0, 3)))
  const ms = date.getTime()
  if (Number.isNaN(ms)) throw new Error(`${excerpt(text)} is beyond the dates that can be shown`)
  return ms
}

/** The three digits behind the seconds of a usual time. */
function fractionOf(text: string): string {
  if (text.charAt(19) !== '.') return '000'
  const end = text.indexOf('+', 20)
  return text.slice(20, Math.min(23, end < 0 ? text.length : end)).padEnd(3, '0')
}

/** ISO 8601 with milliseconds of a time. */
export function readIsoTime(text: string): string {
  return isUsual(text) && text.length > 10
    ? `${text.slice(0, 10)}T${text.slice(11, 19)}.${fractionOf(text)}Z`
    : new Date(readDateTime(text)).toISOString()
}

const CLOCK = /^(-?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?$/

/** Milliseconds of a time of day. */
export function readClock(text: string): number {
  const [, sign, hours, minutes, seconds, fraction = ''] = CLOCK.exec(text) ?? []
  if (hours === undefined) throw new Error(`${excerpt(text)} is not a time`)
  const whole = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
  const micros = Number(fraction.padEnd(6, '0'))
  return Math.floor((sign ? -1 : 1) * (whole + micros / 1000))
}

const DAY_MS = 86_400_000
const INTERVAL = /^(?:([+-]?\d+) days?)? ?([+-]?\d+:\d\d:\d\d(?:\.\d+)?)?$/

/** Milliseconds of an interval whose days have 24 hours. @throws {Error} it has months, which have no fixed length */
export function readInterval(text: string): number {
  const [, days, clock] = INTERVAL.exec(text) ?? []
  if (days === undefined && clock === undefined)
    throw new Error(`${excerpt(text)} is an interval with months, which have no fixed length`)
  return Number(days ?? 0) * DAY_MS + (clock === undefined ? 0 : readClock(clock.replace('+', '')))
}
