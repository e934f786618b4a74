import type { ErrorData } from '../../base/errors.ts'
import type { JobInfo } from '../data-api/jobs.ts'
import type { Access } from '../../permission/views.ts'
import type { CodeLogLine, Fault } from './code-log.ts'
import type { CodePlace } from '../declare/code-place.ts'
import type { CalculatedSlice } from '../hooks/calculate.ts'
import type { LoadedClasses } from '../declare/describe-classes.ts'
import type { SessionChanges, SessionData } from '../../caller/session-data.ts'
import type { Task, TaskModule } from '../../query/tasks/task.ts'
import type { JsonBounds } from '../../base/json-bounds.ts'
import type { QueryLimits } from '../../query/contract/query-limits.ts'
import type { Output, ReadRequest } from '../../query/contract/request.ts'
import type { SaveAnswer } from '../../placement/saved-answers.ts'
import type { CallTarget } from '../declare/class-registry.ts'
import type { ReadStoreOptions } from '../../data/read-store.ts'
import type { DeleteRequest, DeleteResult, SaveResult } from '../../write/contract/requests.ts'
import type { SaveLimits } from '../../write/contract/write-limits.ts'
import type { SentSave } from '../../write/contract/sent-save.ts'
import type { LinkEnd } from '../../write/contract/link-messages.ts'
import type { MessagePort } from 'node:worker_threads'

/** A module with plugin classes. Plain data, so that it can be sent to the threads that load it. */
export interface ClassModule {
  /** Name of the plugin that it belongs to, for messages. */
  readonly plugin: string
  /** URL of the JavaScript to import. */
  readonly url: string
  /** Source file, for messages. */
  readonly source: string
  /**
   * Argument of the function `configure` that the module may export; it is called first, once in every thread. Undefined: it is not
   * called, because the module is only described.
   */
  readonly settings: Readonly<Record<string, unknown>> | undefined
}

/** A call of a class function. Source: base specification, 4.7; protocol notes, 7. */
export interface CallTask {
  readonly kind: 'call'
  readonly target: CallTarget
  readonly function: string
  /** Class and name, for messages. */
  readonly fullName: string
  /** True if the function is declared as asynchronous. */
  readonly isAsync: boolean
  /** Values of a generator are sent as Server-Sent Events. */
  readonly asEvents?: boolean
  /**
   * JSON as received, unchecked: UTF-8, or a string if it is short and ASCII, because a message with a buffer costs twice as much.
   * Undefined: no arguments.
   */
  readonly args: Uint8Array | string | undefined
  /** Entity sets that the arguments name, with `members` from `encodeMembers`. */
  readonly sets: ReadonlyMap<string, { readonly dataClass: string; readonly members: Uint8Array }> | undefined
  /** The dataclass, selection or entity that it is called on, and the form of a returned selection. */
  readonly read: ReadRequest | undefined
  /** True if a returned selection becomes an entity set: its members are returned, not a page of it. */
  readonly keep: boolean
  /** Rights that apply to what the caller sends and receives. */
  readonly access?: Access | undefined
  /** The job that the call is an attempt of: work of the server itself. */
  readonly job?: JobInfo | undefined
  /** Set for a call by a plugin on the kernel's side: arguments stay plain values, and the code runs with this place. */
  readonly inner?: CodePlace | undefined
}

/** A read that needs plugin code: calculated attributes or restrict events. */
interface ReadTask {
  readonly kind: 'read'
  readonly task: Task
}

/** A save with the plugin code of its dataclass. */
export interface SaveTask {
  readonly kind: 'save'
  readonly request: SentSave
  /** Form of the entities in the answer; undefined: return only the outcome. */
  readonly output: Output | undefined
}

/** A deletion with the events of all deleted entities. */
export interface DropTask {
  readonly kind: 'drop'
  readonly request: DeleteRequest
  /** Selects the entities of a remote dataclass, in place of the row ids of the request. */
  readonly read?: ReadRequest | undefined
}

/** Recomputes stored calculated attributes of some rows of a dataclass. */
export interface CalculateTask {
  readonly kind: 'calculate'
  readonly dataClass: string
  /** First row id. */
  readonly from: number
}

/** Tasks of a function thread. Handled in `engine/author/run/call-runner.ts`. */
export type FunctionTask = (CallTask | ReadTask | SaveTask | DropTask | CalculateTask) & {
  /** Session of the caller. Undefined for the server itself. */
  readonly session?: SessionData | undefined
  /** `traceparent` of the caller; empty or undefined without a valid one. */
  readonly traceparent?: string | undefined
}

/** The job that a task is an attempt of. */
export const jobOf = (task: FunctionTask): JobInfo | undefined => (task.kind === 'call' ? task.job : undefined)

/** Outcome of a task, with changes to its session. */
export type FunctionOutcome = TaskOutcome & {
  readonly session?: SessionChanges | undefined
  /** Number of rows that its queries have examined. */
  readonly examined: number
}

/** Handled in `engine/author/run/function-client.ts`. */
export type TaskOutcome =
  /** JSON as UTF-8 or as a string. */
  | { readonly body: Uint8Array | string }
  /** `members` from `encodeMembers`. */
  | { readonly members: Uint8Array; readonly dataClass: string }
  /** An answer that the function composed itself. */
  | { readonly message: RawAnswer }
  /** All values of a stream have been sent. */
  | { readonly ended: true }
  | { readonly saved: SaveResult | SaveAnswer }
  | { readonly dropped: DeleteResult }
  | { readonly calculated: CalculatedSlice }
  /** A `ProtocolError`; with the fault, for the log, if code has misused the data API. */
  | { readonly error: ErrorData; readonly fault?: Fault; readonly place?: CodePlace | undefined }
  /** Anything else that was thrown, and the code that threw it, for the log. The client receives only its type. */
  | { readonly fault: Fault; readonly place?: CodePlace | undefined }

