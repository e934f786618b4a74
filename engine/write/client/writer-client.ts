import { randomUUID } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { checkModel } from '../../catalog/check-model.ts'
import { observe } from '../../base/counts/histogram.ts'
import { COUNT, ownCounts, type SharedCounts, type ThreadCounts } from '../../base/counts/thread-counts.ts'
import type { WireOptions } from '../../catalog/dataclass.ts'
import { ModelError } from '../../catalog/model-error.ts'
import type { Model } from '../../catalog/model-schema.ts'
import { ProtocolError } from '../../base/errors.ts'
import { SharedHeap } from '../../memory/heap/shared-heap.ts'
import { Numbered } from '../../base/numbered.ts'
import { outputUrl } from '../../base/output-root.ts'
import type { LogOptions, Note, StoreLockOptions, UnfinishedFiles } from '../../data/store-options.ts'
import type { TransactionPhase } from '../../data/store-transaction.ts'
import type { Progress } from '../../base/progress.ts'
import { Heartbeat } from '../contract/heartbeat.ts'
import {
  bodiesOf,
  type FromWriter,
  isWriteResult,
  packBodies,
  type ToWriter,
  type WriterThreadOptions,
} from '../contract/messages.ts'
import { PackedResult } from '../contract/packed-result.ts'
import type { WriteRequest, WriteResult, WriteResultOf } from '../contract/requests.ts'
import { SAVE_LIMITS, type SaveLimits } from '../contract/write-limits.ts'
import { STALL_RETRY_SECONDS, WriterErrors } from '../contract/write-errors.ts'
import { cutLink, type LinkEnd, LOST, REFUSED, REFUSED_DISK, REFUSED_STALLED } from '../contract/link-messages.ts'

export interface WriterClientOptions {
  /** Folder of the store. */
  path: string
  mapSizeBytes: number
  /** A store with one of these is refused, see {@link UnfinishedFiles}. */
  unfinished?: UnfinishedFiles | undefined
  /** Content of the model file. */
  model: unknown
  wire: WireOptions
  allowLoss: boolean
  /** Lock of the store against other processes, and the time for which a start waits for it. */
  lock?: Partial<StoreLockOptions> | undefined
  /** Makes commits durable by a log in front of the store; undefined: by LMDB itself. */
  log?: LogOptions | undefined
  /** Maximum number of requests that wait for the writer; further ones are refused (503). */
  maxWaiting?: number
  /** Maximum bytes of their bodies. */
  maxWaitingBytes?: number
  write?: Partial<SaveLimits> | undefined
  /** Time without progress of the writer after which writes are refused until it makes progress again. */
  stallTimeoutMs?: number
  /** Clock of the server, for the end of locks and the timestamps of saved entities. */
  now?: (() => number) | undefined
  onProgress?: Progress
  /** Memory shared by readers; the thread fills it and keeps it up to date. */
  memory?: WebAssembly.Memory | undefined
  /** Minimum time between two images of the memory; 0 or undefined: none are written. */
  imageMinutes?: number
  /** Minimum number of changed entities between two images. */
  imageChanges?: number
  /** Counters of all threads, and of the client's own thread. */
  counts?: { readonly shared: SharedCounts; readonly own: ThreadCounts }
  /** Called with notes for the log. */
  onNote?: Note
  /** Called with internal failures, for the log. */
  onInternalError?: (text: string) => void
}

interface Waiting {
  request: WriteRequest
  bytes: number
  isSent: boolean
  /** As of `performance.now`. */
  arrivedAt: number
  resolve(result: WriteResult): void
  reject(error: Error): void
}

const RESTART_DELAY_MS = 1_000
const STALL_TIMEOUT_MS = 60_000
const WATCHES_PER_TIMEOUT = 4

