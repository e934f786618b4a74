import { move } from 'piscina'
import { isShared } from '../entity-set/members.ts'
import { ProtocolError } from '../errors.ts'
import { CodeNeeded } from '../storage/code-needed.ts'
import { QueryBudget } from '../query/execute/query-budget.ts'
import { Views } from '../permission/views.ts'
import { guarded } from '../storage/restricted-snapshot.ts'
import { openReadStore, type ReadStore, type ReadStoreOptions } from '../memory/open-read-store.ts'
import type { VectorIndexes } from '../vector/vector-index.ts'
import type { Snapshot } from '../storage/snapshot.ts'
import { planTask } from './plan-task.ts'
import { isUnrestricted, type PoolMessage, type PoolOutcome, type PoolThreadOptions } from './tasks.ts'

/** A store as the threads of a pool have it. */
export type PoolStore = ReadStore & { readonly views: Views }

export function openPoolStore(options: ReadStoreOptions, vectorIndexes?: VectorIndexes): PoolStore {
  const store = openReadStore(options, vectorIndexes)
  return { ...store, views: new Views(store.catalog) }
}

/**
 * Works on a task in a thread of a pool, on a fresh snapshot.
 * @param store opened with the first task and not before: a thread that fails while it starts would be started without end
 * @param prepare is called with the snapshot before it is read
 */
export function answerTask(
  message: PoolMessage,
  options: PoolThreadOptions,
  store: () => PoolStore,
  prepare: (snapshot: Snapshot) => void = () => {},
): PoolOutcome {
  try {
    const bytes = answer(message, options, store, prepare)
    // Others belong to a buffer that the next task uses again.
    return isShared(bytes) ? bytes : (move(bytes.slice()) as unknown as Uint8Array)
  } catch (error) {
    if (error instanceof CodeNeeded) return { codeNeeded: true }
    return error instanceof ProtocolError ? { error: error.toData() } : { fault: error }
  }
}

function answer(
  { task, deadlineAt, slot }: PoolMessage,
  { store: { restricted }, limits, cancelled, examined }: PoolThreadOptions,
  store: () => PoolStore,
  prepare: (snapshot: Snapshot) => void,
): Uint8Array {
  const isCancelled = () => Atomics.load(cancelled, slot) === 1
  const counter = { examined: 0 }
  const budget = new QueryBudget({ ...limits, deadlineAt, isCancelled, counter })
  // It may have waited behind another one.
  budget.examine(0)
  const { views, layouts, read, rest } = store()
  try {
    return read(whole => {
      prepare(whole)
      const snapshot = isUnrestricted(task) ? whole : guarded(whole, restricted)
      return planTask(task, { views, layouts, limits }, { snapshot, budget }).run()
    })
  } finally {
    examined[slot] = counter.examined
    rest()
  }
}
