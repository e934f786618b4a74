/** Writers of dates in each form of `plugins/docs/pages/guide/model.md`, by the name that the form has there. */
import type { Random } from '../base/random.ts'

export interface DateForm {
  /** Digits of a moment that the form has, in milliseconds. */
  readonly precision: number
  /** Years that the form can have; 0 to 9999 unless given. */
  readonly years?: readonly [first: number, last: number]
  /** Writes the moment, which is a multiple of the precision. */
  write(ms: number, random: Random): string
}

const [SECOND, MINUTE, DAY] = [1000, 60_000, 86_400_000]

const iso = (ms: number): string => new Date(ms).toISOString()
const two = (count: number): string => String(count).padStart(2, '0')
const day = (ms: number): string => iso(ms).slice(0, -14)
/** `12:00:00`, or a longer or shorter piece of it. */
const time = (ms: number, length = 8): string => iso(ms).slice(-13, length - 13)

/** `2025-07-01T12:00:00` of a clock that is `offset` milliseconds ahead. */
const local = (ms: number, offset: number): string => iso(ms + offset).slice(0, -5)

function written(offset: number, form: 'hours' | 'basic' | 'minutes' | 'seconds'): string {
  const minutes = Math.floor(Math.abs(offset) / MINUTE)
  const [hours, rest] = [two(Math.floor(minutes / 60)), two(minutes % 60)]
  const sign = offset < 0 ? '-' : '+'
  if (form === 'hours') return sign + hours
  if (form === 'basic') return sign + hours + rest
  const seconds = form === 'seconds' ? `:${two((Math.abs(offset) / SECOND) % 60)}` : ''
  return `${sign}${hours}:${rest}${seconds}`
}

const dayFirst = (ms: number, random: Random): string => {
  const date = new Date(ms)
  const pad = random.pick([String, two])
  const marks = random.pick(['', '!'])
  return `${marks}${pad(date.getUTCDate())}!${pad(date.getUTCMonth() + 1)}!${date.getUTCFullYear()}${marks}`
}

/** Digits after the milliseconds. */
const more = (random: Random): string => random.pick(['', '9', '999', '999999'])

export const DATE_FORMS: Readonly<Record<string, DateForm>> = {
  'ISO 8601': { precision: 1, write: (ms, random) => random.pick([iso(ms), iso(ms).toLowerCase()]) },
  'day: midnight in UTC': { precision: DAY, write: day },
  'no offset: UTC': { precision: SECOND, write: (ms, random) => `${day(ms)}${random.pick(['T', ' '])}${time(ms)}` },
  'no seconds': {
    precision: MINUTE,
    write: (ms, random) => `${day(ms)}${random.pick(['T', ' '])}${time(ms, 5)}${random.pick(['', 'Z'])}`,
  },
  'fraction of a second: digits after the milliseconds are cut': {
    precision: 1,
    write: (ms, random) => `${day(ms)}T${time(ms)}${random.pick(['.', ','])}${iso(ms).slice(-4, -1)}${more(random)}Z`,
  },
  'offset from UTC, of at most 18 hours, also after a blank': {
    precision: SECOND,
    years: [1, 9998],
    write(ms, random) {
      const form = random.pick(['hours', 'basic', 'minutes'] as const)
      const offset = form === 'hours' ? random.integer(-18, 18) * 60 : random.integer(-18 * 60, 18 * 60)
      return `${local(ms, offset * MINUTE)}${random.pick(['', ' '])}${written(offset * MINUTE, form)}`
    },
  },
  'offset with seconds, as PostgreSQL writes it for times before zones were introduced': {
    precision: SECOND,
    years: [1, 9998],
    write(ms, random) {
      const offset = random.integer(-18 * 3600, 18 * 3600) * SECOND
      return `${local(ms, offset).replace('T', ' ')}${written(offset, 'seconds')}`
    },
  },
  'offset and the name of a zone, as in Java and Temporal: the name is ignored': {
    precision: SECOND,
    years: [1, 9998],
    write(ms, random) {
      const offset = random.integer(-18 * 60, 18 * 60) * MINUTE
      const name = random.pick([
        'Europe/Berlin',
        'America/Port-au-Prince',
        'GMT+01:00',
        'Etc/GMT0',
        'America/Bahia_Banderas',
      ])
      return `${local(ms, offset)}${written(offset, 'minutes')}[${name}]`
    },
  },
  'one or two digits for month, day and hour, always two for minutes and seconds; `/` or `.` between year, month and day':
    {
      precision: MINUTE,
      write(ms, random) {
        const [year, month, date] = day(ms).split('-') as [string, string, string]
        const separator = random.pick(['-', '/', '.'])
        return `${year}${separator}${Number(month)}${separator}${Number(date)} ${Number(time(ms, 2))}${time(ms, 5).slice(2)}`
      },
    },
  'year with a sign and six digits, as in JavaScript': { precision: 1, years: [10_000, 275_759], write: iso },
  'year before 0: year 0 is 1 BC': { precision: DAY, years: [-271_820, -1], write: day },
  'year after 9999 without a sign, as in PostgreSQL': {
    precision: SECOND,
    years: [10_000, 275_759],
    write: ms => `${day(ms).replace(/^\+0?/, '')} ${time(ms)}+00`,
  },
  'year before Christ, as in PostgreSQL': {
    precision: SECOND,
    years: [-4700, 0],
    write(ms, random) {
      const year = String(1 - new Date(ms).getUTCFullYear()).padStart(4, '0')
      const zone = random.pick(['', '+00'])
      return `${year}${day(ms).slice(-6)} ${time(ms)}${zone} BC`
    },
  },
  '`day!month!year`, as in 4D; years may have fewer digits and a minus': {
    precision: DAY,
    years: [-9999, 99_999],
    write: dayFirst,
  },
  'the same with a time': {
    precision: MINUTE,
    years: [-9999, 99_999],
    write: (ms, random) => `${dayFirst(ms, random)} ${time(ms, 5)}`,
  },
  '4D literal': {
    precision: DAY,
    write(ms, random) {
      const marks = random.pick(['!', '!!'])
      return `${marks}${day(ms)}${marks}`
    },
  },
}