/** The kernel thread's side of the writer thread. */
export class WriterClient {
  private worker: Worker | undefined
  /** Called after commits with new jobs. */
  onEnqueued: (() => void) | undefined
  private readonly waiting = new Numbered<Waiting>()
  private waitingBytes = 0
  private nextId = 0
  private outbox: number[] = []
  private restartTimer: NodeJS.Timeout | undefined
  private closing: Promise<void> | undefined
  /** Settles when the thread has stopped. */
  private stopped: Promise<void> = Promise.resolve()
  private isReady = false
  private logged = false
  private followed = 0
  private readonly heartbeat = new Heartbeat()
  private readonly counts: ThreadCounts
  private stallTimer: NodeJS.Timeout | undefined
  /** Phase in which the thread is stalled; undefined while it makes progress. */
  private stalledIn: TransactionPhase | undefined
  private onStall: (() => void) | undefined

  /** Signals of the threads that are linked to the writer. */
  private readonly links = new Set<Int32Array>()
  private fillMemory!: () => void
  private readonly filled = new Promise<void>(resolve => {
    this.fillMemory = resolve
  })

  private constructor(
    private readonly options: WriterClientOptions & { readonly model: Model },
    private readonly token: string,
  ) {
    this.counts = options.counts?.own ?? ownCounts()
  }

  /**
   * Starts the thread, which makes the store if there is none and migrates it to the model.
   * @throws {ModelError} the model is invalid
   * @throws {Error} named `MigrationError` if the model does not fit the data; another process has the store
   */
  static async start(options: WriterClientOptions): Promise<WriterClient> {
    // Checked here, where the validator is loaded for the config anyway: in the thread, loading it would cost more than all else.
    const client = new WriterClient({ ...options, model: checkModel(options.model) }, randomUUID())
    await client.spawn()
    client.watch()
    return client
  }

  /** Resolves when the shared memory has been filled; at once if there is none. */
  get memoryFilled(): Promise<void> {
    return this.options.memory ? this.filled : Promise.resolve()
  }

  /** False while the thread is being replaced, or makes no progress. */
  get isRunning(): boolean {
    return this.isReady && !this.closing && !this.stalledIn
  }

  /** True if commits are durable by a log. */
  get isLogged(): boolean {
    return this.logged
  }

  /** Counts commits, and wakes a thread that waits for one. */
  get commits(): Pick<Heartbeat, 'commits' | 'commitAfter' | 'wake'> {
    return this.heartbeat
  }

  /** Lets the log remove records up to `sequence`, which all followers have read. */
  followedTo(sequence: number): void {
    this.followed = sequence
    if (this.isReady) this.post({ kind: 'followed', sequence })
  }

  /** Number of requests that are pending or in progress, their bytes, and number of locks of clients. */
  get load(): { waiting: number; waitingBytes: number; locks: number } {
    return { waiting: this.waiting.size, waitingBytes: this.waitingBytes, locks: this.heartbeat.locks }
  }

  get threadId(): number | undefined {
    return this.worker?.threadId
  }

  /**
   * Links a thread that writes synchronously.
   * @returns a function to be called when that thread has ended, so that the writer does not wait for it
   */
  connect({ port, signal }: LinkEnd): () => void {
    if (this.stalledIn) cutLink(signal, this.stalledIn === 'committing' ? REFUSED_DISK : REFUSED_STALLED)
    else if (!this.isRunning) cutLink(signal, REFUSED)
    else {
      this.links.add(signal)
      this.worker!.postMessage({ kind: 'connect', port, signal } satisfies ToWriter, [port])
    }
    return () => {
      this.links.delete(signal)
      cutLink(signal, LOST)
    }
  }

  /**
   * Sends a request. Resolves when it is durable, even if parts of it failed.
   * @throws {ProtocolError} the request as a whole failed; {@link WriterErrors}
   */
  write<Request extends WriteRequest>(request: Request): Promise<WriteResultOf<Request>> {
    const { maxWaiting = 10_000, maxWaitingBytes = 64 * 1024 * 1024 } = this.options
    const bytes =
      request.kind === 'delete'
        ? request.rowIds.byteLength
        : bodiesOf(request).reduce((sum, { length }) => sum + length, 0)
    if (this.closing) return Promise.reject(WriterErrors.CLOSED())
    if (this.stalledIn) {
      const error = this.stalledIn === 'committing' ? WriterErrors.DISK_SILENT() : WriterErrors.STALLED()
      return Promise.reject(error.retryAfter(STALL_RETRY_SECONDS))
    }
    if (!this.isReady) return Promise.reject(WriterErrors.RESTARTING().retryAfter(1))
    // A single request is always accepted: its size has separate limits.
    if (this.waiting.size >= maxWaiting || (this.waiting.size > 0 && this.waitingBytes + bytes > maxWaitingBytes)) {
      this.counts[COUNT.writesRefused]!++
      return Promise.reject(WriterErrors.BUSY(this.waiting.size, this.waitingBytes).retryAfter(1))
    }
    return new Promise((resolve, reject) => {
      const id = this.nextId++
      const arrivedAt = performance.now()
      this.waiting.set(id, { request, bytes, isSent: false, arrivedAt, resolve: resolve as Waiting['resolve'], reject })
      this.waitingBytes += bytes
      // Requests of one event loop turn are sent in one message.
      if (this.outbox.push(id) === 1) setImmediate(() => this.flush())
    })
  }

