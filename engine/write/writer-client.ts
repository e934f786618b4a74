import { randomUUID } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { checkModel } from '../catalog/check-model.ts'
import type { WireOptions } from '../catalog/dataclass.ts'
import { ModelError } from '../catalog/model-error.ts'
import type { Model } from '../catalog/model-schema.ts'
import { ProtocolError } from '../errors.ts'
import { SharedHeap } from '../memory/shared-heap.ts'
import { outputUrl } from '../output-root.ts'
import type { Progress } from '../migration/migrate-data.ts'
import {
  bodiesOf,
  type FromWriter,
  isWriteResult,
  packBodies,
  type ToWriter,
  type WriterThreadOptions,
} from './messages.ts'
import type { ResultOf, WriteRequest, WriteResult } from './requests.ts'
import { WriterErrors } from './write-errors.ts'
import { cutLink, type LinkEnd, LOST, REFUSED } from './writer-link.ts'

export interface WriterClientOptions {
  /** Folder of the store. */
  path: string
  mapSizeBytes: number
  /** Content of the model file. */
  model: unknown
  wire: WireOptions
  allowLoss: boolean
  /** Requests that may wait for the writer; more are refused (503). */
  maxWaiting?: number
  /** Bytes of their bodies. */
  maxWaitingBytes?: number
  /** A transaction that takes longer is given up. */
  stallTimeoutMs?: number
  onProgress?: Progress
  /** What readers share; the thread fills it and keeps it. */
  memory?: WebAssembly.Memory | undefined
  /** Least time between two images of it; 0 or undefined: none are written. */
  imageMinutes?: number
  /** Least changes of entities between two images. */
  imageChanges?: number
  /** What is worth knowing, for the log. */
  onNote?: (text: string) => void
  /** What goes wrong inside, for the log. */
  onInternalError?: (text: string) => void
}

interface Waiting {
  request: WriteRequest
  bytes: number
  isSent: boolean
  resolve(result: WriteResult): void
  reject(error: Error): void
}

const RESTART_DELAY_MS = 1_000
const STALL_TIMEOUT_MS = 60_000
/** Of the clients of this process, so that two of them do not take one store. */
const tokens = new Set<string>()

/** The writer thread as the kernel thread sees it. */
export class WriterClient {
  private worker: Worker | undefined
  private readonly waiting = new Map<number, Waiting>()
  private waitingBytes = 0
  private nextId = 0
  private outbox: number[] = []
  private restartTimer: NodeJS.Timeout | undefined
  private closing: Promise<void> | undefined
  /** Settles when the thread has stopped. */
  private stopped: Promise<void> = Promise.resolve()
  private isReady = false
  private readonly heartbeat = new Int32Array(new SharedArrayBuffer(4))
  private stallTimer: NodeJS.Timeout | undefined
  private stall!: () => void
  /** Settles when the thread makes no progress. Nothing can be done about that in this process. */
  private readonly stalled = new Promise<void>(resolve => {
    this.stall = resolve
  })

  /** Signals of the threads that are linked to the writer. */
  private readonly links = new Set<Int32Array>()
  private fillMemory!: () => void
  private readonly filled = new Promise<void>(resolve => {
    this.fillMemory = resolve
  })

  private constructor(
    private readonly options: WriterClientOptions & { readonly model: Model },
    private readonly token: string,
  ) {}

  /**
   * Starts the thread, which makes the store when there is none and brings it to the model.
   * @throws {ModelError} the model is wrong
   * @throws {Error} named `MigrationError` when it does not fit the data; when another process has the store
   */
  static async start(options: WriterClientOptions): Promise<WriterClient> {
    // Here, where what checks has been loaded for the config: loading it takes a thread more than all else it needs.
    const client = new WriterClient({ ...options, model: checkModel(options.model) }, randomUUID())
    try {
      await client.spawn()
    } catch (error) {
      tokens.delete(client.token)
      throw error
    }
    client.watch()
    return client
  }

  /** Resolves as soon as the shared memory has been filled; at once when there is none. */
  get memoryFilled(): Promise<void> {
    return this.options.memory ? this.filled : Promise.resolve()
  }

  /** False while the thread is being replaced. */
  get isRunning(): boolean {
    return this.isReady && !this.closing
  }

