import type { StorageAttribute } from '../catalog/attribute.ts'
import { SEGMENT_ROWS, type TableSnapshot, type VectorSegment, vectorStart } from './snapshot.ts'

/** Returns a function that reads the vectors of single rows; undefined for null. Valid until the snapshot is released. */
export function vectorReader(
  table: TableSnapshot,
  attribute: StorageAttribute,
): (rowId: number) => Float32Array | undefined {
  const { dimension } = attribute.vector!
  if (table.rowsOnly || table.rowsToDecode(attribute, 0) > 0) {
    return rowId => {
      const vector = table.row(rowId)?.value(attribute)
      return Array.isArray(vector) ? Float32Array.from(vector) : undefined
    }
  }
  const column = table.column(attribute)
  return rowId => {
    if (!table.live.has(rowId)) return undefined
    const { presence, floats, starts } = column.segment(Math.floor(rowId / SEGMENT_ROWS)) as VectorSegment
    const entry = rowId % SEGMENT_ROWS
    if (!(presence[entry >>> 5]! & (1 << (entry & 31)))) return undefined
    const start = vectorStart(starts[entry]!)
    return floats.subarray(start, start + dimension)
  }
}
