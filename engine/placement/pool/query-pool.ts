import { availableParallelism, getPriority, setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import type { AnswerBody } from '../../answer/answer-body.ts'
import type { ByteBudget } from '../../answer/byte-budget.ts'
import { observe } from '../../base/counts/histogram.ts'
import { COUNT, ownCounts, type ThreadCounts } from '../../base/counts/thread-counts.ts'
import type { SpoolFiles } from '../../answer/spool-files.ts'
import { remove } from '../../base/remove.ts'
import { ProtocolError } from '../../base/errors.ts'
import { type Caller, userOf } from '../../caller/caller.ts'
import { outputUrl } from '../../base/output-root.ts'
import { Suspended } from '../../data/suspended.ts'
import type { Note } from '../../data/store-options.ts'
import { QueryErrors } from '../../query/contract/query-errors.ts'
import type { QueryLimits } from '../../query/contract/query-limits.ts'
import type { ReadStoreOptions } from '../../data/read-store.ts'
import { PoolErrors } from './pool-errors.ts'

import type { PoolMessage, PoolOutcome, PoolTask, PoolThreadOptions } from './messages.ts'
import { isExport, type TaskModule } from '../../query/tasks/task.ts'

export interface PoolOptions {
  /** 0: one less than the number of cores, at least two. */
  threads: number
  /** Maximum number of queries that wait for a thread; further ones are refused with 503. */
  queueLimit: number
  /**
   * Expected cost up to which a query runs in the kernel thread, in milliseconds. 0: every query runs in the pool, and the body of every
   * save is read there.
   */
  inlineCostMs: number
  /** Heap limit of a thread; one that exceeds it ends and is replaced. */
  heapBytes: number
  /** Time for which a query may run after its deadline, or after its caller has disconnected; then its thread is terminated. */
  overrunMs: number
}

export interface PoolEvents {
  onInternalError?: ((text: string) => void) | undefined
  /** Called when a thread has ended unexpectedly. */
  onThreadEnd?: () => void
  /** Called with notes of a thread, for the log. */
  onNote?: Note | undefined
}

/** Module that the threads of a pool run. */
interface ThreadEntry {
  readonly file: string
  readonly role: 'pool' | 'vector' | 'remote'
  /** Further `workerData`. */
  readonly data: object
  /** Number of tasks that a thread works on at a time; {@link TASKS_PER_THREAD} if absent. */
  readonly tasksPerThread?: number
}

/** Module of threads for queries. @param indexStatus undefined: there are no indexes of vectors */
export const queryThread = (indexStatus?: Int32Array, tasks: readonly TaskModule[] = []): ThreadEntry => ({
  file: 'engine/threads/pool-thread.js',
  role: 'pool',
  data: { indexStatus, tasks },
})

/** A task from its arrival to its answer. */
interface Pending<T> {
  readonly task: T
  readonly isExport: boolean
  readonly deadlineAt: number
  readonly caller: Caller | undefined
  /** As of `performance.now`. */
  readonly arrivedAt: number
  /** Set while a thread has it. */
  slot: number | undefined
  /** Timer that terminates its thread; set while a thread has a task that was given up. */
  endTimer?: NodeJS.Timeout
  /** True if an earlier thread that had the task ended for another reason. */
  isRepeated?: boolean
  resolve(body: AnswerBody): void
  reject(error: unknown): void
}

/** Resources that threads making answers share with the rest of the process. */
interface AnswerResources {
  /** Budget of all request bodies and answers. */
  readonly memory: ByteBudget
  readonly spools: SpoolFiles
  readonly exportSpools: SpoolFiles
}

export interface QueryPoolOptions extends PoolOptions {
  readonly store: ReadStoreOptions
  readonly limits: QueryLimits
  readonly events?: PoolEvents
  /** Undefined: {@link queryThread}. */
  readonly entry?: ThreadEntry
  /** True if tasks need the name of their user. */
  readonly needsUser?: boolean
  /** Undefined: the threads make no answers for clients. */
  readonly answers?: AnswerResources
  /** Counters of the pool's own thread. */
  readonly counts?: ThreadCounts
}

/**
 * Number of tasks that a thread holds: the current one and the next, so that it is not idle between them. More would only wait
 * behind a long one while another thread is idle.
 */
const TASKS_PER_THREAD = 2
/** With two cores, the kernel thread needs less than one while these threads have queries. */
const MIN_THREADS = 2
/**
 * Default young generation of Node.js 20. A collection may move all of it to the old generation. If that exceeds the limit by more
 * than the 16 MiB that Node.js adds, the process ends instead of the thread, as it always does with the default of Node.js 24.
 */
const YOUNG_MIB = 48
/**
 * Lower priority, which lets the kernel thread run first if there are more threads than cores. Only on Linux do the threads of a
 * process have separate priorities.
 */
const NICE = process.platform === 'linux' && mayLowerPriority() ? 5 : 0
const RETRY_AFTER_SECONDS = 1
/** Further ones are refused, so that they do not fill the queue for minutes. */
const MAX_WAITING_EXPORTS = 8
const EXPORT_RETRY_SECONDS = 10
/** Maximum time to wait for threads to load, because one that fails never reports it. */
const MAX_LOADING_MS = 60_000
const LOADING_PAUSE_MS = 5

/**
 * Threads that run queries. The queue is here, in front of Piscina's, so that a waiting task can be removed. A task that a thread
 * has is cancelled with a flag in shared memory, because the other task of the thread must continue.
 */
export class QueryPool<T extends object = PoolTask> {
  /** Unanswered tasks, oldest first. */
  private readonly open: Pending<T>[] = []
  /** Unanswered tasks that no thread has. */
  private readonly waiting: Pending<T>[] = []
  private readonly cancelled: Int32Array
  private readonly examined: Uint32Array
  private readonly sent: Uint32Array
  private readonly ranMs: Float64Array
  private readonly held: Int32Array
  /** See `PoolThreadOptions`. */
  private readonly worksAt: Int32Array
  private readonly freeSlots: number[]
  /** Number of exports that threads have. */
  private exports = 0
  /** Started by {@link warmUp} or with the first task. */
  private piscina: Piscina | undefined
  private readonly threads: number
  private readonly tasksPerThread: number
  private readonly loaded = new Int32Array(new SharedArrayBuffer(4))
  /** Number of threads that have ended. */
  private ended = 0
  /** Ids of threads that were terminated because they ran for too long. */
  private readonly stopped = new Set<number>()
  /** True while lost tasks belong to such a thread. */
  private isStopping = false
  private deadlineTimer: NodeJS.Timeout | undefined
  /** Deadline that {@link deadlineTimer} is set for. */
  private watchedUntil = 0
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
    this.tasksPerThread = this.entry.tasksPerThread ?? TASKS_PER_THREAD
    const slots = this.threads * this.tasksPerThread
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
   * @throws {ProtocolError} what the task throws; {@link PoolErrors}; {@link QueryErrors.TIMEOUT}; {@link Suspended}
   */
  run(task: T, caller?: Caller, deadlineAt = Date.now() + this.timeoutOf(isExport(task))): Promise<AnswerBody> {
    if (this.closing) return Promise.reject(PoolErrors.CLOSED())
    if (this.freeSlots.length === 0 && this.waiting.length >= this.options.queueLimit) {
      this.counts[COUNT.poolRefused]!++
      return Promise.reject(PoolErrors.BUSY(this.waiting.length).retryAfter(RETRY_AFTER_SECONDS))
    }
    const waitingExports = isExport(task) ? this.waiting.filter(pending => pending.isExport).length : 0
    if (waitingExports >= MAX_WAITING_EXPORTS)
      return Promise.reject(PoolErrors.EXPORTS(waitingExports).retryAfter(EXPORT_RETRY_SECONDS))
    return new Promise((resolve, reject) => {
      const pending: Pending<T> = {
        task,
        isExport: isExport(task),
        deadlineAt,
        caller,
        arrivedAt: performance.now(),
        slot: undefined,
        resolve,
        reject,
      }
      this.open.push(pending)
      this.waiting.push(pending)
      this.watchDeadline(deadlineAt)
      caller?.onAborted(() => this.giveUp(pending, QueryErrors.CANCELLED()))
      this.sendNext()
    })
  }

  /** Starts the threads, so that the first task does not wait until they have loaded their code. */
  warmUp(): void {
    if (!this.closing) this.piscina ??= this.start()
  }

  /** Refuses waiting tasks, finishes those that the threads have, then stops the threads. */
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
    while (this.freeSlots.length > 0) {
      const next = this.waiting.findIndex(pending => this.mayBegin(pending))
      if (next < 0) return
      const [pending] = this.waiting.splice(next, 1)
      void this.send(pending!, this.freeSlots.pop()!)
    }
  }

  /** An export keeps a thread for seconds: no task is put behind one, and one thread is left for the others. */
  private mayBegin(pending: Pending<T>): boolean {
    // A thread that waits for others goes on with further tasks.
    if (this.entry.tasksPerThread) return this.freeSlots.length > 0
    if (this.exports === 0 && !pending.isExport) return this.freeSlots.length > 0
    if (pending.isExport && this.exports >= Math.max(1, this.threads - 1)) return false
    return this.cancelled.length - this.freeSlots.length < this.threads
  }

  private async send(pending: Pending<T>, slot: number): Promise<void> {
    const { task, deadlineAt, isExport } = pending
    pending.slot = slot
    if (isExport) this.exports++
    Atomics.store(this.cancelled, slot, 0)
    Atomics.store(this.worksAt, slot, 0)
    this.examined[slot] = 0
    this.sent[slot] = 0
    this.ranMs[slot] = 0
    this.piscina ??= this.start()
    const spools = isExport ? this.options.answers?.exportSpools : this.options.answers?.spools
    const spool = spools?.take()
    try {
      const user = this.options.needsUser ? userOf(pending.caller) : undefined
      const message: PoolMessage<T> = { task, deadlineAt, slot, spool, user }
      const { transfer } = task as { transfer?: readonly MessagePort[] }
      const outcome = (await this.piscina.run(message, transfer && { transferList: [...transfer] })) as PoolOutcome
      // Counted even if its caller has disconnected.
      this.count(pending, slot)
      clearTimeout(pending.endTimer)
      this.settle(pending, outcome, spools, spool)
    } catch (error) {
      clearTimeout(pending.endTimer)
      spools?.abandon(spool)
      this.options.answers?.memory.release(1024 * Atomics.exchange(this.held, slot, 0))
      this.threadLost(pending, Atomics.load(this.worksAt, slot), error)
      this.events.onThreadEnd?.()
    }
    this.freeSlots.push(slot)
    if (isExport) this.exports--
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

  /** Number of threads, and of running and waiting tasks. */
  get load(): { threads: number; running: number; waiting: number } {
    const running = this.cancelled.length - this.freeSlots.length
    return { threads: this.threadIds.length, running, waiting: this.waiting.length }
  }

  /** Repeats or fails a task whose thread has ended. @param threadId thread that worked on the task; 0: none had begun it */
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

  /** Terminates the thread that still works on a task that was given up, if any. Its other task is given to another thread. */
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

  /** Outcomes are declared in `engine/placement/pool/messages.ts`. */
  private settle(
    pending: Pending<T>,
    outcome: PoolOutcome,
    spools: SpoolFiles | undefined,
    spool: number | undefined,
  ): void {
    const packed = 'packed' in outcome ? outcome.packed : undefined
    const isSpooled = packed !== undefined && packed.bytes === undefined
    if (!isSpooled) spools?.giveBack(spool)
    if (!this.finish(pending)) {
      if (isSpooled) spools!.source(spool!, packed.size).close()
    } else if (outcome instanceof Uint8Array) pending.resolve(outcome)
    else if ('packed' in outcome) {
      const { coding, bytes, size } = outcome.packed
      pending.resolve({ coding, body: bytes ?? spools!.source(spool!, size) })
    } else if ('suspended' in outcome) pending.reject(new Suspended(outcome.suspended))
    else pending.reject('error' in outcome ? new ProtocolError(outcome.error) : outcome.fault)
  }

  /** Rejects the task. If a thread has it, it stops at the next batch of rows, or the thread is terminated. */
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

  /** @returns false if it has already been answered */
  private finish(pending: Pending<T>): boolean {
    return remove(this.open, pending)
  }

  /** True if no thread has a task, not even one that was given up. */
  private get isIdle(): boolean {
    return this.freeSlots.length === this.cancelled.length
  }

  private idle(): Promise<void> {
    return new Promise(resolve => {
      if (this.isIdle) resolve()
      else this.onIdle = resolve
    })
  }

  /** Waits until all threads have loaded: terminating one that loads lmdb or opens a store would end the process. */
  private async threadsLoaded(): Promise<void> {
    const end = Date.now() + MAX_LOADING_MS
    const started = () => this.ended + this.threadIds.length
    while (Atomics.load(this.loaded, 0) < started() && Date.now() < end) await delay(LOADING_PAUSE_MS)
  }

  /** Gives up tasks at their deadline. Threads check it too, but not while a task waits or in the middle of a large sort. */
  private watchDeadline(deadlineAt: number): void {
    if (this.deadlineTimer && deadlineAt >= this.watchedUntil) return
    clearTimeout(this.deadlineTimer)
    this.watchedUntil = deadlineAt
    this.deadlineTimer = setTimeout(() => {
      this.deadlineTimer = undefined
      const now = Date.now()
      for (const pending of [...this.open]) {
        if (pending.deadlineAt <= now) this.giveUp(pending, QueryErrors.TIMEOUT(this.timeoutOf(pending.isExport)))
      }
      const next = this.open.reduce((least, pending) => Math.min(least, pending.deadlineAt), Number.POSITIVE_INFINITY)
      if (this.open.length > 0) this.watchDeadline(next)
    }, deadlineAt - Date.now())
    this.deadlineTimer.unref()
  }

  private timeoutOf(isExport: boolean): number {
    const { timeoutMs, exportTimeoutMs } = this.options.limits
    return isExport ? exportTimeoutMs : timeoutMs
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
        exportDisk: answers.exportSpools.disk.shared,
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
      concurrentTasksPerWorker: this.tasksPerThread,
      atomics: 'disabled',
      resourceLimits: {
        maxOldGenerationSizeMb: Math.ceil(this.options.heapBytes / 2 ** 20),
        maxYoungGenerationSizeMb: YOUNG_MIB,
      },
      recordTiming: false,
      niceIncrement: NICE,
    })
    piscina.on('workerDestroy', () => this.ended++)
    // A thread ended without a task; otherwise its tasks report it.
    piscina.on('error', error => {
      this.events.onInternalError?.(`a thread of the query pool ended: ${error.stack}`)
      this.events.onThreadEnd?.()
    })
    piscina.on('message', (note: Parameters<Note>) => this.events.onNote?.(...note))
    return piscina
  }
}

/** False in a sandbox that refuses the system call, with which a thread would end. */
function mayLowerPriority(): boolean {
  try {
    setPriority(getPriority())
    return true
  } catch {
    return false
  }
}
