import { availableParallelism, getPriority, setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import type { AnswerBody } from '../answer/answer-body.ts'
import type { ByteBudget } from '../answer/byte-budget.ts'
import { observe } from '../base/counts/histogram.ts'
import { COUNT, ownCounts, type ThreadCounts } from '../base/counts/thread-counts.ts'
import type { SpoolFiles } from '../answer/spool-files.ts'
import { remove } from '../base/remove.ts'
import { ProtocolError } from '../base/errors.ts'
import type { Caller } from '../caller/caller.ts'
import { outputUrl } from '../base/output-root.ts'
import { RequiresPluginCode } from '../data/requires-plugin-code.ts'
import { QueryErrors } from '../query/contract/query-errors.ts'
import type { QueryLimits } from '../query/contract/query-limits.ts'
import type { ReadStoreOptions } from '../data/read-store.ts'
import { PoolErrors } from './pool-errors.ts'
import { SearchNeeded } from '../vector/index/searched-indexes.ts'
import type { PoolMessage, PoolOutcome, PoolTask, PoolThreadOptions, TaskModule } from './tasks.ts'

export interface PoolOptions {
  /** 0: one less than the processor has cores, at least one. */
  threads: number
  /** Queries that may wait for a thread; beyond it they are refused with 503. */
  queueLimit: number
  /** Expected cost up to which a query is not worth a thread of the pool, in milliseconds. 0: everything goes there. */
  inlineCostMs: number
  /** Heap of one thread. One that needs more ends, and is replaced. */
  heapBytes: number
  /** Time for which a query may go on after its deadline, or after its caller has gone; then its thread is ended. */
  overrunMs: number
}

export interface PoolEvents {
  onInternalError?: ((text: string) => void) | undefined
  /** A thread has ended by itself. */
  onThreadEnd?: () => void
  /** Called with notes of a thread, for the log. */
  onNote?: ((text: string) => void) | undefined
}

/** Module that the threads of a pool run. */
interface ThreadEntry {
  readonly file: string
  readonly role: 'pool' | 'vector'
  /** More of their `workerData`. */
  readonly data: object
}

/** @param indexStatus undefined: there are no indexes of vectors */
export const queryThread = (indexStatus?: Int32Array, tasks: readonly TaskModule[] = []): ThreadEntry => ({
  file: 'engine/threads/pool-thread.js',
  role: 'pool',
  data: { indexStatus, tasks },
})

/** A task from its arrival to its answer. */
interface Pending<T> {
  readonly task: T
  readonly deadlineAt: number
  readonly caller: Caller | undefined
  /** By `performance.now`. */
  readonly arrivedAt: number
  /** Set while a thread has it. */
  slot: number | undefined
  /** Ends its thread. Set while a thread has it although its caller has gone. */
  endTimer?: NodeJS.Timeout
  /** A thread that had it before has ended for another reason. */
  isRepeated?: boolean
  resolve(body: AnswerBody): void
  reject(error: unknown): void
}

/** Resources that threads making answers share with the rest of the process. */
interface AnswerResources {
  /** Budget of all request bodies and answers. */
  readonly memory: ByteBudget
  readonly spools: SpoolFiles
}

export interface QueryPoolOptions extends PoolOptions {
  readonly store: ReadStoreOptions
  readonly limits: QueryLimits
  readonly events?: PoolEvents
  /** Undefined: that of threads for queries. */
  readonly entry?: ThreadEntry
  /** Undefined: nothing that the threads do is an answer for a client. */
  readonly answers?: AnswerResources
  /** Counters of the thread that this belongs to. */
  readonly counts?: ThreadCounts
}

/**
 * Tasks that a thread has at a time: the one that it works on and the next, so that it does not stand still between
 * them. More would only wait behind a long one while another thread is idle.
 */
const TASKS_PER_THREAD = 2
/** With two cores the kernel thread needs less than one while there are queries for these threads. */
const MIN_THREADS = 2
/**
 * The default of Node.js 20. One that is collected may move to the old generation as a whole, and what is beyond the limit then by
 * more than the 16 MiB that Node.js adds ends the process in place of the thread: with the default of Node.js 24 each time.
 */
const YOUNG_MIB = 48
/**
 * Lets the kernel thread go first where there are more threads than cores. Elsewhere all threads of a process have one
 * priority.
 */
const NICE = process.platform === 'linux' && mayLowerPriority() ? 5 : 0
const RETRY_AFTER_SECONDS = 1
/** One that fails while it loads is not waited for. */
const MAX_LOADING_MS = 60_000
const LOADING_PAUSE_MS = 5

/**
 * Threads that work on queries. The queue is here, in front of Piscina's: a task that waits can be taken away, and one
 * that a thread has is cancelled by a flag in shared memory, for the other tasks of the thread must go on.
 */
export class QueryPool<T = PoolTask> {
  /** Not answered yet, the oldest first: about the order of their deadlines. The thread looks at these too. */
  private readonly open: Pending<T>[] = []
  /** Tasks among them that no thread has. */
  private readonly waiting: Pending<T>[] = []
  private readonly cancelled: Int32Array
  private readonly examined: Uint32Array
  private readonly sent: Uint32Array
  private readonly ranMs: Float64Array
  private readonly held: Int32Array
  /** See `PoolThreadOptions`. */
  private readonly worksAt: Int32Array
  private readonly freeSlots: number[]
  /** Started with the first task, unless by {@link warmUp}. */
  private piscina: Piscina | undefined
  private readonly threads: number
  private readonly loaded = new Int32Array(new SharedArrayBuffer(4))
  /** How many threads have ended. */
  private ended = 0
  /** Ids of those that were ended because they went on for too long. */
  private readonly stopped = new Set<number>()
  /** Tasks that are lost now are those of such a thread. */
  private isStopping = false
  private deadlineTimer: NodeJS.Timeout | undefined
  private closing: Promise<void> | undefined
  private onIdle: (() => void) | undefined

  private readonly events: PoolEvents
  private readonly entry: ThreadEntry
  private readonly counts: ThreadCounts

  constructor(private readonly options: QueryPoolOptions) {
    this.events = options.events ?? {}
    this.entry = options.entry ?? queryThread()
    this.counts = options.counts ?? ownCounts()
    this.threads = options.threads || Math.max(MIN_THREADS, availableParallelism() - 1)
    const slots = this.threads * TASKS_PER_THREAD
    this.cancelled = new Int32Array(new SharedArrayBuffer(4 * slots))
    this.examined = new Uint32Array(new SharedArrayBuffer(4 * slots))
    this.sent = new Uint32Array(new SharedArrayBuffer(4 * slots))
    this.ranMs = new Float64Array(new SharedArrayBuffer(8 * slots))
    this.held = new Int32Array(new SharedArrayBuffer(4 * slots))
    this.worksAt = new Int32Array(new SharedArrayBuffer(4 * slots))
    this.freeSlots = Array.from({ length: slots }, (_, slot) => slot)
  }

  /**
   * @returns the answer, owned by the caller
   * @throws {ProtocolError} what the task throws; {@link PoolErrors}; {@link QueryErrors.TIMEOUT}; {@link RequiresPluginCode};
   * {@link SearchNeeded}
   */
  run(task: T, caller?: Caller, deadlineAt = Date.now() + this.options.limits.timeoutMs): Promise<AnswerBody> {
    if (this.closing) return Promise.reject(PoolErrors.CLOSED())
    if (this.freeSlots.length === 0 && this.waiting.length >= this.options.queueLimit) {
      this.counts[COUNT.poolRefused]!++
      return Promise.reject(PoolErrors.BUSY(this.waiting.length).retryAfter(RETRY_AFTER_SECONDS))
    }
    return new Promise((resolve, reject) => {
      const pending: Pending<T> = {
        task,
        deadlineAt,
        caller,
        arrivedAt: performance.now(),
        slot: undefined,
        resolve,
        reject,
      }
      this.open.push(pending)
      this.waiting.push(pending)
      this.watchDeadlines()
      caller?.onAborted(() => this.giveUp(pending, QueryErrors.CANCELLED()))
      this.sendNext()
    })
  }

  /** Starts the threads, so that the first task does not wait for them to load their code. */
  warmUp(): void {
    if (!this.closing) this.piscina ??= this.start()
  }

  /** Refuses what waits, finishes what the threads have, then stops them. */
  close(): Promise<void> {
    this.closing ??= (async () => {
      for (const pending of [...this.waiting]) this.giveUp(pending, PoolErrors.CLOSED())
      await this.idle()
      clearTimeout(this.deadlineTimer)
      await this.threadsLoaded()
      await this.piscina?.destroy()
    })()
    return this.closing
  }

  private sendNext(): void {
    while (this.waiting.length > 0 && this.freeSlots.length > 0) this.send(this.waiting.shift()!, this.freeSlots.pop()!)
  }

  private async send(pending: Pending<T>, slot: number): Promise<void> {
    const { task, deadlineAt } = pending
    pending.slot = slot
    Atomics.store(this.cancelled, slot, 0)
    Atomics.store(this.worksAt, slot, 0)
    this.examined[slot] = 0
    this.sent[slot] = 0
    this.ranMs[slot] = 0
    this.piscina ??= this.start()
    const spool = this.options.answers?.spools.take()
    try {
      const message: PoolMessage<T> = { task, deadlineAt, slot, spool }
      const outcome = (await this.piscina.run(message)) as PoolOutcome
      // Counted also when its caller has gone.
      this.count(pending, slot)
      clearTimeout(pending.endTimer)
      this.settle(pending, outcome, spool)
    } catch (error) {
      clearTimeout(pending.endTimer)
      this.options.answers?.spools.abandon(spool)
      this.options.answers?.memory.release(1024 * Atomics.exchange(this.held, slot, 0))
      this.threadLost(pending, Atomics.load(this.worksAt, slot), error)
      this.events.onThreadEnd?.()
    }
    this.freeSlots.push(slot)
    this.sendNext()
    if (this.isIdle) this.onIdle?.()
  }

  private count({ caller, arrivedAt }: Pending<T>, slot: number): void {
    const ranMs = this.ranMs[slot]!
    const waitedMs = Math.max(0, performance.now() - arrivedAt - ranMs)
    observe(this.counts, COUNT.poolWaitTime, waitedMs)
    observe(this.counts, COUNT.poolRunTime, ranMs)
    caller?.examined?.(this.examined[slot]!)
    if (this.sent[slot]! > 0) caller?.sent?.(this.sent[slot]!)
    caller?.ran?.({ where: this.entry.role, waitedMs, ranMs })
  }

  /** Threads, and tasks that are with them or wait. */
  get load(): { threads: number; running: number; waiting: number } {
    const running = this.cancelled.length - this.freeSlots.length
    return { threads: this.threadIds.length, running, waiting: this.waiting.length }
  }

  /** @param threadId of the thread that was at it; 0: none had begun */
  private threadLost(pending: Pending<T>, threadId: number, error: unknown): void {
    const isStopped = this.stopped.has(threadId)
    if (!isStopped && !this.isStopping) {
      const reason = error instanceof Error ? error.stack : error
      this.events.onInternalError?.(`a thread of the query pool ended: ${reason}`)
    }
    const isInnocent = threadId === 0 || isStopped
    if (this.open.includes(pending) && isInnocent && !pending.isRepeated && !this.closing) {
      pending.slot = undefined
      pending.isRepeated = true
      this.waiting.push(pending)
    } else if (this.finish(pending)) pending.reject(PoolErrors.THREAD_LOST())
  }

  /** Ends the thread that is at a task whose caller has gone, if one is. Its other tasks go to another one. */
  private stop(slot: number): void {
    const id = Atomics.load(this.worksAt, slot)
    const thread = this.piscina?.threads.find(({ threadId }) => threadId === id)
    if (!thread) return
    this.stopped.add(id)
    const seconds = this.options.overrunMs / 1000
    this.events.onInternalError?.(
      `a thread of the query pool is ended: its query went on for ${seconds} s after its time was over, or its client had gone`,
    )
    thread.prependOnceListener('exit', () => {
      this.isStopping = true
      setImmediate(() => {
        this.isStopping = false
      })
    })
    void thread.terminate()
  }

  /** Ids of the live threads. */
  get threadIds(): number[] {
    return this.piscina?.threads.map(thread => thread.threadId) ?? []
  }

  /** Outcomes are declared in `engine/placement/tasks.ts`. */
  private settle(pending: Pending<T>, outcome: PoolOutcome, spool: number | undefined): void {
    const packed = 'packed' in outcome ? outcome.packed : undefined
    const isSpooled = packed !== undefined && packed.bytes === undefined
    if (!isSpooled) this.options.answers?.spools.giveBack(spool)
    if (!this.finish(pending)) {
      if (isSpooled) this.options.answers!.spools.source(spool!, packed.size).close()
    } else if (outcome instanceof Uint8Array) pending.resolve(outcome)
    else if ('packed' in outcome) {
      const { coding, bytes, size } = outcome.packed
      pending.resolve({ coding, body: bytes ?? this.options.answers!.spools.source(spool!, size) })
    } else if ('requiresPluginCode' in outcome) pending.reject(new RequiresPluginCode())
    else if ('searchNeeded' in outcome) pending.reject(new SearchNeeded(outcome.searchNeeded))
    else pending.reject('error' in outcome ? new ProtocolError(outcome.error) : outcome.fault)
  }

  /** Rejects the task; a thread that has it ends at the next batch of rows, or with the thread. */
  private giveUp(pending: Pending<T>, error: ProtocolError): void {
    if (!this.finish(pending)) return
    remove(this.waiting, pending)
    const { slot } = pending
    if (slot !== undefined) {
      Atomics.store(this.cancelled, slot, 1)
      pending.endTimer = setTimeout(() => this.stop(slot), this.options.overrunMs)
      pending.endTimer.unref()
    }
    pending.reject(error)
  }

  /** @returns false when it was answered before */
  private finish(pending: Pending<T>): boolean {
    return remove(this.open, pending)
  }

  /** No thread has a task, not even one that was given up. */
  private get isIdle(): boolean {
    return this.freeSlots.length === this.cancelled.length
  }

  private idle(): Promise<void> {
    return new Promise(resolve => {
      if (this.isIdle) resolve()
      else this.onIdle = resolve
    })
  }

  /** A thread that is ended while it loads lmdb, or opens a store, takes the process with it. */
  private async threadsLoaded(): Promise<void> {
    const end = Date.now() + MAX_LOADING_MS
    const started = () => this.ended + this.threadIds.length
    while (Atomics.load(this.loaded, 0) < started() && Date.now() < end) await delay(LOADING_PAUSE_MS)
  }

  /** The thread looks at the deadline too, but not while a task waits, nor in the middle of a large sort. */
  private watchDeadlines(): void {
    const [oldest] = this.open
    if (this.deadlineTimer || !oldest) return
    this.deadlineTimer = setTimeout(() => {
      this.deadlineTimer = undefined
      const now = Date.now()
      for (const pending of [...this.open]) {
        if (pending.deadlineAt > now) break
        this.giveUp(pending, QueryErrors.TIMEOUT(this.options.limits.timeoutMs))
      }
      this.watchDeadlines()
    }, oldest.deadlineAt - Date.now())
    this.deadlineTimer.unref()
  }

  private start(): Piscina {
    const { store, limits, answers } = this.options
    const workerData: Omit<PoolThreadOptions, 'indexStatus' | 'tasks'> = {
      store: { ...store, cacheBytes: Math.floor(store.cacheBytes / this.threads) },
      limits,
      cancelled: this.cancelled,
      worksAt: this.worksAt,
      examined: this.examined,
      sent: this.sent,
      ranMs: this.ranMs,
      answers: answers && {
        memory: answers.memory.shared,
        disk: answers.spools.disk.shared,
        held: this.held,
      },
      loaded: this.loaded,
      ...this.entry.data,
    }
    const piscina = new Piscina({
      filename: fileURLToPath(outputUrl(this.entry.file)),
      workerData,
      minThreads: this.threads,
      maxThreads: this.threads,
      concurrentTasksPerWorker: TASKS_PER_THREAD,
      atomics: 'disabled',
      resourceLimits: {
        maxOldGenerationSizeMb: Math.ceil(this.options.heapBytes / 2 ** 20),
        maxYoungGenerationSizeMb: YOUNG_MIB,
      },
      recordTiming: false,
      niceIncrement: NICE,
    })
    piscina.on('workerDestroy', () => this.ended++)
    // A thread that ends without a task at hand; the others report it by their tasks.
    piscina.on('error', error => {
      this.events.onInternalError?.(`a thread of the query pool ended: ${error.stack}`)
      this.events.onThreadEnd?.()
    })
    piscina.on('message', (text: string) => this.events.onNote?.(text))
    return piscina
  }
}

/** False in a sandbox that refuses the system call: a thread that makes it would end. */
function mayLowerPriority(): boolean {
  try {
    setPriority(getPriority())
    return true
  } catch {
    return false
  }
}
