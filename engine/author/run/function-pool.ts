import { COUNT } from '../../base/counts/thread-counts.ts'
import type { ProtocolError } from '../../base/errors.ts'
import { TaskQueue } from '../../pool/task-queue.ts'
import type { LoadedClasses } from '../declare/describe-classes.ts'
import { FunctionErrors } from '../declare/function-errors.ts'
import { isDebugged } from './debugger.ts'
import type { FunctionPoolOptions } from './function-options.ts'
import { FunctionStream, type StreamFlow } from './function-stream.ts'
import { PendingCall, type RunOptions, type StreamOutcome } from './pending-call.ts'
import { type FunctionOutcome, type FunctionTask, jobOf, type StreamHead } from './tasks.ts'
import { type FunctionState, type OpenStore, type SlotEnd, type SlotOwner, WorkerSlot } from './worker-slot.ts'

/** Maximum number of calls in a batch. Sending calls that wait for a busy thread together halves the hand-off cost. */
const MAX_BATCH = 32
const WATCH_MS = 20
const RETRY_AFTER_SECONDS = 1
/** Delay before a thread that could not load its modules is restarted. */
const RESTART_MS = 1_000
/** Maximum number of terminated threads in work that cannot be interrupted. Beyond it no new one is started. */
const MAX_DYING = 4

/**
 * Threads that run only plugin code. When a call ends its thread, that call fails; calls that waited for the same thread are run by another
 * one.
 */
export class FunctionPool extends TaskQueue<FunctionOutcome | StreamOutcome, PendingCall> implements SlotOwner {
  private readonly slots = new Set<WorkerSlot>()
  private watchTimer: NodeJS.Timeout | undefined
  /** Set until the first thread has loaded the classes. */
  private describing: { resolve(loadedClasses: LoadedClasses): void; reject(error: unknown): void } | undefined

  constructor(
    private readonly options: FunctionPoolOptions,
    private readonly size: number,
    private readonly state: FunctionState,
  ) {
    super('function', state.counts)
  }

  /** Starts the first thread. @returns the classes of all modules */
  describe(): Promise<LoadedClasses> {
    return new Promise((resolve, reject) => {
      this.describing = { resolve, reject }
      this.addSlot()
    })
  }

  openStore(store: OpenStore): void {
    for (const slot of this.slots) slot.openStore(store)
  }

  /** Starts the other threads, which otherwise start on demand. */
  warmUp(): void {
    for (let i = this.slots.size; i < this.size; i++) this.addSlot()
  }

  /** Number of unanswered calls, and of those that wait for a thread. */
  get load(): { open: number; waiting: number } {
    return { open: this.openCount, waiting: this.waitingTasks.length }
  }

  /**
   * @param conclude handles the outcome of a stream, when all of it has been sent
   * @throws {ProtocolError} one that the task throws; {@link FunctionErrors}
   */
  run(
    task: FunctionTask,
    options: RunOptions,
    conclude: (outcome: FunctionOutcome) => Promise<unknown>,
  ): Promise<FunctionOutcome | StreamOutcome> {
    const refusal = this.refusal(options)
    if (refusal) return Promise.reject(refusal)
    const call = new PendingCall(task, options, this.options, conclude)
    if (call.isAsync) this.state.asyncCount++
    const answer = this.enter(call)
    this.watch()
    return answer
  }

  private refusal({ name, isAsync = false }: RunOptions): ProtocolError | undefined {
    if (this.isClosed) return FunctionErrors.CLOSED()
    const refusedForMs = this.state.breaker.refusedForMs(name)
    if (refusedForMs > 0) {
      this.counts[COUNT.functionsBroken]!++
      const seconds = Math.ceil(refusedForMs / 1000)
      return FunctionErrors.REFUSED(name, seconds).retryAfter(seconds)
    }
    const busy = this.busy(isAsync)
    if (busy) this.counts[COUNT.functionsBusy]!++
    return busy?.retryAfter(RETRY_AFTER_SECONDS)
  }

  /** The reason to refuse a call. Calls of asynchronous functions leave their thread soon, and have a separate limit. */
  private busy(isAsync: boolean): ProtocolError | undefined {
    const { queueLimit, asyncLimit } = this.options
    const { asyncCount } = this.state
    if (isAsync) return asyncCount >= asyncLimit ? FunctionErrors.BUSY_WAITING(asyncCount) : undefined
    if (this.waitingTasks.length < queueLimit) return undefined
    const queueLength = this.waitingTasks.filter(call => !call.isAsync).length
    return queueLength >= queueLimit ? FunctionErrors.BUSY(queueLength) : undefined
  }

