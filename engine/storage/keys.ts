/**
 * Keys of the LMDB tables: bytes that LMDB compares as they are, so numbers are big-endian and every value is
 * encoded in an order-preserving way.
 *
 * | table | key | value |
 * |---|---|---|
 * | rows | table u16, row id u32 | row bytes (`row-layout.ts`) |
 * | index | table u16, attribute position u16, value (below), bound u32 | rows of the value (`postings.ts`) |
 * | binaries | table u16, row id u32, attribute position u16 | an image or a blob (`encode-binary.ts`) |
 * | fileReferences | id of a file (16 bytes) | number of binaries and uploads that refer to it, u32 |
 * | uploads | 0, id (16 bytes) | an upload (`upload-table.ts`) |
 * | uploads | 2, expiry in ms since 1970 f64, id | empty |
 * | changes | global stamp f64 of the last change | per changed entity, up to 580 of a commit: table u16, row id u32, operation u8 |
 * | entitySets | 0, id (16 bytes) | header of an entity set, JSON |
 * | entitySets | 1, id, number of the chunk u32 | its members: row ids or the words of a bitmap, u32 in the machine's byte order |
 * | entitySets | 2, expiry in ms since 1970 f64, id | empty |
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

const KEY_BYTES = 1978
const scratch = new Uint8Array(KEY_BYTES)
const scratchView = new DataView(scratch.buffer)

export function rowKey(tableNumber: number, rowId: number): Buffer {
  const key = Buffer.allocUnsafe(6)
  key.writeUInt16BE(tableNumber, 0)
  key.writeUInt32BE(rowId, 2)
  return key
}

export function binaryKey(tableNumber: number, rowId: number, position: number): Buffer {
  const key = Buffer.allocUnsafe(8)
  key.writeUInt16BE(tableNumber, 0)
  key.writeUInt32BE(rowId, 2)
  key.writeUInt16BE(position, 6)
  return key
}

export function changeKey(globalStamp: number): Buffer {
  const key = Buffer.allocUnsafe(8)
  key.writeDoubleBE(globalStamp, 0)
  return key
}

/** @param id 32 hex digits */
export const entitySetHeaderKey = (id: string): Buffer => Buffer.from(`00${id}`, 'hex')

/** Key of a chunk of members. Without a chunk, the start of all keys of a set; with an empty id, of all sets. */
export const entitySetMembersKey = (id: string, chunk = 0): Buffer =>
  Buffer.from(`01${id}${chunk.toString(16).padStart(8, '0')}`, 'hex')

export const chunkOfMembersKey = (key: Buffer): number => key.readUInt32BE(17)

export const uploadKey = (id: string): Buffer => Buffer.from(`00${id}`, 'hex')

/** Key of the expiry of an entity set or an upload. Without an id, the start of all keys of that time. */
export function expiryKey(expires: number, id = ''): Buffer {
  const key = Buffer.allocUnsafe(9 + id.length / 2)
  key[0] = 2
  key.writeDoubleBE(expires, 1)
  key.write(id, 9, 'hex')
  return key
}

/** Id in the key of a header or of members. */
export const idOfSetKey = (key: Buffer): string => key.toString('hex', 1, 17).toUpperCase()

export const expiryOfKey = (key: Buffer): number => key.readDoubleBE(1)
export const idOfExpiryKey = (key: Buffer): string => key.toString('hex', 9).toUpperCase()

/** Prefix of all index keys of one attribute and value; a bound follows. */
export function indexPrefix(attribute: StorageAttribute, value: Value): Buffer {
  return Buffer.from(scratch.subarray(0, writeIndexPrefix(attribute, value)))
}

/** Key of the chunk of a value's rows that ends with `lastRow`. */
export function postingKey(prefix: Buffer, lastRow: number): Buffer {
  const key = Buffer.allocUnsafe(prefix.length + 4)
  key.set(prefix)
  key.writeUInt32BE(lastRow, prefix.length)
  return key
}

