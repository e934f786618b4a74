import type { WireOptions } from '../catalog/dataclass.ts'
import type { Model } from '../catalog/model-schema.ts'

/** Place of a store. Plain data, so that it can be sent to the thread that opens it. */
export interface StoreLocation {
  /** Folder of the store. */
  path: string
  /** Upper bound of the memory map, in bytes. It reserves address space, not memory or disk. */
  mapSizeBytes: number
}

/**
 * `file`: the kernel's lock of a file in the folder. `lease`: where there are no such locks, or they do not reach all
 * machines, an entry in the store that is renewed.
 */
export type LockKind = 'file' | 'lease'

export interface ReadingOptions extends StoreLocation {
  /** Content of the model file. */
  model: unknown
  wire: WireOptions
  /** Memory for column segments of this thread. */
  cacheBytes: number
  /** Memory of `SharedCounts`; undefined: nothing is counted. */
  counts?: SharedArrayBuffer | undefined
}

export interface StoreLockOptions {
  kind: LockKind
  /** How long to wait for another process that has the store, as one that was killed and is still ending. */
  waitMs: number
  /** Time between two renewals of a lease. */
  renewMs: number
  /** Called once when it takes a moment, for the log. */
  onWait?: (text: string) => void
}

/** A store that its writer opens. */
export interface OwnStoreOptions extends StoreLocation {
  /** Set for the writer: it may take the store again when its thread is replaced. */
  token: string
  lock?: Partial<StoreLockOptions> | undefined
}

/** A store that its writer opens and brings to a model. */
export interface WritingOptions extends OwnStoreOptions {
  /** As `checkModel` gives it back. */
  model: Model
  wire: WireOptions
  /** Let a changed model remove or break what it no longer allows. */
  allowLoss: boolean
}
