import { setTimeout as delay } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import type { Piscina } from 'piscina'
import type { AnswerBody } from '../../answer/answer-body.ts'
import type { ByteBudget } from '../../answer/byte-budget.ts'
import type { SpoolFiles } from '../../answer/spool-files.ts'
import { COUNT, ownCounts, type ThreadCounts } from '../../base/counts/thread-counts.ts'
import { ProtocolError } from '../../base/errors.ts'
import { type Caller, userOf } from '../../caller/caller.ts'
import type { ReadStoreOptions } from '../../data/read-store.ts'
import type { Note } from '../../data/store-options.ts'
import { Suspended } from '../../data/suspended.ts'
import { PendingTask, TaskQueue, threadCount } from '../../pool/task-queue.ts'
import { QueryErrors } from '../../query/contract/query-errors.ts'
import type { QueryLimits } from '../../query/contract/query-limits.ts'
import { isExport, type TaskModule } from '../../query/tasks/task.ts'
import type { PoolMessage, PoolOutcome, PoolTask, PoolThreadOptions } from './messages.ts'
import { PoolErrors } from './pool-errors.ts'
import { slotWords } from './slot-words.ts'
import { startThreads } from './start-threads.ts'

export interface PoolOptions {
  /** Number of threads; 0: one less than the number of cores, at least two. */
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

/** A query from its arrival to its answer. */
class PendingQuery<T extends object> extends PendingTask<AnswerBody> {
  readonly isExport: boolean
  /** Slot of the query, set while a thread has it. */
  slot: number | undefined
  /** Timer that terminates the thread of the query; set while a thread is running a query that was abandoned. */
  endTimer: NodeJS.Timeout | undefined
  /** True if an earlier thread that had the query ended for another reason. */
  isRepeated = false

  constructor(
    readonly task: T,
    caller: Caller | undefined,
    deadlineAt: number,
  ) {
    super(caller, deadlineAt)
    this.isExport = isExport(task)
  }
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
  /** Undefined if the threads do not create answers for clients. */
  readonly answers?: AnswerResources
  /** Counters of the pool's own thread. */
  readonly counts?: ThreadCounts
}

/**
 * Number of tasks that a thread holds: the current one and the next, so that it is not idle between them. Further tasks would only wait for
 * a long one while another thread is idle.
 */
const TASKS_PER_THREAD = 2
const RETRY_AFTER_SECONDS = 1
/** Maximum number of waiting exports. Further exports are refused, so that they do not fill the queue for minutes. */
const MAX_WAITING_EXPORTS = 8
const EXPORT_RETRY_SECONDS = 10
/** Maximum time to wait for threads to load, because one that fails never reports it. */
const MAX_LOADING_MS = 60_000
/** Time between two checks of the threads while the pool closes. */
const PAUSE_MS = 5

/**
 * Threads that run queries. The queue is here, in front of Piscina's, so that a waiting query can be removed. A query that a thread is
 * running is cancelled with a flag in shared memory, because the other query of the thread must continue.
 */
export class QueryPool<T extends object = PoolTask> extends TaskQueue<AnswerBody, PendingQuery<T>> {
  private readonly threads: number
  private readonly tasksPerThread: number
  /** Queries that threads are running, and free slots for more of them. */
  private readonly begunQueries: (PendingQuery<T> | undefined)[]
  private readonly freeSlots: number[]
  /** Number of exports that threads are running. */
  private exports = 0
  private readonly words: ReturnType<typeof slotWords>
  /** See `PoolThreadOptions`. */
  private readonly heldMemory: Int32Array
  private readonly loadedCount = new Int32Array(new SharedArrayBuffer(4))
  private piscina: Piscina | undefined
  /** Number of threads that have ended. */
  private endedCount = 0
  /** Ids of threads that were terminated because of their query. */
  private readonly stoppedThreads = new Set<number>()
  /** True while Piscina reports the tasks of a terminated thread. */
  private isStopping = false
  private closing: Promise<void> | undefined
  private readonly events: PoolEvents
  private readonly entry: ThreadEntry

  constructor(private readonly options: QueryPoolOptions) {
    const entry = options.entry ?? queryThread()
    super(entry.role, options.counts ?? ownCounts())
    this.entry = entry
    this.events = options.events ?? {}
    this.threads = threadCount(options.threads)
    this.tasksPerThread = entry.tasksPerThread ?? TASKS_PER_THREAD
    const slots = this.threads * this.tasksPerThread
    this.words = slotWords(slots)
    this.heldMemory = new Int32Array(new SharedArrayBuffer(4 * slots))
    this.begunQueries = Array.from({ length: slots }, () => undefined)
    this.freeSlots = Array.from({ length: slots }, (_, slot) => slot)
  }

