import { AsyncLocalStorage } from 'node:async_hooks'
import { isNativeError } from 'node:util/types'
import type { CodePlace } from './code-place.ts'

interface CallTimes {
  /** Maximum time for which the code of the call may run in total. */
  readonly deadlineMs: number
  /** Maximum time until the answer, including waits. */
  readonly waitMs: number
}

/** A task of a function thread from its start to its answer. Meanwhile its code may wait, and the code of other calls may run. */
export class RunningCall implements CallTimes {
  readonly deadlineMs: number
  readonly waitMs: number
  /** Milliseconds for which its code has run. */
  ranMs = 0
  /** Start of the wait for the answer, or for the next part of it, as of `performance.now`. */
  waitsSince = 0
  /** End of the current stretch of its code, in milliseconds since 1970: queries end then. */
  deadlineAt = 0
  /** True if the answer is known: code that still runs cannot access data. */
  hasEnded = false
  /** Number of lines that its code has written to the log. */
  lines = 0
  /** Promises of asynchronous functions that no code waits for, with the stack trace of their start. */
  readonly alone = new Map<Promise<unknown>, { readonly stack?: string }>()
  /** True if the next promise is the one of the called function, for which the server waits. */
  beginsFunction = false
  /** Asynchronous events that its answer waits for. */
  readonly events: {
    readonly place: CodePlace | undefined
    readonly settlement: Promise<PromiseSettledResult<unknown>[]>
  }[] = []
  private controller: AbortController | undefined
  private reason: DOMException | undefined

  /** @param trace id of the trace of its caller */
  constructor(
    readonly id: number,
    { deadlineMs, waitMs }: CallTimes,
    readonly trace?: string,
  ) {
    this.deadlineMs = deadlineMs
    this.waitMs = waitMs
  }

  /** Makes its answer wait for an event. */
  waitFor(event: PromiseLike<unknown>, place: CodePlace | undefined): void {
    this.events.push({ place, settlement: Promise.allSettled([event]) })
  }

  /** Begins a stretch of code that runs without waiting. */
  begin(): void {
    this.deadlineAt = Date.now() + Math.max(1, this.deadlineMs - this.ranMs)
  }

  /** Fires when nothing waits for the answer any longer. Created on first use, because most calls need none. */
  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController()
      if (this.reason) this.controller.abort(this.reason)
    }
    return this.controller.signal
  }

  /** True if code has thrown the reason of its signal, or an error of Node.js with that cause: it has obeyed the signal. */
  isReason(exception: unknown): boolean {
    const { reason } = this
    return reason !== undefined && (exception === reason || (isNativeError(exception) && exception.cause === reason))
  }

  abort(reason: DOMException): void {
    this.reason ??= reason
    this.controller?.abort(this.reason)
  }
}

/** Context of plugin code, which is kept across awaits. */
interface CodeContext {
  /** Undefined for code that runs while modules are loaded. */
  readonly call?: RunningCall
  /** Names of the code. */
  readonly place?: CodePlace
  /** Scope of the data API, which alone knows its type. */
  readonly data?: unknown
  /** `is` is true if the work has failed, so that nothing it still does may have an effect. */
  readonly revoked?: { is: boolean }
}

const contexts = new AsyncLocalStorage<CodeContext>()

/** Context of the running code, even after an await. */
export const codeContext = (): CodeContext | undefined => contexts.getStore()

/** Runs `work` with a changed context, which everything that it starts keeps. */
export const inContext = <T>(changes: CodeContext, work: () => T): T =>
  contexts.run({ ...contexts.getStore(), ...changes }, work)
