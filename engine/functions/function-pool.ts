import { availableParallelism } from 'node:os'
import { type ErrorData, ProtocolError } from '../errors.ts'
import type { ClassDescriptor } from '../language/describe-classes.ts'
import type { Caller } from '../pool/query-pool.ts'
import type { LinkEnd } from '../write/writer-link.ts'
import { Breaker } from './breaker.ts'
import { FunctionErrors } from './function-errors.ts'
import { FunctionLane } from './function-lane.ts'
import { memoryGauge } from './memory-gauge.ts'
import type { BatchTask, FunctionOutcome, FunctionTask, FunctionThreadOptions, ToFunctionThread } from './tasks.ts'

export interface FunctionPoolOptions extends Pick<FunctionThreadOptions, 'modules' | 'dataClasses' | 'memoryBytes'> {
  /** 0: one less than the processor has cores, at least two. */
  readonly threads: number
  /** Calls that may wait for a thread; beyond it they are refused with 503. */
  readonly queueLimit: number
  /** How long a function may run, unless it says otherwise itself. */
  readonly deadlineMs: number
  /** Threads that a function has to end in a row before it is refused for a while. */
  readonly breakerLimit: number
  readonly breakerPauseMs: number
}

export interface RunOptions {
  /** By which the breaker and messages know it: `the function Employee.raise`. */
  readonly name: string
  /** Undefined: that of the pool. */
  readonly deadlineMs?: number | undefined
  /** All these run in one and the same thread, one after the other. */
  readonly isSingleton?: boolean
  readonly caller?: Caller | undefined
}

/** What the store has to do with a thread. */
export interface StoreHooks {
  /** @returns to be called when the thread has ended */
  connectWriter(end: LinkEnd): () => void
  /** A thread has ended, perhaps in the middle of a read. */
  onThreadEnd(): void
}

interface Pending extends BatchTask {
  readonly name: string
  /** When nobody has begun with it after so long it is given up. */
  readonly waitMs: number
  /** Milliseconds since 1970. */
  readonly waitsUntil: number
  resolve(outcome: FunctionOutcome): void
  reject(error: unknown): void
}

/** So many wait together: a thread gets all that has come while it was busy, which halves the cost of a hand-off. */
const MAX_BATCH = 32
const WATCH_MS = 20
const RETRY_AFTER_SECONDS = 1
/** Before a thread that could not load its modules is started again. */
const RESTART_MS = 1_000
/** Threads that were ended but cannot be interrupted. With so many of them no further one is started. */
const MAX_DYING = 4

/** Lanes that share a queue. */
class Group {
  readonly lanes = new Set<FunctionLane>()
  readonly waiting = new Set<Pending>()
  constructor(readonly size: number) {}
}

/**
 * The threads in which code of authors runs, and nothing else does. What ends a thread fails the call that did it; calls
 * that waited behind it are done by another one. Singletons have a thread of their own, which is their state.
 */
export class FunctionPool {
  private readonly functions: Group
  private readonly singletons = new Group(1)
  private readonly open = new Set<Pending>()
  private readonly breaker: Breaker
  private readonly gauge = memoryGauge()
  /** Those of the groups, and those that were ended but are still at something that cannot be interrupted. */
  private readonly alive = new Set<FunctionLane>()
  private store: Extract<ToFunctionThread, { open: unknown }> | undefined
  private hooks: StoreHooks | undefined
  private watchTimer: NodeJS.Timeout | undefined
  private isClosed = false

  constructor(
    private readonly options: FunctionPoolOptions,
    private readonly onInternalError: (text: string) => void,
    now: () => number = Date.now,
  ) {
    this.functions = new Group(options.threads || Math.max(2, availableParallelism() - 1))
    this.breaker = new Breaker({ limit: options.breakerLimit, pauseMs: options.breakerPauseMs, now })
  }

  /**
   * Starts the first thread.
   * @returns the classes of all modules
   * @throws {Error} naming plugin and module that cannot be used
   */
  describe(): Promise<readonly ClassDescriptor[]> {
    return new Promise((resolve, reject) => this.addLane(this.functions, { resolve, reject }))
  }

  /**
   * Gives the threads what they read and write. Calls can be run from now on.
   */
  openStore({ open: { store, limits } }: Extract<ToFunctionThread, { open: unknown }>, hooks: StoreHooks): void {
    const cacheBytes = Math.floor(store.cacheBytes / (this.functions.size + this.singletons.size))
    this.store = { open: { store: { ...store, cacheBytes }, limits } }
    this.hooks = hooks
    for (const lane of this.functions.lanes) lane.open(this.store)
  }

  /** Starts the other threads, which otherwise start when they are needed. */
  warmUp(): void {
    for (let i = this.functions.lanes.size; i < this.functions.size; i++) this.addLane(this.functions)
  }

  /** Of the threads that live. */
  get threadIds(): number[] {
    return [...this.alive].map(lane => lane.threadId)
  }