  /**
   * @returns the answer, owned by the caller
   * @throws {ProtocolError} what the task throws; {@link PoolErrors}; {@link QueryErrors.TIMEOUT}; {@link Suspended}
   */
  run(task: T, caller?: Caller, deadlineAt = Date.now() + this.timeoutOf(isExport(task))): Promise<AnswerBody> {
    if (this.isClosed) return Promise.reject(PoolErrors.CLOSED())
    if (this.freeSlots.length === 0 && this.waitingTasks.length >= this.options.queueLimit) {
      this.counts[COUNT.poolRefused]!++
      return Promise.reject(PoolErrors.BUSY(this.waitingTasks.length).retryAfter(RETRY_AFTER_SECONDS))
    }
    const query = new PendingQuery(task, caller, deadlineAt)
    const waitingExports = query.isExport ? this.waitingTasks.filter(each => each.isExport).length : 0
    if (waitingExports >= MAX_WAITING_EXPORTS)
      return Promise.reject(PoolErrors.EXPORTS(waitingExports).retryAfter(EXPORT_RETRY_SECONDS))
    return this.enter(query)
  }

  /** Starts the threads, so that the first task does not wait until they have loaded their code. */
  warmUp(): void {
    if (!this.isClosed) this.piscina ??= this.start()
  }

  /** Refuses waiting tasks, finishes the tasks that threads are running, then stops the threads. */
  close(): Promise<void> {
    this.closing ??= (async () => {
      this.refuse(PoolErrors.CLOSED)
      while (this.begunCount > 0) await delay(PAUSE_MS)
      await this.threadsLoaded()
      await this.piscina?.destroy()
    })()
    return this.closing
  }

  /** Number of threads, and of running and waiting tasks. */
  get load(): { threads: number; running: number; waiting: number } {
    return { threads: this.threadIds.length, running: this.begunCount, waiting: this.waitingTasks.length }
  }

  /** Ids of the live threads. */
  get threadIds(): number[] {
    return this.piscina?.threads.map(thread => thread.threadId) ?? []
  }

  /** Number of queries that threads are running, including abandoned ones. */
  private get begunCount(): number {
    return this.begunQueries.length - this.freeSlots.length
  }

  protected override sendNext(): void {
    while (this.freeSlots.length > 0) {
      const next = this.waitingTasks.findIndex(query => this.mayBegin(query))
      if (next < 0) return
      const [query] = this.waitingTasks.splice(next, 1)
      void this.send(query!, this.freeSlots.pop()!)
    }
  }

  /**
   * True if a query may begin. An export occupies a thread for seconds: no other task is given to its thread, and one thread is left for
   * other tasks.
   */
  private mayBegin(query: PendingQuery<T>): boolean {
    // A thread whose task waits for other threads continues with further tasks.
    if (this.entry.tasksPerThread) return true
    if (this.exports === 0 && !query.isExport) return true
    if (query.isExport && this.exports >= Math.max(1, this.threads - 1)) return false
    return this.begunCount < this.threads
  }

  private async send(query: PendingQuery<T>, slot: number): Promise<void> {
    const { task, caller, deadlineAt, isExport } = query
    const { words, heldMemory } = this
    const { answers, needsUser } = this.options
    query.slot = slot
    this.begunQueries[slot] = query
    if (isExport) this.exports++
    Atomics.store(words.cancelled, slot, 0)
    Atomics.store(words.worksAt, slot, 0)
    words.examined[slot] = 0
    words.sent[slot] = 0
    words.ranMs[slot] = 0
    this.piscina ??= this.start()
    const spools = isExport ? answers?.exportSpools : answers?.spools
    const spool = spools?.take()
    try {
      const user = needsUser ? userOf(caller) : undefined
      const message: PoolMessage<T> = { task, deadlineAt, slot, spool, user }
      const { transfer } = task as { transfer?: readonly MessagePort[] }
      const outcome = (await this.piscina.run(message, transfer && { transferList: [...transfer] })) as PoolOutcome
      clearTimeout(query.endTimer)
      this.count(query, words.ranMs[slot])
      caller?.examined?.(words.examined[slot])
      if (words.sent[slot] > 0) caller?.sent?.(words.sent[slot])
      this.answer(query, outcome, spools, spool)
    } catch (error) {
      clearTimeout(query.endTimer)
      spools?.abandon(spool)
      answers?.memory.release(1024 * Atomics.exchange(heldMemory, slot, 0))
      this.threadLost(query, Atomics.load(words.worksAt, slot), error)
      this.events.onThreadEnd?.()
    }
    this.begunQueries[slot] = undefined
    this.freeSlots.push(slot)
    if (isExport) this.exports--
    this.sendNext()
  }

