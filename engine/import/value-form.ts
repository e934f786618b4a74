import { parseClock } from '../base/time/read-clock.ts'
import { excerpt } from '../base/text/excerpt.ts'
import { parseDate } from '../base/time/read-date.ts'
import type { Attribute } from '../catalog/attribute.ts'
import type { StorageModel } from '../catalog/model-schema.ts'
import { splitAmount } from './amounts.ts'
import { isDouble } from './double-digits.ts'
import { foreignDate } from './foreign-dates.ts'
import { type ForeignFormat, foreignNumber } from './foreign-values.ts'
import { lossIn } from './loss.ts'

/**
 * Forms that texts must have for a type to be proposed. A load into the proposed dataclass rejects texts of other forms: the type would
 * change some of them, such as the postcode 00501 to 501.
 */
export const FORMS: { readonly [T in StorageModel['type']]?: (text: string, format: ForeignFormat) => boolean } = {
  bool: text => TRUTHS.flat().includes(text.trim().toLowerCase()),
  long: isInteger,
  long64: isInteger,
  decimal: isNumber,
  number: (text, format) => isNumber(text, format) && isDouble(NUMBER.test(text) ? text : numberIn(text, format)),
  date(text, format) {
    const date = DATE.test(text) ? text : dateIn(text, format)
    return date !== undefined && DATE.test(date) && parseDate(date) !== undefined
  },
  duration: text => (CLOCK.test(text.trim()) && parseClock(text) !== undefined) || isTableTime(text),
  uuid: text => isUuid(text.trim()),
  image: text => text.startsWith('data:image/'),
  blob: text => /^data:[^,]*;base64,/.test(text),
  object: isContainer,
  vector: isContainer,
}

/** Origin of the type of a proposed column. */
export interface ProposedValues {
  /** True if the type was guessed from the values, not given by the user or by the file. */
  readonly isGuessed: boolean
  /** The proposal says that the type does not keep all digits. */
  readonly losesDigits: boolean
  /** Currency of all values, which the attribute does not have. */
  readonly currency?: string | undefined
}

/** @throws {Error} if the type that was proposed for an attribute would change a value of the file */
export function checkValue(
  attribute: Attribute,
  text: string,
  format: ForeignFormat & { readonly proposed?: Readonly<Record<string, ProposedValues>> | undefined },
): void {
  const proposal = format.proposed?.[attribute.name]
  if (!proposal || attribute.kind !== 'storage') return
  const { name, type, simpleDate } = attribute
  const { currency } = proposal
  const isIn = currency === undefined || splitAmount(text, [currency])?.currency === currency
  const ofColumn = { ...format, currencies: currency === undefined ? undefined : [currency] }
  const hasForm = !proposal.isGuessed || (isIn && (FORMS[type]?.(text, ofColumn) ?? true))
  const isKept = hasForm && (proposal.losesDigits || lossIn(type, text) === undefined)
  if (isKept && !(proposal.isGuessed && simpleDate && text.includes(':'))) return
  const typeText = `${type}${simpleDate ? ' without a time' : ''}`
  throw new Error(
    `${name}: ${typeText}, proposed for the values before, does not hold ${JSON.stringify(excerpt(text))} as it is; correct it, or choose another type with --type`,
  )
}

/** Words and letters that are booleans only in pairs: `NO` without `YES` is a country, and `T` without `F` a code. */
export const TRUTHS = [
  ['true', 'false'],
  ['yes', 'no'],
  ['t', 'f'],
  ['y', 'n'],
]

const INTEGER = /^-?(?:0|[1-9]\d*)$/
/** Numbers without leading zeros and without a plus sign, so that postcodes and telephone numbers stay texts. */
const NUMBER = /^-?(?:(?:0|[1-9]\d*)(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/
/**
 * Beginnings of texts that are dates if they can be parsed as dates. Years of five digits, and `31!1!2020`, are more often something else.
 */
const DATE = /^(?:\d{4}|[+-]\d{6})[-/.]/
const CLOCK = /^-?\d{1,4}:/
const TABLE_TIME = /^-?\d{2,10}:\d\d:\d\d(?:\.\d{3})?$/
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/** True for a time of day or a duration as the reader of spreadsheets writes it. */
export const isTableTime = (text: string): boolean => TABLE_TIME.test(text)
export const isUuid = (text: string): boolean => UUID.test(text)

// Most programs write numbers in the server's own format; testing for it first takes a third of the time.
function isInteger(text: string, format: ForeignFormat): boolean {
  return INTEGER.test(text) || INTEGER.test(numberIn(text, format))
}

function isNumber(text: string, format: ForeignFormat): boolean {
  return NUMBER.test(text) || NUMBER.test(numberIn(text, format))
}

function isContainer(text: string): boolean {
  return /^\s*[[{]/.test(text)
}

/** A number of a file as the server reads it. */
export const numberIn = (text: string, format: ForeignFormat): string => foreignNumber(text, format) ?? text.trim()

/** A date of a file as the server reads it; undefined for a year that may be of two centuries. */
function dateIn(text: string, format: ForeignFormat): string | undefined {
  const date = foreignDate(text, format) ?? text.trim()
  return typeof date === 'string' ? date : undefined
}
