import { randomUUID } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { checkModel } from '../../catalog/check-model.ts'
import { ownCounts, type SharedCounts, type ThreadCounts } from '../../base/counts/thread-counts.ts'
import { ModelError } from '../../catalog/model-error.ts'
import type { Model } from '../../catalog/model-schema.ts'
import { SharedHeap } from '../../memory/heap/shared-heap.ts'
import { outputUrl } from '../../base/output-root.ts'
import type { Note, WritingOptions } from '../../data/store-options.ts'
import type { Progress } from '../../base/progress.ts'
import { Heartbeat } from '../contract/heartbeat.ts'
import { type FromWriter, messageOf, type ToWriter, type WriterThreadOptions } from '../contract/messages.ts'
import { receiveResults } from '../contract/plain-saves.ts'
import type { WriteRequest, WriteResultOf } from '../contract/requests.ts'
import { SharedBatches } from '../contract/shared-batches.ts'
import { SAVE_LIMITS, type SaveLimits } from '../contract/write-limits.ts'
import { WriterErrors } from '../contract/writer-errors.ts'
import {
  type CutState,
  cutLink,
  cutReason,
  type LinkEnd,
  LOST,
  REFUSED,
  REFUSED_DISK,
  REFUSED_STALLED,
} from '../contract/link-messages.ts'
import { type OnDurable, PendingWrites } from './pending-writes.ts'
import { StallWatch } from './stall-watch.ts'

export interface WriterClientOptions extends Omit<WritingOptions, 'model' | 'token'> {
  /** Content of the model file. */
  model: unknown
  /** Maximum number of requests that wait for the writer; further ones are refused (503). */
  maxWaiting?: number
  /** Maximum bytes of the bodies of waiting requests. */
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

const RESTART_DELAY_MS = 1_000

/** The kernel thread's side of the writer thread. */
export class WriterClient {
  private worker: Worker | undefined
  /** Called after commits with new jobs. */
  onEnqueued: (() => void) | undefined
  private readonly pending: PendingWrites
  private restartTimer: NodeJS.Timeout | undefined
  private closing: Promise<void> | undefined
  /** Settles when the thread has stopped. */
  private threadEnd: Promise<void> = Promise.resolve()
  private isReady = false
  private logged = false
  private followed = 0
  private readonly heartbeat = new Heartbeat()
  private readonly watch: StallWatch
  /** Memory that is shared with the current thread. */
  private batches!: { readonly saves: SharedBatches; readonly results: SharedBatches }
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
    const { maxWaiting = 10_000, maxWaitingBytes = 64 * 1024 * 1024, stallTimeoutMs = 60_000, counts } = options
    // Requests of one event loop turn are sent in one message.
    const send = (): void => void setImmediate(() => this.flush())
    this.pending = new PendingWrites({ maxWaiting, maxWaitingBytes }, counts?.own ?? ownCounts(), send)
    this.watch = new StallWatch({
      heartbeat: this.heartbeat,
      timeoutMs: stallTimeoutMs,
      onNote: options.onNote,
      onInternalError: options.onInternalError,
      onLost: () => this.failSent(),
    })
  }

  /**
   * Starts the thread, which makes the store if there is none and migrates it to the model.
   * @throws {ModelError} the model is invalid
   * @throws {Error} named `MigrationError` if the model does not fit the data; another process has the store
   */
  static async start(options: WriterClientOptions): Promise<WriterClient> {
    // Checked here, where the validator is loaded for the config anyway: loading it would take the thread longer than everything
    // else.
    const client = new WriterClient({ ...options, model: checkModel(options.model) }, randomUUID())
    await client.spawn()
    client.watch.start()
    return client
  }

  /** Resolves when the shared memory has been filled; immediately if there is none. */
  get memoryFilled(): Promise<void> {
    return this.options.memory ? this.filled : Promise.resolve()
  }

