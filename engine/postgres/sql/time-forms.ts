import type { Value } from '../../catalog/value.ts'
import type { Scalar } from '../../query/bind/predicate.ts'
import { type ColumnForm, plainForm } from './column-form.ts'
import { at, between, type Cut } from './cut.ts'
import { formatDate } from '../../catalog/types/wire-date.ts'
import { keepsDaysOnly } from './interval-fields.ts'
import { readClock, readDateTime, readInterval } from './read-text.ts'
import { Unfit } from './unfit.ts'

const DAY_MS = 86_400_000
/** First day of a database: that of Julian day 0. */
const FIRST_MS = -210_866_803_200_000

/** `0044-03-15 … BC` for a date before Christ. */
function inEra(ms: number, rest: (date: Date) => string): string {
  const date = new Date(ms)
  const year = date.getUTCFullYear()
  const [, monthAndDay] = /-(\d\d-\d\d)T/.exec(date.toISOString())!
  const day = `${String(year > 0 ? year : 1 - year).padStart(4, '0')}-${monthAndDay}`
  return `${day}${rest(date)}${year > 0 ? '' : ' BC'}`
}

const dayText = (ms: number): string => (isUsual(ms) ? formatDate(ms, true, ISO) : inEra(ms, () => ''))

function momentText(ms: number, zone: string): string {
  if (!isUsual(ms)) return inEra(ms, date => ` ${date.toISOString().slice(-13, -1)}${zone}`)
  const text = formatDate(ms, false, ISO)
  return `${text.slice(0, 10)} ${text.slice(11, 23)}${zone}`
}

/** True for the years from 1000 to 9999, which take a fraction of the time to format. */
const isUsual = (ms: number): boolean => ms >= YEAR_1000 && ms < YEAR_10000
const YEAR_1000 = Date.UTC(1000, 0)
const YEAR_10000 = Date.UTC(10_000, 0)
const ISO = { dateOnlyFormat: 'iso' } as const

/** Day that begins with the last time that JavaScript can represent. */
const LAST = '275760-09-13'
const NEXT = '275760-09-14'
const ABOVE = "'-infinity'"
const ENDLESS = /^-?infinity$/

/** Reads a text that a database has sent; {@link Unfit} if JavaScript has no such value. */
const fitting =
  (read: (text: string) => number) =>
  (text: string): number | Unfit => {
    if (ENDLESS.test(text)) return new Unfit('it is infinite')
    try {
      return read(text)
    } catch (error) {
      return new Unfit((error as Error).message)
    }
  }

/** Form of a date. The place of an operand with a time of day is between two days. */
export const day = plainForm(
  {
    type: 'date',
    around(value) {
      const ms = Number(value)
      if (ms < FIRST_MS) return between('start')
      const first = Math.floor(ms / DAY_MS) * DAY_MS
      return first === ms ? at(dayText(ms)) : between({ at: dayText(first), isBehind: true })
    },
    above: ABOVE,
    below: `'${NEXT}'`,
  },
  { read: fitting(readDateTime), write: value => dayText(value as number) },
)

/**
 * Places around the times that are shown as a value: whole milliseconds, or whole units of several milliseconds.
 * @param placeOf returns the place before a millisecond
 */
function aroundMs(value: Scalar, placeOf: (ms: number) => Cut, unit = 1): readonly [Cut, Cut] {
  const ms = Number(value)
  const next = Math.ceil(ms / unit) * unit
  return ms === next ? [placeOf(ms), placeOf(ms + unit)] : between(placeOf(next))
}

/** True for a column whose times are finer than milliseconds. @param places 0xffff without a declaration */
const isFiner = (places: number): boolean => (places & 0xffff) > 3

/** Form of a time with microseconds, which is shown in milliseconds or as a day. */
export const moment = (type: 'timestamp' | 'timestamptz', modifier: number, isDay: boolean): ColumnForm => {
  const unit = isDay ? DAY_MS : 1
  const zone = type === 'timestamptz' ? '+00' : ''
  const placeOf = (ms: number): Cut =>
    ms <= FIRST_MS
      ? 'start'
      : Number.isNaN(new Date(ms).getTime())
        ? 'end'
        : { at: momentText(ms, zone), isBehind: false }
  return plainForm(
    { type, around: value => aroundMs(value, placeOf, unit), above: ABOVE, below: `'${LAST} 00:00:00.001${zone}'` },
    {
      read: fitting(text => Math.floor(readDateTime(text) / unit) * unit),
      isCut: isDay || isFiner(modifier),
      sorted: column => `date_trunc('${isDay ? 'day' : 'milliseconds'}', ${column})`,
      write: value => momentText(value as number, zone),
    },
  )
}

/** `26:00:00.500`; a database refuses more than a day. */
function clockText(value: Value): string {
  const ms = value as number
  const part = (unit: number, size: number, width = 2): string =>
    String(Math.trunc(Math.abs(ms) / unit) % size).padStart(width, '0')
  const hours = part(3_600_000, Number.POSITIVE_INFINITY)
  return `${ms < 0 ? '-' : ''}${hours}:${part(60_000, 60)}:${part(1000, 60)}.${part(1, 1000, 3)}`
}

/** Maximum number of days of an interval. */
const MAX_DAYS = 2 ** 31 - 1

const intervalText = (ms: number): string => `${Math.trunc(ms / DAY_MS)} days ${ms % DAY_MS} milliseconds`

const sortedMs = (column?: string): string => `floor(extract(epoch FROM ${column}) * 1000)`

export const time = (modifier: number): ColumnForm =>
  plainForm(
    {
      type: 'time',
      around: value =>
        aroundMs(value, ms =>
          ms <= 0 ? 'start' : ms > DAY_MS ? 'end' : { at: ms === DAY_MS ? '24:00' : clockText(ms), isBehind: false },
        ),
    },
    { read: fitting(readClock), isCut: isFiner(modifier), sorted: sortedMs, write: clockText },
  )

/** Fields of the modifier of an interval that can have months: `month` and `year`. */
const MONTHS = 0b110 << 16

/** Form of an interval. Months have no fixed length. @param modifier of the column: the fields of its declaration, or -1 for all */
export const interval = (modifier: number): ColumnForm =>
  plainForm(
    {
      type: 'interval',
      around: value =>
        aroundMs(value, ms =>
          Math.abs(ms) > MAX_DAYS * DAY_MS ? (ms > 0 ? 'end' : 'start') : { at: intervalText(ms), isBehind: false },
        ),
      ...((modifier & MONTHS) !== 0 && {
        also: column => `(extract(year FROM ${column}) = 0 AND extract(month FROM ${column}) = 0)`,
      }),
    },
    {
      read: fitting(readInterval),
      isCut: isFiner(modifier),
      sorted: sortedMs,
      write: keepsDaysOnly(modifier)
        ? value => intervalText(value as number)
        : value => `${value as number} milliseconds`,
    },
  )
