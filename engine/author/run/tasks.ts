import type { ErrorData } from '../../base/errors.ts'
import type { Access } from '../../permission/views.ts'
import type { CodeLogLine, Fault } from './code-log.ts'
import type { CodePlace } from '../declare/running-code.ts'
import type { CalculatedSlice } from '../hooks/calculate.ts'
import type { LoadedClasses } from '../declare/describe-classes.ts'
import type { SessionChanges, SessionData } from '../../caller/session-data.ts'
import type { Task, TaskModule } from '../../placement/tasks.ts'
import type { JsonBounds } from '../../base/json-bounds.ts'
import type { QueryLimits } from '../../query/contract/query-limits.ts'
import type { Output, ReadRequest } from '../../query/contract/request.ts'
import type { SaveAnswer } from '../../placement/saved-answers.ts'
import type { CallTarget } from '../declare/class-registry.ts'
import type { ReadStoreOptions } from '../../data/read-store.ts'
import type { DeleteRequest, DeleteResult, SaveRequest, SaveResult } from '../../write/contract/requests.ts'
import type { SaveLimits } from '../../write/contract/write-limits.ts'
import type { LinkEnd } from '../../write/contract/link-messages.ts'
import type { MessagePort } from 'node:worker_threads'

/** A module with classes of an author. Plain data, so that it can be sent to the threads that load it. */
export interface ClassModule {
  /** Name of the plugin that it belongs to, for messages. */
  readonly plugin: string
  /** JavaScript that is imported. */
  readonly url: string
  /** The file that its author wrote, for messages. */
  readonly source: string
  /** Given to the function `configure` that the module may export, once in every thread, before anything else. */
  readonly settings: unknown
}

/** A call of a class function. Source: base specification, 4.7; protocol notes, 7. */
export interface CallTask {
  readonly kind: 'call'
  readonly target: CallTarget
  readonly function: string
  /** With its class, for messages. */
  readonly fullName: string
  /**
   * JSON, as received and not checked: UTF-8, or a text where it is short and ASCII, since a message with a buffer costs twice as much.
   * Undefined: none were given.
   */
  readonly args: Uint8Array | string | undefined
  /** The entity sets that are named in the arguments, `members` as `encodeMembers` makes them. */
  readonly sets: ReadonlyMap<string, { readonly dataClass: string; readonly members: Uint8Array }> | undefined
  /** The dataclass, the selection or the entity that it is called on, and how a selection that it returns is shown. */
  readonly read: ReadRequest | undefined
  /** A selection that it returns is to become an entity set: its members are wanted, not a page of it. */
  readonly keep: boolean
  /** Whose rights count for what the caller sends and gets. */
  readonly access?: Access | undefined
}

/** A read whose answer takes code: of calculated attributes, or of restrict events. */
interface ReadTask {
  readonly kind: 'read'
  readonly task: Task
}

/** A save with the code of its dataclass around it. */
export interface SaveTask {
  readonly kind: 'save'
  readonly request: SaveRequest
  readonly limits: SaveLimits
  /** How its answer shows the entities; undefined: only what came of it is wanted. */
  readonly output: Output | undefined
}

/** A deletion with the events of all that go. */
interface DropTask {
  readonly kind: 'drop'
  readonly request: DeleteRequest
}

/** Some rows of a dataclass get the values that their stored calculated attributes have with the code of now. */
export interface CalculateTask {
  readonly kind: 'calculate'
  readonly dataClass: string
  /** First row id. */
  readonly from: number
}

/** Tasks of a function thread. Handled in `engine/author/run/call-runner.ts`. */
export type FunctionTask = (CallTask | ReadTask | SaveTask | DropTask | CalculateTask) & {
  /** Session of the caller. Undefined: the server itself. */
  readonly session?: SessionData | undefined
  /** `traceparent` of the caller; empty or undefined without a valid one. */
  readonly traceparent?: string | undefined
}

/** Outcome of a task, and of the session that it ran for. */
export type FunctionOutcome = TaskOutcome & {
  readonly session?: SessionChanges | undefined
  /** Rows that its queries have looked at. */
  readonly examined: number
}

