/**
 * Values as the bytes that indexes sort: bytes compare as the values do.
 *
 * A value is a tag byte (0 null, 1 value), then: a bool as a byte; a number as its IEEE bits with the order bits flipped; a
 * long64 as such a 64-bit integer; text as its fold, each UTF-16 code unit encoded like a code point of UTF-8 (so that bytes sort
 * as code units do), cut after {@link MAX_TEXT_BYTES}, followed by a zero byte. Inside a text the units 0 and 1 are the bytes 1 1
 * and 1 2, so that a text sorts before every longer one that begins with it.
 */
import type { StorageAttribute } from '../catalog/attribute.ts'
import { TYPES } from '../catalog/types/registry.ts'
import type { Value } from '../catalog/value.ts'
import { fold } from '../base/text/fold.ts'

/**
 * Maximum bytes of a text in a key: LMDB keys end at 1978 bytes. Longer texts can share a key: every reader compares the row
 * itself.
 */
export const MAX_TEXT_BYTES = 1024

export const MAX_KEY_BYTES = 1978

/** Bytes of a tag and the end of a text in a key. */
const TEXT_KEY_BYTES = 2

/** Memory in which keys are assembled. */
export const keyBytes = new Uint8Array(MAX_KEY_BYTES)
const view = new DataView(keyBytes.buffer)

/** True when the index holds only the beginning of `text`, so that equal keys need not mean equal texts. */
export const isCut = (foldedText: string): boolean => writeKeyText(foldedText, 5) - 5 >= MAX_TEXT_BYTES

/** True for the key `bytes[start…end]` of null, which is a tag alone. */
export const isNullKey = (start: number, end: number): boolean => end - start === 1

/** True for the key `bytes[start…end]` of a text of which it may be only the beginning. Keys of other values are shorter. */
export const isCutKey = (start: number, end: number): boolean => end - start >= TEXT_KEY_BYTES + MAX_TEXT_BYTES

/** Writes the bytes of a value to {@link keyBytes}. @returns their end */
export function writeIndexKey(attribute: StorageAttribute, value: Value, start: number): number {
  let at = start
  if (value === null) {
    keyBytes[at] = 0
    return at + 1
  }
  keyBytes[at++] = 1
  switch (TYPES[attribute.type].cell) {
    case 'bit':
      keyBytes[at++] = value ? 1 : 0
      return at
    case 'integer':
      return writeInteger(value as number | bigint, at)
    case 'text':
      at = writeKeyText(fold(value as string), at)
      keyBytes[at++] = 0
      return at
    case 'double':
    case 'date':
      return writeNumber(value as number, at)
    case 'json':
    case 'vector':
    case 'presence':
      throw new Error(`${attribute.name} is not a scalar: it has no index`)
  }
}

/**
 * Writes the bytes of a text to the beginning of {@link keyBytes}, if it is ASCII without control characters and not long.
 * @returns their end; 0 for any other text
 */
export function writePlainTextKey(text: Uint8Array, start: number, end: number): number {
  if (end - start >= MAX_TEXT_BYTES) return 0
  let at = 1
  for (let i = start; i < end; i++) {
    const byte = text[i]!
    if (byte < 0x20 || byte > 0x7f) return 0
    keyBytes[at++] = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
  }
  keyBytes[0] = 1
  keyBytes[at] = 0
  return at + 1
}

/** Reads the value of a number that is not null. @returns null if it is not a number of JavaScript */
export function readIndexNumber({ type }: StorageAttribute, bytes: Uint8Array, start: number): number | null {
  for (let i = 0; i < 8; i++) keyBytes[i] = bytes[start + 1 + i]!
  if (TYPES[type].cell === 'integer') {
    const value = BigInt.asIntN(64, view.getBigInt64(0) ^ -(2n ** 63n))
    return Number.isSafeInteger(Number(value)) ? Number(value) : null
  }
  const isNegative = (keyBytes[0]! & 0x80) === 0
  for (let i = 0; i < 8; i++) if (isNegative || i === 0) keyBytes[i]! ^= isNegative ? 0xff : 0x80
  return view.getFloat64(0)
}

function writeInteger(value: number | bigint, at: number): number {
  if (typeof value === 'bigint' || !Number.isSafeInteger(value)) {
    view.setBigInt64(at, BigInt.asIntN(64, BigInt(value)) ^ -(2n ** 63n))
  } else {
    // The halves of the two's complement: half the time of a bigint.
    view.setInt32(at, Math.floor(value / 2 ** 32) ^ 0x80000000)
    view.setUint32(at + 4, value >>> 0)
  }
  return at + 8
}

function writeNumber(value: number, at: number): number {
  // -0 and 0 are the same value. All bits of negative numbers are inverted, and the sign bit of other numbers, so that bytes sort
  // like numbers.
  view.setFloat64(at, value === 0 ? 0 : value)
  const high = view.getUint32(at)
  if (high & 0x80000000) {
    view.setUint32(at, ~high)
    view.setUint32(at + 4, ~view.getUint32(at + 4))
  } else {
    view.setUint32(at, high | 0x80000000)
  }
  return at + 8
}

/** Writes a text without its end, so that the bytes are also the beginning of the keys of longer texts. @returns their end */
export function writeKeyText(foldedText: string, start: number): number {
  let at = start
  const limit = at + MAX_TEXT_BYTES
  for (let i = 0; i < foldedText.length && at < limit; i++) {
    const unit = foldedText.charCodeAt(i)
    if (unit < 0x80) {
      if (unit <= 1) {
        keyBytes[at++] = 1
        keyBytes[at++] = unit + 1
      } else keyBytes[at++] = unit
    } else if (unit < 0x800) {
      keyBytes[at++] = 0xc0 | (unit >> 6)
      keyBytes[at++] = 0x80 | (unit & 0x3f)
    } else {
      keyBytes[at++] = 0xe0 | (unit >> 12)
      keyBytes[at++] = 0x80 | ((unit >> 6) & 0x3f)
      keyBytes[at++] = 0x80 | (unit & 0x3f)
    }
  }
  return at
}
