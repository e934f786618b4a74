import type { CalculatedAttribute } from '../../catalog/attribute.ts'
import type { ColumnAttribute, TableSnapshot } from '../../data/snapshot.ts'
import { readsSegments } from '../scan/cell-reader.ts'
import { MICROSECONDS } from './costs.ts'

/**
 * Limit for counting rows to decode, which takes time for each segment: beyond it, the query runs in the pool anyway.
 */
const DECODE_LIMIT = 10_000

/** Cost of reading an attribute of this many rows by `cellReader`: from its column, or from the rows themselves. */
export function costOfReading(
  table: TableSnapshot,
  attribute: ColumnAttribute | CalculatedAttribute,
  rows: number,
): number {
  if (rows === 0) return 0
  if (attribute.kind === 'calculated') return rows * MICROSECONDS.code
  const decodedRows = table.rowsToDecode(attribute, DECODE_LIMIT)
  if (decodedRows > 0 && !readsSegments(table, rows)) return rows * MICROSECONDS.rowValue
  return decodedRows * MICROSECONDS.decode + rows * MICROSECONDS.cell
}
