import { move } from 'piscina'
import { isShared } from '../entity-set/members.ts'
import { ProtocolError } from '../errors.ts'
import { CodeNeeded } from '../storage/code-needed.ts'
import { QueryBudget } from '../query/execute/query-budget.ts'
import { Views } from '../permission/views.ts'
import { guarded } from '../storage/restricted-snapshot.ts'
import { openReadStore, type ReadStore } from '../memory/open-read-store.ts'
import { SearchNeeded, searchIn } from '../vector/searched-indexes.ts'
import { IndexStatus } from '../vector/vector-index.ts'
import { planTask } from './plan-task.ts'
import { isUnrestricted, type PoolMessage, type PoolOutcome, type PoolThreadOptions } from './tasks.ts'

/** A store as the threads of a pool have it. */
export interface PoolStore extends ReadStore {
  readonly views: Views
  readonly indexes: IndexStatus | undefined
}

export function openPoolStore({ store: options, indexStatus }: PoolThreadOptions): PoolStore {
  const store = openReadStore(options)
  const { catalog } = store
  return { ...store, views: new Views(catalog), indexes: indexStatus && new IndexStatus(catalog, indexStatus) }
}

/**
 * Works on a task in a thread of a pool, on a fresh snapshot.
 * @param store opened with the first task and not before: a thread that fails while it starts would be started without end
 */
export function answerTask(message: PoolMessage, options: PoolThreadOptions, store: () => PoolStore): PoolOutcome {
  try {
    const bytes = answer(message, options, store)
    // Others belong to a buffer that the next task uses again.
    return isShared(bytes) ? bytes : (move(bytes.slice()) as unknown as Uint8Array)
  } catch (error) {
    if (error instanceof CodeNeeded) return { codeNeeded: true }
    if (error instanceof SearchNeeded) return { searchNeeded: error.search }
    return error instanceof ProtocolError ? { error: error.toData() } : { fault: error }
  }
}

function answer(
  { task, deadlineAt, slot }: PoolMessage,
  { store: { restricted }, limits, cancelled, examined }: PoolThreadOptions,
  store: () => PoolStore,
): Uint8Array {
  const isCancelled = () => Atomics.load(cancelled, slot) === 1
  const counter = { examined: 0 }
  const budget = new QueryBudget({ ...limits, deadlineAt, isCancelled, counter })
  // It may have waited behind another one.
  budget.examine(0)
  const { views, layouts, indexes, read, rest } = store()
  try {
    return read(whole => {
      searchIn(whole, indexes, task.searched)
      const snapshot = isUnrestricted(task) ? whole : guarded(whole, restricted)
      return planTask(task, { views, layouts, limits }, { snapshot, budget }).run()
    })
  } finally {
    examined[slot] = counter.examined
    rest()
  }
}