/** Prefix of all index keys of texts that start with `prefix` (folded). */
export function textIndexPrefix(attribute: StorageAttribute, prefix: string): Buffer {
  const length = writeAttribute(attribute.dataClass.tableNumber, attribute.position)
  scratch[length] = 1
  return Buffer.from(scratch.subarray(0, writeText(prefix, length + 1)))
}

/**
 * Range of all index keys of an attribute, from `start` up to, not including, `end`; values other than null begin at
 * `valuesStart`.
 */
export function attributeRange(
  tableNumber: number,
  position: number,
): { start: Buffer; valuesStart: Buffer; end: Buffer } {
  const start = Buffer.from(scratch.subarray(0, writeAttribute(tableNumber, position)))
  return { start, valuesStart: Buffer.concat([start, Buffer.of(1)]), end: Buffer.concat([start, Buffer.of(0xff)]) }
}

/** The row id at the end of a row key, or the bound at the end of an index key. */
export const rowIdOfKey = (key: Uint8Array): number =>
  ((key[key.length - 4]! << 24) | (key[key.length - 3]! << 16) | (key[key.length - 2]! << 8) | key[key.length - 1]!) >>>
  0

/** The lowest key above all keys that start with `prefix`. */
export function prefixEnd(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix)
  for (let i = end.length - 1; i >= 0; i--) {
    if (end[i] !== 0xff) {
      end[i] = end[i]! + 1
      return end.subarray(0, i + 1)
    }
  }
  return Buffer.alloc(KEY_BYTES, 0xff)
}

/** True when the index holds only the beginning of `text`, so that equal keys need not mean equal texts. */
export const isCut = (foldedText: string): boolean => writeText(foldedText, 5) - 5 >= MAX_TEXT_BYTES

function writeAttribute(tableNumber: number, position: number): number {
  scratchView.setUint16(0, tableNumber)
  scratchView.setUint16(2, position)
  return 4
}

function writeIndexPrefix(attribute: StorageAttribute, value: Value): number {
  let at = writeAttribute(attribute.dataClass.tableNumber, attribute.position)
  if (value === null) {
    scratch[at] = 0
    return at + 1
  }
  scratch[at++] = 1
  switch (TYPES[attribute.type].cell) {
    case 'bit':
      scratch[at++] = value ? 1 : 0
      return at
    case 'integer':
      scratchView.setBigInt64(at, BigInt.asIntN(64, BigInt(value as number | bigint)) ^ -(2n ** 63n))
      return at + 8
    case 'text':
      at = writeText(fold(value as string), at)
      scratch[at++] = 0
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

function writeNumber(value: number, at: number): number {
  // -0 and 0 are the same value. All bits of negative numbers are inverted, and the sign bit of other numbers, so that bytes sort
  // like numbers.
  scratchView.setFloat64(at, value === 0 ? 0 : value)
  const high = scratchView.getUint32(at)
  if (high & 0x80000000) {
    scratchView.setUint32(at, ~high)
    scratchView.setUint32(at + 4, ~scratchView.getUint32(at + 4))
  } else {
    scratchView.setUint32(at, high | 0x80000000)
  }
  return at + 8
}

function writeText(foldedText: string, at: number): number {
  const limit = at + MAX_TEXT_BYTES
  for (let i = 0; i < foldedText.length && at < limit; i++) {
    const unit = foldedText.charCodeAt(i)
    if (unit < 0x80) {
      if (unit <= 1) {
        scratch[at++] = 1
        scratch[at++] = unit + 1
      } else scratch[at++] = unit
    } else if (unit < 0x800) {
      scratch[at++] = 0xc0 | (unit >> 6)
      scratch[at++] = 0x80 | (unit & 0x3f)
    } else {
      scratch[at++] = 0xe0 | (unit >> 12)
      scratch[at++] = 0x80 | ((unit >> 6) & 0x3f)
      scratch[at++] = 0x80 | (unit & 0x3f)
    }
  }
  return at
}
