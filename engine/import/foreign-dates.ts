import type { DateOrder } from '../base/row-formats.ts'
import { fold } from '../base/text/fold.ts'

/** Format of the dates in a file. */
export interface DateFormat {
  /** Order of day, month and year. */
  readonly dates?: DateOrder | undefined
  /** First year of the hundred years to which years of two digits belong. */
  readonly years?: number | undefined
}

/** A date of a file as the server reads it, or as it is: with a year that may be of two centuries. */
type ForeignDate = string | typeof TWO_CENTURIES
export const TWO_CENTURIES = Symbol('a year of two centuries')

const TIME = String.raw`(?<time>\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?)(?:\s?(?<half>[ap])\.?m\.?)?`
const NUMERIC = new RegExp(
  String.raw`^(?<first>\d{1,4})(?<separator>[./-])(?<second>\d{1,2})\k<separator>(?<third>\d{1,4})(?:[ T]${TIME})?$`,
  'i',
)

/** Names of the months in English, German, Dutch, French, Italian, Spanish and Portuguese; three letters of a name are enough. */
const MONTHS = [
  'january januar januari janvier gennaio enero janeiro',
  'february februar februari fevrier febbraio febrero fevereiro',
  'march marz maart mars marzo marco mrz mrt',
  'april avril aprile abril',
  'may mai mei maggio mayo maio',
  'june juni juin giugno junio junho',
  'july juli juillet luglio julio julho',
  'august augustus aout agosto',
  'september septembre settembre septiembre setembro',
  'october oktober octobre ottobre octubre outubro',
  'november novembre noviembre novembro',
  'december dezember decembre dicembre diciembre dezembro',
].map(names => names.split(' '))
const LEAST_LETTERS = 3

const MONTH = String.raw`(?<month>\p{L}{3,10})\.?`
const DAY = String.raw`(?<day>\d{1,2})(?:st|nd|rd|th|er|[ºª.])?`
const YEAR = String.raw`(?<year>\d{4}|\d\d)`
const AT = '(?: de |[-/., ]*)'
const ZONE = String.raw`(?:\s?(?<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?))?`
const CLOCK = `(?:[ T,:]+${TIME}${ZONE})?`
const WEEKDAY = String.raw`(?:\p{L}{2,10}\.?,? )?`
/** Dates with the name of a month. The last form is that of the Unix command `date`. */
const WRITTEN = [
  `${DAY}${AT}${MONTH}${AT}${YEAR}${CLOCK}`,
  `${MONTH}${AT}${DAY}[-/., ]+${YEAR}${CLOCK}`,
  String.raw`(?<year>\d{4})${AT}${MONTH}${AT}(?<day>\d{1,2})${CLOCK}`,
  String.raw`${MONTH} +${DAY} +${TIME}(?: (?<zone>UTC|GMT|[+-]\d{4}))? (?<year>\d{4})`,
].map(form => new RegExp(`^${WEEKDAY}${form}$`, 'iu'))

/** No date is longer; the expressions take long for long texts. */
const MAX_LENGTH = 64

type Parts = Readonly<Record<string, string | undefined>>

/** A date in another form than the server reads; undefined for any other text. */
export function foreignDate(field: string, format: DateFormat): ForeignDate | undefined {
  const text = field.trim()
  if (text.length > MAX_LENGTH) return undefined
  return /\p{L}{3}/u.test(text) ? writtenDate(text, format) : format.dates && numericDate(text, format.dates, format)
}

function numericDate(text: string, order: DateOrder, format: DateFormat): ForeignDate | undefined {
  const groups: Parts | undefined = NUMERIC.exec(text)?.groups
  if (!groups) return undefined
  const { first, second, third } = groups
  const { y, m, d } = { [order[0]!]: first!, [order[1]!]: second!, [order[2]!]: third! } as Record<
    'y' | 'm' | 'd',
    string
  >
  if (y.length % 2 === 1 || m.length > 2 || d.length > 2) return undefined
  // Numbers alone may be something else, such as versions: only an option makes them dates.
  if (y.length < 4 && format.years === undefined) return undefined
  return dateOf({ ...groups, year: y, day: d }, m, format)
}

function writtenDate(text: string, format: DateFormat): ForeignDate | undefined {
  for (const form of WRITTEN) {
    const groups: Parts | undefined = form.exec(text)?.groups
    const month = groups && monthOf(groups.month!)
    if (month !== undefined) return dateOf(groups!, month, format)
  }
  return undefined
}

function monthOf(name: string): string | undefined {
  const start = fold(name)
  const found = MONTHS.flatMap((names, i) => (names.some(each => each.startsWith(start)) ? [i + 1] : []))
  return start.length >= LEAST_LETTERS && found.length === 1 ? String(found[0]) : undefined
}

function dateOf(
  { year, day, time, half, zone = '' }: Parts,
  month: string,
  format: DateFormat,
): ForeignDate | undefined {
  const full = yearOf(year!, format)
  if (typeof full === 'symbol') return full
  const iso = `${full}-${month.padStart(2, '0')}-${day!.padStart(2, '0')}`
  if (time === undefined) return iso
  const [hours, ...others] = time.split(':')
  const hour = half === undefined ? hours! : hourOf(Number(hours), half)
  return hour && `${iso}T${[hour.padStart(2, '0'), ...others].join(':')}${/^[a-z]/i.test(zone) ? 'Z' : zone}`
}

/** Years of two digits that all usual rules take for the same: those of POSIX, Excel and .NET differ from 30 to 69. */
const [LATEST, EARLIEST] = [29, 70]

function yearOf(digits: string, { years }: DateFormat): ForeignDate {
  if (digits.length > 2) return digits
  const year = Number(digits)
  if (years === undefined) return year <= LATEST ? `20${digits}` : year >= EARLIEST ? `19${digits}` : TWO_CENTURIES
  const century = years - (years % 100)
  return String(century + year + (century + year < years ? 100 : 0)).padStart(4, '0')
}

/** Hour of a time on a 12-hour clock. */
function hourOf(hours: number, half: string): string | undefined {
  if (hours < 1 || hours > 12) return undefined
  return String((hours % 12) + (half.toLowerCase() === 'p' ? 12 : 0))
}