  /** False while the thread is being replaced, or makes no progress. */
  get isRunning(): boolean {
    return this.isReady && !this.closing && !this.watch.phase
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

  /** Number of requests that are pending or in progress, bytes of their bodies, and number of locks held for clients. */
  get load(): { waiting: number; waitingBytes: number; locks: number } {
    return { waiting: this.pending.size, waitingBytes: this.pending.bytes, locks: this.heartbeat.locks }
  }

  get threadId(): number | undefined {
    return this.worker?.threadId
  }

  /**
   * Links a thread that writes synchronously.
   * @returns a function to be called when that thread has ended, so that the writer does not wait for it
   */
  connect({ port, signal }: LinkEnd): () => void {
    const { refusal } = this
    if (refusal !== undefined) cutLink(signal, refusal)
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
  write<Request extends WriteRequest>(request: Request, onDurable?: OnDurable): Promise<WriteResultOf<Request>> {
    if (this.closing) return Promise.reject(WriterErrors.CLOSED())
    const { refusal } = this
    return refusal === undefined ? this.pending.add(request, onDurable) : Promise.reject(cutReason(refusal))
  }

  /** Reason why writes are refused now; undefined while the thread accepts writes. */
  private get refusal(): CutState | undefined {
    const { phase } = this.watch
    if (phase) return phase === 'committing' ? REFUSED_DISK : REFUSED_STALLED
    return this.isRunning ? undefined : REFUSED
  }

  /** Finishes pending requests, then stops the thread and releases the store. */
  close(): Promise<void> {
    this.closing ??= (async () => {
      clearTimeout(this.restartTimer)
      this.flush()
      this.post({ kind: 'close' })
      await Promise.race([this.threadEnd, this.watch.stall()])
      this.watch.close()
      // Fails requests to a thread that did not stop.
      this.failSent()
    })()
    return this.closing
  }

  private flush(): void {
    if (!this.isReady) return
    const requests = this.pending.take()
    if (requests.length === 0) return
    const { now = Date.now } = this.options
    const { message, transfer } = messageOf(requests, now() - Date.now(), this.batches.saves)
    this.post(message, transfer)
  }

  private post(message: ToWriter, transfer: ArrayBuffer[] = []): void {
    this.worker?.postMessage(message, transfer)
  }

  /** Starts the thread. Resolves when it is ready. */
  private spawn(): Promise<void> {
    const { path, mapSizeBytes, model, wire, allowLoss, memory, imageMinutes = 0, imageChanges = 0 } = this.options
    const { lock, log, unfinished } = this.options
    const batches = { saves: new SharedBatches(), results: new SharedBatches() }
    this.batches = batches
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
      batches: { saves: batches.saves.buffer, results: batches.results.buffer },
    }
    const worker = new Worker(outputUrl('engine/threads/writer-thread.js'), { workerData })
    this.worker = worker
    let failure: Error | undefined
    worker.on('error', error => {
      failure = error
    })
    worker.on('exit', code => this.handleEnd(code, failure))
    this.threadEnd = new Promise(resolve => {
      worker.on('exit', () => resolve())
    })
    return new Promise((resolve, reject) => {
      worker.on('message', (message: FromWriter) => {
        if (message.kind === 'ready') {
          this.isReady = true
          this.logged = message.isLogged
          if (this.followed > 0) this.post({ kind: 'followed', sequence: this.followed })
          resolve()
        } else if (message.kind === 'refused') reject(openingError(message.error))
        else this.receive(message)
      })
      worker.on('exit', code => reject(failure ?? new Error(`the writer thread ended with code ${code}`)))
    })
  }

  private handleEnd(code: number, failure: Error | undefined): void {
    const wasReady = this.isReady
    this.isReady = false
    this.worker = undefined
    this.heartbeat.enter('idle')
    this.heartbeat.locks = 0
    this.watch.phase = undefined
    // The memory is out of date until the next thread has filled it again.
    if (this.options.memory) new SharedHeap(this.options.memory).invalidate()
    this.failSent()
    this.pending.removeSent()
    // Requests that the thread never received wait for the next one.
    if (this.closing) this.pending.rejectUnsent(WriterErrors.CLOSED)
    if (!wasReady || this.closing) return
    this.options.onInternalError?.(`the writer thread ended with code ${code} and is started again: ${failure?.stack}`)
    this.restart(0)
  }

  /** Receives a message, as declared in `engine/write/contract/messages.ts`. */
  private receive(message: FromWriter): void {
    if (message.kind === 'internalError') this.options.onInternalError?.(message.text)
    else if (message.kind === 'note') this.options.onNote?.(message.text, message.level)
    else if (message.kind === 'memoryFilled') this.fillMemory()
    else if (message.kind === 'enqueued') this.onEnqueued?.()
    else if (message.kind === 'progress') this.options.onProgress?.(message)
    else if (message.kind === 'durable') this.pending.announce(message.id, message.result)
    else if (message.kind === 'done') {
      const { outcomes, saved, announced } = message
      if (saved)
        for (const { id, outcome } of receiveResults(this.batches.results, saved)) this.pending.settle(id, outcome)
      for (const { id, outcome } of outcomes) this.pending.settle(id, outcome)
      for (const id of announced) this.pending.settle(id)
    }
  }

  /** Rejects all sent requests, and those of linked threads. */
  private failSent(): void {
    for (const signal of this.links) cutLink(signal, LOST)
    this.links.clear()
    this.pending.failSent()
  }

  private restart(delayMs: number): void {
    this.restartTimer = setTimeout(async () => {
      try {
        await this.spawn()
        this.flush()
      } catch (error) {
        this.options.onInternalError?.(`the writer thread could not be started: ${(error as Error).stack}`)
        this.pending.rejectUnsent(() => WriterErrors.RESTARTING().retryAfter(1))
        if (!this.closing) this.restart(RESTART_DELAY_MS)
      }
    }, delayMs)
  }
}

function openingError({ name, message, problems }: Extract<FromWriter, { kind: 'refused' }>['error']): Error {
  return problems ? new ModelError(problems) : Object.assign(new Error(message), { name })
}
