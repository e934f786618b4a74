/** One changed entity of a commit, as the change log holds it. */
export interface Change {
  tableNumber: number
  rowId: number
  operation: number
  /**
   * The row after the change, if available. Not part of the change log. In a record of the commit log, a deletion has the row as it was
   * before.
   */
  row?: Uint8Array
}

export const INSERTED = 1
export const UPDATED = 2
export const DELETED = 3
