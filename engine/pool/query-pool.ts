import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { ProtocolError } from '../errors.ts'
import type { SessionChanges, SessionData } from '../language/session.ts'
import { outputUrl } from '../output-root.ts'
import { CodeNeeded } from '../storage/code-needed.ts'
import { QueryErrors } from '../query/query-errors.ts'
import type { QueryLimits } from '../query/query-limits.ts'
import type { ReadStoreOptions } from '../memory/open-read-store.ts'
import { PoolErrors } from './pool-errors.ts'
import { SearchNeeded } from '../vector/searched-indexes.ts'
import type { PoolMessage, PoolOutcome, PoolThreadOptions, SearchedTask } from './tasks.ts'

export interface PoolOptions {
  /** 0: one less than the processor has cores, at least one. */
  threads: number
  /** Queries that may wait for a thread; beyond it they are refused with 503. */
  queueLimit: number
  /** Expected cost up to which a query is not worth a thread of the pool, in milliseconds. 0: everything goes there. */
  inlineCostMs: number
  /** Heap of one thread. One that needs more ends, and is replaced. */
  heapBytes: number
}

export interface PoolEvents {
  onInternalError?: ((text: string) => void) | undefined
  /** A thread has ended by itself. */
  onThreadEnd?: () => void
  /** What a thread tells, for the log. */
  onNote?: ((text: string) => void) | undefined
}

/** What the threads of a pool run. */
interface ThreadEntry {
  readonly file: string
  /** More of their `workerData`. */
  readonly data: object
}

/** @param indexStatus undefined: there are no indexes of vectors */
export const queryThread = (indexStatus?: Int32Array): ThreadEntry => ({
  file: 'engine/pool/pool-thread.js',
  data: { indexStatus },
})

/** Who waits for an answer. */
export interface Caller {
  readonly aborted: boolean
  /** Calls back once when nobody waits any more. */
  onAborted(callback: () => void): void
  /** Told how many rows a query has looked at, also one that failed; for quotas. */
  examined?: ((rows: number) => void) | undefined
  /** Who asks, for code that runs for it; undefined: the server itself. */
  session?: (() => CallerSession) | undefined
}

/** The session of a request, for the code that runs for it. */
export interface CallerSession {
  readonly data: SessionData
  /** Told what the code has done to it, before the request is answered. @throws {ProtocolError} that cannot be */
  change(changes: SessionChanges): Promise<void>
}

/** A task from its arrival to its answer. */
interface Pending<T> {
  readonly task: T
  readonly deadlineAt: number
  readonly caller: Caller | undefined
  /** Set while a thread has it. */
  slot: number | undefined
  resolve(bytes: Uint8Array): void
  reject(error: unknown): void
}

/**
 * Tasks that a thread has at a time: the one that it works on and the next, so that it does not stand still between
 * them. More would only wait behind a long one while another thread is idle.
 */
const TASKS_PER_THREAD = 2
/** Of two cores the kernel thread needs less than one while there are queries for these threads. */
const MIN_THREADS = 2
/**
 * Lets the kernel thread go first where there are more threads than cores. Elsewhere all threads of a process have one
 * priority.
 */
const NICE = process.platform === 'linux' ? 5 : 0
const RETRY_AFTER_SECONDS = 1
/** One that fails while it loads is not waited for. */
const MAX_LOADING_MS = 10_000
const LOADING_PAUSE_MS = 5

/**
 * Threads that work on queries. The queue is here, in front of Piscina's: a task that waits can be taken away, and one
 * that a thread has is told by a flag in shared memory, for the other tasks of the thread must go on.
 */
export class QueryPool<T = SearchedTask> {
  /** Not answered yet, the oldest first: about the order of their deadlines. The thread looks at these too. */
  private readonly open = new Set<Pending<T>>()
  /** Those of them that no thread has. */
  private readonly waiting = new Set<Pending<T>>()
  private readonly cancelled: Int32Array
  private readonly examined: Uint32Array
  private readonly freeSlots: number[]
  /** Started with the first task, unless by {@link warmUp}. */
  private piscina: Piscina | undefined
  private readonly threads: number
  private readonly loaded = new Int32Array(new SharedArrayBuffer(4))
  /** How many threads have ended. */
  private ended = 0
  private deadlineTimer: NodeJS.Timeout | undefined
  private closing: Promise<void> | undefined
  private onIdle: (() => void) | undefined

  constructor(
    private readonly options: PoolOptions,
    private readonly store: ReadStoreOptions,
    private readonly limits: QueryLimits,
    private readonly events: PoolEvents = {},
    private readonly entry: ThreadEntry = queryThread(),
  ) {
    this.threads = options.threads || Math.max(MIN_THREADS, availableParallelism() - 1)
    const slots = this.threads * TASKS_PER_THREAD
    this.cancelled = new Int32Array(new SharedArrayBuffer(4 * slots))
    this.examined = new Uint32Array(new SharedArrayBuffer(4 * slots))
    this.freeSlots = Array.from({ length: slots }, (_, slot) => slot)
  }

