import type { Caller } from '../../caller/caller.ts'
import { PendingTask } from '../../pool/task-queue.ts'
import type { CodePlace } from '../declare/code-place.ts'
import { isDebugged } from './debugger.ts'
import type { FunctionStream } from './function-stream.ts'
import type { BatchTask, FunctionOutcome, FunctionTask, StreamHead } from './tasks.ts'

export interface RunOptions {
  /** Name for the breaker and in messages: `the function Employee.raise`. */
  readonly name: string
  /** Place for the log. */
  readonly place?: CodePlace | undefined
  /** Time for which its code may run. Undefined: the pool's deadline. */
  readonly deadlineMs?: number | undefined
  /** Time until its answer if its code waits. Undefined: the pool's deadline for asynchronous functions. */
  readonly asyncDeadlineMs?: number | undefined
  /** True if the function is declared as asynchronous. */
  readonly isAsync?: boolean
  readonly caller?: Caller | undefined
}

/** An answer that is sent while it is produced. */
export interface StreamOutcome {
  readonly stream: StreamHead & { readonly body: FunctionStream }
}

/** A task for plugin code from its arrival to its answer. */
export class PendingCall extends PendingTask<FunctionOutcome | StreamOutcome> implements BatchTask {
  readonly name: string
  readonly place: CodePlace | undefined
  readonly deadlineMs: number
  readonly waitMs: number
  /** Time after which the task is abandoned if no thread has begun it; a thread may have to start first. */
  readonly queueMs: number
  /** True if the function is declared as asynchronous, or has turned out to return a stream. */
  isAsync: boolean
  /** Stream of the answer, once its head is known. */
  stream: FunctionStream | undefined

  /**
   * @param limits deadlines of functions that declare none
   * @param conclude handles the outcome of a stream, when all of it has been sent
   */
  constructor(
    readonly task: FunctionTask,
    { name, place, caller, isAsync = false, ...deadlines }: RunOptions,
    limits: { readonly deadlineMs: number; readonly asyncDeadlineMs: number },
    readonly conclude: (outcome: FunctionOutcome) => Promise<unknown>,
  ) {
    const { deadlineMs = limits.deadlineMs, asyncDeadlineMs = limits.asyncDeadlineMs } = deadlines
    const queueMs = Math.max(deadlineMs, limits.deadlineMs)
    super(caller, Date.now() + queueMs)
    this.name = name
    this.place = place
    this.isAsync = isAsync
    this.queueMs = queueMs
    const isUnlimited = isDebugged()
    this.deadlineMs = isUnlimited ? Number.POSITIVE_INFINITY : deadlineMs
    this.waitMs = isUnlimited ? Number.POSITIVE_INFINITY : asyncDeadlineMs
  }
}
