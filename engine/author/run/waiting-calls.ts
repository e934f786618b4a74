import { FunctionErrors } from '../declare/function-errors.ts'
import type { RunningCall } from '../declare/running-call.ts'
import type { WaitingCall } from './call-runner.ts'
import { ALIVE_AT, type FunctionOutcome, RESUMED } from './tasks.ts'

/** Distance between two looks at the deadlines. */
const LOOK_MS = 20

interface Waiting extends WaitingCall {
  /** As of `performance.now`. */
  readonly begunAt: number
}

/** The calls of this thread whose code waits: their deadlines, and the time for which their code runs. */
export class WaitingCalls {
  private readonly calls = new Map<number, Waiting>()
  private timer: NodeJS.Timeout | undefined
  private resumedAt = 0

  /**
   * @param progress words of the thread, see `tasks.ts`
   * @param onEnd called with the outcome of a call, and the time since its begin
   */
  constructor(
    private readonly progress: Int32Array,
    private readonly onEnd: (call: RunningCall, outcome: FunctionOutcome, tookMs: number) => void,
  ) {}

  /** @param ranMs time for which its code has run until it waited */
  add(waiting: WaitingCall, ranMs: number): void {
    const { call } = waiting
    const begunAt = performance.now() - ranMs
    call.ranMs = ranMs
    this.calls.set(call.id, { ...waiting, begunAt })
    this.timer ??= setInterval(() => this.look(), LOOK_MS).unref()
  }

  end(call: RunningCall, outcome: FunctionOutcome): void {
    const { begunAt } = this.calls.get(call.id)!
    this.calls.delete(call.id)
    this.onEnd(call, outcome, performance.now() - begunAt)
  }

  /** The client of a call has gone. Its code learns that, and may go on. */
  gone(id: number): void {
    this.calls.get(id)?.call.abort(new DOMException('the client has gone', 'AbortError'))
  }

  /** @returns false if the call has ended: the error can only be logged */
  fail({ id }: RunningCall, thrown: unknown): boolean {
    const waiting = this.calls.get(id)
    waiting?.stop(thrown)
    return waiting !== undefined
  }

  /** Code of a call goes on. */
  begins(call: RunningCall): void {
    this.resumedAt = performance.now()
    call.begin()
    Atomics.store(this.progress, RESUMED, call.id)
  }

  /** It waits again. */
  ends(call: RunningCall): void {
    call.ranMs += performance.now() - this.resumedAt
    if (call.ranMs > call.deadlineMs) this.stop(call.id, name => FunctionErrors.BUDGET(name, call.deadlineMs / 1000))
  }

  private look(): void {
    // Not with the last call: most last no longer than their turn.
    if (this.calls.size === 0) {
      clearInterval(this.timer)
      this.timer = undefined
    }
    Atomics.store(this.progress, ALIVE_AT, Date.now() | 0)
    Atomics.store(this.progress, RESUMED, 0)
    const now = performance.now()
    for (const { begunAt, call } of this.calls.values()) {
      if (now - begunAt > call.waitMs) this.stop(call.id, name => FunctionErrors.DEADLINE(name, call.waitMs / 1000))
    }
  }

  private stop(id: number, error: (name: string) => Error): void {
    const waiting = this.calls.get(id)
    if (!waiting) return
    waiting.stop(error(waiting.name))
    waiting.call.abort(new DOMException('the deadline of the call has passed', 'TimeoutError'))
  }
}