  /**
   * @returns the bytes of the answer, owned by the caller
   * @throws {ProtocolError} what the task throws; {@link PoolErrors}; {@link QueryErrors.TIMEOUT}; {@link CodeNeeded};
   * {@link SearchNeeded}
   */
  run(task: T, caller?: Caller, deadlineAt = Date.now() + this.limits.timeoutMs): Promise<Uint8Array> {
    if (this.closing) return Promise.reject(PoolErrors.CLOSED())
    if (this.freeSlots.length === 0 && this.waiting.size >= this.options.queueLimit) {
      return Promise.reject(PoolErrors.BUSY(this.waiting.size).retryAfter(RETRY_AFTER_SECONDS))
    }
    return new Promise((resolve, reject) => {
      const pending: Pending<T> = {
        task,
        deadlineAt,
        caller,
        slot: undefined,
        resolve,
        reject,
      }
      this.open.add(pending)
      this.waiting.add(pending)
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
      for (const pending of this.waiting) this.giveUp(pending, PoolErrors.CLOSED())
      await this.idle()
      clearTimeout(this.deadlineTimer)
      await this.threadsLoaded()
      await this.piscina?.destroy()
    })()
    return this.closing
  }

  private sendNext(): void {
    for (const pending of this.waiting) {
      const slot = this.freeSlots.pop()
      if (slot === undefined) return
      this.waiting.delete(pending)
      this.send(pending, slot)
    }
  }

  private async send(pending: Pending<T>, slot: number): Promise<void> {
    const { task, deadlineAt } = pending
    pending.slot = slot
    Atomics.store(this.cancelled, slot, 0)
    this.examined[slot] = 0
    this.piscina ??= this.start()
    try {
      const message: PoolMessage<T> = { task, deadlineAt, slot }
      const outcome = (await this.piscina.run(message)) as PoolOutcome
      // Also of one that nobody waits for any more.
      pending.caller?.examined?.(this.examined[slot]!)
      this.settle(pending, outcome)
    } catch (error) {
      this.events.onInternalError?.(`a thread of the query pool ended: ${error instanceof Error ? error.stack : error}`)
      if (this.finish(pending)) pending.reject(PoolErrors.THREAD_LOST())
      this.events.onThreadEnd?.()
    }
    this.freeSlots.push(slot)
    this.sendNext()
    if (this.isIdle) this.onIdle?.()
  }

  /** Of the threads that live. */
  get threadIds(): number[] {
    return this.piscina?.threads.map(thread => thread.threadId) ?? []
  }

  private settle(pending: Pending<T>, outcome: PoolOutcome): void {
    if (!this.finish(pending)) return
    if (outcome instanceof Uint8Array) pending.resolve(outcome)
    else if ('codeNeeded' in outcome) pending.reject(new CodeNeeded())
    else if ('searchNeeded' in outcome) pending.reject(new SearchNeeded(outcome.searchNeeded))
    else pending.reject('error' in outcome ? new ProtocolError(outcome.error) : outcome.fault)
  }

  /** Nobody is going to get an answer; what a thread has of it ends at the next batch of rows. */
  private giveUp(pending: Pending<T>, error: ProtocolError): void {
    if (!this.finish(pending)) return
    this.waiting.delete(pending)
    if (pending.slot !== undefined) Atomics.store(this.cancelled, pending.slot, 1)
    pending.reject(error)
  }

  /** @returns false when it was answered before */
  private finish(pending: Pending<T>): boolean {
    return this.open.delete(pending)
  }

  /** No thread has a task, not even one that was given up: a thread is not stopped in the middle of a read. */
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
      for (const pending of this.open) {
        if (pending.deadlineAt > now) break
        this.giveUp(pending, QueryErrors.TIMEOUT(this.limits.timeoutMs))
      }
      this.watchDeadlines()
    }, oldest.deadlineAt - Date.now())
    this.deadlineTimer.unref()
  }

  private start(): Piscina {
    const workerData: Omit<PoolThreadOptions, 'indexStatus'> = {
      store: { ...this.store, cacheBytes: Math.floor(this.store.cacheBytes / this.threads) },
      limits: this.limits,
      cancelled: this.cancelled,
      examined: this.examined,
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
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(this.options.heapBytes / 2 ** 20) },
      recordTiming: false,
      niceIncrement: NICE,
    })
    piscina.on('workerDestroy', () => this.ended++)
    // A thread that ends without a task at hand; the others are told by their tasks.
    piscina.on('error', error => {
      this.events.onInternalError?.(`a thread of the query pool ended: ${error.stack}`)
      this.events.onThreadEnd?.()
    })
    piscina.on('message', (text: string) => this.events.onNote?.(text))
    return piscina
  }
}