interface AnswerHead {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

interface RawAnswer extends AnswerHead {
  readonly body: Uint8Array | string
}

/** Head of an answer that is sent while it is produced. */
export interface StreamHead extends AnswerHead {
  /** Form of its values: lines of JSON, Server-Sent Events, or bytes and texts as they are. */
  readonly form: 'lines' | 'events' | 'raw'
}

/** `workerData` of a function thread. */
export interface FunctionThreadOptions {
  /** Port to the kernel thread. `parentPort` is left to plugin code. */
  readonly port: MessagePort
  readonly modules: readonly ClassModule[]
  /** Tasks of plugins: those that read calculated attributes or restricted dataclasses run here. */
  readonly tasks: readonly TaskModule[]
  /** Names of all dataclasses; undefined if the model is too invalid to know them. */
  readonly dataClasses: readonly string[] | undefined
  /** {@link PROGRESS_WORDS} words, see {@link CURRENT}. */
  readonly progress: Int32Array
  /** Memory limit of plugin code. */
  readonly memoryBytes: number
  /** Bounds of the arguments of a call. */
  readonly argumentBounds: JsonBounds
  /** Maximum number of lines that the `console` of one task may write to the log. */
  readonly logLines: number
}

/**
 * Words of a thread's shared memory, which show the kernel thread the progress of the batch. `CURRENT`: the running task, counted from 1,
 * or 0. Both sides change it by compare-and-exchange: when the kernel thread has added `STOP`, the thread begins no further task of the
 * batch. `ALL_DONE`: all tasks have been done. `STARTED_AT`: start of the task, the lower 32 bits of the milliseconds since 1970. `MEMORY`:
 * `NOT_MEASURED` since the task began, `ASKED` to measure, `ENOUGH`, or `TOO_LITTLE` memory. `PHASE`: `READING` the arguments of a call,
 * which come from a client; `RUNNING` plugin code; or `SERVING`, all other work of a task, whose cost also depends on the client: the body
 * of a save, the entities of an answer. `RUNNING_SINCE`: last start of plugin code, like `STARTED_AT`. A task may run plugin code many
 * times, as an event or a getter for each entity. `ALIVE_AT`: last time at which the thread was free for other calls, like `STARTED_AT`;
 * kept up to date while calls wait. `RESUMED`: number of the call whose code was the last to resume since then, after an await; 0 for none.
 */
export const CURRENT = 0
export const STARTED_AT = 1
export const MEMORY = 2
export const PHASE = 3
export const RUNNING_SINCE = 4
export const RESUMED = 5
export const ALIVE_AT = 6
export const PROGRESS_WORDS = 7
export const STOP = 1 << 16
export const ALL_DONE = STOP - 1
export const READING = 0
export const RUNNING = 1
export const SERVING = 2
export const NOT_MEASURED = 0
export const ASKED = 1
export const ENOUGH = 2
export const TOO_LITTLE = 3

/** Messages to a function thread. Handled in `engine/threads/function-thread.ts`. */
export type ToFunctionThread =
  | {
      readonly open: {
        readonly store: ReadStoreOptions
        readonly limits: QueryLimits
        readonly saveLimits: SaveLimits
        /** True if sessions and their one-time tokens are not in the store. */
        readonly sharesSessions: boolean
        /** True if databases receive the names of the users of requests. */
        readonly needsUser: boolean
      }
    }
  /** The call of the first task has the number `first`, and so on. `clockOffsetMs`: offset of the server's clock from the system's. */
  | { readonly batch: readonly BatchTask[]; readonly first: number; readonly clockOffsetMs: number }
  /** The client of a call that waits has gone. */
  | { readonly gone: number }
  /** The client of this call has taken chunks of this size. */
  | { readonly taken: number; readonly size: number }
  | { readonly close: true }

export interface BatchTask {
  readonly task: FunctionTask
  /** Time for which its code may run. */
  readonly deadlineMs: number
  /** Time until its answer, if its code waits. */
  readonly waitMs: number
}

/** Messages from a function thread. Handled in `engine/author/run/worker-slot.ts`. */
export type FromFunctionThread =
  /** The thread begins to import the module with this number. */
  | { readonly importing: number }
  | LoadedClasses
  /** The thread has opened the store. */
  | { readonly opened: true }
  /** A module cannot be used; the thread ends. */
  | { readonly refused: string }
  /** `doneCount` tasks of the batch were run; tasks without an outcome are waiting. The thread waits for the next batch. */
  | { readonly outcomes: readonly CallOutcome[]; readonly doneCount?: number | undefined }
  /** The answer to the call with this number is a stream; chunks and the outcome follow. */
  | { readonly call: number; readonly head: StreamHead }
  | { readonly call: number; readonly chunk: Uint8Array | string }
  /** End of a link, to be connected to the writer thread, or to the thread that queries databases. */
  | { readonly connect: LinkEnd; readonly to: 'writer' | 'remote' }
  | { readonly log: CodeLogLine }
  /** Progress that the running job with this id reports, as JSON. */
  | { readonly job: string; readonly progress: string }

/** Outcome of the call with a number. */
export interface CallOutcome {
  readonly call: number
  readonly outcome: FunctionOutcome
  /** Milliseconds since its start. */
  readonly ranMs: number
}
