/**
 * Keys of the LMDB tables: bytes that LMDB compares as they are, so numbers are big-endian and every value is
 * encoded in an order-preserving way.
 *
 * | table | key | value |
 * |---|---|---|
 * | rows | table u16, row id u32 | row bytes (`row-layout.ts`) |
 * | index | table u16, attribute position u16, value (`index-key.ts`), bound u32 | rows of the value (`postings.ts`) |
 * | binaries | table u16, row id u32, attribute position u16 | an image or a blob (`encode-binary.ts`) |
 * | fileReferences | id of a file (16 bytes) | number of binaries and uploads that refer to it, u32 |
 * | uploads | 0, id (16 bytes) | an upload (`upload-table.ts`) |
 * | uploads | 2, expiry in ms since 1970 f64, id | empty |
 * | changes | global stamp f64 of the last change | per changed entity, up to 580 of a commit: table u16, row id u32, operation u8 |
 * | entitySets | 0, id (16 bytes) | header of an entity set, JSON |
 * | entitySets | 1, id, number of the chunk u32 | its members: row ids or the words of a bitmap, u32 in the machine's byte order |
 * | entitySets | 2, expiry in ms since 1970 f64, id | empty |
 */
import type { StorageAttribute } from '../catalog/attribute.ts'
import type { Value } from '../catalog/value.ts'
import { NO_ROW } from '../row-format/row-layout.ts'
import { keyBytes, MAX_KEY_BYTES, writeIndexKey, writeKeyText } from '../row-format/index-key.ts'

export const ROW_KEY_BYTES = 6

/** @param key memory for the key */
export function rowKey(tableNumber: number, rowId: number, key: Buffer = Buffer.allocUnsafe(ROW_KEY_BYTES)): Buffer {
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

/** Bytes of table and attribute at the start of an index key. */
const ATTRIBUTE_BYTES = 4

/** Prefix of all index keys of one attribute and value; a bound follows. */
export function indexPrefix(attribute: StorageAttribute, value: Value): Buffer {
  const start = writeAttribute(attribute.dataClass.tableNumber, attribute.position)
  return Buffer.from(keyBytes.subarray(0, writeIndexKey(attribute, value, start)))
}

/** Key of the chunk of a value's rows that ends with `lastRow`. */
export function postingKey(prefix: Buffer, lastRow: number): Buffer {
  const key = Buffer.allocUnsafe(prefix.length + 4)
  key.set(prefix)
  key.writeUInt32BE(lastRow, prefix.length)
  return key
}

/** Keys of the last chunks of values whose bytes are known (`index-key.ts`), one at a time in the same memory. */
export class LastChunkKey {
  private readonly bytes = Buffer.alloc(MAX_KEY_BYTES)
  /** The first bytes, by their number: making a Buffer takes longer than filling it. */
  private readonly keys: (Buffer | undefined)[] = []

  /** @returns the key, valid until the next call */
  set({ dataClass, position }: StorageAttribute, value: Uint8Array, start: number, end: number): Buffer {
    const { bytes } = this
    let at = bytes.writeUInt16BE(dataClass.tableNumber, 0)
    at = bytes.writeUInt16BE(position, at)
    for (let from = start; from < end; ) bytes[at++] = value[from++]!
    at = bytes.writeUInt32BE(NO_ROW, at)
    const key = this.keys[at] ?? bytes.subarray(0, at)
    this.keys[at] = key
    return key
  }
}

/** Prefix of all index keys of texts that start with `prefix` (folded). */
export function textIndexPrefix(attribute: StorageAttribute, prefix: string): Buffer {
  const length = writeAttribute(attribute.dataClass.tableNumber, attribute.position)
  keyBytes[length] = 1
  return Buffer.from(keyBytes.subarray(0, writeKeyText(prefix, length + 1)))
}

/**
 * Range of all index keys of an attribute, from `start` up to, not including, `end`; values other than null begin at
 * `valuesStart`.
 */
export function attributeRange(
  tableNumber: number,
  position: number,
): { start: Buffer; valuesStart: Buffer; end: Buffer } {
  const start = Buffer.from(keyBytes.subarray(0, writeAttribute(tableNumber, position)))
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
  return Buffer.alloc(MAX_KEY_BYTES, 0xff)
}

function writeAttribute(tableNumber: number, position: number): number {
  keyBytes[0] = tableNumber >> 8
  keyBytes[1] = tableNumber
  keyBytes[2] = position >> 8
  keyBytes[3] = position
  return ATTRIBUTE_BYTES
}
