import { availableParallelism } from 'node:os'
import { remove } from '../../base/remove.ts'
import { type ErrorData, ProtocolError } from '../../base/errors.ts'
import type { Caller } from '../../caller/caller.ts'
import { observe } from '../../base/counts/histogram.ts'
import { COUNT, ownCounts, type ThreadCounts } from '../../base/counts/thread-counts.ts'
import type { LinkEnd } from '../../write/contract/link-messages.ts'
import type { CodePlace } from '../declare/running-code.ts'
import type { LoadedClasses } from '../declare/describe-classes.ts'
import { Breaker } from './breaker.ts'
import { isDebugged } from './debugger.ts'
import type { CodeLogLine } from './code-log.ts'
import { FunctionErrors } from '../declare/function-errors.ts'
import { WorkerSlot } from './worker-slot.ts'
import { FunctionStream, type StreamFlow } from './function-stream.ts'
import { memoryGauge } from './memory-gauge.ts'
import {
  type BatchTask,
  type FunctionOutcome,
  type FunctionTask,
  type FunctionThreadOptions,
  jobOf,
  type StreamHead,
  type ToFunctionThread,
} from './tasks.ts'

export interface FunctionPoolOptions
  extends Pick<
    FunctionThreadOptions,
    'modules' | 'tasks' | 'dataClasses' | 'memoryBytes' | 'argumentBounds' | 'logLines'
  > {
  /** 0: one less than the number of cores, at least two. */
  readonly threads: number
  /** Maximum number of calls that wait for a thread; further ones are refused with 503. */
  readonly queueLimit: number
  /** Maximum number of calls of asynchronous functions that have not ended; further ones are refused with 503. */
  readonly asyncLimit: number
  /** Deadline of a function that declares none: time for which code may run. */
  readonly deadlineMs: number
  /** Deadline of an asynchronous function that declares none: time until its answer. */
  readonly asyncDeadlineMs: number
  /** Maximum time for loading the modules. */
  readonly loadMs: number
  /** Number of threads in a row that a function has to end before it is refused. */
  readonly breakerLimit: number
  readonly breakerPauseMs: number
}

export interface RunOptions {
  /** Name for the breaker and in messages: `the function Employee.raise`. */
  readonly name: string
  /** Place for the log. */
  readonly place?: CodePlace | undefined
  /** Time for which its code may run. Undefined: the pool's deadline. */
  readonly deadlineMs?: number | undefined
  /** Time until its answer if its code waits. Undefined: the pool's deadline for asynchronous functions. */
  readonly asyncDeadlineMs?: number | undefined
  /** It is declared as asynchronous. */
  readonly isAsync?: boolean
  /** Handles the outcome of a stream, when all of it has been sent. */
  readonly conclude?: (outcome: FunctionOutcome) => Promise<unknown>
  /** All singleton calls run in one thread. */
  readonly isSingleton?: boolean
  readonly caller?: Caller | undefined
}

/** Callbacks by which a thread uses the store. */
interface StoreHooks {
  /** @returns a function to be called when the thread has ended */
  connect(end: LinkEnd, to: 'writer' | 'remote'): () => void
  /** Called when a thread has ended, perhaps in the middle of a read. */
  onThreadEnd(): void
}

/** An answer that is sent while it is made. */
export interface StreamOutcome {
  readonly stream: StreamHead & { readonly body: FunctionStream }
}

interface Pending extends BatchTask {
  readonly name: string
  readonly place: CodePlace | undefined
  /** Time after which a task that no thread has begun is given up. */
  readonly queueMs: number
  isAsync: boolean
  /** Milliseconds since 1970. */
  readonly waitsUntil: number
  /** As of `performance.now`. */
  readonly arrivedAt: number
  readonly caller: Caller | undefined
  /** True until it is done, failed or given up. */
  isOpen: boolean
  /** Its answer, of which the head is known. */
  stream: FunctionStream | undefined
  readonly conclude: RunOptions['conclude']
  resolve(outcome: FunctionOutcome | StreamOutcome): void
  reject(error: unknown): void
}

/** Maximum number of calls in a batch. Sending calls that wait for a busy thread together halves the hand-off cost. */
const MAX_BATCH = 32
const WATCH_MS = 20
const RETRY_AFTER_SECONDS = 1
/** Delay before a thread that could not load its modules is restarted. */
const RESTART_MS = 1_000
/** Maximum number of terminated threads in work that cannot be interrupted. Beyond it no new one is started. */
const MAX_DYING = 4

