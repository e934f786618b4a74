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

/** The bytes of a row, as {@link RowLayout} describes them. */
export function encodeRow(layout: RowLayout, content: RowContent): Uint8Array {
  const header = headerBytes(layout)
  const offsets = new Uint32Array(layout.slots.length + 1)
  // Text is collected first and encoded once: one encode call of a row costs less than one for each slot.
  let text = `"__KEY":${JSON.stringify(content.key)},"__TIMESTAMP":"${content.timestamp}","__STAMP":${content.stamp}`
  const starts = new Uint32Array(layout.slots.length + 1)
  for (let slot = 0; slot < layout.slots.length; slot++) {
    const attribute = layout.slots[slot]!
    starts[slot] = text.length
    text += `,${JSON.stringify(attribute.name)}:${encodeValue(attribute, content.values.get(attribute), content, layout.wire)}`
  }
  starts[layout.slots.length] = text.length
  const encoded = Buffer.from(text, 'utf8')
  if (encoded.length === text.length) offsets.set(starts)
  else {
    let bytes = 0
    let from = 0
    for (let slot = 0; slot <= layout.slots.length; slot++) {
      bytes += Buffer.byteLength(text.slice(from, starts[slot]), 'utf8')
      from = starts[slot]!
      offsets[slot] = bytes
    }
  }
  const row = new Uint8Array(header + encoded.length)
  const view = new DataView(row.buffer)
  view.setUint16(0, layout.version, true)
  view.setUint16(2, layout.slots.length, true)
  view.setUint32(4, content.stamp, true)
  view.setFloat64(8, content.globalStamp, true)
  let at = FIXED_HEADER_BYTES
  for (let i = 0; i < layout.references.length; i++, at += 4) view.setUint32(at, content.references[i] ?? NO_ROW, true)
  for (const offset of offsets) {
    view.setUint32(at, offset, true)
    at += 4
  }
  row.set(encoded, header)
  return row
}
