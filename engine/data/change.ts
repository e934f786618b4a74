/** One changed entity of a commit, as the change log has it. */
export interface Change {
  tableNumber: number
  rowId: number
  operation: number
  /** Its row after the change, where it is at hand. Not part of the log. */
  row?: Uint8Array
}

export const INSERTED = 1
export const UPDATED = 2
export const DELETED = 3
