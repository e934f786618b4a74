import { DATE_ORDERS, DECIMALS } from '../base/row-formats.ts'
import { excerpt } from '../base/text/excerpt.ts'
import { parseDate } from '../base/time/read-date.ts'
import type { Attribute, StorageAttribute } from '../catalog/attribute.ts'
import { Mismatch } from '../catalog/types/descriptor.ts'
import { TYPES } from '../catalog/types/registry.ts'
import { splitAmount } from './amounts.ts'
import { type DateFormat, foreignDate } from './foreign-dates.ts'

/** Format of the values in the fields of a CSV file. */
export interface ForeignFormat extends DateFormat {
  /** Decimal character; thousands may be grouped by the other one, by blanks or by apostrophes. */
  decimal?: (typeof DECIMALS)[number] | undefined
  /** Currencies that numbers may have, such as `€`. */
  currencies?: readonly string[] | undefined
  /** Texts that are read as null in every column except text columns, such as `N/A`. */
  nulls?: readonly string[] | undefined
}

/** Groups have three digits, so that `1,5` is not read as 15. */
const GROUPED = {
  ',': /^[+-]?(?:\d+|\d{1,3}(?:[.\s'’]\d{3})+)(?:,\d+)?$/,
  '.': /^[+-]?(?:\d+|\d{1,3}(?:[,\s'’]\d{3})+)(?:\.\d+)?$/,
} as const
/** A number that can be read without knowing the decimal character. */
const PLAIN = /^[+-]?\d+(?:\.\d+)?$/

/** A date whose year could be in any century, or that has a two-digit part instead of a year. */
const SHORT_DATE = /^\s*\d{1,2}([./-])\d{1,2}\1\d{1,2}(?:\D|$)/
const isShortDate = (text: string): boolean => SHORT_DATE.test(text)

/**
 * A field in the form that the server reads. A field that is not in the given format, or is not a value of the type even when converted, is
 * returned unchanged.
 * @throws {Error} for a date that does not exist, or whose year could be of several centuries, instead of the usual reason
 */
export function readForeign(attribute: Attribute, field: string, format: ForeignFormat): string {
  if (attribute.kind !== 'storage') return field
  const form = TYPES[attribute.type].field
  const read =
    form === 'number'
      ? foreignNumber(field, format)
      : form === 'date'
        ? dateIn(attribute.name, field, format)
        : undefined
  if (read === undefined || isValue(attribute, read)) return read ?? field
  if (form === 'date' && parseDate(read) === undefined)
    throw new Error(`${attribute.name}: "${field}" is not an existing date`)
  return field
}

function dateIn(name: string, field: string, format: ForeignFormat): string | undefined {
  const date = foreignDate(field, format)
  if (typeof date === 'symbol')
    throw new Error(`${name}: the year of "${excerpt(field)}" may be of two centuries; the option years says of which`)
  if (date === undefined && isShortDate(field))
    throw new Error(`${name}: the year of "${excerpt(field)}" has fewer than four digits`)
  return date
}

/** A number with groups, a currency or another decimal character, as the server reads it; undefined if it is not in that format. */
export function foreignNumber(field: string, { decimal, currencies }: ForeignFormat): string | undefined {
  const amount = currencies && splitAmount(field, currencies)
  const isAmount = amount !== undefined && currencies!.includes(amount.currency)
  const text = isAmount ? amount.number : field.trim()
  if (!decimal) return isAmount && PLAIN.test(text) ? text : undefined
  if (!GROUPED[decimal].test(text)) return undefined
  return text
    .replace(/[\s'’]/g, '')
    .replaceAll(OTHER[decimal], '')
    .replace(',', '.')
}

const isValue = (attribute: StorageAttribute, text: string): boolean =>
  !(TYPES[attribute.type].convert(text, attribute, true) instanceof Mismatch)

function isReadable(attribute: StorageAttribute, field: string, format: ForeignFormat): boolean {
  try {
    return isValue(attribute, readForeign(attribute, field, format))
  } catch {
    return false
  }
}

const OTHER = { '.': ',', ',': '.' } as const

/**
 * True for a decimal or a date that is valid in the given format but would have another value in another format. Integers have no decimal
 * places: 1.000 is 1000.
 */
function isRead({ type }: StorageAttribute, field: string, format: ForeignFormat): boolean {
  const { decimal } = format
  const text = field.trim()
  if (type === 'decimal') return Number.isFinite(Number(text)) || (decimal !== undefined && GROUPED[decimal].test(text))
  if (type !== 'date') return false
  const date = foreignDate(text, format) ?? text
  return typeof date === 'string' && parseDate(date) !== undefined
}

/** Option with which a field could be read that is not a value of its type but looks like a number or a date of another country. */
export function hintFor(attribute: Attribute, field: string, chosenFormat: ForeignFormat): string | undefined {
  if (attribute.kind !== 'storage') return undefined
  const form = TYPES[attribute.type].field
  if ((form !== 'number' && form !== 'date') || isShortDate(field)) return undefined
  const reads = (format: ForeignFormat): boolean => isReadable(attribute, field, format)
  if (reads(chosenFormat) || isRead(attribute, field, chosenFormat)) return undefined
  const currency = form === 'number' ? splitAmount(field)?.currency : undefined
  if (currency !== undefined && DECIMALS.some(decimal => reads({ decimal, currencies: [currency] })))
    return `${attribute.name} has amounts such as ${field.trim()}: --currencies "${currency}" reads them`
  const [what, option, would] =
    form === 'number'
      ? ['numbers', 'decimal', DECIMALS.filter(decimal => reads({ decimal })).map(each => `"${each}"`)]
      : ['dates', 'dates', DATE_ORDERS.filter(dates => reads({ dates }))]
  if (would.length === 0) return undefined
  return `${attribute.name} has ${what} such as ${excerpt(field.trim())}: --${option} ${would.join(' or ')} reads them`
}
