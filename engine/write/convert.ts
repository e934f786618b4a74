import type { ValueAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import { parseDate, parseDay } from '../catalog/date.ts'
import { BinaryValue, type JsonContainer, type Value } from '../catalog/value.ts'
import type { ProtocolError } from '../errors.ts'
import { isDeeper } from '../json-depth.ts'
import { readVector } from '../vector/read-vector.ts'
import { describe, WriteErrors } from './write-errors.ts'

/**
 * JSON of a request into a value of `attribute`, or the error that says why it is none.
 * @param trusted images and blobs may be data URLs
 * Source: protocol notes, 3.2, column Write.
 */
export function convertValue(attribute: ValueAttribute, json: unknown, trusted: boolean): Value | ProtocolError {
  if (json === null) return null
  switch (attribute.type) {
    case 'bool':
      if (typeof json === 'boolean') return json
      if (json === 0 || json === 1) return json === 1
      return wrongType(attribute, json, 'true or false')
    case 'byte':
    case 'word':
    case 'long': {
      const [minimum, maximum] = INTEGER_RANGES[attribute.type]
      const number = readNumber(json)
      if (number !== undefined && Number.isInteger(number) && number >= minimum && number <= maximum) return number
      return wrongType(attribute, json, `a whole number from ${minimum} to ${maximum}`)
    }
    case 'long64':
      return (
        readLong64(json) ?? wrongType(attribute, json, `a whole number from -2^63 to 2^63 - 1 (as a text beyond 2^53)`)
      )
    case 'number':
    case 'float':
      return readNumber(json) ?? wrongType(attribute, json, 'a finite number')
    case 'date': {
      const date = typeof json !== 'string' ? undefined : attribute.simpleDate ? parseDay(json) : parseDate(json)
      return (
        date ??
        wrongType(
          attribute,
          json,
          attribute.simpleDate ? 'a date such as "2020-01-31"' : 'a date such as "2020-01-31T15:23:00Z"',
        )
      )
    }
    case 'duration':
      return readDuration(json) ?? wrongType(attribute, json, 'a number of milliseconds or a text such as "08:30:00"')
    case 'string':
      if (typeof json !== 'string') return wrongType(attribute, json, 'a text')
      // Keys stand in addresses, for which it has no encoding.
      if (attribute === attribute.dataClass.key && !json.isWellFormed())
        return wrongType(attribute, json, 'a text of whole characters, without lone surrogates')
      return json
    case 'uuid': {
      const hex = typeof json === 'string' && json.length <= 36 ? json.replaceAll('-', '') : ''
      return UUID.test(hex) ? hex.toUpperCase() : wrongType(attribute, json, 'a UUID of 32 hexadecimal digits')
    }
    case 'object':
      if (typeof json !== 'object') return wrongType(attribute, json, 'an object or an array')
      if (isDeeper(json, MAX_DEPTH)) return wrongType(attribute, 'so deep', `an object of at most ${MAX_DEPTH} levels`)
      return json as JsonContainer
    case 'vector':
      return readVector(json, attribute.vector!.dimension, problem => wrongVector(attribute, problem))
    case 'image':
    case 'blob':
      return readBinary(attribute, json, trusted)
  }
}

/** A key as `__KEY` has it, which is a text. */
export function convertKey({ key }: DataClass, json: unknown): Value | ProtocolError {
  const isBool = key.type === 'bool' && (json === 'true' || json === 'false')
  return isBool ? json === 'true' : convertValue(key, json, false)
}

/** A byte has a sign, as the smallest integer of the protocol's own server has. */
const INTEGER_RANGES = {
  byte: [-0x80, 0x7f],
  word: [-0x8000, 0x7fff],
  long: [-0x80000000, 0x7fffffff],
} as const
const LONG64_MIN = -(2n ** 63n)
const LONG64_MAX = 2n ** 63n - 1n
const UUID = /^[0-9A-Fa-f]{32}$/
/** Levels of an object value. Deeper JSON has no use that we know of, and what reads it may be recursive. */
const MAX_DEPTH = 100
const NUMERIC = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const CLOCK = /^(-?)(\d{1,9}):([0-5]?\d)(?::([0-5]?\d)(?:\.(\d{1,9}))?)?$/

const wrongType = (attribute: ValueAttribute, json: unknown, expected: string): ProtocolError =>
  WriteErrors.WRONG_TYPE(attribute.name, describe(json), expected)

const wrongVector = (attribute: ValueAttribute, problem: string): ProtocolError =>
  WriteErrors.WRONG_TYPE(attribute.name, problem, `an array of ${attribute.vector!.dimension} numbers`)

function readNumber(json: unknown): number | undefined {
  // The longest double has 24 characters; some write more digits than it holds.
  const isText = typeof json === 'string' && json.length <= 100 && NUMERIC.test(json.trim())
  const number = typeof json === 'number' ? json : isText ? Number(json) : Number.NaN
  return Number.isFinite(number) ? number : undefined
}

function readLong64(json: unknown): number | bigint | undefined {
  let integer: bigint
  if (typeof json === 'string' && /^\s*[+-]?\d{1,25}\s*$/.test(json.slice(0, 100)))
    integer = BigInt(json.trim().replace(/^\+/, ''))
  else if (typeof json === 'number' && Number.isInteger(json)) integer = BigInt(json)
  else return undefined
  if (integer < LONG64_MIN || integer > LONG64_MAX) return undefined
  const number = Number(integer)
  return Number.isSafeInteger(number) ? number : integer
}

function readDuration(json: unknown): number | undefined {
  const [, sign, hours, minutes, seconds = '0', fraction = '0'] = (typeof json === 'string' && CLOCK.exec(json)) || []
  if (hours === undefined) return readNumber(json)
  const ms =
    ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Math.trunc(Number(`0.${fraction}`) * 1000)
  return sign === '-' ? -ms : ms
}

function readBinary(attribute: ValueAttribute, json: unknown, trusted: boolean): BinaryValue | ProtocolError {
  if (trusted && typeof json === 'string') {
    const value = readDataUrl(json, attribute.type === 'image' ? 'image/png' : 'application/octet-stream')
    return value ?? wrongType(attribute, json, 'a data URL such as "data:image/png;base64,…"')
  }
  return wrongType(attribute, json, '{"ID":…} of an upload, or null,')
}

/** Source: RFC 2397. */
function readDataUrl(url: string, defaultMediaType: string): BinaryValue | undefined {
  const comma = url.slice(0, 300).indexOf(',')
  if (comma < 0 || !url.startsWith('data:')) return undefined
  const [mediaType, ...parameters] = url.slice('data:'.length, comma).split(';')
  if (mediaType!.length >= 0x80) return undefined
  try {
    const data = url.slice(comma + 1)
    const bytes = parameters.includes('base64') ? Buffer.from(data, 'base64') : Buffer.from(decodeURIComponent(data))
    return new BinaryValue(mediaType || defaultMediaType, bytes)
  } catch (error) {
    // A broken percent escape.
    if (error instanceof URIError) return undefined
    throw error
  }
}
