/**
 * The one reader of dates. A text is one of these forms as a whole, or it is not a date; `plugins/docs/pages/guide/model.md` lists the forms for users.
 *
 *   day      2020-01-31   2020/1/31   2020.1.31   +012345-01-31   -000044-03-15   12345-01-31   0044-03-15 BC
 *            31!1!2020   !31!1!2020!   15!3!-44   !2020-01-31!   !!2020-01-31!!
 *   time     after `T` or a blank: 15:23   15:23:00   15:23:00.5   15:23:00,123456789
 *   offset   after a time: Z   +02   +0200   +02:00   +00:19:32   +02:00[Europe/Berlin]
 *
 * Without an offset a time is UTC. Digits after the milliseconds are cut, which never makes a time later.
 * Source: protocol notes, 2.7 and 3.2.
 */

/** Milliseconds since 1970 UTC; undefined if the text is not a date. */
export function parseDate(text: string): number | undefined {
  const date = read(text)
  return date && date.day + date.timeMs
}

/**
 * Midnight UTC of the day as written, whatever time and offset follow, for date-only attributes; undefined if the text is not a
 * date. Source: base specification, 2.5.
 */
export function parseDay(text: string): number | undefined {
  return read(text)?.day
}

interface ReadDate {
  /** Milliseconds since 1970 of the day as written. */
  readonly day: number
  /** Milliseconds from the start of that day to the instant. */
  readonly timeMs: number
}

/** Maximum length of a text. Clients choose the length, and no date needs more. */
const MAX_LENGTH = 64

function read(text: string): ReadDate | undefined {
  if (text.length > MAX_LENGTH) return undefined
  return USUAL.test(text) ? readUsual(text) : readAny(text.trim())
}

/** Forms that most clients and databases write: a day, or a time with seconds in UTC. */
const USUAL = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|\+00)?)?$/

/** Reads the digits of {@link USUAL} at their places, in a quarter of the time of `Date.parse`, which also turns 30 February into 1 March. */
function readUsual(text: string): ReadDate | undefined {
  const day = dayMs(digits(text, 0) * 100 + digits(text, 2), digits(text, 5), digits(text, 8))
  if (text.length === 10) return day === undefined ? undefined : { day, timeMs: 0 }
  const time = clockMs(digits(text, 11), digits(text, 14), digits(text, 17))
  if (day === undefined || time === undefined) return undefined
  return { day, timeMs: text.charCodeAt(19) === POINT ? time + leadingDigits(text, 20) : time }
}

const ZERO = 0x30
const POINT = 0x2e

/** Value of two digits. */
const digits = (text: string, at: number): number =>
  (text.charCodeAt(at) - ZERO) * 10 + (text.charCodeAt(at + 1) - ZERO)

/** Milliseconds of the digits after a point, at most three. */
function leadingDigits(text: string, start: number): number {
  let ms = 0
  for (let at = start, unit = 100; unit >= 1; at++, unit /= 10) {
    const digit = text.charCodeAt(at) - ZERO
    // The end of the text has no digit either.
    if (!(digit >= 0 && digit <= 9)) break
    ms += digit * unit
  }
  return ms
}

// At least four digits, because `12/06/17` may be of any century. A minus needs six: `-0044` is 45 BC in ISO 8601, but 44 BC
// elsewhere.
const YEAR_FIRST = String.raw`(?<year>\+?\d{4,6}|-\d{6})(?<separator>[-/.])(?<month>\d\d?)\k<separator>(?<day>\d\d?)`
/** The older form of the protocol, which servers also write for years of fewer digits and before 0. */
const DAY_FIRST = String.raw`!?(?<first>\d\d?)!(?<second>\d\d?)!(?<last>-?\d{1,6})!?`
const TIME = String.raw`(?<hours>\d\d?):(?<minutes>\d\d)(?::(?<seconds>\d\d)(?:[.,](?<fraction>\d+))?)?`
/** The name of a zone, which Java and Temporal write after an offset, does not change the instant. */
const ZONE = String.raw`\[[\w+:/-]+\]`
const OFFSET = String.raw`[Zz]|(?<sign>[+-])(?<ahead>\d\d(?::?\d\d|:\d\d:\d\d)?)`
const ANY = new RegExp(`^(?:${YEAR_FIRST}|${DAY_FIRST})(?:[ Tt]${TIME}(?: ?(?:${OFFSET})(?:${ZONE})?)?)?(?<era> BC)?$`)

