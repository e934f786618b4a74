/** Everything that code has read from a snapshot, as plain data: the writer compares it with the current state. */
export interface Reads {
  /** Global stamp of the snapshot. */
  readonly globalStamp: number
  /** Numbers of the tables of which any part may have been read. */
  readonly tables: readonly number[]
  /** Single rows of other tables: table number, row id and global stamp of each row, concatenated. */
  readonly rows: readonly number[]
}
