import { Worker } from 'node:worker_threads'
import type { ClassDescriptor } from '../language/describe-classes.ts'
import { outputUrl } from '../output-root.ts'
import type { LinkEnd } from '../write/writer-link.ts'
import {
  type BatchTask,
  type ClassModule,
  CURRENT,
  type FromFunctionThread,
  type FunctionOutcome,
  PROGRESS_WORDS,
  STARTED_AT,
  STOP,
  type ToFunctionThread,
} from './tasks.ts'

export interface LaneOptions {
  readonly modules: readonly ClassModule[]
  readonly heapBytes: number
  /** The classes of the modules have been loaded; from now on batches can be sent. */
  onReady(classes: readonly ClassDescriptor[]): void
  onOutcome(task: BatchTask, outcome: FunctionOutcome): void
  /** The thread waits. `rest` are tasks of its batch that it did not begin. */
  onIdle(rest: readonly BatchTask[]): void
  /** Something for the log. */
  onNote(text: string): void
  /** The thread wants to write. @returns to be called when it has ended */
  connectWriter(end: LinkEnd): () => void
  /** The thread is gone. `running` is the task that it was at, if any; `rest` were not begun. */
  onEnd(end: { reason: string; running: BatchTask | undefined; isLate: boolean; rest: readonly BatchTask[] }): void
}

/** Time for all modules to load. A module that takes longer is taken for one that never ends. */
const LOAD_MS = 10_000
/** Time between a batch is sent and its first task begins. A thread that needs longer is at something it was not asked for. */
const BEGIN_MS = 2_000
/** Time for code of authors to return when a thread is to end. */
const CLOSE_MS = 1_000

/**
 * A function thread and the batch that it works on. Answers come one by one, so that a task that ends the thread takes no
 * finished ones with it; how far the thread is can be seen in shared memory while its code does not return.
 */
export class FunctionLane {
  /** Ready and without a batch. */
  isIdle = false
  private readonly worker: Worker
  private readonly gone: Promise<void>
  private readonly progress = new Int32Array(new SharedArrayBuffer(4 * PROGRESS_WORDS))
  private batch: readonly BatchTask[] = []
  private waitsSince = Date.now()
  private isReady = false
  private hasEnded = false
  private reason: string | undefined
  private isLate = false
  private importing: ClassModule | undefined
  private readonly onGone: (() => void)[] = []

  constructor(private readonly options: LaneOptions) {
    const { modules, heapBytes } = options
    this.worker = new Worker(outputUrl('engine/functions/function-thread.js'), {
      workerData: { modules, progress: this.progress },
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(heapBytes / 2 ** 20) },
    })
    this.worker.on('message', (message: FromFunctionThread) => this.receive(message))
    this.worker.on('error', error => {
      this.reason ??= endOf(error)
    })
    this.gone = new Promise(resolve => {
      this.worker.on('exit', () => {
        this.end()
        resolve()
      })
    })
    this.worker.unref()
  }

  get threadId(): number {
    return this.worker.threadId
  }

  open(message: Extract<ToFunctionThread, { open: unknown }>): void {
    this.worker.postMessage(message satisfies ToFunctionThread)
  }

  send(batch: readonly BatchTask[]): void {
    this.isIdle = false
    this.batch = batch
    this.waitsSince = Date.now()
    Atomics.store(this.progress, CURRENT, 0)
    const message = { batch: batch.map(({ task, deadlineMs }) => ({ task, deadlineMs })) }
    this.worker.postMessage(message satisfies ToFunctionThread)
  }

  /** Takes back what the thread has not begun after some time, when another one could do it; ends one that is too late. */
  watch(canTakeBack: boolean): void {
    if (this.isIdle || this.hasEnded) return
    const word = Atomics.load(this.progress, CURRENT)
    const current = word & (STOP - 1)
    const now = Date.now()
    if (!this.isReady) {
      if (now - this.waitsSince > LOAD_MS) this.terminate(`its modules did not load within ${LOAD_MS / 1000} s`)
    } else if (current === 0) {
      if (now - this.waitsSince > BEGIN_MS)
        this.terminate('its thread was busy with something that no call had asked for')
    } else if (current <= this.batch.length) {
      const elapsedMs = (now - Atomics.load(this.progress, STARTED_AT)) | 0
      this.isLate = elapsedMs > this.batch[current - 1]!.deadlineMs
      if (this.isLate) this.terminate('it was too late')
      else if (canTakeBack && current < this.batch.length && elapsedMs > TAKE_BACK_MS) {
        // Whether the thread has gone on meanwhile does not matter: it says itself where it stopped.
        Atomics.compareExchange(this.progress, CURRENT, word, current | STOP)
      }
    }
  }

  /** Lets the thread end by itself: interrupted while it opens the store, LMDB would end the process. */
  async close(): Promise<void> {
    this.hasEnded = true
    this.worker.postMessage({ close: true } satisfies ToFunctionThread)
    const timer = setInterval(() => {
      const isAtCodeOfAuthors = !this.isReady || Atomics.load(this.progress, CURRENT) > 0
      if (isAtCodeOfAuthors) void this.worker.terminate()
    }, CLOSE_MS)
    await this.gone
    clearInterval(timer)
  }

  private terminate(reason: string): void {
    this.reason ??= reason
    void this.worker.terminate()
  }

  private receive(message: FromFunctionThread): void {
    if ('outcome' in message) this.options.onOutcome(this.batch[message.index]!, message.outcome)
    else if ('done' in message) {
      const rest = this.batch.slice(message.done)
      this.isIdle = true
      this.batch = []
      this.options.onIdle(rest)
    } else if ('classes' in message) {
      this.isReady = true
      this.isIdle = true
      this.options.onReady(message.classes)
    } else if ('connect' in message) this.onGone.push(this.options.connectWriter(message.connect))
    else if ('note' in message) this.options.onNote(message.note)
    else if ('importing' in message) this.importing = this.options.modules[message.importing]
    else this.reason = message.refused
  }

  private end(): void {
    for (const disconnect of this.onGone) disconnect()
    if (this.hasEnded) return
    this.hasEnded = true
    const { batch, importing } = this
    const current = Atomics.load(this.progress, CURRENT) & (STOP - 1)
    const how = this.reason ?? 'its code ended the thread (process.exit?)'
    const isLoading = !this.isReady && importing
    this.options.onEnd({
      reason: isLoading ? `plugin ${importing.plugin}: ${importing.source} cannot be loaded: ${how}` : how,
      running: batch[current - 1],
      isLate: this.isLate,
      rest: batch.slice(current),
    })
  }
}

/** A task that runs for longer lets those behind it go elsewhere. */
const TAKE_BACK_MS = 10

function endOf(error: unknown): string {
  const { code, name, message } = error as { code?: string; name?: string; message?: string }
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return 'it needed more memory than it may have'
  return `something that it had left to run later failed (${name ?? 'no error'}: ${message ?? String(error)})`
}
