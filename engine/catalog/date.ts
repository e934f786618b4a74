/**
 * Parses a date as clients write it.
 *
 * Groups of digits, separated by anything but letters other than `T` and `Z`, are year, month, day, hour, minute,
 * second and fraction of a second; at least the first three are needed. If the first separator is `!`, they start with
 * day, month, year. An offset such as `+02:00` after a time is applied; otherwise the time is UTC. Years before 0 are written as
 * `-000044-03-15` or `15!3!-44`; a minus before fewer digits is not a date, since years before Christ are counted in two ways.
 *
 *   2020-01-31   2020-01-31T15:23:00.5Z   2020/1/31 15:23   31!1!2020   !!2020-01-31!!
 *
 * @returns milliseconds since 1970 UTC, or undefined if the text is not a date
 * Source: protocol notes, 2.7 and 3.2.
 */
export function parseDate(text: string): number | undefined {
  const date = read(text)
  return date && date.day + date.timeMs
}

/**
 * Parses a date without its time: midnight UTC of the day as written, whatever the offset. For date-only attributes, which
 * drop time and zone. Source: base specification, 2.5.
 */
export function parseDay(text: string): number | undefined {
  return read(text)?.day
}

function read(text: string): { day: number; timeMs: number } | undefined {
  // Clients choose the length; no date needs more.
  if (text.length > 64) return undefined
  const iso = ISO.test(text) ? readIso(text) : undefined
  if (iso) return iso
  const [, sign = '', rest = ''] = LEAD.exec(text) ?? []
  const [, dateAndTime = '', zoneSign, zoneHours = '0', zoneMinutes = '0'] = ZONE.exec(rest) ?? [undefined, rest]
  if (FOREIGN_LETTER.test(dateAndTime) || (sign === '' && SHORT_NEGATIVE.test(rest))) return undefined
  const groups = dateAndTime.match(/\d+/g) ?? []
  if (groups.length < 3 || groups.length > 7) return undefined
  const numbers = groups.map(Number)
  // `!!2020-01-31!!` is a date literal of the 4D language: its first group is a year all the same.
  const dayFirst = groups[0]!.length <= 2 && /^!*\d+!|^!/.test(dateAndTime)
  const [year, month, day] = (dayFirst ? [numbers[2], numbers[1], numbers[0]] : numbers) as [number, number, number]
  const [hour = 0, minute = 0, second = 0] = numbers.slice(3)
  if (hour > 23 || minute > 59 || second > 59 || Number(zoneHours) > 23 || Number(zoneMinutes) > 59) return undefined
  const date = new Date(0)
  // The constructor would read the years 0 … 99 as 1900 … 1999.
  const isNegative = sign === '-' || (dayFirst && NEGATIVE_LAST.test(dateAndTime))
  date.setUTCFullYear(isNegative ? -year : year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const offsetMinutes = (zoneSign === '-' ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes))
  const fractionMs = Math.trunc(Number(`0.${groups[6] ?? 0}`) * 1000)
  const timeMs = ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1000 + fractionMs
  return Number.isNaN(new Date(date.getTime() + timeMs).getTime()) ? undefined : { day: date.getTime(), timeMs }
}

/** Reads the digits of {@link ISO} in a quarter of the time of `Date.parse`, which also turns 30 February into 1 March. */
function readIso(text: string): { day: number; timeMs: number } | undefined {
  const year = digits(text, 0) * 100 + digits(text, 2)
  const month = digits(text, 5)
  const day = digits(text, 8)
  if (month < 1 || month > 12 || day < 1 || day > daysIn(month, year)) return undefined
  const hour = text.length > 10 ? digits(text, 11) : 0
  const minute = text.length > 10 ? digits(text, 14) : 0
  const second = text.length > 10 ? digits(text, 17) : 0
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const fraction = text.length > 20 ? digits(text, 20) * 10 + (text.charCodeAt(22) - ZERO) : 0
  return { day: dayNumber(year, month, day) * DAY_MS, timeMs: ((hour * 60 + minute) * 60 + second) * 1000 + fraction }
}

/** Value of two digits. */
const digits = (text: string, at: number): number =>
  (text.charCodeAt(at) - ZERO) * 10 + (text.charCodeAt(at + 1) - ZERO)

const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
const daysIn = (month: number, year: number): number =>
  month === 2 && isLeapYear(year) ? 29 : DAYS_OF_MONTHS[month - 1]!
const DAYS_OF_MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Days since 1970 of a day in the years 0 … 9999. Years begin in March here, so that a leap day is the last day of its year,
 * and the months before it are 30.6 days long on average.
 */
function dayNumber(year: number, month: number, day: number): number {
  const yearFromMarch = month < 3 ? year - 1 : year
  const monthFromMarch = month < 3 ? month + 9 : month - 3
  const leapDays = Math.floor(yearFromMarch / 4) - Math.floor(yearFromMarch / 100) + Math.floor(yearFromMarch / 400)
  return 365 * yearFromMarch + leapDays + Math.floor((153 * monthFromMarch + 2) / 5) + day - 719_469
}

const ZERO = 0x30
const DAY_MS = 86_400_000
/** Form that most clients write. */
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{3})?Z)?$/
/** Years before 0 and after 9999 carry a sign and six digits, as `Date.toISOString` writes them. */
const LEAD = /^\s*([+-](?=\d{6}-))?(.*)$/s
const SHORT_NEGATIVE = /^[\s!]*-\s*\d/
const NEGATIVE_LAST = /^!*\d+!\d+!-\d/
const ZONE = /^(.*\d:\d.*?)([+-])(\d\d):?(\d\d)\s*$/s
const FOREIGN_LETTER = /(?![TZtz])\p{L}/u
