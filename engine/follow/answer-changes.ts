import { threadId } from 'node:worker_threads'
import { serialize } from 'node:v8'
import { move } from 'piscina'
import { ProtocolError } from '../base/errors.ts'
import type { PoolStore } from '../placement/pool/answer-task.ts'
import type { TaskRegistry } from '../query/tasks/task-kind.ts'
import type { ChangesTask, PoolMessage, PoolOutcome, PoolThreadOptions } from '../placement/pool/messages.ts'
import { QueryBudget } from '../query/scan/query-budget.ts'
import { releaseBuffers } from '../query/serialise/answer.ts'
import { readChanges } from './read-changes.ts'

/** Runs a {@link ChangesTask} in a thread of the pool. @param open opens the store on first use */
export function answerChanges(
  { task, deadlineAt, slot }: PoolMessage<ChangesTask>,
  { limits: { ...limits }, cancelled, worksAt }: PoolThreadOptions,
  registry: TaskRegistry,
  open: () => PoolStore,
): PoolOutcome {
  const isCancelled = () => Atomics.load(cancelled, slot) === 1
  try {
    const store = open()
    Atomics.store(worksAt, slot, threadId)
    const budget = new QueryBudget({ ...limits, deadlineAt, isCancelled })
    const { views, layouts, queries } = store
    const scope = { views, layouts, queries, registry, limits }
    return move(new Uint8Array(serialize(readChanges(task.request, { store, scope, budget })))) as unknown as Uint8Array
  } catch (error) {
    return error instanceof ProtocolError ? { error: error.toData() } : { fault: error }
  } finally {
    Atomics.store(worksAt, slot, 0)
    releaseBuffers()
    open().releaseSnapshot()
  }
}
