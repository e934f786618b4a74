/** Bytes of a stored file. */
export interface Stored {
  readonly bytes: number
  /** As hexadecimal digits. */
  readonly sha256: string
}

/** A place for backups: files by name, with `/` between folders. Implemented over a folder by `FolderStorage`, over a bucket by `S3Storage`. */
export interface BackupStorage {
  /** The place, for messages. */
  readonly place: string
  /** Prevents other processes from changing the backups, where that is possible. @throws {BackupError} when another one changes them */
  lock(): Promise<{ release(): Promise<void> | void }>
  /** Names that begin with a prefix, in order. */
  names(prefix: string): Promise<string[]>
  /** @returns undefined when there is no such file */
  read(name: string): Promise<Buffer | undefined>
  has(name: string): Promise<boolean>
  /**
   * Stores a file: durable when this resolves, and not visible before. Several may be stored at a time; needs the lock.
   * @param write fills the file at the path that it receives
   */
  put(name: string, write: (path: string) => Promise<void> | void): Promise<Stored>
  /** Copies a file to a new local one. @throws {BackupError} when there is no such file */
  fetch(name: string, path: string): Promise<Stored>
  remove(name: string): Promise<void>
}
