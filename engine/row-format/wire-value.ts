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
 * Values as rows and answers hold them. Source: protocol notes, 3.2 and 3.3.
 */

/** Identity of an entity that is being written: its key as text and its stamp, which links to its parts contain. */
interface EntityIdentity {
  key: string
  stamp: number
}

/**
 * Returns the JSON text of one attribute. The value is that of a storage attribute, or the key of the related entity for a N→1
 * relation. Null and undefined give `null`, except for a 1→N relation, which has no value.
 */
export type SlotEncoder = (value: Value | undefined, entity: EntityIdentity) => string

/** Encoder of an attribute, chosen once for a layout instead of for every row. */
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

/** Deferred link to the entities at the end of a relation to many, or of an alias of such a relation. */
export function collectionLink({ dataClass, name }: Pick<Attribute, 'dataClass' | 'name'>, key: string): string {
  return `{"__deferred":{"uri":${uri(dataClass, key, name, `?$expand=${encodeURIComponent(name)}`)}}}`
}

/**
 * Deferred link to a value that is too long to be sent, with the beginning of its text, or of its JSON if it is not a text.
 * @param attribute undefined for a link without an address
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

/** Text of a truncated JSON string, without an escape or a surrogate pair that was cut in two. */
function beginningOfText(json: Buffer): string {
  const text = wholeCharacters(json)
  const cut = /(?:^|[^\\])(?:\\\\)*(\\(?:u[0-9A-Fa-f]{0,3})?)$/.exec(text)
  const wholeText = cut ? text.slice(0, -cut[1]!.length) : text
  return (JSON.parse(`${wholeText}"`) as string).replace(/[\ud800-\udbff]$/, '')
}

/** Decodes truncated UTF-8 without a character that was cut in two. */
function wholeCharacters(bytes: Buffer): string {
  let end = bytes.length
  while (end > 0 && (bytes[end - 1]! & 0xc0) === 0x80) end--
  // The first byte of the last character says how many bytes it has.
  const first = bytes[end - 1]!
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  return bytes.toString('utf8', 0, end - 1 + length <= bytes.length ? end - 1 + length : end - 1)
}

const QUOTE = 0x22

/** JSON text of a scalar or an object, which needs no link. */
export const encodePlain = (attribute: ValueAttribute, value: Value, wire: WireOptions): string =>
  value === null ? 'null' : TYPES[attribute.type].encode(value, attribute, wire)

/** Decodes a value from its JSON text in a row. For an image or a blob, true if there is one. */
export function decodeValue(attribute: RowAttribute, json: string, wire: WireOptions): Value | true {
  if (json === 'null') return null
  if (attribute.kind === 'relatedEntity')
    return (JSON.parse(json) as { __deferred: { __KEY: string } }).__deferred.__KEY
  if (attribute.kind === 'relatedEntities') return null
  return TYPES[attribute.type].decode(json, attribute, wire)
}

/** `{uri of the dataclass}({key})[/{part}][query]` as a JSON string. Keys that hold a delimiter are quoted inside the brackets. */
function uri(dataClass: DataClass, key: string, part = '', query = ''): string {
  // Fast path for the usual case: a third of the time.
  if (part === '' && PLAIN_KEY.test(key)) return `"${dataClass.uri}(${key})"`
  return JSON.stringify(`${dataClass.uri}(${uriKey(key)})${part && `/${encodeURIComponent(part)}`}${query}`)
}

export function uriKey(key: string): string {
  if (PLAIN_KEY.test(key)) return key
  // A lone surrogate has no percent-encoding: encodeURIComponent would throw.
  const encodedKey = encodeURIComponent(key.replace(LONE_SURROGATE, '\ufffd')).replace(
    /[()']/g,
    c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  // Quotes delimit the key for the server; written as %22 instead of a raw quote, so that browsers accept the address too.
  return NEEDS_QUOTES.test(key) ? `%22${encodedKey}%22` : encodedKey
}

/** True if a key, as UTF-8, is written in addresses as it is. */
export function isPlainKey(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (!PLAIN_BYTES[bytes[i]!]) return false
  return end > start
}

const LONE_SURROGATE = /\p{Surrogate}/gu
const PLAIN_KEY = /^[A-Za-z0-9_.~-]+$/
const PLAIN_BYTES = Array.from({ length: 256 }, (_, byte) => PLAIN_KEY.test(String.fromCharCode(byte)))
const NEEDS_QUOTES = /[()[\],/'"\s]|^$/
