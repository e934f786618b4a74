import type { StorageAttribute, ValueAttribute } from '../../catalog/attribute.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import { BinaryValue, type Value } from '../../catalog/value.ts'
import { ProtocolError } from '../../base/errors.ts'
import { readJson } from '../../base/read-json.ts'
import { readBoolean, readInteger, readNumber, readText } from '../../row-format/read-value.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import type { RowView } from '../../row-format/row-view.ts'
import { convertValue } from '../../write/value/convert.ts'

/**
 * Values as plugin code sees them: as in the JSON of the protocol, whatever the options of the wire form.
 *
 * | type | value |
 * |---|---|
 * | bool | boolean |
 * | byte, word, long, number, float | number |
 * | long64 | number, a bigint beyond 2^53 |
 * | decimal | text with all places: `12.50`; a number or a bigint can be assigned |
 * | date | ISO text: `2020-01-31T15:23:00.000Z`, for a date-only attribute `2020-01-31`; a Date can be assigned |
 * | duration | number of milliseconds |
 * | string, uuid | string |
 * | object | plain object or array; changes inside it are saved too |
 * | vector | array of numbers; a Float32Array can be assigned |
 * | image, blob | {@link BinaryValue}; a Uint8Array can be assigned |
 */
type AuthorValue = unknown

/** Reader of an attribute of a row. Not for images and blobs, whose bytes are stored elsewhere. */
export function rowReader(attribute: StorageAttribute, layout: RowLayout): (row: RowView) => AuthorValue {
  const slot = layout.slotOf.get(attribute)!
  const { cell, toCode } = TYPES[attribute.type]
  switch (cell) {
    case 'bit':
      return row => {
        const bit = readBoolean(row.buffer, row.valueStart(slot))
        return bit === undefined ? null : bit === 1
      }
    case 'integer':
      return row => {
        const integer = readInteger(row.buffer, row.valueStart(slot), row.slotStart(slot + 1))
        return integer === undefined ? null : toCode(integer, attribute)
      }
    case 'text':
      return row => {
        const text = readText(row.buffer, row.valueStart(slot), row.slotStart(slot + 1))
        return text === undefined ? null : toCode(text, attribute)
      }
    case 'date':
      if (attribute.simpleDate && layout.wire.dateOnlyFormat !== 'iso') {
        return row => toAuthor(attribute, row.value(attribute) as Value)
      }
      return row => readText(row.buffer, row.valueStart(slot), row.slotStart(slot + 1)) ?? null
    case 'json':
      return row => readJson(row.json(slot)) as AuthorValue
    case 'vector':
      return row => JSON.parse(row.json(slot)) as AuthorValue
    case 'double':
      return row => {
        const number = readNumber(row.buffer, row.valueStart(slot), row.slotStart(slot + 1))
        return number === undefined ? null : toCode(number, attribute)
      }
    case 'presence':
      throw new Error(`the bytes of ${attribute.name} are in no row`)
  }
}

/** Converts a value of the engine. */
export function toAuthor(attribute: ValueAttribute, value: Value): AuthorValue {
  return value === null ? null : TYPES[attribute.type].toCode(value, attribute)
}

/** @throws {ProtocolError} 1508 if it is not a value of the attribute */
export function fromAuthor(attribute: ValueAttribute, value: AuthorValue): Value {
  if (attribute.type === 'image' || attribute.type === 'blob') {
    if (value instanceof Uint8Array) return new BinaryValue(DEFAULT_MEDIA_TYPE[attribute.type], value)
    if (isBinary(value)) return new BinaryValue(value.mediaType, value.bytes)
  }
  const convertedValue = convertValue(attribute, toPlain(value), true)
  if (convertedValue instanceof ProtocolError) throw convertedValue
  return convertedValue
}

/** Converts a value for the JSON of a save. */
export function toJson(attribute: ValueAttribute, value: Value): unknown {
  if (value instanceof BinaryValue) {
    return `data:${value.mediaType};base64,${Buffer.from(value.bytes).toString('base64')}`
  }
  const json = toAuthor(attribute, value)
  return typeof json === 'bigint' ? String(json) : json
}

/** Plain form of a value in a query or an assignment. */
export function toPlain(value: AuthorValue): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid date' : value.toISOString()
  if (value instanceof Float32Array || value instanceof Float64Array) return [...value]
  return typeof value === 'bigint' ? String(value) : (value ?? null)
}

const DEFAULT_MEDIA_TYPE = { image: 'image/png', blob: 'application/octet-stream' }

const isBinary = (value: unknown): value is BinaryValue =>
  typeof value === 'object' &&
  value !== null &&
  'bytes' in value &&
  value.bytes instanceof Uint8Array &&
  'mediaType' in value &&
  typeof value.mediaType === 'string'