/** `!!2020-01-31!!` in answers, `!2020-01-31!` in code of the 4D language. */
const LITERAL = /^(!!?)(\d{4}-\d\d-\d\d)\1$/

type Groups = Readonly<Record<string, string | undefined>>

function readAny(text: string): ReadDate | undefined {
  const groups: Groups | undefined = ANY.exec(LITERAL.exec(text)?.[2] ?? text)?.groups
  if (!groups) return undefined
  const { month, second, day, first, hours = 0, minutes = 0, seconds = 0, fraction = '' } = groups
  const year = readYear(groups)
  const midnight = year === undefined ? undefined : dayMs(year, Number(month ?? second), Number(day ?? first))
  const time = clockMs(Number(hours), Number(minutes), Number(seconds))
  const offset = readOffset(groups)
  if (midnight === undefined || time === undefined || offset === undefined) return undefined
  const timeMs = time + leadingDigits(fraction, 0) - offset
  return Math.abs(midnight + timeMs) <= MAX_MS ? { day: midnight, timeMs } : undefined
}

/** Year with 0 for 1 BC. Years that are counted before Christ have neither a sign nor a 0. */
function readYear({ year, separator, last, era }: Groups): number | undefined {
  if (year === '-000000') return undefined
  if (!era) return Number(year ?? last)
  return separator === '-' && /^0*[1-9]\d*$/.test(year!) ? 1 - Number(year) : undefined
}

/** Maximum offset in seconds, the same as in Java. No zone has been more than 16 hours from UTC. */
const MAX_OFFSET = 18 * 3600

/** Milliseconds of an offset, undefined if no zone can have it. */
function readOffset({ sign, ahead = '00' }: Groups): number | undefined {
  const [hours, minutes = 0, seconds = 0] = ahead.match(/\d\d/g)!.map(Number) as [number, number?, number?]
  const total = (hours * 60 + minutes) * 60 + seconds
  if (minutes > 59 || seconds > 59 || total > MAX_OFFSET) return undefined
  return (sign === '-' ? -total : total) * 1000
}

const DAY_MS = 86_400_000
/** The last moment that a `Date` can hold. */
const MAX_MS = 8.64e15

/** Milliseconds of a time of day. 24:00:00 and leap seconds are not accepted: both are instants of the next day here. */
const clockMs = (hour: number, minute: number, second: number): number | undefined =>
  hour > 23 || minute > 59 || second > 59 ? undefined : ((hour * 60 + minute) * 60 + second) * 1000

/** Milliseconds from 1970 to a day, undefined if there is no such day. */
function dayMs(year: number, month: number, day: number): number | undefined {
  if (month < 1 || month > 12 || day < 1 || day > daysIn(month, year)) return undefined
  const ms = dayNumber(year, month, day) * DAY_MS
  return Math.abs(ms) <= MAX_MS ? ms : undefined
}

const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
const daysIn = (month: number, year: number): number =>
  month === 2 && isLeapYear(year) ? 29 : DAYS_OF_MONTHS[month - 1]!
const DAYS_OF_MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Days since 1970 of a day. Years begin in March here, so that a leap day is the last day of its year, and the months before it are
 * 30.6 days long on average.
 */
function dayNumber(year: number, month: number, day: number): number {
  const yearFromMarch = month < 3 ? year - 1 : year
  const monthFromMarch = month < 3 ? month + 9 : month - 3
  const leapDays = Math.floor(yearFromMarch / 4) - Math.floor(yearFromMarch / 100) + Math.floor(yearFromMarch / 400)
  return 365 * yearFromMarch + leapDays + Math.floor((153 * monthFromMarch + 2) / 5) + day - 719_469
}
