import { threadId } from 'node:worker_threads'
import type { AnswerSink } from '../answer/answer-sink.ts'
import { guarded } from '../data/restricted-snapshot.ts'
import type { Databases } from '../postgres/databases.ts'
import { RemoteReads } from '../postgres/remote-reads.ts'
import { RemoteSnapshot } from '../postgres/remote-snapshot.ts'
import { RemoteNeeded } from '../query/nodes/remote-query.ts'
import { QueryBudget } from '../query/scan/query-budget.ts'
import { releaseBuffers } from '../query/serialise/answer.ts'
import { answered, failed, type PoolStore, sinkFor } from './answer-task.ts'
import { planTask } from './plan-task.ts'
import type { TaskRegistry } from './task-kind.ts'
import { exportLimits, isExport, type PoolMessage, type PoolOutcome, type RemoteThreadOptions } from './tasks.ts'

/** Interval at which tasks that wait for a database see that their answers are no longer needed, in milliseconds. */
const WATCH_MS = 50

/**
 * Runs a task that needs databases. Whenever it needs what it has not asked yet, it waits without holding up the thread, and begins
 * again on the newest state of the store.
 */
export async function remoteTask(
  message: PoolMessage,
  options: RemoteThreadOptions,
  registry: TaskRegistry,
  store: PoolStore,
  databases: Databases,
): Promise<PoolOutcome> {
  const { deadlineAt, slot } = message
  const { cancelled } = options
  const sink = sinkFor(message, options)
  const waiting = new AbortController()
  const watch = setInterval(() => Atomics.load(cancelled, slot) === 1 && waiting.abort(), WATCH_MS)
  const reads = new RemoteReads(databases, store.layouts, { deadlineAt, signal: waiting.signal })
  try {
    for (;;) {
      try {
        return answered(runOnce(message, sink, options, registry, store, reads), sink)
      } catch (error) {
        if (!(error instanceof RemoteNeeded)) throw error
        await error.fetch()
      }
    }
  } catch (error) {
    return failed(error, sink)
  } finally {
    clearInterval(watch)
    sink?.close()
    releaseBuffers()
  }
}

/** @throws {RemoteNeeded} */
function runOnce(
  { task, deadlineAt, slot }: PoolMessage,
  sink: AnswerSink | undefined,
  { store: { restricted }, cancelled, worksAt, examined, sent, ...options }: RemoteThreadOptions,
  registry: TaskRegistry,
  { views, layouts, queries, read, releaseSnapshot: rest }: PoolStore,
  reads: RemoteReads,
): Uint8Array {
  const limits = isExport(task) ? exportLimits(options.limits) : options.limits
  const isCancelled = () => Atomics.load(cancelled, slot) === 1
  const counter = { examined: 0, sent: 0 }
  const budget = new QueryBudget({ ...limits, deadlineAt, isCancelled, counter })
  budget.examine(0)
  Atomics.store(worksAt, slot, threadId)
  try {
    return read(local => {
      sink?.restart()
      const snapshot = guarded(new RemoteSnapshot(local, reads), restricted)
      const scope = { views, layouts, limits, queries, registry }
      const context = { snapshot, budget, sink, remote: reads }
      reads.context = context
      return planTask(task, scope, context).run()
    })
  } finally {
    examined[slot] = counter.examined
    sent[slot] = counter.sent
    Atomics.store(worksAt, slot, 0)
    rest()
  }
}
