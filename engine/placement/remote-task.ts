import { threadId } from 'node:worker_threads'
import { serialize } from 'node:v8'
import { move } from 'piscina'
import type { AnswerSink } from '../answer/answer-sink.ts'
import { guarded } from '../data/restricted-snapshot.ts'
import type { StatementLimits } from '../postgres/database.ts'
import type { Databases } from '../postgres/databases.ts'
import { readBytes } from '../postgres/remote-bytes.ts'
import { RemoteReads } from '../postgres/remote-reads.ts'
import { RemoteSnapshot } from '../postgres/remote-snapshot.ts'
import type { RemoteWriter } from '../postgres/remote-writer.ts'
import { RemoteNeeded } from '../query/nodes/remote-query.ts'
import type { QueryContext } from '../query/operators/query-context.ts'
import { QueryBudget } from '../query/scan/query-budget.ts'
import { releaseBuffers } from '../query/serialise/answer.ts'
import { answered, failed, type PoolStore, sinkFor } from './answer-task.ts'
import { planTask } from './plan-task.ts'
import type { TaskRegistry } from './task-kind.ts'
import {
  exportLimits,
  isExport,
  type PoolMessage,
  type PoolOutcome,
  type RemoteTask,
  type RemoteThreadOptions,
  type RemoteWriteTask,
  type SearchedTask,
} from './tasks.ts'

/** Interval at which tasks that wait for a database see that their answers are no longer needed, in milliseconds. */
const WATCH_MS = 50

interface OpenTask {
  readonly slot: number
  readonly waiting: AbortController
}
/** Tasks of this thread that have not ended. */
const open = new Set<OpenTask>()
let timer: NodeJS.Timeout | undefined

/** Aborts a task soon after its answer is no longer needed. */
function watch(task: OpenTask, cancelled: Int32Array): void {
  open.add(task)
  timer ??= setInterval(() => {
    for (const { slot, waiting } of open) if (Atomics.load(cancelled, slot) === 1) waiting.abort()
  }, WATCH_MS).unref()
}

/** State of the thread that asks databases. */
interface RemoteScope {
  readonly options: RemoteThreadOptions
  readonly registry: TaskRegistry
  readonly store: PoolStore
  readonly databases: Databases
  readonly writer: RemoteWriter
}

/**
 * Runs a task that needs databases. Whenever it needs what it has not asked yet, it waits without holding up the thread, and begins
 * again on the newest state of the store.
 */
export async function remoteTask(message: PoolMessage<RemoteTask>, scope: RemoteScope): Promise<PoolOutcome> {
  const { task, slot, deadlineAt, user } = message
  const waiting = new AbortController()
  const watched = { slot, waiting }
  watch(watched, scope.options.cancelled)
  const work = new RemoteWork(message, scope, { deadlineAt, signal: waiting.signal, user })
  const sink = isWrite(task) ? undefined : sinkFor({ ...message, task }, scope.options)
  try {
    if (isWrite(task)) return move(serialize(await work.write(task))) as unknown as Uint8Array
    // Bytes are to be taken before another task of this thread writes an answer.
    return await work.repeat(context => answered(work.answer(task, { ...context, sink }), sink), sink)
  } catch (error) {
    return failed(error, sink)
  } finally {
    open.delete(watched)
    sink?.close()
    releaseBuffers()
  }
}

const isWrite = (task: RemoteTask): task is RemoteWriteTask => task.kind.startsWith('remote')

/** One task, with all that it has read so far. */
class RemoteWork {
  private readonly reads: RemoteReads

  constructor(
    private readonly message: PoolMessage<RemoteTask>,
    private readonly scope: RemoteScope,
    private readonly limits: StatementLimits,
  ) {
    this.reads = new RemoteReads(scope.databases, scope.store.layouts, limits)
  }

  /** Runs work until it needs nothing more. */
  async repeat<T>(work: (context: QueryContext) => T, sink?: AnswerSink): Promise<T> {
    for (;;) {
      try {
        return this.once(work, sink)
      } catch (error) {
        if (!(error instanceof RemoteNeeded)) throw error
        await error.fetch()
      }
    }
  }

  answer(task: SearchedTask, context: QueryContext): Uint8Array {
    const { options, registry, store } = this.scope
    const { views, layouts, queries } = store
    const limits = isExport(task) ? exportLimits(options.limits) : options.limits
    return planTask(task, { views, layouts, limits, queries, registry }, context).run()
  }

  write(task: RemoteWriteTask): Promise<unknown> | undefined {
    const { writer, store } = this.scope
    const { reads, limits } = this
    const repeat = <T>(work: (reads: RemoteReads) => T): Promise<T> => this.repeat(() => work(reads))
    switch (task.kind) {
      case 'remoteSave':
        return writer.save(task.request, repeat, limits)
      case 'remoteDelete':
        return writer.delete(task.deletion, store.queries, repeat, limits)
      case 'remoteLock':
        return writer.lock(task.lock, store.queries, repeat)
      case 'remoteBytes': {
        const { databases } = this.scope
        return readBytes(task.bytes, { views: store.views, queries: store.queries, databases, repeat, limits })
      }
      case 'remoteFreeLocks':
        writer.freeLocks(task.owner)
        return undefined
    }
  }

  /** @throws {RemoteNeeded} */
  private once<T>(work: (context: QueryContext) => T, sink: AnswerSink | undefined): T {
    const { slot, deadlineAt, task } = this.message
    const { options, store } = this.scope
    const { cancelled, worksAt, examined, sent } = options
    const limits = isExport(task) ? exportLimits(options.limits) : options.limits
    const isCancelled = () => Atomics.load(cancelled, slot) === 1
    const counter = { examined: 0, sent: 0 }
    const budget = new QueryBudget({ ...limits, deadlineAt, isCancelled, counter })
    budget.examine(0)
    Atomics.store(worksAt, slot, threadId)
    try {
      return store.read(local => {
        sink?.restart()
        const snapshot = guarded(new RemoteSnapshot(local, this.reads), options.store.restricted)
        const context = { snapshot, budget, remote: this.reads }
        this.reads.context = context
        return work(context)
      })
    } finally {
      examined[slot] = counter.examined
      sent[slot] = counter.sent
      Atomics.store(worksAt, slot, 0)
      store.releaseSnapshot()
    }
  }
}
