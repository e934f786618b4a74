import type { WireOptions } from '../dataclass.ts'

/** Dates in rows and answers. Source: protocol notes, 3.2. */

/** `2020-01-31T15:23:00.000Z`; of a date-only attribute `2020-01-31`, or `31!1!2020` in the older form. */
export function formatDate(ms: number, simpleDate: boolean, wire: WireOptions): string {
  if (simpleDate && wire.dateOnlyFormat === 'iso' && ms >= YEAR_1000 && ms < YEAR_10000) return formatDay(ms)
  const iso = ms >= YEAR_1000 && ms < YEAR_10000 ? `${formatDay(ms)}T${formatTime(ms)}Z` : new Date(ms).toISOString()
  if (!simpleDate) return iso
  const date = iso.slice(0, iso.indexOf('T'))
  if (wire.dateOnlyFormat === 'iso') return date
  const [, year, month, day] = DATE.exec(date)!
  return `${Number(day)}!${Number(month)}!${Number(year)}`
}

const DAY_MS = 86_400_000
const YEAR_1000 = Date.UTC(1000, 0)
const YEAR_10000 = Date.UTC(10_000, 0)
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

/**
 * Formats a time in the years 1000 … 9999 as `2020-01-31`, in a fifth of the time of `toISOString`. Years begin in March here,
 * so that a leap day is the last day of its year, and the months before it are 30.6 days long on average.
 */
function formatDay(ms: number): string {
  const days = Math.floor(ms / DAY_MS) + 719_468
  const era = Math.floor(days / 146_097)
  const dayOfEra = days - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  const year = yearOfEra + era * 400 + (month < 3 ? 1 : 0)
  return `${year}-${TWO_DIGITS[month]}-${TWO_DIGITS[day]}`
}

/** `15:23:00.000`. */
function formatTime(ms: number): string {
  const time = ms - Math.floor(ms / DAY_MS) * DAY_MS
  if (time === 0) return '00:00:00.000'
  const seconds = Math.floor(time / 1000)
  const minutes = Math.floor(seconds / 60)
  const fraction = String(time - seconds * 1000).padStart(3, '0')
  return `${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}.${fraction}`
}

/** Milliseconds of a date that {@link formatDate} wrote. */
export function parseWireDate(text: string, simpleDate: boolean, wire: WireOptions): number {
  if (!simpleDate || wire.dateOnlyFormat === 'iso') return Date.parse(text)
  const [day, month, year] = text.split('!').map(Number) as [number, number, number]
  // The constructor would read the years 0 … 99 as 1900 … 1999.
  return new Date(0).setUTCFullYear(year, month - 1, day)
}

const DATE = /^([+-]?\d+)-(\d\d)-(\d\d)$/
