import type { RowAttribute } from '../../catalog/attribute.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import type { Value } from '../../catalog/value.ts'
import { encodeRow } from '../../row-format/encode-row.ts'
import { FIXED_HEADER_BYTES, headerBytes, keyText, type RowLayout } from '../../row-format/row-layout.ts'
import { RowView } from '../../row-format/row-view.ts'

/** A row that could be read, with every value decoded; images and blobs are true when there is one. */
export interface CheckedRow {
  row: RowView
  key: string
  values: ReadonlyMap<RowAttribute, Value | true>
}

/**
 * Reads a row strictly: it must be exactly the result of `encodeRow` for its values.
 * @param bytes a copy of the stored row
 * @returns the row, or a description of its defect
 */
export function checkRow(layout: RowLayout, bytes: Buffer, globalStamp: number): CheckedRow | string {
  if (bytes.length < FIXED_HEADER_BYTES) return `it has ${bytes.length} bytes, less than a header`
  const row = new RowView(layout, bytes)
  if (row.layoutVersion !== layout.version)
    return `it has layout ${row.layoutVersion}, the store says ${layout.version}`
  if (bytes.readUInt16LE(2) !== layout.slots.length) {
    return `it has ${bytes.readUInt16LE(2)} slots instead of ${layout.slots.length}`
  }
  if (row.stamp < 1) return 'its stamp is 0'
  if (row.globalStamp > globalStamp) return `its global stamp ${row.globalStamp} is above the store's, ${globalStamp}`
  if (bytes.length < headerBytes(layout)) return `it has ${bytes.length} bytes, less than its header`
  let text: Record<string, unknown>
  const values = new Map<RowAttribute, Value | true>()
  try {
    text = JSON.parse(`{${bytes.toString('utf8', row.headStart)}}`)
    for (const attribute of layout.slots) values.set(attribute, row.value(attribute))
  } catch (error) {
    return `its text cannot be read: ${(error as Error).message}`
  }
  for (const [attribute, value] of values) {
    if (attribute.kind === 'storage' && value !== null && !TYPES[attribute.type].holds(value, attribute)) {
      return `${attribute.name} is not of type ${attribute.type}`
    }
  }
  const key = String(text.__KEY)
  const keyValue = values.get(layout.dataClass.key)
  if (keyValue === null) return 'it has no key'
  const expected = keyText(layout, keyValue as Value)
  if (layout.dataClass.key.type !== 'date' && expected !== key) return `its __KEY is ${key}, its key ${expected}`
  const encodedRow = encodeRow(layout, {
    key,
    stamp: row.stamp,
    globalStamp: row.globalStamp,
    timestamp: String(text.__TIMESTAMP),
    // A row holds only the link of an image or a blob, whatever its bytes are.
    values: values as ReadonlyMap<RowAttribute, Value>,
    references: layout.references.map((_, index) => row.reference(index)),
  })
  if (!bytes.equals(encodedRow)) return 'its bytes are not what its values are stored as'
  return { row, key, values }
}