  /**
   * Links a thread that waits for what it writes.
   * @returns to be called when that thread has ended, so that the writer does not wait for it
   */
  connect({ port, signal }: LinkEnd): () => void {
    if (!this.isRunning) cutLink(signal, REFUSED)
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
   * Resolves when it is durable, also when not all of it could be done.
   * @throws {ProtocolError} when nothing could be looked at; {@link WriterErrors}
   */
  write<Request extends WriteRequest>(request: Request): Promise<ResultOf<Request>> {
    const { maxWaiting = 10_000, maxWaitingBytes = 64 * 1024 * 1024 } = this.options
    const bytes =
      request.kind === 'delete'
        ? request.rowIds.byteLength
        : bodiesOf(request).reduce((sum, { length }) => sum + length, 0)
    if (this.closing) return Promise.reject(WriterErrors.CLOSED())
    if (!this.isReady) return Promise.reject(WriterErrors.RESTARTING().retryAfter(1))
    // A request that is alone is always taken: its size has limits of its own.
    if (this.waiting.size >= maxWaiting || (this.waiting.size > 0 && this.waitingBytes + bytes > maxWaitingBytes)) {
      return Promise.reject(WriterErrors.BUSY(this.waiting.size, this.waitingBytes).retryAfter(1))
    }
    return new Promise((resolve, reject) => {
      const id = this.nextId++
      this.waiting.set(id, { request, bytes, isSent: false, resolve: resolve as Waiting['resolve'], reject })
      this.waitingBytes += bytes
      // What arrives in one turn goes in one message.
      if (this.outbox.push(id) === 1) setImmediate(() => this.flush())
    })
  }

  /** Finishes what waits, then stops the thread and gives the store free. */
  close(): Promise<void> {
    this.closing ??= (async () => {
      clearTimeout(this.restartTimer)
      this.flush()
      this.post({ kind: 'close' })
      await Promise.race([this.stopped, this.stalled])
      clearInterval(this.stallTimer)
      tokens.delete(this.token)
    })()
    return this.closing
  }

  private flush(): void {
    // Without a thread they stay here until there is one again.
    if (this.outbox.length === 0 || !this.isReady) return
    const ids = this.outbox
    this.outbox = []
    const sent = ids.map(id => this.waiting.get(id)!)
    const { packed, buffer } = packBodies(sent.map(({ request }) => request))
    for (const waiting of sent) waiting.isSent = true
    this.post({ kind: 'write', requests: ids.map((id, i) => ({ id, request: packed[i]! })) }, [buffer])
  }

  private post(message: ToWriter, transfer: ArrayBuffer[] = []): void {
    this.worker?.postMessage(message, transfer)
  }

  /** Resolves when the thread is ready. */
  private spawn(): Promise<void> {
    const { path, mapSizeBytes, model, wire, allowLoss, memory, imageMinutes = 0, imageChanges = 0 } = this.options
    const otherTokens = [...tokens].filter(token => token !== this.token)
    tokens.add(this.token)
    const workerData: WriterThreadOptions = {
      path,
      mapSizeBytes,
      model,
      wire,
      allowLoss,
      owner: { token: this.token, otherTokens },
      heartbeat: this.heartbeat,
      memory,
      imageMinutes,
      imageChanges,
    }
    const worker = new Worker(outputUrl('engine/write/writer-thread.js'), { workerData })
    this.worker = worker
    let failure: Error | undefined
    const ready = new Promise<void>((resolve, reject) => {
      worker.on('message', (message: FromWriter) => {
        if (message.kind === 'ready') {
          this.isReady = true
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
        // Nobody keeps it up to date any more, until the next thread has filled it again.
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

  private receive(message: FromWriter): void {
    if (message.kind === 'internalError') this.options.onInternalError?.(message.text)
    else if (message.kind === 'note') this.options.onNote?.(message.text)
    else if (message.kind === 'memoryFilled') this.fillMemory()
    else if (message.kind === 'progress') this.options.onProgress?.(message)
    else if (message.kind === 'done') {
      for (const { id, outcome } of message.outcomes) {
        const waiting = this.forget(id)
        if (isWriteResult(outcome)) waiting.resolve(outcome)
        else waiting.reject(new ProtocolError(outcome))
      }
    }
  }

  /**
   * A thread that runs out of memory inside a transaction never ends: LMDB waits for the transaction when the thread tears
   * its environment down, and no event tells of it. So its transactions are watched.
   */
  private watch(): void {
    const { stallTimeoutMs = STALL_TIMEOUT_MS } = this.options
    let last = -1
    this.stallTimer = setInterval(() => {
      const beat = Atomics.load(this.heartbeat, 0)
      const isInTransaction = beat % 2 === 1
      if (!isInTransaction || beat !== last) {
        last = beat
        return
      }
      clearInterval(this.stallTimer)
      this.isReady = false
      this.lose()
      this.options.onInternalError?.(
        `the writer thread has made no progress for ${stallTimeoutMs} ms; reading goes on, writing needs this process to be killed (SIGKILL) and started again`,
      )
      this.stall()
    }, stallTimeoutMs)
    this.stallTimer.unref()
  }

  /** The thread is gone: what it had may be written or not. What it never got waits for the next one, if there is one. */
  private lose(): void {
    for (const signal of this.links) cutLink(signal, LOST)
    this.links.clear()
    for (const [id, { isSent, reject }] of this.waiting) {
      if (!isSent && !this.closing) continue
      this.forget(id)
      reject(isSent ? WriterErrors.OUTCOME_UNKNOWN() : WriterErrors.CLOSED())
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
