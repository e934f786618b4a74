import { isBinary, type StorageAttribute } from '../../catalog/attribute.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import type { Value } from '../../catalog/value.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import { RowView } from '../../row-format/row-view.ts'
import { HEAD, type BlobReference } from './dump-form.ts'

const ISO = { dateOnlyFormat: 'iso' } as const
/** Length of the end of the head of every row, before the digits of the stamp. */
const TIME_AND_STAMP = `"${HEAD.timestamp}":"2026-01-31T10:00:00.000Z","${HEAD.stamp}":`.length
const NEWLINE = 0x0a
const BRACE = 0x7d

/** Part of a row: slots that are copied as stored, or a single slot that a dump writes differently. */
type Part =
  | { readonly from: number; readonly to: number }
  | { readonly slot: number; readonly attribute: StorageAttribute }

/** Writes stored rows of one dataclass as lines of a dump. */
export class RowWriter {
  private readonly parts: Part[] = []

  /** @param blobOf puts the image or the blob of a row into the dump */
  constructor(
    private readonly layout: RowLayout,
    private readonly blobOf: (rowId: number, attribute: StorageAttribute) => BlobReference,
  ) {
    const isIso = layout.wire.dateOnlyFormat === 'iso'
    for (const [slot, attribute] of layout.slots.entries()) {
      // Relations follow from their foreign keys.
      if (attribute.kind !== 'storage') continue
      const last = this.parts.at(-1)
      if (isBinary(attribute.type) || (attribute.type === 'date' && attribute.simpleDate && !isIso))
        this.parts.push({ slot, attribute })
      else if (last && 'to' in last && last.to === slot) this.parts[this.parts.length - 1] = { ...last, to: slot + 1 }
      else this.parts.push({ from: slot, to: slot + 1 })
    }
  }

  /** @returns the line with its line feed */
  write(rowId: number, bytes: Uint8Array): Buffer {
    const row = new RowView(this.layout, bytes)
    const start = `{"${HEAD.globalStamp}":${row.globalStamp},`
    const headEnd = row.slotStart(0)
    const texts = this.parts.map(part => ('slot' in part ? this.encodeValue(rowId, row, part) : ''))
    const line = Buffer.allocUnsafe(row.length + start.length + texts.reduce((sum, text) => sum + 3 * text.length, 2))
    let at = line.write(start, 'latin1')
    at += row.buffer.copy(line, at, headEnd - TIME_AND_STAMP - String(row.stamp).length, headEnd)
    for (const [i, part] of this.parts.entries()) {
      if ('slot' in part) at += line.write(texts[i]!, at)
      else at += row.buffer.copy(line, at, row.slotStart(part.from), row.slotStart(part.to))
    }
    line[at++] = BRACE
    line[at++] = NEWLINE
    return line.subarray(0, at)
  }

  private encodeValue(
    rowId: number,
    row: RowView,
    { slot, attribute }: { slot: number; attribute: StorageAttribute },
  ): string {
    const value = row.value(attribute)
    const json =
      value === null
        ? 'null'
        : isBinary(attribute.type)
          ? JSON.stringify(this.blobOf(rowId, attribute))
          : TYPES[attribute.type].encode(value as Value, attribute, ISO)
    return this.layout.names[slot]! + json
  }
}
