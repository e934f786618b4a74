import type { BinaryFiles } from '../files/binary-files.ts'
import type { Change } from './change.ts'
import type { StoredSets } from './stored-sets.ts'
import type { StoredUploads } from './stored-uploads.ts'

/** The counters of one dataclass, changed with every commit that needs them. */
export interface TableState {
  /** Row ids below it have been used; they never are again. */
  nextRowId: number
  /** Rows that exist. */
  rowCount: number
  /** Next value of the auto-increment attribute. */
  nextAutoIncrement: number
}

/** A small JSON record of the server itself. */
export interface RecordChange {
  key: string
  /** JSON; undefined: the record is removed. */
  value: unknown
}

/** Bytes of rows by their ids, valid until the next read; undefined for a row that does not exist. */
export type RowReader = (rowId: number) => Uint8Array | undefined

/**
 * A store as one thread reads it beside its snapshots: state, changes, and what the server keeps besides entities. All
 * of it is of one commit, the newest at the last {@link refresh}; a snapshot that is opened refreshes too.
 */
export interface RecordStore {
  /** Goes on to the newest commit and gives up the one before. Not while a snapshot is read that it has opened itself. */
  refresh(): void
  /** `__GlobalStamp`: the number of changes of entities so far. */
  globalStamp(): number
  tableState(tableNumber: number): TableState
  rowReader(tableNumber: number): RowReader
  /**
   * Everything that changed between two commits, oldest first.
   * @param from global stamp of the older commit
   * @param to global stamp of the newer one, which is the newest in the store
   * @returns undefined when the log does not tell: it has been pruned, or there is too much to read
   */
  changesBetween(from: number, to: number): Change[] | undefined
  /** Fingerprints of the code that stored calculated values of a table come from, by attribute name. */
  fingerprints(tableNumber: number): Readonly<Record<string, string>>
  record(key: string): unknown
  /** Records whose keys begin with `prefix`, in order of their keys. @param after leaves out those up to this key */
  records(prefix: string, limit: number, after?: string): { key: string; value: unknown }[]
  readonly sets: StoredSets
  readonly uploads: StoredUploads
  readonly files: BinaryFiles
  /** Size of the store on the disk, without the files beside it. */
  sizeBytes(): Promise<number>
  /**
   * Settles files that a crash has left on their way in, and removes those that no commit refers to. Only while nothing
   * is being uploaded.
   */
  sweepIncoming(): Promise<void>
}
