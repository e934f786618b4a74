import { RowSet } from '../row-set/row-set.ts'
import type { TableSnapshot } from './snapshot.ts'

/** True if a row exists and may be seen. @throws {Suspended} its database has to be asked */
export const rowExists = (table: TableSnapshot, rowId: number): boolean =>
  table.rowsOnly ? table.row(rowId) !== undefined : table.live.has(rowId)

/** The rows that exist and may be seen. @throws {Suspended} their database has to be asked */
export function existingRows(rows: RowSet, table: TableSnapshot): RowSet {
  if (!table.rowsOnly) return rows.and(table.live)
  table.fetch!(rows)
  return RowSet.fromIds([...rows].filter(rowId => table.row(rowId) !== undefined))
}