/** Slots that share a queue. */
class Group {
  readonly slots = new Set<WorkerSlot>()
  readonly waiting: Pending[] = []
  constructor(readonly size: number) {}

  /** Idle slots, those with the fewest waiting calls first. */
  get idle(): WorkerSlot[] {
    const idle = [...this.slots].filter(slot => slot.isIdle)
    return idle.length > 1 ? idle.sort((a, b) => a.waitingCount - b.waitingCount) : idle
  }
}

/**
 * The threads that run plugin code, and nothing else. When a call ends its thread, that call fails; calls that waited behind it
 * are run by another thread. Singletons have a thread of their own, which holds their state.
 */
export class FunctionPool {
  /** Called with what a running job reports, as JSON. */
  onProgress: ((job: string, progress: string) => void) | undefined
  private readonly functions: Group
  private readonly singletons = new Group(1)
  /** Number of calls that are running or pending. */
  private openCount = 0
  /** Calls of asynchronous functions among them. */
  private asyncCount = 0
  private readonly breaker: Breaker
  private readonly gauge = memoryGauge()
  /** Slots of the groups, and terminated ones still in work that cannot be interrupted. */
  private readonly alive = new Set<WorkerSlot>()
  private store: Extract<ToFunctionThread, { open: unknown }> | undefined
  private hooks: StoreHooks | undefined
  private watchTimer: NodeJS.Timeout | undefined
  private isClosed = false

  constructor(
    private readonly options: FunctionPoolOptions,
    private readonly onLog: (line: CodeLogLine) => void,
    private readonly now: () => number = Date.now,
    /** Counters of the thread of this pool. */
    private readonly counts: ThreadCounts = ownCounts(),
  ) {
    this.functions = new Group(options.threads || Math.max(2, availableParallelism() - 1))
    this.breaker = new Breaker({ limit: options.breakerLimit, pauseMs: options.breakerPauseMs, now })
  }

  /**
   * Starts the first thread.
   * @returns the classes of all modules
   * @throws {Error} with the plugin and the module that cannot be used
   */
  describe(): Promise<LoadedClasses> {
    return new Promise((resolve, reject) => this.addSlot(this.functions, { resolve, reject }))
  }

  /** Opens the store for the threads. Calls can be run from now on. */
  openStore({ open: { store, ...limits } }: Extract<ToFunctionThread, { open: unknown }>, hooks: StoreHooks): void {
    const cacheBytes = Math.floor(store.cacheBytes / (this.functions.size + this.singletons.size))
    this.store = { open: { store: { ...store, cacheBytes }, ...limits } }
    this.hooks = hooks
    for (const slot of this.functions.slots) slot.openStore(this.store)
  }

  /** Starts the other threads, which otherwise start on demand. */
  warmUp(): void {
    for (let i = this.functions.slots.size; i < this.functions.size; i++) this.addSlot(this.functions)
  }

  /**
   * Number of threads; of calls that run, that wait for a thread (`waiting`), and whose code waits (`suspended`); and of functions
   * that the breaker refuses now.
   */
  get load(): { threads: number; running: number; waiting: number; suspended: number; broken: number } {
    const waiting = this.functions.waiting.length + this.singletons.waiting.length
    const suspended = [...this.alive].reduce((sum, slot) => sum + slot.waitingCount, 0)
    const running = Math.max(0, this.openCount - waiting - suspended)
    return { threads: this.alive.size, running, waiting, suspended, broken: this.breaker.openCount }
  }

  /** Ids of the live threads. */
  get threadIds(): number[] {
    return [...this.alive].map(slot => slot.threadId)
  }

