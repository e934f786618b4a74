import type { UploadLimits } from './binary/uploads.ts'
import type { WireOptions } from './catalog/dataclass.ts'
import type { EntitySetLifetimes } from './entity-set/entity-sets.ts'
import type { FunctionPoolOptions } from './functions/function-pool.ts'
import type { ClassModule } from './functions/tasks.ts'
import type { PoolOptions } from './pool/query-pool.ts'
import type { VectorIndexOptions } from './pool/tasks.ts'
import type { QueryLimits } from './query/query-limits.ts'
import type { Progress } from './migration/migrate-data.ts'

export interface EngineOptions {
  /** Folder of the store; made when it does not exist. */
  path: string
  /** Content of the model file. */
  model: unknown
  wire: WireOptions
  /** Let a changed model remove what it no longer names. */
  allowLoss: boolean
  mapSizeBytes: number
  /** Memory for column segments: of this thread, and as much again of the threads of the pool together. */
  cacheBytes: number
  /** Memory that all threads share for columns, indexes and rows; 0 or undefined: everything is read from LMDB. */
  memoryBytes?: number
  /** Least time between two images of that memory in the folder of the store, which make the next start fast; 0: none. */
  imageMinutes?: number
  /** Least changes of entities between two images. */
  imageChanges?: number
  limits: QueryLimits
  pool?: Partial<PoolOptions>
  vectorIndex?: VectorIndexOptions
  entitySets?: Partial<EntitySetOptions>
  /** Modules with classes of authors, and the threads that run them. */
  functions?: { modules: readonly ClassModule[] } & Partial<FunctionPoolOptions>
  uploads?: Partial<UploadLimits>
  /** Memory for pieces of the images and blobs that were sent last. */
  binaryCacheBytes?: number
  /** Bodies that wait for the writer; beyond it a write is refused with 503. */
  writeQueueBytes: number
  /** Milliseconds since 1970, for what has a lifetime. */
  now?: () => number
  /** What is worth knowing of the writer thread, for the log. */
  onNote?: (text: string) => void
  /** What goes wrong inside the writer thread, for the log. */
  onInternalError?: (text: string) => void
  /** How far a change of the model has come. */
  onProgress?: Progress
}

export interface EntitySetOptions extends EntitySetLifetimes {
  savedLifetimeSeconds: number
  memoryBytes: number
}

// Defaults of those who open an engine without a config file.
export const FUNCTIONS: Omit<FunctionPoolOptions, 'modules' | 'dataClasses'> = {
  threads: 0,
  queueLimit: 256,
  deadlineMs: 5_000,
  memoryBytes: 2 ** 28,
  breakerLimit: 3,
  breakerPauseMs: 30_000,
}

export const VECTOR_INDEX: VectorIndexOptions = { minRows: 20_000, recall: 0.995 }

export const POOL: PoolOptions = { threads: 0, queueLimit: 256, inlineCostMs: 0.2, heapBytes: 2 ** 30 }

export const ENTITY_SETS: EntitySetOptions = {
  lifetimeSeconds: 7_200,
  recreatedLifetimeSeconds: 600,
  maxLifetimeSeconds: 30 * 86_400,
  savedLifetimeSeconds: 30 * 86_400,
  memoryBytes: 2 ** 28,
  setsPerCreator: 0,
}

export const UPLOADS: UploadLimits = {
  maxBytes: 2 ** 28,
  maxReceiveMs: 3_600_000,
  lifetimeSeconds: 120,
  maxLifetimeSeconds: 86_400,
  maxConcurrent: 2_000,
  maxPendingBytes: 2 ** 32,
}
export const BINARY_CACHE_BYTES = 2 ** 26
