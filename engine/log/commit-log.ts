/** Place of a record in the log. */
export interface LogPosition {
  /** Number of the record, 1 for the first one; 0 before it. */
  readonly sequence: number
  /** 16 bytes that depend on this record and on all before it. */
  readonly hash: Uint8Array
}

export interface LogEntry extends LogPosition {
  /** As encoded by `encodeRecord`. Valid until the next entry is read. */
  readonly record: Uint8Array
}

/**
 * The ordered log of commits in front of a store. A commit is durable when its record is; the store itself may be behind on the
 * disk. Implemented over a folder of files by `LocalLog`.
 */
export interface CommitLog {
  /** The last record. */
  readonly last: LogPosition
  /**
   * Appends a record. It is durable when this returns.
   * @throws {Error} the system error of a full or failing disk; the record may be in the log then, until it is taken back
   */
  append(record: Uint8Array): LogPosition
  /** Removes what the last append has written, if anything, because it or its commit has failed. @throws {Error} when the disk refuses it */
  takeBack(): void
  /**
   * Reads the records after `sequence`, the oldest first.
   * @throws {DamagedLogError} if some of them are missing
   */
  read(sequence: number): Iterable<LogEntry>
  /** Removes records up to `sequence` that need not be kept. */
  trim(sequence: number): void
  /** Keeps records after `sequence` for followers, as long as there is room for them. */
  followedTo(sequence: number): void
  close(): Promise<void>
}

/** Thrown when the log has other content than was written to it. The message says where, and what would help. */
export class DamagedLogError extends Error {
  override readonly name = 'DamagedLogError'
}