  /** @throws {ProtocolError} one that the task throws; {@link FunctionErrors} */
  run(task: FunctionTask, options: RunOptions): Promise<FunctionOutcome | StreamOutcome> {
    const { name, place, deadlineMs = this.options.deadlineMs, isSingleton, isAsync = false, caller } = options
    return new Promise<FunctionOutcome | StreamOutcome>((resolve, reject) => {
      if (this.isClosed) throw FunctionErrors.CLOSED()
      const refusedForMs = this.breaker.refusedForMs(name)
      if (refusedForMs > 0) {
        this.counts[COUNT.functionsBroken]!++
        throw later(FunctionErrors.REFUSED(name, Math.ceil(refusedForMs / 1000)), refusedForMs / 1000)
      }
      const group = isSingleton ? this.singletons : this.functions
      const busy = this.busy(group, isAsync)
      if (busy) {
        this.counts[COUNT.functionsBusy]!++
        throw later(busy)
      }
      // A thread may have to start first.
      const queueMs = Math.max(deadlineMs, this.options.deadlineMs)
      const waitsUntil = Date.now() + queueMs
      const allowed = isDebugged()
        ? { deadlineMs: Number.POSITIVE_INFINITY, waitMs: Number.POSITIVE_INFINITY }
        : { deadlineMs, waitMs: options.asyncDeadlineMs ?? this.options.asyncDeadlineMs }
      const times = { ...allowed, queueMs, waitsUntil, arrivedAt: performance.now() }
      const { conclude } = options
      const state = { isOpen: true, stream: undefined }
      const pending: Pending = { task, name, place, isAsync, ...times, caller, ...state, conclude, resolve, reject }
      this.openCount++
      if (isAsync) this.asyncCount++
      group.waiting.push(pending)
      caller?.onAborted(() => remove(group.waiting, pending) && this.fail(pending, FunctionErrors.CALLER_GONE(name)))
      this.sendNext(group)
      this.watch()
    })
  }

