import type { BinaryFiles } from '../files/binary-files.ts'
import type { Change } from './change.ts'
import type { StoredSets } from './stored-sets.ts'
import type { StoredUploads } from './stored-uploads.ts'

/** Counters of one dataclass, changed with every commit that needs them. */
export interface TableState {
  /** Exclusive upper bound of the row ids that have been used; they are never used again. */
  nextRowId: number
  /** Rows that exist. */
  rowCount: number
  /** Next value of the auto-increment attribute. */
  nextAutoIncrement: number
}

/** A small JSON record of the server itself. */
export interface RecordChange {
  key: string
  /** JSON; undefined removes the record. */
  value: unknown
}

/** Bytes of rows by their ids, valid until the next read; undefined for a row that does not exist. */
export type RowReader = (rowId: number) => Uint8Array | undefined

/**
 * A store as one thread reads it without snapshots: state, changes, and the server's own data besides entities. All reads see the state of
 * one commit, the newest at the last {@link refresh}. Opening a snapshot also refreshes.
 */
export interface RecordStore {
  /** Moves to the newest commit and releases the previous one. Must not be called while a snapshot of the same thread is being read. */
  refresh(): void
  /** `__GlobalStamp`: the number of changes of entities so far. */
  globalStamp(): number
  tableState(tableNumber: number): TableState
  rowReader(tableNumber: number): RowReader
  /**
   * Everything that changed between two commits, oldest first.
   * @param from global stamp of the older commit
   * @param to global stamp of the newer one, which is the newest in the store
   * @returns undefined when the log has been pruned, or there is too much to read
   */
  changesBetween(from: number, to: number): Change[] | undefined
  /** Fingerprints of the code that computed the stored calculated values of a table, by attribute name. */
  fingerprints(tableNumber: number): Readonly<Record<string, string>>
  record(key: string): unknown
  /** Records whose keys begin with `prefix`, in order of their keys. @param after skips records up to and including this key */
  records(prefix: string, limit: number, after?: string): { key: string; value: unknown }[]
  /** The last records whose keys begin with `prefix`, in reverse order. */
  lastRecords(prefix: string, limit: number): { key: string; value: unknown }[]
  readonly sets: StoredSets
  readonly uploads: StoredUploads
  readonly files: BinaryFiles
  /** Folder of the log, and the position of the last commit of the newest state; undefined for a store without a log. */
  logEnd(): { readonly folder: string; readonly sequence: number; readonly hash: Uint8Array } | undefined
  /** Bytes of the store on disk, without the files of binary values. */
  sizes(): Promise<{ dataBytes: number; logBytes: number }>
  /**
   * Moves or removes files that a crash has left in `incoming`: files that no commit refers to are removed. Must not be called during an
   * upload.
   */
  sweepIncoming(): Promise<void>
}
