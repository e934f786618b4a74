import type { WireOptions } from '../catalog/dataclass.ts'
import type { Model } from '../catalog/model-schema.ts'

/**
 * Receives a text for the log of the server; with level `warn` for what an operator should look at.
 * @param subject threads that find the same by themselves name it: only the first text with a subject is logged
 */
export type Note = (text: string, level?: 'warn', subject?: string) => void

/** Leaves out notes with a subject that there has been. */
export function firstOfSubject(onNote: Note): Note {
  const subjects = new Set<string>()
  return (text, level, subject) => {
    if (subject !== undefined && subjects.has(subject)) return
    if (subject !== undefined) subjects.add(subject)
    onNote(text, level)
  }
}

/** Place of a store. Plain data, so that it can be sent to the thread that opens it. */
export interface StoreLocation {
  /** Folder of the store. */
  path: string
  /** Upper bound of the memory map, in bytes. It reserves address space, not memory or disk. */
  mapSizeBytes: number
  /** A store with one of these is refused. */
  unfinished?: UnfinishedFiles | undefined
}

/** Files that a program keeps in the folder of a store while the data are not complete. */
export interface UnfinishedFiles {
  readonly names: readonly string[]
  /** Follows the name of the folder: `is …; …`. */
  readonly reason: string
}

/**
 * `file`: a lock of the operating system on a file in the folder. `lease`: an entry in the store that is renewed, where such
 * locks do not exist or do not reach all machines.
 */
export type LockKind = 'file' | 'lease'

export interface ReadingOptions extends StoreLocation {
  /** Content of the model file. */
  model: unknown
  wire: WireOptions
  /** Memory for column segments of this thread. */
  cacheBytes: number
  /** Memory of `SharedCounts`; undefined to count nothing. */
  counts?: SharedArrayBuffer | undefined
}

export interface StoreLockOptions {
  kind: LockKind
  /** Time to wait for another process that holds the store, such as one that was killed and is still exiting. */
  waitMs: number
  /** Time between two renewals of a lease. */
  renewMs: number
  /** Called once when waiting takes a moment, for the log. */
  onWait?: Note
}

/** Options of a log in front of the store. */
export interface LogOptions {
  /** Records that are no longer needed are kept up to this size of the log, in bytes. */
  keepBytes?: number
  /** Maximum age of records that are no longer needed, in milliseconds. */
  keepMs?: number
  /** Plugins that follow the log, with the bytes of it that stay until they have read them. */
  followers?: Readonly<Record<string, number>>
}

/** Options with which the writer opens its store. */
export interface OwnStoreOptions extends StoreLocation {
  /** Makes commits durable by a log; undefined: by LMDB. */
  log?: LogOptions | undefined
  /** Identifies the writer, so that it can take the store again when its thread is replaced. */
  token: string
  lock?: Partial<StoreLockOptions> | undefined
  /** Lets stored data be lost: those that a changed model no longer allows, and those that only a damaged part of the log has. */
  allowLoss?: boolean
}

/** Options with which the writer opens its store and migrates it to a model. */
export interface WritingOptions extends OwnStoreOptions {
  /** As returned by `checkModel`. */
  model: Model
  wire: WireOptions
  allowLoss: boolean
}
