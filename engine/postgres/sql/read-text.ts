import { excerpt } from '../../base/text/excerpt.ts'

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

/** Milliseconds since 1970 of a date, or of a time in UTC. */
export function readDateTime(text: string): number {
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
