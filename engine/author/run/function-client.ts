import { ownCounts, type ThreadCounts } from '../../base/counts/thread-counts.ts'
import { ProtocolError } from '../../base/errors.ts'
import { shortText } from '../../base/short-text.ts'
import type { CalculatedSlice } from '../hooks/calculate.ts'
import { type Caller, traceOf } from '../../caller/caller.ts'
import type { Task } from '../../query/tasks/task.ts'
import type { Output, ReadRequest } from '../../query/contract/request.ts'
import type { SaveAnswer } from '../../placement/saved-answers.ts'
import { sentSave } from '../../write/contract/sent-save.ts'
import type { DeleteRequest, DeleteResult, SaveRequest, SaveResult } from '../../write/contract/requests.ts'
import type { ClassFunction } from '../declare/class-registry.ts'
import type { LoadedClasses } from '../declare/describe-classes.ts'
import { threadCount } from '../../pool/task-queue.ts'
import { Breaker } from './breaker.ts'
import type { CodeLogLine } from './code-log.ts'
import { FunctionErrors } from '../declare/function-errors.ts'
import type { FunctionPoolOptions } from './function-options.ts'
import { FunctionPool } from './function-pool.ts'
import type { RunOptions, StreamOutcome } from './pending-call.ts'
import type { FunctionState, OpenStore, StoreHooks } from './worker-slot.ts'
import { type CallTask, type FunctionOutcome, type FunctionTask, jobOf, type TaskOutcome } from './tasks.ts'

/** Outcome of a class function. */
export type CallResult =
  | Extract<TaskOutcome, { body: unknown } | { members: unknown } | { message: unknown }>
  | StreamOutcome

/** Bytes of a body, and number of entities to save or delete, per deadline of one function. */
const BYTES_PER_DEADLINE = 2 ** 20
const ROWS_PER_DEADLINE = 10_000

/** Number of elements of a split body; only large bodies are split. */
const entitiesIn = (parts: SaveRequest['parts']): number =>
  parts ? parts.ranges.reduce((sum, word, i) => (i % 3 === 2 ? sum + word : sum), 0) : 1

/**
 * Plugin code as the kernel thread uses it. It runs in function threads; singletons run in a separate thread, which holds their state.
 * @throws {ProtocolError} one that the code throws; the code failed, and the cause is a `Fault`; it exceeded its deadline, or cannot be run
 * now
 */
export class FunctionClient {
  private readonly functions: FunctionPool
  private readonly singletons: FunctionPool
  private readonly state: FunctionState

  /** @param counts counters of this thread */
  constructor(
    private readonly options: FunctionPoolOptions,
    onLog: (line: CodeLogLine) => void,
    now: () => number = Date.now,
    counts: ThreadCounts = ownCounts(),
  ) {
    const breaker = new Breaker({ limit: options.breakerLimit, pauseMs: options.breakerPauseMs, now })
    this.state = { now, counts, onLog, breaker, alive: new Set(), asyncCount: 0 }
    this.functions = new FunctionPool(options, threadCount(options.threads), this.state)
    this.singletons = new FunctionPool(options, 1, this.state)
  }

  /**
   * Starts the first thread.
   * @returns the classes of all modules
   * @throws {Error} with the plugin and the module that cannot be used
   */
  describe(): Promise<LoadedClasses> {
    return this.functions.describe()
  }

  /** Opens the store for the threads. Calls can be run from now on. */
  openStore({ open: { store, ...limits } }: OpenStore, hooks: StoreHooks): void {
    const cacheBytes = Math.floor(store.cacheBytes / (threadCount(this.options.threads) + 1))
    this.state.store = { open: { store: { ...store, cacheBytes }, ...limits } }
    this.state.hooks = hooks
    this.functions.openStore(this.state.store)
  }

  /** Starts the other threads, which otherwise start on demand. */
  warmUp(): void {
    this.functions.warmUp()
  }

  /** Calls `callback` with what a running job reports, as JSON. */
  onProgress(callback: (job: string, progress: string) => void): void {
    this.state.onProgress = callback
  }

  /**
   * Number of threads; of calls that run, that wait for a thread (`waiting`), and whose code waits (`suspended`); and of functions
   * that the breaker refuses now.
   */
  get load(): { threads: number; running: number; waiting: number; suspended: number; broken: number } {
    const { alive, breaker } = this.state
    const [functions, singletons] = [this.functions.load, this.singletons.load]
    const waitingCount = functions.waiting + singletons.waiting
    const suspendedCount = [...alive].reduce((sum, slot) => sum + slot.waitingCount, 0)
    const runningCount = Math.max(0, functions.open + singletons.open - waitingCount - suspendedCount)
    return {
      threads: alive.size,
      running: runningCount,
      waiting: waitingCount,
      suspended: suspendedCount,
      broken: breaker.openCount,
    }
  }

