import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { ThreadCounts } from '../../base/counts/thread-counts.ts'
import type { ProtocolError } from '../../base/errors.ts'
import { Numbered } from '../../base/numbered.ts'
import type { Breaker } from './breaker.ts'
import type { CodeLogLine } from './code-log.ts'
import type { LoadedClasses } from '../declare/describe-classes.ts'
import { FunctionErrors } from '../declare/function-errors.ts'
import { isDebugged } from './debugger.ts'
import type { FunctionPoolOptions } from './function-options.ts'
import { outputUrl } from '../../base/output-root.ts'
import type { StreamFlow } from './function-stream.ts'
import type { LinkEnd } from '../../write/contract/link-messages.ts'
import { killThread } from './kill-thread.ts'
import { memoryGauge } from './memory-gauge.ts'
import type { PendingCall } from './pending-call.ts'
import {
  ALIVE_AT,
  ASKED,
  type ClassModule,
  CURRENT,
  type FromFunctionThread,
  type FunctionOutcome,
  type FunctionThreadOptions,
  MEMORY,
  PHASE,
  PROGRESS_WORDS,
  READING,
  RESUMED,
  RUNNING,
  RUNNING_SINCE,
  STARTED_AT,
  STOP,
  type StreamHead,
  TOO_LITTLE,
  type ToFunctionThread,
} from './tasks.ts'

export type OpenStore = Extract<ToFunctionThread, { open: unknown }>

/** Callbacks by which threads use the store. */
export interface StoreHooks {
  /** @returns a function to be called when the thread has ended */
  connect(end: LinkEnd, to: 'writer' | 'remote'): () => void
  /** Called when a thread has ended, perhaps in the middle of a read. */
  onThreadEnd(): void
}

/** State that all function threads share. */
export interface FunctionState {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Counters of the kernel thread. */
  readonly counts: ThreadCounts
  readonly breaker: Breaker
  /** Threads, and terminated ones still in work that cannot be interrupted. */
  readonly alive: Set<WorkerSlot>
  /** Number of calls of asynchronous functions that have not ended. */
  asyncCount: number
  /** Set when calls can be run. */
  store?: OpenStore
  hooks?: StoreHooks
  onLog(line: CodeLogLine): void
  /** Called with what a running job reports, as JSON. */
  onProgress?: (job: string, progress: string) => void
}

/** The pool that a thread belongs to. */
export interface SlotOwner {
  /** Called when the classes of the modules have been loaded: the thread can open the store. */
  onLoad(classes: LoadedClasses): void
  onAnswer(call: PendingCall, outcome: FunctionOutcome, ranMs: number): void
  /** Called when the answer of a call is a stream, whose chunks and outcome follow. */
  onStream(call: PendingCall, head: StreamHead, flow: StreamFlow): void
  /** Called when the thread waits for a batch. `calls` are calls of its batch that it did not begin. */
  onIdle(calls: readonly PendingCall[]): void
  onEnd(slot: WorkerSlot, end: SlotEnd): void
  /** Called when the thread has exited, which may be later if its code could not be interrupted. */
  onExit(slot: WorkerSlot): void
}

export interface SlotEnd {
  readonly reason: string
  /** The call whose code was running. */
  readonly runningCall: PendingCall | undefined
  /** True if plugin code was running, and took most of the time. */
  readonly isCode: boolean
  /** The call that was running, and those whose code was waiting. */
  readonly failures: readonly (readonly [PendingCall, ProtocolError])[]
  /** Calls that it did not begin. */
  readonly unbegunCalls: readonly PendingCall[]
}

/** Maximum time between sending a batch and its first task. A thread that needs longer is running code that no call asked for. */
const BEGIN_MS = 2_000
/** Maximum time for which code without a call may prevent waiting calls from resuming. */
const STUCK_MS = 5_000
/** Interval between two measurements of the memory of code that waits. */
const MEASURE_WAITING_MS = 200
/** Time for plugin code to return when the thread closes. */
const CLOSE_MS = 1_000
/** Time after which the tasks queued after a running one may be given to another thread. */
const TAKE_BACK_MS = 10
const RETRY_AFTER_SECONDS = 1
/** Greatest number of the first call of a batch. */
const MAX_NUMBER = 2 ** 30
/** Amount by which V8's own limit exceeds ours, because exceeding V8's may end the process. */
const HEADROOM_MIB = 2_048

