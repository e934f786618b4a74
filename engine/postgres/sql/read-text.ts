import { excerpt } from '../../base/text/excerpt.ts'
import { Unfit } from './unfit.ts'
import { SMALL } from '../../query/aggregate/summary.ts'
import { parseClock } from '../../base/time/read-clock.ts'
import { parseDate } from '../../base/time/read-date.ts'

/** Values in the texts that PostgreSQL sends with `datestyle = ISO`, `intervalstyle = postgres` and `timezone = UTC`. */

const LARGE_INTEGER = /^-?\d{16,}$/

/** An integer; one beyond 2^53 is a bigint. */
export function readNumber(text: string): number | bigint {
  const number = Number(text)
  return LARGE_INTEGER.test(text) && !Number.isSafeInteger(number) ? BigInt(text) : number
}

/** An integer of 64 bits in a column that can have other numbers too. */
export function readWhole(text: string): number | bigint | Unfit {
  const [, integer] = /^(-?\d+)(?:\.0*)?$/.exec(text) ?? []
  const fits = integer !== undefined && BigInt.asIntN(64, BigInt(integer)) === BigInt(integer)
  return fits ? readNumber(integer) : new Unfit('it is not an integer of 64 bits')
}

/** A number, rounded to a double. */
export function readDouble(text: string): number | Unfit {
  const number = Number(text)
  return Number.isFinite(number) ? number : new Unfit('it is not a number that a double can hold')
}

/**
 * Decimal text of a sum of doubles, or `Infinity` if it is beyond their range. The database has added the fractions and the whole parts
 * separately: the whole parts in units of 2^64, without rounding up to 2^53. Digits of the fractions that result from rounding are cut, so
 * that ten times 0.1 is 1. Adding everything as decimals would take the database three times as long.
 */
export function sumOfParts(count: number, wholeSum: string, fractions: string): string {
  const certain = count === 1 ? 17 : Math.min(15, Math.floor(-Math.log10(Math.sqrt(count) * 2 ** -53)))
  return String(Number(wholeSum) / SMALL + Number(Number(fractions).toPrecision(certain)))
}

/** Maximum number of digits of a decimal. */
export const MAX_DIGITS = 18

/** A decimal in units of the last of `scale` places. */
export function readScaledText(text: string, scale: number): number | bigint | Unfit {
  const [, sign = '', integer = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  const decimals = fraction.slice(0, scale).padEnd(scale, '0')
  if (integer === '') return new Unfit('it is not a finite number')
  if (/[1-9]/.test(fraction.slice(scale))) return new Unfit(`it has more than ${scale} digits after the point`)
  const digits = (integer + decimals).replace(/^0+(?=\d)/, '')
  if (digits.length > MAX_DIGITS) return new Unfit(`it has more than ${MAX_DIGITS} digits`)
  const value = BigInt(sign + digits)
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** Milliseconds since 1970 of a date, or of a time in UTC. */
export function readDateTime(text: string): number {
  const ms = parseDate(text)
  if (ms === undefined) throw new Error(`${excerpt(text)} is not a date that can be shown`)
  return ms
}

const USUAL = /^[1-9]\d{3}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?(?:\+00)?$/

/** ISO 8601 with milliseconds of a time. */
export function readIsoTime(text: string): string {
  // Converting through a number takes three times as long.
  return USUAL.test(text)
    ? `${text.slice(0, 10)}T${text.slice(11, 19)}.${fractionOf(text)}Z`
    : new Date(readDateTime(text)).toISOString()
}

/** The three digits after the seconds of a time in the usual form. */
function fractionOf(text: string): string {
  if (text.charAt(19) !== '.') return '000'
  const end = text.indexOf('+', 20)
  return text.slice(20, Math.min(23, end < 0 ? text.length : end)).padEnd(3, '0')
}

/** Milliseconds of a time of day. */
export function readClock(text: string): number {
  const ms = parseClock(text)
  if (ms === undefined) throw new Error(`${excerpt(text)} is not a time`)
  return ms
}

const DAY_MS = 86_400_000
const INTERVAL = /^(?:([+-]?\d+) days?)? ?([+-]?\d+:\d\d:\d\d(?:\.\d+)?)?$/

/** Milliseconds of an interval whose days have 24 hours. @throws {Error} it has months, which have no fixed length */
export function readInterval(text: string): number {
  const [, days, clock] = INTERVAL.exec(text) ?? []
  if (days === undefined && clock === undefined)
    throw new Error(`${excerpt(text)} is an interval with months, which have no fixed length`)
  return Number(days ?? 0) * DAY_MS + (clock === undefined ? 0 : readClock(clock))
}
