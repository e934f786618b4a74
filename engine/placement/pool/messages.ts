import type { PackedAnswer } from '../../answer/answer-sink.ts'
import type { SharedBudget } from '../../answer/byte-budget.ts'
import type { ErrorData } from '../../base/errors.ts'
import type { JsonBounds } from '../../base/json-bounds.ts'
import type { RowBatch } from '../../import/row-batch.ts'
import type { ChangesRequest } from '../../query/contract/changes.ts'
import type { Needs } from '../../data/suspended.ts'
import type { QueryLimits } from '../../query/contract/query-limits.ts'
import type { Task, TaskModule } from '../../query/tasks/task.ts'
import type { ReadStoreOptions } from '../../data/read-store.ts'
import type { SaveRequest } from '../../write/contract/requests.ts'
import type { BodyLimits } from '../../write/contract/write-limits.ts'
import type { SlotWords } from './slot-words.ts'

/** `workerData` of a thread of the pool. */
export interface PoolThreadOptions extends SlotWords {
  readonly store: ReadStoreOptions
  readonly limits: QueryLimits
  /** Undefined if these threads do not create answers for clients. */
  readonly answers: AnswerThreadOptions | undefined
  /** See `IndexStatus`. Undefined: there are no indexes of vectors. */
  readonly indexStatus: Int32Array | undefined
  /** Tasks of plugins. */
  readonly tasks: readonly TaskModule[]
  /** Number of threads that can be terminated: they have loaded their code, and the store if they open it at start. */
  readonly loadedCount: Int32Array
}

/** Options shared by the threads that create answers. */
interface AnswerThreadOptions {
  /** Budget of all request bodies and answers. */
  readonly memory: SharedBudget
  /** Budget of the files of large answers. */
  readonly disk: SharedBudget
  /** Budget of the files of exports. */
  readonly exportDisk: SharedBudget
  /** One entry per task: KiB of memory that it holds. */
  readonly heldMemory: Int32Array
}

/** State that decides whether vectors are searched by an index. */
export interface VectorIndexOptions {
  /** Minimum number of vectors; fewer are scanned, which is as fast. */
  readonly minRows: number
  /** Average share of the nearest neighbours that an index has to find to be used. */
  readonly recall: number
  /** Use indexes whatever their cost: for tests, whose tables are small. */
  readonly always?: boolean
}

/** `workerData` of the thread that has the indexes of vectors. */
export interface VectorThreadOptions extends Omit<PoolThreadOptions, 'tasks'> {
  readonly index: VectorIndexOptions
  readonly indexStatus: Int32Array
  /** See `ThreadGate`. */
  readonly gate: Int32Array
}

/**
 * Checks the bounds of the body of a large save, which is in shared memory, and finds its elements. The answer is a `Uint32Array`: 1
 * for an array of entities, otherwise 0, then the ranges of `BodyParts`.
 */
interface SplitTask {
  readonly kind: 'split'
  readonly body: Uint8Array
  readonly limits: BodyLimits
}

/** Parses some parts of such a body, and encodes the new entities among its elements. The answer is the result of `packRows`, or empty. */
interface PartsTask {
  readonly kind: 'parts'
  readonly body: Uint8Array
  /** See `parseParts`. */
  readonly ranges: Uint32Array
  readonly first: number
  /** Undefined: nothing is encoded. */
  readonly encode:
    | (Pick<SaveRequest, 'dataClass' | 'access' | 'trusted' | 'user'> & { readonly moment: number })
    | undefined
}

/** Parses the body of a command. The answer is the JSON of its `JsonMembers`. */
interface MembersTask {
  readonly kind: 'members'
  readonly body: Uint8Array
  readonly bounds: JsonBounds
}

/** Reports the tasks of plugins that the thread could not load. The answer is a JSON array of texts. */
interface ProblemsTask {
  readonly kind: 'problems'
}

/** Reads rows of a file and encodes them as new entities. The answer is the result of `packRows`. */
interface RowsTask {
  readonly kind: 'rows'
  readonly batch: RowBatch
  readonly encode: NonNullable<PartsTask['encode']>
}

/** Reads changes of entities from the log. The answer is a `ChangeBatch`, as `v8.serialize` writes it. */
export interface ChangesTask {
  readonly kind: 'changes'
  readonly request: ChangesRequest
}

/** Tasks on a body, which do not read the store. Handled in `engine/placement/body-task.ts`. */
export type BodyTask = SplitTask | PartsTask | MembersTask | RowsTask

/** Tasks of the threads of the pool for queries. Handled in `engine/threads/pool-thread.ts`. */
export type PoolTask = Task | BodyTask | ChangesTask | ProblemsTask

/** Message to a thread of the pool. */
export interface PoolMessage<T = Task> {
  readonly task: T
  /** Deadline in milliseconds since 1970, which includes waiting time. */
  readonly deadlineAt: number
  /** Index of the task's entry in {@link SlotWords}. */
  readonly slot: number
  /** Descriptor of an empty file for a large answer. Undefined: no file. */
  readonly spool: number | undefined
  /** Name of the user for whom the task runs; empty for a guest. Undefined if no task needs it. */
  readonly user?: string | undefined
}

/**
 * Outcome from a thread of the pool. Whatever a task throws is an outcome, so a rejection means that the thread has ended. Handled
 * in `engine/placement/pool/query-pool.ts`.
 */
export type PoolOutcome =
  /** Transferred, not copied. */
  | Uint8Array
  /** An answer that is compressed, or in the file that was sent with the task. */
  | { readonly packed: PackedAnswer }
  /** A `ProtocolError`. */
  | { readonly error: ErrorData }
  /** The task needs what this thread does not have. */
  | { readonly suspended: Needs }
  /** Anything else that was thrown: an internal error, for the log. */
  | { readonly fault: unknown }