  /** The reason to refuse a call. Those of asynchronous functions leave their thread soon, and have a limit of their own. */
  private busy({ waiting }: Group, isAsync: boolean): ProtocolError | undefined {
    const { queueLimit, asyncLimit } = this.options
    if (isAsync) return this.asyncCount >= asyncLimit ? FunctionErrors.BUSY_WAITING(this.asyncCount) : undefined
    if (waiting.length < queueLimit) return undefined
    const queued = waiting.filter(each => !each.isAsync).length
    return queued >= queueLimit ? FunctionErrors.BUSY(queued) : undefined
  }

  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.watchTimer)
    for (const { waiting, slots } of [this.functions, this.singletons]) {
      const begun = [...slots].flatMap(slot => slot.tasks as readonly Pending[])
      for (const pending of [...begun, ...waiting]) this.fail(pending, FunctionErrors.CLOSED())
    }
    await Promise.all([...this.alive].map(slot => slot.close()))
  }

  private sendNext(group: Group): void {
    for (const slot of group.idle) {
      if (group.waiting.length === 0) return
      // Spread evenly over the threads; the remaining calls are sent with the next batches.
      slot.send(group.waiting.splice(0, Math.min(MAX_BATCH, Math.ceil(group.waiting.length / group.slots.size))))
    }
    if (group.waiting.length > 0 && group.slots.size < group.size && this.store) this.addSlot(group)
  }

  private addSlot(group: Group, first?: { resolve(loaded: LoadedClasses): void; reject(error: unknown): void }): void {
    const dying = this.alive.size - this.functions.slots.size - this.singletons.slots.size
    if (this.isClosed || dying >= MAX_DYING) return
    let isLoaded = false
    const slot = new WorkerSlot({
      ...this.options,
      now: this.now,
      onLoad: loaded => {
        isLoaded = true
        first?.resolve(loaded)
      },
      onOutcome: (task, outcome, ranMs) => {
        const { name } = task as Pending
        this.count(task as Pending, ranMs)
        if (!this.settle(task as Pending)) return
        this.breaker.succeeded(name)
        const { stream, conclude, resolve } = task as Pending
        if (stream) stream.end(conclude!(outcome))
        else resolve(outcome)
      },
      onHead: (task, head, flow) => this.begin(task as Pending, head, flow),
      onChunk: (task, chunk) => (task as Pending).stream?.push(chunk),
      onWaits: (task, gone) => (task as Pending).caller?.onAborted(gone),
      onIdle: rest => {
        this.putBack(group, rest)
        this.sendNext(group)
      },
      onLog: line => this.onLog(line),
      onProgress: (job, progress) => this.onProgress?.(job, progress),
      connect: (end, to) => this.hooks!.connect(end, to),
      measure: threadId => this.gauge.measure(threadId),
      onExit: () => {
        this.alive.delete(slot)
        this.hooks?.onThreadEnd()
        if (isLoaded) this.sendNext(group)
      },
      onEnd: ({ reason, running, isLate, isReading, isCode, waiting, rest }) => {
        group.slots.delete(slot)
        this.putBack(group, rest)
        if (!isLoaded && first) return first.reject(new Error(reason))
        const { name, place, task } = (running ?? {}) as Partial<Pending>
        const text = `a function thread ended${name ? ` in ${name}` : ''}: ${reason}`
        this.onLog({ level: 'error', text, place, job: task && jobOf(task) })
        if (running && isReading)
          this.fail(running as Pending, FunctionErrors.UNREADABLE_ARGUMENTS((running as Pending).name, reason))
        else if (running) this.lost(running as Pending, reason, isLate, isCode)
        for (const pending of waiting as readonly Pending[])
          this.fail(pending, later(FunctionErrors.INTERRUPTED(pending.name, reason)))
        if (isLoaded) this.sendNext(group)
        else setTimeout(() => this.sendNext(group), RESTART_MS).unref()
      },
    })
    group.slots.add(slot)
    this.alive.add(slot)
    if (this.store) slot.openStore(this.store)
    this.watch()
  }

  private count({ arrivedAt, caller }: Pending, ranMs: number): void {
    const waitedMs = Math.max(0, performance.now() - arrivedAt - ranMs)
    observe(this.counts, COUNT.functionWaitTime, waitedMs)
    observe(this.counts, COUNT.functionRunTime, ranMs)
    caller?.ran?.({ where: 'function', waitedMs, ranMs })
  }

  private lost(pending: Pending, reason: string, isLate: boolean, isCode: boolean): void {
    const { name, deadlineMs } = pending
    // Other costs of a task are up to the client, which must not get the function refused for others.
    if (isCode) this.breaker.endedThread(name)
    this.fail(
      pending,
      isLate ? FunctionErrors.DEADLINE(name, deadlineMs / 1000) : FunctionErrors.ENDED_THREAD(name, reason),
    )
  }

  private fail(pending: Pending, error: ProtocolError): void {
    if (!this.settle(pending)) return
    if (pending.stream) pending.stream.end(Promise.reject(error))
    else pending.reject(error)
  }

  private begin(pending: Pending, head: StreamHead, flow: StreamFlow): void {
    if (!pending.isOpen) {
      flow.gone()
      return
    }
    // Also if the function has not declared that it is one.
    if (!pending.isAsync) this.asyncCount++
    pending.isAsync = true
    pending.stream = new FunctionStream(flow)
    pending.resolve({ stream: { ...head, body: pending.stream } })
  }

  /** @returns true if it was open until now */
  private settle(pending: Pending): boolean {
    if (!pending.isOpen) return false
    pending.isOpen = false
    this.openCount--
    if (pending.isAsync) this.asyncCount--
    return true
  }

  /** Puts tasks that a thread returned at the front of the queue: they have waited longest. */
  private putBack(group: Group, tasks: readonly BatchTask[]): void {
    group.waiting.unshift(...(tasks as readonly Pending[]))
  }

  /** Supervises threads while there is work. */
  private watch(): void {
    this.watchTimer ??= setTimeout(() => {
      this.watchTimer = undefined
      const now = Date.now()
      for (const group of [this.functions, this.singletons]) {
        const canTakeBack = [...group.slots].some(slot => slot.isIdle) || group.slots.size < group.size
        for (const slot of group.slots) slot.watch(canTakeBack)
        for (const pending of [...group.waiting]) {
          if (pending.waitsUntil > now || isDebugged()) continue
          remove(group.waiting, pending)
          this.fail(pending, later(FunctionErrors.NOT_BEGUN(pending.name, pending.queueMs)))
        }
      }
      const isBusy =
        this.openCount > 0 || [...this.functions.slots, ...this.singletons.slots].some(slot => !slot.isIdle)
      if (isBusy && !this.isClosed) this.watch()
    }, WATCH_MS)
    // Not unref'd: the timer also has to end a looping thread that would keep the process alive forever.
  }
}

const later = (error: ProtocolError, seconds = RETRY_AFTER_SECONDS): ProtocolError =>
  new ProtocolError({ ...error.toData(), retryAfterSeconds: Math.ceil(seconds) } satisfies ErrorData)