  /**
   * @throws {ProtocolError} what the task throws as such; {@link FunctionErrors}
   */
  run(task: FunctionTask, { name, deadlineMs = this.options.deadlineMs, isSingleton, caller }: RunOptions) {
    return new Promise<FunctionOutcome>((resolve, reject) => {
      if (this.isClosed) throw FunctionErrors.CLOSED()
      const refusedForMs = this.breaker.refusedForMs(name)
      if (refusedForMs > 0)
        throw later(FunctionErrors.REFUSED(name, Math.ceil(refusedForMs / 1000)), refusedForMs / 1000)
      const group = isSingleton ? this.singletons : this.functions
      if (group.waiting.size >= this.options.queueLimit) throw later(FunctionErrors.BUSY(group.waiting.size))
      // A thread may have to start first.
      const waitMs = Math.max(deadlineMs, this.options.deadlineMs)
      const waitsUntil = Date.now() + waitMs
      const pending: Pending = { task, name, deadlineMs, waitMs, waitsUntil, resolve, reject }
      this.open.add(pending)
      group.waiting.add(pending)
      caller?.onAborted(() => group.waiting.delete(pending) && this.open.delete(pending))
      this.sendNext(group)
      this.watch()
    })
  }

  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.watchTimer)
    for (const pending of this.open) this.fail(pending, FunctionErrors.CLOSED())
    await Promise.all([...this.alive].map(lane => lane.close()))
  }

  private sendNext(group: Group): void {
    for (const lane of group.lanes) {
      if (group.waiting.size === 0) return
      if (!lane.isIdle) continue
      // One for each thread as long as there are threads; what remains goes with the next batch.
      const batch = take(group.waiting, Math.min(MAX_BATCH, Math.ceil(group.waiting.size / group.lanes.size)))
      lane.send(batch)
    }
    if (group.waiting.size > 0 && group.lanes.size < group.size && this.store) this.addLane(group)
  }

  private addLane(
    group: Group,
    first?: { resolve(classes: readonly ClassDescriptor[]): void; reject(error: unknown): void },
  ): void {
    const dying = this.alive.size - this.functions.lanes.size - this.singletons.lanes.size
    if (this.isClosed || dying >= MAX_DYING) return
    let isLoaded = false
    const lane = new FunctionLane({
      ...this.options,
      onLoad: classes => {
        isLoaded = true
        first?.resolve(classes)
      },
      onOutcome: (task, outcome) => {
        const { name } = task as Pending
        if (!this.open.delete(task as Pending)) return
        this.breaker.succeeded(name)
        ;(task as Pending).resolve(outcome)
      },
      onIdle: rest => {
        this.putBack(group, rest)
        this.sendNext(group)
      },
      onNote: text => this.onInternalError(text),
      connectWriter: end => this.hooks!.connectWriter(end),
      measure: threadId => this.gauge.measure(threadId),
      onExit: () => {
        this.alive.delete(lane)
        this.hooks?.onThreadEnd()
        if (isLoaded) this.sendNext(group)
      },
      onEnd: ({ reason, running, isLate, rest }) => {
        group.lanes.delete(lane)
        this.putBack(group, rest)
        if (!isLoaded && first) return first.reject(new Error(reason))
        this.onInternalError(`a function thread ended: ${reason}`)
        if (running) this.lost(running as Pending, reason, isLate)
        if (isLoaded) this.sendNext(group)
        else setTimeout(() => this.sendNext(group), RESTART_MS).unref()
      },
    })
    group.lanes.add(lane)
    this.alive.add(lane)
    if (this.store) lane.open(this.store)
    this.watch()
  }

  private lost(pending: Pending, reason: string, isLate: boolean): void {
    const { name, deadlineMs } = pending
    this.breaker.endedThread(name)
    this.fail(
      pending,
      isLate ? FunctionErrors.DEADLINE(name, deadlineMs / 1000) : FunctionErrors.ENDED_THREAD(name, reason),
    )
  }

  private fail(pending: Pending, error: ProtocolError): void {
    if (this.open.delete(pending)) pending.reject(error)
  }

  /** Those that a thread has given back come before those that have waited for less long. */
  private putBack(group: Group, tasks: readonly BatchTask[]): void {
    if (tasks.length === 0) return
    const others = [...group.waiting]
    group.waiting.clear()
    for (const task of [...tasks, ...others]) group.waiting.add(task as Pending)
  }

  /** Looks after threads while there is something to do. */
  private watch(): void {
    this.watchTimer ??= setTimeout(() => {
      this.watchTimer = undefined
      const now = Date.now()
      for (const group of [this.functions, this.singletons]) {
        const canTakeBack = [...group.lanes].some(lane => lane.isIdle) || group.lanes.size < group.size
        for (const lane of group.lanes) lane.watch(canTakeBack)
        for (const pending of group.waiting) {
          if (pending.waitsUntil > now) continue
          group.waiting.delete(pending)
          this.fail(pending, later(FunctionErrors.NOT_BEGUN(pending.name, pending.waitMs)))
        }
      }
      const isBusy =
        this.open.size > 0 || [...this.functions.lanes, ...this.singletons.lanes].some(lane => !lane.isIdle)
      if (isBusy && !this.isClosed) this.watch()
    }, WATCH_MS)
    // Not unref'd: a thread that loops must not keep a process alive without end either.
  }
}

function take<T>(set: Set<T>, count: number): T[] {
  const taken: T[] = []
  for (const each of set) {
    if (taken.length === count) break
    set.delete(each)
    taken.push(each)
  }
  return taken
}

const later = (error: ProtocolError, seconds = RETRY_AFTER_SECONDS): ProtocolError =>
  new ProtocolError({ ...error.toData(), retryAfterSeconds: Math.ceil(seconds) } satisfies ErrorData)
