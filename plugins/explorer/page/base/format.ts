/** Values of attributes as text for human readers. */
import { type Attribute, NUMBERS, shapeOf } from './model.ts'
import { dayText, parseDate } from './dates.ts'
import { durationText } from './durations.ts'
import { decimalSign, language, number } from './texts.ts'

export { parseDate } from './dates.ts'

/** Formats a value on one line. Null and undefined are empty. */
export function format(value: unknown, attribute: Attribute): string {
  if (value == null) return ''
  const shape = shapeOf(attribute)
  if (NUMBERS.has(shape) && typeof value === 'number') return formatNumber(value, attribute)
  switch (shape) {
    case 'date':
      return formatDate(String(value), attribute)
    case 'duration':
      return formatDuration(value as number | string)
    case 'object':
      return JSON.stringify(value)
    default:
      return String(value)
  }
}

/** Formats a number; keys are names and not amounts, so they have no thousands separators. */
const formatNumber = (value: number, { identifying, scale }: Attribute): string =>
  identifying
    ? String(value)
    : number(value, scale === undefined ? { maximumFractionDigits: 12 } : { minimumFractionDigits: scale })

function formatDate(text: string, { simpleDate }: Attribute): string {
  const date = parseDate(text)
  if (!date) return text === '0!0!0' ? '' : text
  return dateFormat(language.value, simpleDate || text.includes('!')).format(date)
}

/** Cached, since creating a format takes longer than formatting a whole page of dates. */
const dateFormats = new Map<string, Intl.DateTimeFormat>()

function dateFormat(code: string, isDay: boolean | undefined): Intl.DateTimeFormat {
  const name = `${code} ${isDay}`
  const formatter =
    dateFormats.get(name) ??
    new Intl.DateTimeFormat(
      code,
      isDay ? { dateStyle: 'medium', timeZone: 'UTC' } : { dateStyle: 'medium', timeStyle: 'medium' },
    )
  dateFormats.set(name, formatter)
  return formatter
}

/** Formats a duration: `1:05:09`, with milliseconds if there are any. */
export const formatDuration = (milliseconds: number | string): string => durationText(milliseconds).replace(/^-/, '−')

/** A complete value for spreadsheets, as stored; null for null, images and blobs. */
export function exactText(value: unknown, attribute: Attribute): string | null {
  const { type, simpleDate } = attribute
  if (value === null || type === 'image' || type === 'blob') return null
  if (typeof value === 'object') return JSON.stringify(value)
  const text = String(value)
  if (NUMBERS.has(shapeOf(attribute))) return text.replace('.', decimalSign())
  if (type === 'duration') return durationText(text)
  return simpleDate ? dayText(text) : text
}