  /** Finishes pending requests, then stops the thread and releases the store. */
  close(): Promise<void> {
    this.closing ??= (async () => {
      clearTimeout(this.restartTimer)
      this.flush()
      this.post({ kind: 'close' })
      await Promise.race([this.stopped, this.stall()])
      clearInterval(this.stallTimer)
      // Fails requests to a thread that did not stop.
      this.failSent()
    })()
    return this.closing
  }

  private flush(): void {
    // Without a thread, requests stay here until it has been restarted.
    if (this.outbox.length === 0 || !this.isReady) return
    const ids = this.outbox
    this.outbox = []
    const sent = ids.map(id => this.waiting.get(id)!)
    const { packed, buffer } = packBodies(sent.map(({ request }) => request))
    for (const waiting of sent) waiting.isSent = true
    const { now = Date.now } = this.options
    const clockOffsetMs = now() - Date.now()
    this.post({ kind: 'write', clockOffsetMs, requests: ids.map((id, i) => ({ id, request: packed[i]! })) }, [buffer])
  }

  private post(message: ToWriter, transfer: ArrayBuffer[] = []): void {
    this.worker?.postMessage(message, transfer)
  }

  /** Resolves when the thread is ready. */
  private spawn(): Promise<void> {
    const { path, mapSizeBytes, model, wire, allowLoss, memory, imageMinutes = 0, imageChanges = 0 } = this.options
    const { lock, log, unfinished } = this.options
    const workerData: WriterThreadOptions = {
      path,
      mapSizeBytes,
      unfinished,
      model,
      wire,
      allowLoss,
      token: this.token,
      lock,
      log,
      limits: { ...SAVE_LIMITS, ...this.options.write },
      heartbeat: this.heartbeat.words,
      counts: this.options.counts?.shared.buffer,
      memory,
      imageMinutes,
      imageChanges,
    }
    const worker = new Worker(outputUrl('engine/threads/writer-thread.js'), { workerData })
    this.worker = worker
    let failure: Error | undefined
    const ready = new Promise<void>((resolve, reject) => {
      worker.on('message', (message: FromWriter) => {
        if (message.kind === 'ready') {
          this.isReady = true
          this.logged = message.isLogged
          if (this.followed > 0) this.post({ kind: 'followed', sequence: this.followed })
          resolve()
        } else if (message.kind === 'refused') reject(refusal(message.error))
        else this.receive(message)
      })
      worker.on('error', error => {
        failure = error
      })
      worker.on('exit', code => reject(failure ?? new Error(`the writer thread ended with code ${code}`)))
    })
    this.stopped = new Promise(resolve => {
      worker.on('exit', code => {
        const wasReady = this.isReady
        this.isReady = false
        this.worker = undefined
        this.heartbeat.enter('idle')
        this.heartbeat.locks = 0
        this.stalledIn = undefined
        // Out of date until the next thread has filled it again.
        if (memory) new SharedHeap(memory).invalidate()
        this.lose()
        resolve()
        if (!wasReady || this.closing) return
        this.options.onInternalError?.(
          `the writer thread ended with code ${code} and is started again: ${failure?.stack}`,
        )
        this.restart(0)
      })
    })
    return ready
  }

