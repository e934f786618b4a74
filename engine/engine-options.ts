import type { ByteBudget } from './answer/byte-budget.ts'
import type { GivenBackend } from './backend/backend.ts'
import type { UploadLimits } from './binary/uploads.ts'
import type { WireOptions } from './catalog/dataclass.ts'
import type { EntitySetLifetimes } from './entity-set/entity-sets.ts'
import type { GuestSetLimits } from './entity-set/guest-sets.ts'
import type { FunctionPoolOptions } from './author/run/function-options.ts'
import type { CodeLogLine } from './author/run/code-log.ts'
import type { ClassModule } from './author/run/tasks.ts'
import { JSON_BOUNDS } from './base/json-bounds.ts'
import type { PoolOptions } from './placement/pool/query-pool.ts'
import type { VectorIndexOptions } from './placement/pool/messages.ts'
import type { TaskModule } from './query/tasks/task.ts'
import type { Connection } from './postgres/database/database.ts'
import type { QueryLimits } from './query/contract/query-limits.ts'
import type { LogOptions, Note, StoreLockOptions, UnfinishedFiles } from './data/store-options.ts'
import type { SaveLimits } from './write/contract/write-limits.ts'
import type { Progress } from './base/progress.ts'

export interface EngineOptions {
  /** Folder of the store; created if it does not exist. */
  path: string
  /** Content of the model file. */
  model: unknown
  /** Reads the model file again. */
  readModel?: () => unknown
  wire: WireOptions
  /** Allows a changed model to remove data that it no longer names. */
  allowLoss: boolean
  /** Lock of the store against other processes, and the time for which a start waits for it. */
  lock?: Partial<StoreLockOptions>
  /** Makes commits durable by a log in front of the store; undefined: by LMDB itself. */
  log?: LogOptions | undefined
  mapSizeBytes: number
  /** A store that contains one of these files is refused, see {@link UnfinishedFiles}. */
  unfinished?: UnfinishedFiles | undefined
  /** Memory for column segments of this thread. The pool, the function threads and the vector thread may each use the same amount again. */
  cacheBytes: number
  /** Memory that all threads share for columns, indexes and rows; 0 or undefined: everything is read from LMDB. */
  memoryBytes?: number
  /**
   * Minimum time between two images of that memory in the store's folder, which speed up the next start; 0: none.
   */
  imageMinutes?: number
  /** Minimum number of changed entities between two images. */
  imageChanges?: number
  limits: QueryLimits
  /** Memory of current request bodies and answers, shared with all other users of the budget. */
  buffers?: ByteBudget
  /** Disk space for current answers that are too large for memory. */
  spoolBytes?: number
  /** Maximum disk space of exports that are being sent. */
  exportBytes?: number
  pool?: Partial<PoolOptions>
  vectorIndex?: VectorIndexOptions
  entitySets?: Partial<EntitySetOptions>
  /** Databases that the model names, by their names. */
  connections?: Readonly<Record<string, Connection>>
  /** Additional back ends. They cannot be combined with plugin classes, because function threads have no access to them. */
  backends?: readonly GivenBackend[]
  /** Name of the connection among {@link connections} in which several servers share the data that they keep for clients. */
  sharedConnection?: string | undefined
  /** Modules with plugin classes, and the threads that run them. */
  functions?: { modules: readonly ClassModule[] } & Partial<FunctionPoolOptions>
  /** Modules with tasks of plugins, for the threads of the pool. */
  tasks?: readonly TaskModule[]
  uploads?: Partial<UploadLimits>
  /** Memory for recently sent pieces of images and blobs. */
  binaryCacheBytes?: number
  /** Maximum bytes of bodies that wait for the writer; further writes are refused with 503. */
  writeQueueBytes: number
  /** Bounds of saves and deletions. */
  write?: Partial<SaveLimits>
  /** Files besides the store that belong to a backup: their paths, by their names in the backup. */
  besides?: Readonly<Record<string, string>>
  /** Clock for lifetimes, in milliseconds since 1970. */
  now?: () => number
  /** Called with notes of the writer thread, for the log. */
  onNote?: Note
  /** Called with internal failures, for the log. */
  onInternalError?: (text: string) => void
  /** Receives console output and errors of plugin code; without it errors go to `onInternalError`. */
  onCodeLog?: (line: CodeLogLine) => void
  /** Called with the progress of a migration. */
  onProgress?: Progress
}

interface EntitySetOptions extends EntitySetLifetimes, GuestSetLimits {
  savedLifetimeSeconds: number
  memoryBytes: number
}

// Defaults for an engine that is opened without a config file.
export const FUNCTIONS: Omit<FunctionPoolOptions, 'modules' | 'tasks' | 'dataClasses'> = {
  threads: 0,
  queueLimit: 256,
  asyncLimit: 4096,
  deadlineMs: 5_000,
  asyncDeadlineMs: 30_000,
  memoryBytes: 2 ** 28,
  breakerLimit: 3,
  breakerPauseMs: 30_000,
  loadMs: 10_000,
  argumentBounds: JSON_BOUNDS,
  logLines: 100,
}

export const VECTOR_INDEX: VectorIndexOptions = { minRows: 20_000, recall: 0.995 }

export const POOL: PoolOptions = {
  threads: 0,
  queueLimit: 256,
  inlineCostMs: 0.2,
  heapBytes: 2 ** 30,
  overrunMs: 5_000,
}

export const ENTITY_SETS: EntitySetOptions = {
  lifetimeSeconds: 7_200,
  recreatedLifetimeSeconds: 600,
  maxLifetimeSeconds: 30 * 86_400,
  savedLifetimeSeconds: 30 * 86_400,
  memoryBytes: 2 ** 28,
  setsPerCreator: 0,
  guestBytesPerAddress: 2 ** 27,
  maxGuestBytes: 2 ** 30,
}

/** Memory for copies of entity sets that several servers share. */
export const SHARED_SET_BYTES = 2 ** 26

export const UPLOADS: UploadLimits = {
  maxBytes: 2 ** 28,
  maxReceiveMs: 3_600_000,
  lifetimeSeconds: 120,
  maxLifetimeSeconds: 86_400,
  maxConcurrent: 2_000,
  maxPendingBytes: 2 ** 32,
  guestBytesPerAddress: 2 ** 29,
  maxGuestBytes: 2 ** 31,
}
export const BINARY_CACHE_BYTES = 2 ** 26
/** Default size of {@link EngineOptions.buffers}. */
export const BUFFER_BYTES = 2 ** 28
export const SPOOL_BYTES = 2 ** 32
export const EXPORT_BYTES = 2 ** 34