  /** Ids of the live threads. */
  get threadIds(): number[] {
    return [...this.state.alive].map(slot => slot.threadId)
  }

  async close(): Promise<void> {
    this.functions.close()
    this.singletons.close()
    await Promise.all([...this.state.alive].map(slot => slot.close()))
  }

  call(
    { fullName, target, deadlineSeconds, isAsync, isStream, place }: ClassFunction,
    task: CallTask,
    caller?: Caller,
  ): Promise<CallResult> {
    const ownMs = deadlineSeconds === undefined ? undefined : deadlineSeconds * 1000
    const mayWait = isAsync || isStream
    const options = {
      name: `the function ${fullName}`,
      place,
      // An asynchronous function spends most of its deadline waiting.
      deadlineMs: mayWait && ownMs !== undefined ? Math.min(ownMs, this.options.deadlineMs) : ownMs,
      asyncDeadlineMs: ownMs,
      isAsync: mayWait,
      caller,
    }
    const { args } = task
    const sentTask = { ...task, args: args instanceof Uint8Array ? shortText(args) : args }
    return this.run<CallResult>(sentTask, options, target.kind === 'singleton' ? this.singletons : this.functions)
  }

  /** @returns the bytes of the answer, owned by the caller */
  async read(task: Task, caller?: Caller): Promise<Uint8Array> {
    const name = `code that runs for reads of ${task.request.dataClass}`
    const { body } = await this.run<{ body: Uint8Array }>({ kind: 'read', task }, { name, caller })
    return body
  }

  async save(request: SaveRequest, caller?: Caller): Promise<SaveResult> {
    const { saved } = await this.run<{ saved: SaveResult }>(
      { kind: 'save', request: sentSave(request), output: undefined },
      this.saving(request, caller),
    )
    return saved
  }

  async saveAndAnswer(request: SaveRequest, output: Output, caller?: Caller): Promise<SaveAnswer> {
    const { saved } = await this.run<{ saved: SaveAnswer }>(
      { kind: 'save', request: sentSave(request), output },
      this.saving(request, caller),
    )
    return saved
  }

  /** @param read selects the entities of a remote dataclass, in place of the row ids of the request */
  async drop(request: DeleteRequest, caller?: Caller, read?: ReadRequest): Promise<DeleteResult> {
    const { dropped } = await this.run<{ dropped: DeleteResult }>(
      { kind: 'drop', request, read },
      {
        name: `code of the events of ${request.dataClass}`,
        deadlineMs: this.options.deadlineMs * Math.max(1, Math.ceil(request.rowIds.length / ROWS_PER_DEADLINE)),
        caller,
      },
    )
    return dropped
  }

  async calculate(dataClass: string, from: number): Promise<CalculatedSlice> {
    const name = `code of the calculated attributes of ${dataClass}`
    const { calculated } = await this.run<{ calculated: CalculatedSlice }>(
      { kind: 'calculate', dataClass, from },
      { name },
    )
    return calculated
  }

  private saving({ dataClass, body, parts }: SaveRequest, caller?: Caller): RunOptions {
    const functions = Math.max(body.byteLength / BYTES_PER_DEADLINE, entitiesIn(parts) / ROWS_PER_DEADLINE)
    const deadlineMs = this.options.deadlineMs * Math.max(1, Math.ceil(functions))
    return { name: `code of the events of ${dataClass}`, deadlineMs, caller }
  }

  /** Outcomes are declared in `engine/author/run/tasks.ts`. Only calls have streams. */
  private async run<Outcome extends TaskOutcome | StreamOutcome>(
    task: FunctionTask,
    options: RunOptions,
    pool = this.functions,
  ): Promise<Outcome> {
    const { caller } = options
    const session = caller?.session?.()
    const conclude = async (outcome: FunctionOutcome): Promise<TaskOutcome> => {
      caller?.examined?.(outcome.examined)
      if (outcome.session) await session?.change(outcome.session)
      if ('fault' in outcome) {
        const { fault: error, place = options.place } = outcome
        const line = { text: `${options.name} failed`, place, error, trace: traceOf(caller), job: jobOf(task) }
        this.state.onLog({ level: 'error', ...line })
      }
      if ('error' in outcome) throw new ProtocolError(outcome.error)
      if (!('fault' in outcome)) return outcome
      const { fault } = outcome
      throw Object.assign(FunctionErrors.THREW(options.name, fault.name), { cause: fault })
    }
    const sentTask = { ...task, session: session?.data, traceparent: caller?.traceparent }
    const outcome = await pool.run(sentTask, options, conclude)
    // A task only has outcomes of its own kind.
    return ('stream' in outcome ? outcome : await conclude(outcome)) as unknown as Outcome
  }
}
