/**
 * Entry of the threads of the pool: each reads the store by itself, a fresh snapshot for every task, so that it sees
 * whatever had been committed when the task came.
 */
import { workerData } from 'node:worker_threads'
import { move } from 'piscina'
import { isShared } from '../entity-set/members.ts'
import { ProtocolError } from '../errors.ts'
import { Views } from '../permission/views.ts'
import { CodeNeeded } from '../query/calculated-code.ts'
import { QueryBudget } from '../query/execute/query-budget.ts'
import { openReadStore, type ReadStore } from '../storage/open-read-store.ts'
import { planTask } from './plan-task.ts'
import type { PoolMessage, PoolOutcome, PoolThreadOptions } from './tasks.ts'

const { store: storeOptions, limits, cancelled, examined } = workerData as PoolThreadOptions

// With the first task and not before: a thread that fails while it starts would be started again without end.
let opened: (ReadStore & { views: Views }) | undefined

export default function run(message: PoolMessage): PoolOutcome {
  try {
    const bytes = answer(message)
    // Others belong to a buffer that the next task uses again.
    return isShared(bytes) ? bytes : (move(bytes.slice()) as unknown as Uint8Array)
  } catch (error) {
    if (error instanceof CodeNeeded) return { codeNeeded: true }
    return error instanceof ProtocolError ? { error: error.toData() } : { fault: error }
  }
}

function answer({ task, deadlineAt, slot }: PoolMessage): Uint8Array {
  const isCancelled = () => Atomics.load(cancelled, slot) === 1
  const counter = { examined: 0 }
  const budget = new QueryBudget({ ...limits, deadlineAt, isCancelled, counter })
  // It may have waited behind another one.
  budget.examine(0)
  opened ??= open()
  const { views, layouts, read, rest } = opened
  try {
    return read(snapshot => planTask(task, { views, layouts, limits }, { snapshot, budget }).run())
  } finally {
    examined[slot] = counter.examined
    rest()
  }
}

function open(): ReadStore & { views: Views } {
  const store = openReadStore(storeOptions)
  return { ...store, views: new Views(store.catalog) }
}
