import type { RowAttribute } from '../catalog/attribute.ts'
import type { Value } from '../catalog/value.ts'
import { FIXED_HEADER_BYTES, headerBytes, NO_ROW, type RowLayout } from './row-layout.ts'
import { encodeValue } from './wire-value.ts'

/** Everything a row is made of. */
export interface RowContent {
  key: string
  stamp: number
  globalStamp: number
  /** ISO 8601 with milliseconds. */
  timestamp: string
  /** Storage attributes; for N→1 relations the key of the related entity. What is missing is null. */
  values: ReadonlyMap<RowAttribute, Value>
  /** Row ids of related entities, in the order of `layout.references`. */
  references: readonly (number | undefined)[]
}

/** Rows are written one behind the other into memory like this; lmdb-js has to ask for the address of each memory it meets. */
const SLAB_BYTES = 2 ** 20
let slab: Buffer = Buffer.alloc(0)
let used = 0

/** The bytes of a row, as {@link RowLayout} describes them. They share memory with other rows: a buffer cannot be transferred. */
export function encodeRow(layout: RowLayout, content: RowContent): Uint8Array {
  const { slots, names, references, wire } = layout
  // Text is collected first and encoded once: one encode call of a row costs less than one for each slot.
  let text = `"__KEY":${JSON.stringify(content.key)},"__TIMESTAMP":"${content.timestamp}","__STAMP":${content.stamp}`
  const ends: number[] = []
  for (let slot = 0; slot < slots.length; slot++) {
    const attribute = slots[slot]!
    ends.push(text.length)
    text += names[slot]! + encodeValue(attribute, content.values.get(attribute), content, wire)
  }
  ends.push(text.length)
  const header = headerBytes(layout)
  const row = reserve(header + 3 * text.length)
  const length = row.write(text, header, 'utf8')
  row.writeUInt16LE(layout.version, 0)
  row.writeUInt16LE(slots.length, 2)
  row.writeUInt32LE(content.stamp, 4)
  row.writeDoubleLE(content.globalStamp, 8)
  let at = FIXED_HEADER_BYTES
  for (let i = 0; i < references.length; i++, at += 4) row.writeUInt32LE(content.references[i] ?? NO_ROW, at)
  const isPlain = length === text.length
  for (let slot = 0, bytes = 0; slot < ends.length; slot++, at += 4) {
    bytes = isPlain ? ends[slot]! : bytes + Buffer.byteLength(text.slice(ends[slot - 1] ?? 0, ends[slot]))
    row.writeUInt32LE(bytes, at)
  }
  used += header + length
  return row.subarray(0, header + length)
}

/** So many bytes of the slab that nothing uses yet. */
function reserve(bytes: number): Buffer {
  if (used + bytes > slab.length) {
    slab = Buffer.from(new ArrayBuffer(Math.max(SLAB_BYTES, bytes)))
    used = 0
  }
  return slab.subarray(used, used + bytes)
}
