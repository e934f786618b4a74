import { Numbered } from '../../base/numbered.ts'
import { FunctionErrors } from '../declare/function-errors.ts'
import type { RunningCall } from '../declare/running-call.ts'
import { ALIVE_AT, type FunctionOutcome, RESUMED } from './tasks.ts'
import type { WaitingTask } from './waiting-task.ts'

/** Interval between two checks of the deadlines. */
const LOOK_MS = 20

/** The calls of this thread whose code waits: their deadlines, and the time for which their code runs. */
export class WaitingCalls {
  private readonly calls = new Numbered<{ readonly task: WaitingTask; readonly begunAt: number }>()
  private timer: NodeJS.Timeout | undefined
  private resumedAt = 0

  /**
   * @param progress words of the thread, see `tasks.ts`
   * @param onEnd called with the outcome of a call, and the time since its start
   */
  constructor(
    private readonly progress: Int32Array,
    private readonly onEnd: (call: RunningCall, outcome: FunctionOutcome, tookMs: number) => void,
  ) {}

  /** @param ranMs time for which its code has run until it waited */
  add(task: WaitingTask, ranMs: number): void {
    const { call } = task
    const begunAt = performance.now() - ranMs
    call.ranMs = ranMs
    call.waitsSince = begunAt
    this.calls.set(call.id, { task, begunAt })
    this.timer ??= setInterval(() => this.look(), LOOK_MS).unref()
  }

  end(call: RunningCall, outcome: FunctionOutcome): void {
    const { begunAt } = this.calls.get(call.id)!
    this.calls.delete(call.id)
    this.onEnd(call, outcome, performance.now() - begunAt)
  }

  /** Called when the client of a call has disconnected. */
  gone(id: number): void {
    this.calls.get(id)?.task.gone()
  }

  /** Called when the client of a call has taken some of its stream. */
  taken(id: number, size: number): void {
    this.calls.get(id)?.task.taken(size)
  }

  /** @returns false if the call has ended: the error can only be logged */
  fail({ id }: RunningCall, exception: unknown): boolean {
    const entry = this.calls.get(id)
    entry?.task.stop(exception)
    return entry !== undefined
  }

  /** Called when code of a call resumes. */
  begins(call: RunningCall): void {
    this.resumedAt = performance.now()
    call.begin()
    Atomics.store(this.progress, RESUMED, call.id)
  }

  /** Called when the code waits again. */
  ends(call: RunningCall): void {
    call.ranMs += performance.now() - this.resumedAt
    if (call.ranMs > call.deadlineMs) this.stop(call.id, name => FunctionErrors.BUDGET(name, call.deadlineMs / 1000))
  }

  private look(): void {
    // Stopped here and not when the last call ends: most calls end within their turn.
    if (this.calls.size === 0) {
      clearInterval(this.timer)
      this.timer = undefined
    }
    Atomics.store(this.progress, ALIVE_AT, Date.now() | 0)
    Atomics.store(this.progress, RESUMED, 0)
    const now = performance.now()
    for (const { task } of this.calls.values()) {
      const { id, waitsSince, waitMs } = task.call
      if (now - waitsSince > waitMs) this.stop(id, name => FunctionErrors.DEADLINE(name, waitMs / 1000))
    }
  }

  private stop(id: number, error: (name: string) => Error): void {
    const { task } = this.calls.get(id) ?? {}
    task?.stop(error(task.name))
    task?.call.abort(new DOMException('the deadline of the call has passed', 'TimeoutError'))
  }
}
