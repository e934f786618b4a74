import type { PackedAnswer } from '../answer/answer-sink.ts'
import type { SharedBudget } from '../answer/byte-budget.ts'
import type { ErrorData } from '../base/errors.ts'
import type { JsonBounds } from '../base/json-bounds.ts'
import type { QueryLimits } from '../query/contract/query-limits.ts'
import type { ReadRequest } from '../query/contract/request.ts'
import type { ReadStoreOptions } from '../data/read-store.ts'
import type { PackedSave } from '../write/contract/packed-result.ts'
import type { SaveRequest, SaveResult } from '../write/contract/requests.ts'
import type { BodyLimits } from '../write/contract/write-limits.ts'
import type { Searched, VectorSearch } from '../vector/index/searched-indexes.ts'

/** Tasks on a store, in any thread: plain data. The answers are bytes. Handled in `engine/placement/plan-task.ts`. */
export type Task =
  /** The answer to a read: UTF-8 JSON. */
  | { readonly kind: 'read'; readonly request: ReadRequest }
  /** A task of the registry, built in or of a plugin: UTF-8 JSON. `args` is plain data. */
  | { readonly kind: 'named'; readonly name: string; readonly request: ReadRequest; readonly args: unknown }
  /** The answer to a save that is done. Of the request only what is shown counts, and to whom. */
  | {
      readonly kind: 'saved'
      readonly request: ReadRequest
      readonly mode: SaveRequest['mode']
      readonly result: SaveResult | PackedSave
    }
  /** The row ids of the page, or of the whole selection: the bytes of a `Uint32Array`. */
  | { readonly kind: 'rowIds'; readonly request: ReadRequest; readonly of: 'page' | 'selection' }
  /** The whole selection as the members of an entity set, as `encodeMembers` makes them. What is to be shown is checked. */
  | { readonly kind: 'members'; readonly request: ReadRequest }

/** Whether what comes of a task is an answer for a client. */
export type AnswerTask = Task & { readonly kind: 'read' | 'named' | 'saved' }

export const isAnswer = (task: Task): task is AnswerTask => task.kind !== 'rowIds' && task.kind !== 'members'

/** Module of a plugin with a task: its default export is a `TaskFunction`. Plain data, for the threads that load it. */
export interface TaskModule {
  /** Name of the plugin, for messages. */
  readonly plugin: string
  /** Name in the registry: `plugin/task`. */
  readonly name: string
  /** JavaScript that is imported. */
  readonly url: string
  /** The file that its author wrote, for messages. */
  readonly source: string
}

/** `workerData` of a thread of the pool. */
export interface PoolThreadOptions {
  readonly store: ReadStoreOptions
  readonly limits: QueryLimits
  /** An entry per task that the threads hold: 1 as soon as its answer is of no use. */
  readonly cancelled: Int32Array
  /** As many: the id of the thread that works on the task and may be ended, 0 while there is none. */
  readonly worksAt: Int32Array
  /** As many: the rows that the last task there has examined. */
  readonly examined: Uint32Array
  /** As many: the rows of its page. */
  readonly sent: Uint32Array
  /** As many: how long the last task there has run, in milliseconds. */
  readonly ranMs: Float64Array
  /** Undefined: nothing that these threads do is an answer for a client. */
  readonly answers: AnswerThreadOptions | undefined
  /** See `IndexStatus`. Undefined: there are no indexes of vectors. */
  readonly indexStatus: Int32Array | undefined
  /** Tasks of plugins. */
  readonly tasks: readonly TaskModule[]
  /** How many threads can be ended: they have loaded their code, and opened the store when they do it by themselves. */
  readonly loaded: Int32Array
}

/** Options shared by the threads that make answers. */
interface AnswerThreadOptions {
  /** Budget of all request bodies and answers. */
  readonly memory: SharedBudget
  /** Budget of the files of large answers. */
  readonly disk: SharedBudget
  /** An entry per task: KiB of the memory that it has. */
  readonly held: Int32Array
}

/** State that decides whether vectors are searched by an index. */
export interface VectorIndexOptions {
  /** Fewer vectors are scanned: that is as fast. */
  readonly minRows: number
  /** Share of the nearest that an index has to find, on average, to be used. */
  readonly recall: number
  /** Use indexes whatever they cost: for tests, whose tables are small. */
  readonly always?: boolean
}

/** `workerData` of the thread that has the indexes of vectors. */
export interface VectorThreadOptions extends Omit<PoolThreadOptions, 'tasks'> {
  readonly index: VectorIndexOptions
  readonly indexStatus: Int32Array
  /** See `ThreadGate`. */
  readonly gate: Int32Array
}

/** A task with what indexes of vectors have found for it. */
export type SearchedTask = Task & { readonly searched?: readonly Searched[] }

/**
 * Checks the body of a large save, in shared memory, and finds its elements. The answer is a
 * `Uint32Array`: 1 for several entities or 0, then the ranges of `BodyParts`.
 */
interface SplitTask {
  readonly kind: 'split'
  readonly body: Uint8Array
  readonly limits: BodyLimits
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

/** Works on a body, and reads nothing of the store. Handled in `engine/placement/body-task.ts`. */
export type BodyTask = SplitTask | MembersTask

/** Tasks of the threads of the pool for queries. Handled in `engine/threads/pool-thread.ts`. */
export type PoolTask = SearchedTask | BodyTask | ProblemsTask

/** To a thread of the pool. */
export interface PoolMessage<T = SearchedTask> {
  readonly task: T
  /** Milliseconds since 1970. The time that it waited counts. */
  readonly deadlineAt: number
  /** Its entry in {@link PoolThreadOptions.cancelled}. */
  readonly slot: number
  /** Descriptor of an empty file for a large answer. Undefined: there is none. */
  readonly spool: number | undefined
}

/**
 * Back from it. Whatever a task throws comes as an outcome, so that a rejection means that the thread is gone. Handled in
 * `engine/placement/query-pool.ts`.
 */
export type PoolOutcome =
  /** Transferred, not copied. */
  | Uint8Array
  /** The same of an answer that is compressed, or in the file that came with the task. */
  | { readonly packed: PackedAnswer }
  /** A `ProtocolError`. */
  | { readonly error: ErrorData }
  /** It needs plugin code, which these threads do not run. */
  | { readonly requiresPluginCode: true }
  /** It has to know first what an index of vectors finds. */
  | { readonly searchNeeded: VectorSearch }
  /** Anything else that was thrown: a fault of ours, for the log. */
  | { readonly fault: unknown }
