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
  // A bigint is a JSON number here; JSON.stringify would refuse it.
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

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
  const iso = new Date(ms).toISOString()
  if (!simpleDate) return iso
  const date = iso.slice(0, iso.indexOf('T'))
  if (wire.dateOnlyFormat === 'iso') return date
  const [, year, month, day] = DATE.exec(date)!
  return `${Number(day)}!${Number(month)}!${Number(year)}`
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
