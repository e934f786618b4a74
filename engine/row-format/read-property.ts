import type { JsonType, StorageAttribute } from '../catalog/attribute.ts'
import { readBoolean, readNumber } from './read-value.ts'

/**
 * Reads the value of a column over a property straight from the JSON text of the object. The result equals `heldValue` of the
 * parsed object, but members that are not needed are never parsed. Rows hold the output of `JSON.stringify`: no whitespace,
 * every name once and in one spelling.
 */

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const OPEN_BRACE = 0x7b
const LETTER_F = 0x66
const LETTER_N = 0x6e
const LETTER_T = 0x74

/**
 * @param readText converts a text, given from its opening quote to the position after its closing quote
 * @returns a function of the bytes and the start of the object's text; it returns undefined where the column has no value
 */
export function propertyReader<Text>(
  { source }: StorageAttribute,
  readText: (bytes: Buffer, start: number, end: number) => Text,
): (bytes: Buffer, start: number) => Text | number | undefined {
  const { names, type, holds } = source!
  const steps = names.map(name => ({ name, key: Buffer.from(JSON.stringify(name)), index: arrayIndex(name) }))
  return (bytes, start) => {
    let at = start
    let length: number | undefined
    for (const { name, key, index } of steps) {
      if (length !== undefined || at < 0) return undefined
      if (bytes[at] === OPEN_BRACE) at = memberOf(bytes, at, key)
      else if (bytes[at] !== OPEN_BRACKET) return undefined
      else if (name === 'length') length = elementCount(bytes, at)
      else at = index < 0 ? -1 : elementOf(bytes, at, index)
    }
    if (at < 0 || (length === undefined && bytes[at] === LETTER_N)) return undefined
    const valueType = length === undefined ? typeAt(bytes, at) : 'number'
    if (holds === 'others') return valueType === type ? undefined : 1
    if (valueType !== type) return undefined
    if (length !== undefined) return length
    if (type === 'bool') return readBoolean(bytes, at)
    const end = valueEnd(bytes, at)
    return type === 'text' ? readText(bytes, at, end) : readNumber(bytes, at, end)
  }
}

/** Index that a name stands for; -1 when it is not an array index. */
const arrayIndex = (name: string): number => (/^(?:0|[1-9]\d{0,8})$/.test(name) ? Number(name) : -1)

function typeAt(bytes: Buffer, at: number): JsonType | 'container' {
  const first = bytes[at]
  if (first === QUOTE) return 'text'
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return 'container'
  return first === LETTER_T || first === LETTER_F ? 'bool' : 'number'
}

/** Start of the value of a member, by its name with quotes; -1 when the member does not exist. */
function memberOf(bytes: Buffer, object: number, key: Buffer): number {
  for (let at = object + 1; bytes[at] === QUOTE; at++) {
    const end = stringEnd(bytes, at)
    const isIt = end - at === key.length && startsWith(bytes, at, key)
    if (isIt) return end + 1
    at = valueEnd(bytes, end + 1)
    if (bytes[at] !== COMMA) return -1
  }
  return -1
}

function startsWith(bytes: Buffer, at: number, key: Buffer): boolean {
  for (let i = 0; i < key.length; i++) if (bytes[at + i] !== key[i]) return false
  return true
}

function elementOf(bytes: Buffer, array: number, index: number): number {
  let at = array + 1
  if (isEmpty(bytes, array)) return -1
  for (let i = 0; i < index; i++) {
    at = valueEnd(bytes, at)
    if (bytes[at++] !== COMMA) return -1
  }
  return at
}

function elementCount(bytes: Buffer, array: number): number {
  if (isEmpty(bytes, array)) return 0
  let count = 1
  for (let at = valueEnd(bytes, array + 1); bytes[at] === COMMA; at = valueEnd(bytes, at + 1)) count++
  return count
}

const isEmpty = (bytes: Buffer, array: number): boolean => bytes[array + 1] === 0x5d

/** Position after the closing quote of a string. */
function stringEnd(bytes: Buffer, start: number): number {
  for (let at = start + 1; ; at++) {
    if (bytes[at] === BACKSLASH) at++
    else if (bytes[at] === QUOTE) return at + 1
  }
}

/** Position after a value of any kind: the position of a comma, or of the bracket that closes the enclosing object or array. */
function valueEnd(bytes: Buffer, start: number): number {
  let depth = 0
  for (let at = start; ; ) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      at = stringEnd(bytes, at)
      if (depth === 0) return at
      continue
    }
    // Brackets and braces differ in this bit.
    const bracket = byte | 0x20
    if (bracket === 0x7b) depth++
    else if (bracket === 0x7d && --depth <= 0) return depth < 0 ? at : at + 1
    else if (byte === COMMA && depth === 0) return at
    at++
  }
}
