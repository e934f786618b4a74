import type { RowReader } from '../data/record-store.ts'
import { type Environment, getBytes } from './environment.ts'
import { rowIdOfKey, rowKey } from './keys.ts'
import { NO_ROW } from '../row-format/row-layout.ts'

export interface StoredRow {
  readonly rowId: number
  /** Copy of the row's bytes. */
  readonly bytes: Uint8Array
}

/** The rows of a table by ascending row id, starting at `firstRowId`. The store must not be written to during the iteration. */
export function* tableRows(
  environment: Environment,
  tableNumber: number,
  firstRowId = 0,
  limit?: number,
): Generator<StoredRow> {
  const range = {
    start: rowKey(tableNumber, firstRowId),
    end: rowKey(tableNumber, NO_ROW),
    ...(limit !== undefined && { limit }),
  }
  for (const { key, value } of environment.rows.getRange(range)) yield { rowId: rowIdOfKey(key), bytes: value }
}

/** Reads rows one by one, at half the cost of a cursor of lmdb-js. */
export function rowReader({ rows }: Environment, tableNumber: number): RowReader {
  const key = rowKey(tableNumber, 0)
  return rowId => {
    key.writeUInt32BE(rowId, 2)
    return getBytes(rows, key)
  }
}