/**
 * A function thread and its current batch. Outcomes are sent one by one, so that a task that ends the thread does not lose the outcomes of
 * finished tasks. Shared memory shows the progress of the thread while its code does not return.
 */
export class WorkerSlot {
  /** True if it has opened the store and has no batch. */
  isIdle = false
  readonly threadId: number
  private readonly worker: Worker
  private readonly port: MessagePort
  private readonly exit: Promise<void>
  private readonly progress = new Int32Array(new SharedArrayBuffer(4 * PROGRESS_WORDS))
  private batch: readonly PendingCall[] = []
  /** Number of the call of its first task. */
  private first = 1
  /** Tasks that were sent and have no outcome yet, by the numbers of their calls: those of the batch, and those whose code waits. */
  private readonly open = new Numbered<PendingCall>()
  private sentCount = 0
  private measuredAt = 0
  private waitsSince = Date.now()
  private phase: 'starting' | 'loading' | 'opening' | 'open' = 'starting'
  hasEnded = false
  private importing: ClassModule | undefined
  private reason: string | undefined
  private readonly onGone: (() => void)[] = []
  private isKilled = false
  /** Created before the thread, because otherwise it would not notice the thread. */
  private readonly gauge = memoryGauge()

  constructor(
    private readonly options: FunctionPoolOptions,
    private readonly state: FunctionState,
    private readonly owner: SlotOwner,
  ) {
    const { modules, tasks, dataClasses, memoryBytes, argumentBounds, logLines } = options
    const { port1, port2 } = new MessageChannel()
    const workerData: FunctionThreadOptions = {
      ...{ modules, tasks, dataClasses, memoryBytes, argumentBounds, logLines },
      progress: this.progress,
      port: port2,
    }
    this.worker = new Worker(outputUrl('engine/threads/function-thread.js'), {
      workerData,
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(memoryBytes / 2 ** 20) + HEADROOM_MIB },
    })
    this.threadId = this.worker.threadId
    this.port = port1
    this.port.on('message', (message: FromFunctionThread) => this.receive(message))
    this.port.unref()
    this.worker.on('error', error => {
      this.reason ??= endOf(error)
    })
    this.exit = new Promise(resolve => {
      this.worker.on('exit', () => {
        // Receives messages that the thread sent before it ended.
        this.receiveAll()
        port1.close()
        this.end(this.reason ?? 'its code ended the thread (process.exit?)')
        for (const disconnect of this.onGone) disconnect()
        owner.onExit(this)
        resolve()
      })
    })
    this.worker.unref()
  }

  /** Tasks of the current batch, and those whose code waits. */
  get calls(): readonly PendingCall[] {
    return this.open.values()
  }

  /** True if its modules have been loaded. */
  get isLoaded(): boolean {
    return this.phase === 'opening' || this.phase === 'open'
  }

  /** Number of calls whose code waits. */
  get waitingCount(): number {
    const { open, batch, first } = this
    return open.size - batch.filter((_, i) => open.has(first + i)).length
  }

  openStore(message: OpenStore): void {
    this.port.postMessage(message)
  }

  send(batch: readonly PendingCall[]): void {
    this.isIdle = false
    // Call numbers must fit into one word of the progress memory.
    this.first = this.first > MAX_NUMBER ? 1 : this.first + this.sentCount
    this.sentCount = batch.length
    this.batch = batch
    for (const [i, task] of batch.entries()) this.open.set(this.first + i, task)
    this.waitsSince = Date.now()
    Atomics.store(this.progress, CURRENT, 0)
    const sentTasks = batch.map(({ task, deadlineMs, waitMs }) => ({ task, deadlineMs, waitMs }))
    const clockOffsetMs = this.state.now() - Date.now()
    this.port.postMessage({ batch: sentTasks, first: this.first, clockOffsetMs } satisfies ToFunctionThread)
  }

  /**
   * Ends the thread if it exceeds its deadline or its memory limit. After some time, takes back tasks that it has not begun if
   * another thread could run them.
   */
  watch(canTakeBack: boolean): void {
    if (this.hasEnded || (this.isIdle && this.open.size === 0)) return
    const { progress, batch } = this
    const { loadMs } = this.options
    const now = Date.now()
    const word = Atomics.load(progress, CURRENT)
    const current = word & (STOP - 1)
    const waitedMs = now - this.waitsSince
    if (!this.canBeKilled) return
    if (this.phase === 'loading') {
      if (waitedMs > loadMs && !isDebugged()) this.stop(word, `its modules did not load within ${loadMs / 1000} s`)
    } else if (this.isIdle || current === 0 || current > batch.length) {
      this.watchWaiting(word, now)
      if (current > 0 || this.isIdle || this.hasEnded) return
      if (canTakeBack && waitedMs > TAKE_BACK_MS) this.stopAfter(word)
      else if (waitedMs > BEGIN_MS && !this.resumed && !isDebugged()) this.stop(word, UNASKED)
    } else {
      const elapsedMs = (now - Atomics.load(progress, STARTED_AT)) | 0
      const memory = Atomics.load(progress, MEMORY)
      if (elapsedMs > batch[current - 1]!.deadlineMs && !isDebugged()) this.stop(word, 'it exceeded its deadline', true)
      else if (memory === TOO_LITTLE) this.stop(word, TOO_LARGE)
      else {
        if (canTakeBack && current < batch.length && elapsedMs > TAKE_BACK_MS) this.stopAfter(word)
        if (memory !== ASKED) this.measure()
      }
    }
  }

  /** The task whose code resumed after an await. */
  private get resumed(): PendingCall | undefined {
    return this.open.get(Atomics.load(this.progress, RESUMED))
  }

  /** Ends the thread if the code of a task that had waited does not return, or if its calls need too much memory. */
  private watchWaiting(word: number, now: number): void {
    const { progress, resumed } = this
    const memory = Atomics.load(progress, MEMORY)
    const busyMs = (now - Atomics.load(progress, ALIVE_AT)) | 0
    if (resumed && busyMs > resumed.deadlineMs && !isDebugged())
      this.stop(word, 'its code did not wait or end within its deadline', true)
    else if (!resumed && this.waitingCount > 0 && busyMs > STUCK_MS && !isDebugged()) this.stop(word, UNASKED)
    else if (memory === TOO_LITTLE) this.stop(word, TOO_LARGE)
    else if (memory !== ASKED && this.open.size > 0 && now - this.measuredAt > MEASURE_WAITING_MS) {
      this.measuredAt = now
      this.measure()
    }
  }

  /** Asks the thread to end; terminates it if plugin code does not return. */
  async close(): Promise<void> {
    this.hasEnded = true
    this.port.postMessage({ close: true } satisfies ToFunctionThread)
    const timer = setInterval(() => this.canBeKilled && this.kill(), CLOSE_MS)
    await this.exit
    clearInterval(timer)
  }

  /** False while the thread loads lmdb or opens the store: terminating it then would end the process. */
  private get canBeKilled(): boolean {
    return this.phase === 'loading' || this.phase === 'open'
  }

  private measure(): void {
    Atomics.store(this.progress, MEMORY, ASKED)
    this.gauge.measure(this.threadId)
  }

  /** Keeps the thread from beginning another task. @returns false if it has begun one meanwhile */
  private stopAfter(word: number): boolean {
    return Atomics.compareExchange(this.progress, CURRENT, word, word | STOP) === word
  }

  /** Ends the thread without waiting for it: some work of V8, such as filling a large array, cannot be interrupted. */
  private stop(word: number, reason: string, isLate = false): void {
    if (!this.stopAfter(word)) return
    this.kill()
    this.end(reason, isLate)
  }

  private kill(): void {
    if (!this.isKilled) killThread(this.worker, this.progress)
    this.isKilled = true
  }

  /** Messages are declared in `engine/author/run/tasks.ts`. */
  private receive(message: FromFunctionThread): void {
    const { open, owner, state } = this
    if ('outcomes' in message) {
      for (const { call, outcome, ranMs } of message.outcomes) {
        const pending = open.get(call)!
        open.delete(call)
        owner.onAnswer(pending, outcome, ranMs)
      }
      if (message.doneCount !== undefined && !this.hasEnded) this.batchDone(message.doneCount)
    } else if ('call' in message) {
      const { call } = message
      const pending = open.get(call)!
      if ('chunk' in message) pending.stream?.push(message.chunk)
      else {
        const taken = (size: number) => this.tell(call, { taken: call, size })
        owner.onStream(pending, message.head, { taken, gone: () => this.tell(call, { gone: call }) })
      }
    } else if ('importing' in message) {
      if (this.phase === 'starting') this.waitsSince = Date.now()
      this.phase = 'loading'
      this.importing = this.options.modules[message.importing]
    } else if ('opened' in message) {
      this.phase = 'open'
      this.isIdle = !this.hasEnded
      if (this.isIdle) owner.onIdle([])
    } else if ('refused' in message) this.reason = message.refused
    else if (this.hasEnded) return
    else if ('classes' in message) {
      this.phase = 'opening'
      owner.onLoad(message)
    } else if ('connect' in message) this.onGone.push(state.hooks!.connect(message.connect, message.to))
    else if ('job' in message) state.onProgress?.(message.job, message.progress)
    else state.onLog(message.log)
  }

  /** @param doneCount number of tasks that were begun */
  private batchDone(doneCount: number): void {
    const { batch, first, open } = this
    this.isIdle = true
    this.batch = []
    for (const [i, pending] of batch.entries()) {
      const call = first + i
      if (i >= doneCount) open.delete(call)
      // The code of the call is still waiting.
      else if (open.has(call)) pending.caller?.onAborted(() => this.tell(call, { gone: call }))
    }
    this.owner.onIdle(batch.slice(doneCount))
  }

  /** Tells the thread something about a call that has no outcome yet. */
  private tell(call: number, message: ToFunctionThread): void {
    if (this.open.has(call) && !this.hasEnded) this.port.postMessage(message)
  }

  /** Receives what the thread has sent up to now. */
  private receiveAll(): void {
    for (let packet = receiveMessageOnPort(this.port); packet; packet = receiveMessageOnPort(this.port))
      this.receive(packet.message)
  }

  private end(how: string, isLate = false): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.receiveAll()
    const { batch, importing } = this
    const current = Atomics.load(this.progress, CURRENT) & (STOP - 1)
    const phase = Atomics.load(this.progress, PHASE)
    const ranMs = (Date.now() - Atomics.load(this.progress, RUNNING_SINCE)) | 0
    const isLoading = this.phase === 'loading' && importing
    const begunCall = batch[current - 1]
    const { resumed } = this
    const runningCall = begunCall ?? resumed
    const unbegunCalls = batch.slice(current)
    const reason = isLoading ? `plugin ${importing.plugin}: ${importing.source} cannot be loaded: ${how}` : how
    const errorOf = (call: PendingCall): ProtocolError => {
      const { name, deadlineMs } = call
      if (call !== runningCall) return FunctionErrors.INTERRUPTED(name, reason).retryAfter(RETRY_AFTER_SECONDS)
      // No plugin code of the call had run.
      if (begunCall && phase === READING) return FunctionErrors.UNREADABLE_ARGUMENTS(name, reason)
      return isLate ? FunctionErrors.DEADLINE(name, deadlineMs / 1000) : FunctionErrors.ENDED_THREAD(name, reason)
    }
    this.owner.onEnd(this, {
      reason,
      runningCall,
      isCode: begunCall ? phase === RUNNING && !(isLate && ranMs < begunCall.deadlineMs / 2) : resumed !== undefined,
      failures: this.calls.filter(call => !unbegunCalls.includes(call)).map(call => [call, errorOf(call)]),
      unbegunCalls,
    })
  }
}

const UNASKED = 'its thread was running code that no call had asked for'
const TOO_LARGE = 'it needed more memory than it may have'

/** @param error whatever code has thrown, even null */
function endOf(error: unknown): string {
  const { code, name, message } = (error ?? {}) as { code?: string; name?: string; message?: string }
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return TOO_LARGE
  return `code that no call had asked for failed (${name ?? 'no error'}: ${message ?? String(error)})`
}