  /** Messages are declared in `engine/write/contract/messages.ts`. */
  private receive(message: FromWriter): void {
    if (message.kind === 'internalError') this.options.onInternalError?.(message.text)
    else if (message.kind === 'note') this.options.onNote?.(message.text, message.level)
    else if (message.kind === 'memoryFilled') this.fillMemory()
    else if (message.kind === 'enqueued') this.onEnqueued?.()
    else if (message.kind === 'progress') this.options.onProgress?.(message)
    else if (message.kind === 'done') {
      for (const { id, outcome } of message.outcomes) {
        const waiting = this.forget(id)
        observe(this.counts, COUNT.writeTime, performance.now() - waiting.arrivedAt)
        if ('rows' in outcome) waiting.resolve(new PackedResult(outcome))
        else if (isWriteResult(outcome)) waiting.resolve(outcome)
        else waiting.reject(new ProtocolError(outcome))
      }
    }
  }

  /**
   * Watches the heartbeat. A commit waits for the disk as long as necessary: sent requests are answered when it is done. A thread
   * that stalls in its own work has usually died, for example from lack of memory: it never ends, because LMDB waits for the
   * transaction when the thread tears down its environment, and no event reports it.
   */
  private watch(): void {
    const { stallTimeoutMs = STALL_TIMEOUT_MS, onInternalError, onNote } = this.options
    let last = this.heartbeat.beats
    let since = performance.now()
    this.stallTimer = setInterval(() => {
      const { beats, phase } = this.heartbeat
      const stoodMs = performance.now() - since
      if (beats !== last || phase === 'idle') {
        last = beats
        since = performance.now()
        if (this.stalledIn) onNote?.(`the writer goes on after ${Math.round(stoodMs)} ms, and takes writes again`)
        this.stalledIn = undefined
      } else if (!this.stalledIn && stoodMs >= stallTimeoutMs) {
        this.stalledIn = phase
        onInternalError?.(
          phase === 'committing'
            ? `the disk of the store has not answered a commit for ${stallTimeoutMs} ms; reading goes on, writes are refused until it does`
            : `the writer thread has made no progress for ${stallTimeoutMs} ms; reading goes on, writes are refused. If that lasts, this process has to be killed (SIGKILL) and started again`,
        )
        if (phase !== 'committing') this.failSent()
        this.onStall?.()
      }
    }, stallTimeoutMs / WATCHES_PER_TIMEOUT)
    this.stallTimer.unref()
  }

  /** Resolves when the thread makes no progress. */
  private stall(): Promise<void> {
    return new Promise(resolve => {
      if (this.stalledIn) resolve()
      else this.onStall = resolve
    })
  }

  /**
   * Rejects all sent requests, which may have been written or not. They are not removed, because the thread may still answer them,
   * and their bytes are still in memory.
   */
  private failSent(): void {
    for (const signal of this.links) cutLink(signal, LOST)
    this.links.clear()
    for (const { isSent, reject } of this.waiting.values()) if (isSent) reject(WriterErrors.OUTCOME_UNKNOWN())
  }

  /** Called when the thread is gone. Requests that it never received wait for the next one, unless the client is closing. */
  private lose(): void {
    this.failSent()
    for (const id of this.waiting.ids()) {
      const { isSent, reject } = this.waiting.get(id)!
      if (!isSent && !this.closing) continue
      this.forget(id)
      if (!isSent) reject(WriterErrors.CLOSED())
    }
  }

  private forget(id: number): Waiting {
    const waiting = this.waiting.get(id)!
    this.waiting.delete(id)
    this.waitingBytes -= waiting.bytes
    return waiting
  }

  private restart(delayMs: number): void {
    this.restartTimer = setTimeout(async () => {
      try {
        await this.spawn()
        this.flush()
      } catch (error) {
        this.options.onInternalError?.(`the writer thread could not be started: ${(error as Error).stack}`)
        for (const id of this.outbox.splice(0)) this.forget(id).reject(WriterErrors.RESTARTING().retryAfter(1))
        if (!this.closing) this.restart(RESTART_DELAY_MS)
      }
    }, delayMs)
  }
}

function refusal({ name, message, problems }: { name: string; message: string; problems?: readonly string[] }): Error {
  if (problems) return new ModelError(problems)
  const error = new Error(message)
  error.name = name
  return error
}
