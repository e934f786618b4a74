import { DATE_ORDERS, type DateOrder, DECIMALS } from '../base/row-formats.ts'
import { parseDate } from '../base/time/read-date.ts'
import type { Attribute, StorageAttribute } from '../catalog/attribute.ts'
import { Mismatch } from '../catalog/types/descriptor.ts'
import { TYPES } from '../catalog/types/registry.ts'

/** Format of the values in the fields of a CSV file. */
export interface ForeignFormat {
  /** Decimal character; thousands may be grouped by the other one, by blanks or by apostrophes. */
  decimal?: (typeof DECIMALS)[number] | undefined
  /** Order of day, month and year. */
  dates?: DateOrder | undefined
  /** Texts that are read as null in every column except text columns, such as `N/A`. */
  nulls?: readonly string[] | undefined
}

/** Groups have three digits, so that `1,5` is not read as 15. */
const GROUPED = {
  ',': /^[+-]?(?:\d+|\d{1,3}(?:[.\s'’]\d{3})+)(?:,\d+)?$/,
  '.': /^[+-]?(?:\d+|\d{1,3}(?:[,\s'’]\d{3})+)(?:\.\d+)?$/,
} as const
const DATE =
  /^(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?:[ T](\d{1,2})(:\d{2}(?::\d{2}(?:\.\d+)?)?)(?:\s?([ap])\.?m\.?)?)?$/i

/** A date whose year could be in any century, or that has a two-digit part instead of a year. */
const SHORT_DATE = /^\s*\d{1,2}([./-])\d{1,2}\1\d{1,2}(?:\D|$)/
export const isShortDate = (text: string): boolean => SHORT_DATE.test(text)

/**
 * A field in the form that the server reads. A field that is not in the given format, or is not a value of the type even when converted, is
 * returned unchanged.
 * @throws {Error} for a date whose year could be in any century, instead of the usual reason
 */
export function readForeign(attribute: Attribute, field: string, { decimal, dates }: ForeignFormat): string {
  if (attribute.kind !== 'storage') return field
  const form = TYPES[attribute.type].field
  if (form === 'date' && isShortDate(field))
    throw new Error(`${attribute.name}: the year of "${field}" has fewer than four digits`)
  const read =
    form === 'number' ? foreignNumber(field, decimal) : form === 'date' ? foreignDate(field, dates) : undefined
  return read && isValue(attribute, read) ? read : field
}

/** A number with groups or another decimal character, as the server reads it; undefined if it is not in that format. */
export function foreignNumber(field: string, decimal: ForeignFormat['decimal']): string | undefined {
  const text = field.trim()
  if (!decimal || !GROUPED[decimal].test(text)) return undefined
  return text
    .replace(/[\s'’]/g, '')
    .replaceAll(OTHER[decimal], '')
    .replace(',', '.')
}

/** A date in another order, as the server reads it; undefined if it is not in that order. */
export const foreignDate = (field: string, dates: ForeignFormat['dates']): string | undefined =>
  dates && isoDate(field.trim(), dates)

const isValue = (attribute: StorageAttribute, text: string): boolean =>
  !(TYPES[attribute.type].convert(text, attribute, true) instanceof Mismatch)

const OTHER = { '.': ',', ',': '.' } as const

function isoDate(text: string, order: DateOrder): string | undefined {
  const [, first, , second, third, hours, minutes, half] = DATE.exec(text) ?? []
  if (first === undefined) return undefined
  const parts = { [order[0]!]: first, [order[1]!]: second!, [order[2]!]: third! }
  const { y, m, d } = parts as Record<'y' | 'm' | 'd', string>
  // A two-digit year could be of any century.
  if (y.length !== 4 || m.length > 2 || d.length > 2) return undefined
  const day = `${y}-${m.padStart(2, '0')}-${d.padStart(2, '0')}`
  if (hours === undefined) return day
  const hour = half === undefined ? hours : hourOf(Number(hours), half)
  return hour === undefined ? undefined : `${day}T${hour.padStart(2, '0')}${minutes}`
}

/** Hour of a time on a 12-hour clock. */
function hourOf(hours: number, half: string): string | undefined {
  if (hours < 1 || hours > 12) return undefined
  return String((hours % 12) + (half.toLowerCase() === 'p' ? 12 : 0))
}

/**
 * True for a decimal or a date that is valid in the given format but would have another value in another format. Integers have no decimal
 * places: 1.000 is 1000.
 */
function isRead({ type }: StorageAttribute, field: string, { decimal, dates }: ForeignFormat): boolean {
  const text = field.trim()
  if (type === 'decimal') return Number.isFinite(Number(text)) || (decimal !== undefined && GROUPED[decimal].test(text))
  return type === 'date' && parseDate(foreignDate(text, dates) ?? text) !== undefined
}

/** Option with which a field could be read that is not a value of its type but looks like a number or a date of another country. */
export function hintFor(attribute: Attribute, field: string, chosenFormat: ForeignFormat): string | undefined {
  if (attribute.kind !== 'storage') return undefined
  const form = TYPES[attribute.type].field
  if ((form !== 'number' && form !== 'date') || isShortDate(field)) return undefined
  const reads = (format: ForeignFormat): boolean => isValue(attribute, readForeign(attribute, field, format))
  if (reads(chosenFormat) || isRead(attribute, field, chosenFormat)) return undefined
  const [what, option, would] =
    form === 'number'
      ? ['numbers', 'decimal', DECIMALS.filter(decimal => reads({ decimal })).map(each => `"${each}"`)]
      : ['dates', 'dates', DATE_ORDERS.filter(dates => reads({ dates }))]
  if (would.length === 0) return undefined
  return `${attribute.name} has ${what} such as ${field.trim()}: --${option} ${would.join(' or ')} reads them`
}
