import type { RowAttribute, ValueAttribute } from '../catalog/attribute.ts'
import type { WireOptions } from '../catalog/dataclass.ts'
import type { Value } from '../catalog/value.ts'

/**
 * Values as they stand in a row, which is how they are sent. Source: protocol notes, 3.2 and 3.3.
 */

/** Of an entity that is being written: its key as text and its stamp go into the links to its parts. */
export interface EntityIdentity {
  key: string
  stamp: number
}

/**
 * JSON text of an attribute's value.
 * @param value of a storage attribute its value, of a N→1 relation the key of the related entity or null
 */
export function encodeValue(
  attribute: RowAttribute,
  value: Value | undefined,
  entity: EntityIdentity,
  wire: WireOptions,
): string {
  if (attribute.kind === 'relatedEntities') {
    return `{"__deferred":{"uri":${uri(attribute.dataClass.name, entity.key, attribute.name, `?$expand=${encodeURIComponent(attribute.name)}`)}}}`
  }
  if (value === null || value === undefined) return 'null'
  if (attribute.kind === 'relatedEntity') {
    const key = String(value)
    return `{"__deferred":{"uri":${uri(attribute.target.name, key)},"__KEY":${JSON.stringify(key)}}}`
  }
  switch (attribute.type) {
    case 'image': {
      const name = encodeURIComponent(attribute.name)
      const address = uri(
        attribute.dataClass.name,
        entity.key,
        attribute.name,
        `?$imageformat=best&$version=${entity.stamp}&$expand=${name}`,
      )
      return `{"__deferred":{"uri":${address},"image":true}}`
    }
    case 'blob':
      return `{"__deferred":{"uri":${uri(attribute.dataClass.name, entity.key, attribute.name, `?$binary=true&$expand=${encodeURIComponent(attribute.name)}`)}}}`
    default:
      return encodePlain(attribute, value, wire)
  }
}

/** JSON text of a value that needs no link: of a scalar or an object. */
export function encodePlain({ type, simpleDate }: ValueAttribute, value: Value, wire: WireOptions): string {
  if (type === 'date' && value !== null) return `"${formatDate(value as number, simpleDate, wire)}"`
  // Most texts have nothing that JSON escapes; to see that takes half as long as having them encoded.
  if (typeof value === 'string' && !ESCAPED.test(value)) return `"${value}"`
  // A bigint is a JSON number here; JSON.stringify would refuse it.
  return typeof value === 'bigint' || typeof value === 'number' ? String(value) : JSON.stringify(value)
}

/** What JSON may escape: control characters, quotes, backslashes, surrogates. */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/

/** The value again, from the JSON text in a row; of an image or a blob true when there is one. */
export function decodeValue(attribute: RowAttribute, json: string, wire: WireOptions): Value | true {
  if (json === 'null') return null
  if (attribute.kind === 'relatedEntity')
    return (JSON.parse(json) as { __deferred: { __KEY: string } }).__deferred.__KEY
  if (attribute.kind === 'relatedEntities') return null
  switch (attribute.type) {
    case 'image':
    case 'blob':
      return true
    case 'date':
      return parseWireDate(JSON.parse(json) as string, attribute.simpleDate, wire)
    case 'long64': {
      const number = Number(json)
      return Number.isSafeInteger(number) ? number : BigInt(json)
    }
    default:
      return JSON.parse(json) as Value
  }
}

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
 * `2020-01-31` of a time in the years 1000 … 9999: a fifth of the time of `toISOString`. Years begin in March here, so that a
 * leap day is the last of its year, and the months before are 30.6 days long on average.
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

/** `/rest/{dataClass}({key})[/{part}][query]` as a JSON string. Keys that hold a delimiter are quoted inside the brackets. */
function uri(dataClass: string, key: string, part = '', query = ''): string {
  // The usual case, in a third of the time.
  if (part === '' && PLAIN_KEY.test(key)) return `"/rest/${encodeURIComponent(dataClass)}(${key})"`
  return JSON.stringify(
    `/rest/${encodeURIComponent(dataClass)}(${uriKey(key)})${part && `/${encodeURIComponent(part)}`}${query}`,
  )
}

export function uriKey(key: string): string {
  if (PLAIN_KEY.test(key)) return key
  // A lone surrogate has no percent-encoding: encodeURIComponent would throw.
  const encoded = encodeURIComponent(key.replace(LONE_SURROGATE, '\ufffd')).replace(
    /[()']/g,
    c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  // Quotes delimit the key for the server. %22 and not a raw quote, so that the address stays one for a browser too.
  return NEEDS_QUOTES.test(key) ? `%22${encoded}%22` : encoded
}

const LONE_SURROGATE = /\p{Surrogate}/gu
const PLAIN_KEY = /^[A-Za-z0-9_.~-]+$/
const NEEDS_QUOTES = /[()[\],/'\s]|^$/
