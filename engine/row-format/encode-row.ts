import type { RowAttribute } from '../catalog/attribute.ts'
import type { Value } from '../catalog/value.ts'
import { FIXED_HEADER_BYTES, headerBytes, NO_ROW, type RowLayout } from './row-layout.ts'
import type { RowView } from './row-view.ts'

/** Values of storage attributes; for N→1 relations the key of the related entity. */
export type RowValues = Pick<ReadonlyMap<RowAttribute, Value>, 'get'>

/** Version of a row, and its related rows. */
interface RowState {
  stamp: number
  globalStamp: number
  /** ISO 8601 with milliseconds. */
  timestamp: string
  /** Row ids of related entities, in the order of `layout.references`. */
  references: readonly (number | undefined)[]
}

/** Change of a row. Attributes absent from `values` keep their values. */
interface RowChange extends RowState {
  values: RowValues
}

/** Full content of a row. Attributes absent from `values` are null. */
interface RowContent extends RowChange {
  key: string
}

/** Size of the slabs into which rows are written one after the other; lmdb-js has to look up the address of every new buffer. */
const SLAB_BYTES = 2 ** 20
let slab: Buffer = Buffer.alloc(0)
let slabEnd = 0

/** Encodes a row as {@link RowLayout} describes it. The bytes share memory with other rows: do not transfer their buffer. */
export function encodeRow(layout: RowLayout, content: RowContent): Uint8Array {
  const { slots, names, encoders } = layout
  // Text is collected first and encoded once: one encode call of a row costs less than one for each slot.
  let text = headText(content.key, content)
  const ends: number[] = []
  for (let slot = 0; slot < slots.length; slot++) {
    const attribute = slots[slot]!
    ends.push(text.length)
    text += names[slot]! + encoders[slot]!(content.values.get(attribute), content)
  }
  ends.push(text.length)
  const header = headerBytes(layout)
  const row = reserve(header + 3 * text.length)
  const length = row.write(text, header, 'utf8')
  let at = writeHeader(row, layout, content)
  const isPlain = length === text.length
  for (let slot = 0, bytes = 0; slot < ends.length; slot++, at += 4) {
    bytes = isPlain ? ends[slot]! : bytes + Buffer.byteLength(text.slice(ends[slot - 1] ?? 0, ends[slot]))
    row.writeUInt32LE(bytes, at)
  }
  slabEnd += header + length
  return row.subarray(0, header + length)
}

/** Encodes `old` after a change. Unchanged slots are copied byte for byte. */
export function changeRow(old: RowView, change: RowChange): Uint8Array {
  const { slots, names, encoders } = old.layout
  const identity = { key: old.key, stamp: change.stamp }
  const head = headText(identity.key, change)
  let textLength = head.length
  const texts = slots.map((attribute, slot) => {
    let value = change.values.get(attribute)
    if (value === undefined) {
      // The address of an image contains the entity's stamp. Of its value, only its presence matters.
      if (attribute.kind !== 'storage' || attribute.type !== 'image') return undefined
      value = old.value(attribute)
    }
    const text = names[slot]! + encoders[slot]!(value, identity)
    textLength += text.length
    return text
  })
  const header = headerBytes(old.layout)
  const row = reserve(header + 3 * textLength + old.length)
  let at = writeHeader(row, old.layout, change)
  let end = header + row.write(head, header, 'utf8')
  for (let slot = 0; slot < slots.length; slot++, at += 4) {
    row.writeUInt32LE(end - header, at)
    const text = texts[slot]
    if (text === undefined) end += old.buffer.copy(row, end, old.slotStart(slot), old.slotStart(slot + 1))
    else end += row.write(text, end, 'utf8')
  }
  row.writeUInt32LE(end - header, at)
  slabEnd += end
  return row.subarray(0, end)
}

export const headText = (key: string, { timestamp, stamp }: Pick<RowState, 'timestamp' | 'stamp'>): string =>
  `"__KEY":${JSON.stringify(key)},"__TIMESTAMP":"${timestamp}","__STAMP":${stamp}`

/** @returns position of the table of slot offsets */
export function writeHeader(row: Buffer, { version, slots, references }: RowLayout, state: RowState): number {
  row.writeUInt16LE(version, 0)
  row.writeUInt16LE(slots.length, 2)
  row.writeUInt32LE(state.stamp, 4)
  row.writeDoubleLE(state.globalStamp, 8)
  let at = FIXED_HEADER_BYTES
  for (let i = 0; i < references.length; i++, at += 4) row.writeUInt32LE(state.references[i] ?? NO_ROW, at)
  return at
}

/** Returns an unused part of the slab, of this length. */
function reserve(bytes: number): Buffer {
  if (slabEnd + bytes > slab.length) {
    slab = Buffer.from(new ArrayBuffer(Math.max(SLAB_BYTES, bytes)))
    slabEnd = 0
  }
  return slab.subarray(slabEnd, slabEnd + bytes)
}