  /** Fails all calls. The threads must be closed afterwards. */
  close(): void {
    clearTimeout(this.watchTimer)
    for (const slot of this.slots) for (const call of slot.calls) this.fail(call, FunctionErrors.CLOSED())
    this.refuse(FunctionErrors.CLOSED)
  }

  protected override sendNext(): void {
    const { waitingTasks: waiting, slots } = this
    for (const slot of this.idle()) {
      if (waiting.length === 0) return
      // Spread evenly over the threads; the remaining calls are sent with the next batches.
      slot.send(waiting.splice(0, Math.min(MAX_BATCH, Math.ceil(waiting.length / slots.size))))
    }
    if (waiting.length > 0 && slots.size < this.size && this.state.store) this.addSlot()
  }

  /** Idle slots, those with the fewest waiting calls first. */
  private idle(): WorkerSlot[] {
    const idle = [...this.slots].filter(slot => slot.isIdle)
    return idle.length > 1 ? idle.sort((a, b) => a.waitingCount - b.waitingCount) : idle
  }

  private addSlot(): void {
    const { alive, store } = this.state
    const dying = [...alive].filter(({ hasEnded }) => hasEnded).length
    if (this.isClosed || dying >= MAX_DYING) return
    const slot = new WorkerSlot(this.options, this.state, this)
    this.slots.add(slot)
    alive.add(slot)
    if (store) slot.openStore(store)
    this.watch()
  }

  onLoad(classes: LoadedClasses): void {
    this.describing?.resolve(classes)
    this.describing = undefined
  }

  onIdle(calls: readonly PendingCall[]): void {
    // These calls have waited longest.
    this.waitingTasks.unshift(...calls)
    this.sendNext()
  }

  onAnswer(call: PendingCall, outcome: FunctionOutcome, ranMs: number): void {
    this.count(call, ranMs)
    if (!this.settle(call)) return
    this.state.breaker.succeeded(call.name)
    if (call.stream) call.stream.end(call.conclude(outcome))
    else call.resolve(outcome)
  }

  onStream(call: PendingCall, head: StreamHead, flow: StreamFlow): void {
    if (!call.isOpen) {
      flow.gone()
      return
    }
    // Applies even if the function is not declared asynchronous.
    if (!call.isAsync) this.state.asyncCount++
    call.isAsync = true
    call.stream = new FunctionStream(flow)
    call.resolve({ stream: { ...head, body: call.stream } })
  }

  onEnd(slot: WorkerSlot, { reason, runningCall, isCode, failures, unbegunCalls }: SlotEnd): void {
    this.slots.delete(slot)
    this.waitingTasks.unshift(...unbegunCalls)
    if (this.describing) {
      this.describing.reject(new Error(reason))
      return
    }
    const { name, place, task } = runningCall ?? {}
    const text = `a function thread ended${name ? ` in ${name}` : ''}: ${reason}`
    this.state.onLog({ level: 'error', text, place, job: task && jobOf(task) })
    // A client determines the other costs of a task, and must not be able to get the function refused for other clients.
    if (runningCall && isCode) this.state.breaker.endedThread(runningCall.name)
    for (const [call, error] of failures) this.fail(call, error)
    if (slot.isLoaded) this.sendNext()
    else setTimeout(() => this.sendNext(), RESTART_MS).unref()
  }

  onExit(slot: WorkerSlot): void {
    this.state.alive.delete(slot)
    this.state.hooks?.onThreadEnd()
    if (slot.isLoaded) this.sendNext()
  }

  protected override callerGone({ name }: PendingCall): ProtocolError {
    return FunctionErrors.CALLER_GONE(name)
  }

  protected override late({ name, queueMs }: PendingCall): ProtocolError | undefined {
    return isDebugged() ? undefined : FunctionErrors.NOT_BEGUN(name, queueMs).retryAfter(RETRY_AFTER_SECONDS)
  }

  protected override fail(call: PendingCall, error: unknown): void {
    if (call.stream && this.settle(call)) call.stream.end(Promise.reject(error))
    else super.fail(call, error)
  }

  protected override settle(call: PendingCall): boolean {
    if (!super.settle(call)) return false
    if (call.isAsync) this.state.asyncCount--
    return true
  }

  /** Supervises threads while there is work. */
  private watch(): void {
    this.watchTimer ??= setTimeout(() => {
      this.watchTimer = undefined
      const { slots } = this
      const canTakeBack = slots.size < this.size || this.idle().length > 0
      for (const slot of slots) slot.watch(canTakeBack)
      const isBusy = this.openCount > 0 || [...slots].some(slot => !slot.isIdle)
      if (isBusy && !this.isClosed) this.watch()
    }, WATCH_MS)
    // Not unref'd: the timer also has to end a looping thread that would keep the process alive forever.
  }
}