/** Handled in `engine/author/run/function-client.ts`. */
export type TaskOutcome =
  /** UTF-8 JSON, or its text. */
  | { readonly body: Uint8Array | string }
  /** `members` as `encodeMembers` makes them. */
  | { readonly members: Uint8Array; readonly dataClass: string }
  /** An answer in the function's own words. */
  | { readonly message: RawAnswer }
  | { readonly saved: SaveResult | SaveAnswer }
  | { readonly dropped: DeleteResult }
  | { readonly calculated: CalculatedSlice }
  /** A `ProtocolError`. */
  | { readonly error: ErrorData }
  /** Anything else that was thrown, for the log, and by which code. The client learns the kind of it only. */
  | { readonly fault: Fault; readonly place?: CodePlace | undefined }

interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string
}

/** `workerData` of a function thread. */
export interface FunctionThreadOptions {
  /** To the kernel thread. Plugin code has `parentPort` to itself. */
  readonly port: MessagePort
  readonly modules: readonly ClassModule[]
  /** Tasks of plugins: those that read calculated attributes or restricted dataclasses run here. */
  readonly tasks: readonly TaskModule[]
  /** Names of those that classes can be about; undefined when the model is too wrong to tell. */
  readonly dataClasses: readonly string[] | undefined
  /** {@link CURRENT}, {@link STARTED_AT}, {@link MEMORY}, {@link PHASE} and {@link RUNNING_SINCE}. */
  readonly progress: Int32Array
  /** Limits of plugin code. */
  readonly memoryBytes: number
  /** Bounds of the arguments of a call. */
  readonly argumentBounds: JsonBounds
  /** Lines that the `console` of one task may write to the log. */
  readonly logLines: number
}

/**
 * Words of a thread's shared memory, by which the kernel thread sees how far it has come with its batch.
 * `CURRENT`: the task that runs, counted from 1, or 0. Both sides change it by compare-and-exchange: when the kernel has
 * added `STOP`, the thread begins no further task of the batch. `ALL_DONE`: none is left.
 * `STARTED_AT`: when it began, the lower 32 bits of the milliseconds since 1970.
 * `MEMORY`: `NOT_MEASURED` since the task began, `ASKED` to measure, `ENOUGH`, or `TOO_LITTLE` of it.
 * `PHASE`: `READING` the arguments of a call, which came from a client; `RUNNING` plugin code; or `SERVING`, all other
 * work of a task, whose cost is up to the client too: the body of a save, the entities of an answer.
 * `RUNNING_SINCE`: when plugin code last began to run, as `STARTED_AT`. A task may run much code that is quick, one event or
 * getter for each entity that the client chose.
 */
export const CURRENT = 0
export const STARTED_AT = 1
export const MEMORY = 2
export const PHASE = 3
export const RUNNING_SINCE = 4
export const PROGRESS_WORDS = 5
export const STOP = 1 << 16
export const ALL_DONE = STOP - 1
export const READING = 0
export const RUNNING = 1
export const SERVING = 2
export const NOT_MEASURED = 0
export const ASKED = 1
export const ENOUGH = 2
export const TOO_LITTLE = 3

/** To a function thread. Handled in `engine/threads/function-thread.ts`. */
export type ToFunctionThread =
  | { readonly open: { readonly store: ReadStoreOptions; readonly limits: QueryLimits } }
  | { readonly batch: readonly BatchTask[] }
  | { readonly close: true }

export interface BatchTask {
  readonly task: FunctionTask
  /** From the moment at which it begins to run. */
  readonly deadlineMs: number
}

/** From it. Handled in `engine/author/run/worker-slot.ts`. */
export type FromFunctionThread =
  /** It begins to import the module with this number. */
  | { readonly importing: number }
  | LoadedClasses
  /** It has opened the store. */
  | { readonly opened: true }
  /** A module cannot be used; the thread ends. */
  | { readonly refused: string }
  /** Outcome of the task with this number in the batch. */
  | { readonly index: number; readonly outcome: FunctionOutcome; readonly ranMs: number }
  /** To be connected with the writer thread. */
  | { readonly connect: LinkEnd }
  | { readonly log: CodeLogLine }
  /** `done` tasks of the batch were run; the thread waits for another batch. */
  | { readonly done: number }