  private answer(
    query: PendingQuery<T>,
    outcome: PoolOutcome,
    spools: SpoolFiles | undefined,
    spool: number | undefined,
  ): void {
    const packedAnswer = 'packed' in outcome ? outcome.packed : undefined
    const isSpooled = packedAnswer !== undefined && packedAnswer.bytes === undefined
    if (!isSpooled) spools?.giveBack(spool)
    if (!this.settle(query)) {
      if (isSpooled) spools!.source(spool!, packedAnswer.size).close()
    } else if (outcome instanceof Uint8Array) query.resolve(outcome)
    else if (packedAnswer)
      query.resolve({
        coding: packedAnswer.coding,
        body: packedAnswer.bytes ?? spools!.source(spool!, packedAnswer.size),
      })
    else query.reject(errorOf(outcome as Exclude<typeof outcome, { packed: unknown }>))
  }

  /** Repeats or fails a task whose thread has ended. @param threadId thread that worked on the task; 0: none had begun it */
  private threadLost(query: PendingQuery<T>, threadId: number, error: unknown): void {
    const isStopped = this.stoppedThreads.has(threadId)
    if (!isStopped && !this.isStopping) {
      const reason = error instanceof Error ? error.stack : error
      this.events.onInternalError?.(`a thread of the query pool ended: ${reason}`)
    }
    const isInnocent = threadId === 0 || isStopped
    if (query.isOpen && isInnocent && !query.isRepeated && !this.isClosed) {
      query.slot = undefined
      query.isRepeated = true
      this.waitingTasks.push(query)
    } else this.fail(query, PoolErrors.THREAD_LOST())
  }

  protected override callerGone(): ProtocolError {
    return QueryErrors.CANCELLED()
  }

  /** Threads check the deadline too, but not while a task waits or in the middle of a large sort. */
  protected override late({ isExport }: PendingQuery<T>): ProtocolError {
    return QueryErrors.TIMEOUT(this.timeoutOf(isExport))
  }

  protected override expiring(): PendingQuery<T>[] {
    return [...this.waitingTasks, ...this.begunQueries.flatMap(query => (query?.isOpen ? query : []))]
  }

  /** Rejects the task. If a thread is running it, it stops at the next batch of rows, or the thread is terminated. */
  protected override giveUp(query: PendingQuery<T>, error: ProtocolError): void {
    const { slot } = query
    if (slot === undefined) super.giveUp(query, error)
    else if (query.isOpen) {
      Atomics.store(this.words.cancelled, slot, 1)
      query.endTimer = setTimeout(() => this.stop(slot), this.options.overrunMs).unref()
      this.fail(query, error)
    }
  }

  /** Terminates the thread that still works on an abandoned task, if any. Its other task is given to another thread. */
  private stop(slot: number): void {
    const id = Atomics.load(this.words.worksAt, slot)
    const thread = this.piscina?.threads.find(({ threadId }) => threadId === id)
    if (!thread) return
    this.stoppedThreads.add(id)
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

  /** Waits until all threads have loaded: terminating one that loads lmdb or opens a store would end the process. */
  private async threadsLoaded(): Promise<void> {
    const end = Date.now() + MAX_LOADING_MS
    const countStarted = () => this.endedCount + this.threadIds.length
    while (Atomics.load(this.loadedCount, 0) < countStarted() && Date.now() < end) await delay(PAUSE_MS)
  }

  private timeoutOf(isExport: boolean): number {
    const { timeoutMs, exportTimeoutMs } = this.options.limits
    return isExport ? exportTimeoutMs : timeoutMs
  }

  private start(): Piscina {
    const { threads, tasksPerThread, loadedCount, heldMemory } = this
    const { store, limits, answers, heapBytes } = this.options
    const { file, data } = this.entry
    const workerData: Omit<PoolThreadOptions, 'indexStatus' | 'tasks'> = {
      store: { ...store, cacheBytes: Math.floor(store.cacheBytes / threads) },
      limits,
      ...this.words,
      answers: answers && {
        memory: answers.memory.sharedBudget,
        disk: answers.spools.disk.sharedBudget,
        exportDisk: answers.exportSpools.disk.sharedBudget,
        heldMemory,
      },
      loadedCount,
      ...data,
    }
    const piscina = startThreads({ file, workerData, threads, tasksPerThread, heapBytes })
    piscina.on('workerDestroy', () => this.endedCount++)
    // A thread ended without a task; otherwise its tasks report it.
    piscina.on('error', error => {
      this.events.onInternalError?.(`a thread of the query pool ended: ${error.stack}`)
      this.events.onThreadEnd?.()
    })
    piscina.on('message', (note: Parameters<Note>) => this.events.onNote?.(...note))
    return piscina
  }
}

/** Reason for which a task has no answer. */
function errorOf(outcome: Exclude<PoolOutcome, Uint8Array | { packed: unknown }>): unknown {
  if ('suspended' in outcome) return new Suspended(outcome.suspended)
  return 'error' in outcome ? new ProtocolError(outcome.error) : outcome.fault
}
