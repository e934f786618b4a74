import {
  type Attribute,
  isBinary,
  type RowAttribute,
  type StorageAttribute,
  type ValueAttribute,
} from '../catalog/attribute.ts'
import type { DataClass, WireOptions } from '../catalog/dataclass.ts'
import type { Value } from '../catalog/value.ts'
import { TYPES } from '../catalog/types/registry.ts'

/**
 * Values as they stand in a row, which is how they are sent. Source: protocol notes, 3.2 and 3.3.
 */

/** Identity of an entity that is being written: its key as text and its stamp go into the links to its parts. */
interface EntityIdentity {
  key: string
  stamp: number
}

/**
 * JSON text of a value of one attribute: of a storage attribute its value, of a N→1 relation the key of the related entity.
 * Null and undefined are `null`, but for a 1→N relation, which has no value.
 */
export type SlotEncoder = (value: Value | undefined, entity: EntityIdentity) => string

/** The encoder of an attribute: chosen once for a layout, so that nothing is decided again for every row. */
export function slotEncoder(attribute: RowAttribute, wire: WireOptions): SlotEncoder {
  if (attribute.kind === 'relatedEntities') return (_, { key }) => collectionLink(attribute, key)
  if (attribute.kind === 'relatedEntity') {
    return value => (value === null || value === undefined ? 'null' : entityLink(attribute.target, String(value)))
  }
  if (isBinary(attribute.type)) {
    return (value, entity) => (value === null || value === undefined ? 'null' : binaryLink(attribute, entity))
  }
  const { encode } = TYPES[attribute.type]
  return value => (value === null || value === undefined ? 'null' : encode(value, attribute, wire))
}

const entityLink = (target: DataClass, key: string): string =>
  `{"__deferred":{"uri":${uri(target, key)},"__KEY":${JSON.stringify(key)}}}`

function binaryLink({ dataClass, name, type }: StorageAttribute, { key, stamp }: EntityIdentity): string {
  const expand = `$expand=${encodeURIComponent(name)}`
  if (type === 'blob') return `{"__deferred":{"uri":${uri(dataClass, key, name, `?$binary=true&${expand}`)}}}`
  const address = uri(dataClass, key, name, `?$imageformat=best&$version=${stamp}&${expand}`)
  return `{"__deferred":{"uri":${address},"image":true}}`
}

/** The deferred link to the entities at the end of a relation to many, or of an alias of one. */
export function collectionLink({ dataClass, name }: Pick<Attribute, 'dataClass' | 'name'>, key: string): string {
  return `{"__deferred":{"uri":${uri(dataClass, key, name, `?$expand=${encodeURIComponent(name)}`)}}}`
}

/**
 * The deferred link to a value that is too long to be sent: with the beginning of a text, or of the JSON of another value.
 * @param attribute undefined: an address is not given
 * @param json the first bytes of the value as JSON
 */
export function briefLink(
  attribute: Pick<Attribute, 'dataClass' | 'name'> | undefined,
  key: string,
  json: Buffer,
): string {
  const brief = JSON.stringify(json[0] === QUOTE ? beginningOfText(json) : wholeCharacters(json))
  const address = attribute ? `"uri":${uri(attribute.dataClass, key, attribute.name)},` : ''
  return `{"__deferred":{${address}"brief":${brief}}}`
}

/** Text of a JSON string that was cut off, without an escape or a surrogate pair that the cut has divided. */
function beginningOfText(json: Buffer): string {
  const text = wholeCharacters(json)
  const cut = /(?:^|[^\\])(?:\\\\)*(\\(?:u[0-9A-Fa-f]{0,3})?)$/.exec(text)
  const whole = cut ? text.slice(0, -cut[1]!.length) : text
  return (JSON.parse(`${whole}"`) as string).replace(/[\ud800-\udbff]$/, '')
}

/** UTF-8 without a character that a cut has divided. */
function wholeCharacters(bytes: Buffer): string {
  let end = bytes.length
  while (end > 0 && (bytes[end - 1]! & 0xc0) === 0x80) end--
  // The first byte of the last character says how many it has.
  const first = bytes[end - 1]!
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  return bytes.toString('utf8', 0, end - 1 + length <= bytes.length ? end - 1 + length : end - 1)
}

const QUOTE = 0x22

/** JSON text of a value that needs no link: of a scalar or an object. */
export const encodePlain = (attribute: ValueAttribute, value: Value, wire: WireOptions): string =>
  value === null ? 'null' : TYPES[attribute.type].encode(value, attribute, wire)

/** The value again, from the JSON text in a row; of an image or a blob true when there is one. */
export function decodeValue(attribute: RowAttribute, json: string, wire: WireOptions): Value | true {
  if (json === 'null') return null
  if (attribute.kind === 'relatedEntity')
    return (JSON.parse(json) as { __deferred: { __KEY: string } }).__deferred.__KEY
  if (attribute.kind === 'relatedEntities') return null
  return TYPES[attribute.type].decode(json, attribute, wire)
}

/** `{uri of the dataclass}({key})[/{part}][query]` as a JSON string. Keys that hold a delimiter are quoted inside the brackets. */
function uri(dataClass: DataClass, key: string, part = '', query = ''): string {
  // The usual case, in a third of the time.
  if (part === '' && PLAIN_KEY.test(key)) return `"${dataClass.uri}(${key})"`
  return JSON.stringify(`${dataClass.uri}(${uriKey(key)})${part && `/${encodeURIComponent(part)}`}${query}`)
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
