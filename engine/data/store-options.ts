import type { WireOptions } from '../catalog/dataclass.ts'
import type { Model } from '../catalog/model-schema.ts'

/**
 * Receives a message for the server log, with level `warn` if an operator should look at it.
 * @param subject given by threads that may find the same independently: only the first message with a subject is logged
 * @param state of a subject that changes: a message is logged again when it has another state than the last one
 */
export type Note = (text: string, level?: 'warn', subject?: string, state?: string) => void

/** Minimum time between two warnings about one subject. */
const WARN_PAUSE_MS = 10_000

/**
 * Drops notes that say of their subject what the last one has said. A further warning that comes too soon is dropped as well; a subject
 * whose state changes is noted repeatedly.
 */
export function changesOfSubject(onNote: Note, now = () => performance.now()): Note {
  const subjects = new Map<string, { readonly state: string | undefined; readonly warnedAt: number }>()
  return (text, level, subject, state) => {
    if (subject !== undefined) {
      const last = subjects.get(subject)
      if (last && last.state === state) return
      const at = now()
      const warnedAt = last?.warnedAt ?? Number.NEGATIVE_INFINITY
      if (level === 'warn' && at - warnedAt < WARN_PAUSE_MS) return
      subjects.set(subject, { state, warnedAt: level === 'warn' ? at : warnedAt })
    }
    onNote(text, level)
  }
}

/** Location of a store. Plain data, so that it can be sent to the thread that opens it. */
export interface StoreLocation {
  /** Folder of the store. */
  path: string
  /** Upper bound of the memory map, in bytes. It reserves address space, not memory or disk. */
  mapSizeBytes: number
  /** A store that contains one of these files is refused. */
  unfinished?: UnfinishedFiles | undefined
}

/** Files that a program keeps in the folder of a store while the data are not complete. */
export interface UnfinishedFiles {
  readonly names: readonly string[]
  /** Text that follows the name of the folder in the message: `is …; …`. */
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
  /** Memory of `SharedCounts`; undefined if nothing is counted. */
  counts?: SharedArrayBuffer | undefined
}

export interface StoreLockOptions {
  kind: LockKind
  /** Time to wait for another process that holds the store, such as one that was killed and is still exiting. */
  waitMs: number
  /** Time between two renewals of a lease. */
  renewMs: number
  /** Called once if waiting takes a moment, with a message for the log. */
  onWait?: Note
}

/** Options of a log in front of the store. */
export interface LogOptions {
  /** Records that are no longer needed are kept up to this size of the log, in bytes. */
  keepBytes?: number
  /** Maximum age of records that are no longer needed, in milliseconds. */
  keepMs?: number
  /** Plugins that follow the log, with the number of log bytes that are kept until they have read them. */
  followers?: Readonly<Record<string, number>>
}

/** Options with which the writer opens its store. */
export interface OwnStoreOptions extends StoreLocation {
  /** Makes commits durable by a log; undefined: by LMDB. */
  log?: LogOptions | undefined
  /** Identifies the writer, so that it can take the store again when its thread is replaced. */
  token: string
  lock?: Partial<StoreLockOptions> | undefined
  /** Allows the loss of stored data: data that a changed model no longer permits, and data that only a damaged part of the log contains. */
  allowLoss?: boolean
}

/** Options with which the writer opens its store and migrates it to a model. */
export interface WritingOptions extends OwnStoreOptions {
  /** As returned by `checkModel`. */
  model: Model
  wire: WireOptions
  allowLoss: boolean
}
