import type { ErrorData } from '../errors.ts'
import type { Aggregation } from '../query/aggregate/aggregate.ts'
import type { PathListItem } from '../query/parse/parse-path-list.ts'
import type { QueryLimits } from '../query/query-limits.ts'
import type { ReadRequest } from '../query/request.ts'
import type { ReadStoreOptions } from '../memory/open-read-store.ts'
import type { Searched, VectorSearch } from '../vector/searched-indexes.ts'

/** What can be asked of a store, in any thread: plain data. The answers are bytes. */
export type Task =
  /** The answer to a read: UTF-8 JSON. */
  | { readonly kind: 'read'; readonly request: ReadRequest }
  /** Aggregates over all that is selected: UTF-8 JSON. */
  | {
      readonly kind: 'compute'
      readonly request: ReadRequest
      readonly items: readonly PathListItem[]
      readonly aggregation: Aggregation
    }
  /** The different values of an attribute: UTF-8 JSON. */
  | { readonly kind: 'distinct'; readonly request: ReadRequest; readonly items: readonly PathListItem[] }
  /** The row ids of the page, or of the whole selection: the bytes of a `Uint32Array`. */
  | { readonly kind: 'rowIds'; readonly request: ReadRequest; readonly of: 'page' | 'selection' }
  /** The whole selection as the members of an entity set, as `encodeMembers` makes them. What is to be shown is checked.
   * `isUnrestricted`: also those that not everybody may see, for a set that is read with restrictions. */
  | { readonly kind: 'members'; readonly request: ReadRequest; readonly isUnrestricted?: boolean }

/** Whether restrict events do not count for it. */
export const isUnrestricted = (task: Task): boolean => task.kind === 'members' && task.isUnrestricted === true

/** `workerData` of a thread of the pool. */
export interface PoolThreadOptions {
  readonly store: ReadStoreOptions
  readonly limits: QueryLimits
  /** An entry per task that the threads hold: 1 as soon as nobody waits for it any more. */
  readonly cancelled: Int32Array
  /** As many: the rows that the last task there has examined. */
  readonly examined: Uint32Array
  /** Of `IndexStatus`. Undefined: there are no indexes of vectors. */
  readonly indexStatus: Int32Array | undefined
  /** How many threads can be ended: they have loaded their code, and opened the store when they do it by themselves. */
  readonly loaded: Int32Array
}

/** What decides whether vectors are searched by an index. */
export interface VectorIndexOptions {
  /** Fewer vectors are scanned: that is as fast. */
  readonly minRows: number
  /** Share of the nearest that an index has to find, on average, to be used. */
  readonly recall: number
  /** Use indexes whatever they cost: for tests, whose tables are small. */
  readonly always?: boolean
}

/** `workerData` of the thread that has the indexes of vectors. */
export interface VectorThreadOptions extends PoolThreadOptions {
  readonly index: VectorIndexOptions
  readonly indexStatus: Int32Array
  /** Of `ThreadGate`. */
  readonly gate: Int32Array
}

/** A task with what indexes of vectors have found for it. */
export type SearchedTask = Task & { readonly searched?: readonly Searched[] }

/** To a thread of the pool. */
export interface PoolMessage<T = SearchedTask> {
  readonly task: T
  /** Milliseconds since 1970. The time that it waited counts. */
  readonly deadlineAt: number
  /** Its entry in {@link PoolThreadOptions.cancelled}. */
  readonly slot: number
}

/** Back from it. Whatever a task throws comes as an outcome, so that a rejection means that the thread is gone. */
export type PoolOutcome =
  /** Transferred, not copied. */
  | Uint8Array
  /** A `ProtocolError`. */
  | { readonly error: ErrorData }
  /** It takes code of authors, which these threads do not run. */
  | { readonly codeNeeded: true }
  /** It has to know first what an index of vectors finds. */
  | { readonly searchNeeded: VectorSearch }
  /** Anything else that was thrown: a fault of ours, for the log. */
  | { readonly fault: unknown }
