/**
 * Entry of the thread that has the indexes of vectors: hnswlib-node shares nothing, so that queries which use an index come
 * here. Between them it makes the indexes and keeps them up to date. Without hnswlib-node there are none, and no query
 * comes.
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { StorageAttribute } from '../catalog/attribute.ts'
import { nearestRows } from '../query/execute/nearest-rows.ts'
import { QueryBudget } from '../query/execute/query-budget.ts'
import type { TableSnapshot } from '../storage/snapshot.ts'
import type { Hnswlib } from '../vector/hnsw-graph.ts'
import { KeptIndexes } from '../vector/kept-indexes.ts'
import { ThreadGate } from '../vector/thread-gate.ts'
import { IndexStatus, type VectorIndexes } from '../vector/vector-index.ts'
import { answerTask, openPoolStore, type PoolStore } from './answer-task.ts'
import type { PoolMessage, PoolOutcome, VectorThreadOptions } from './tasks.ts'

/** How long a query may have to wait for work on the indexes, in milliseconds. */
const SLICE_MS = 2
const PAUSE_MS = 100

const options = workerData as VectorThreadOptions
const note = (text: string): void => parentPort?.postMessage(text)
let kept: KeptIndexes | undefined
const indexes: VectorIndexes = { find: attribute => kept?.find(attribute) }
let opened: PoolStore | undefined

const store = (): PoolStore => {
  opened ??= openPoolStore(options.store, indexes)
  return opened
}

export default function run(message: PoolMessage): PoolOutcome {
  return answerTask(message, options, store, snapshot => kept?.catchUp(store().environment, snapshot))
}

async function keep(): Promise<void> {
  let library: { default: Hnswlib } | Error
  try {
    // Nobody ends the thread while it does that.
    store()
    library = await import('hnswlib-node').catch((error: Error) => error)
  } finally {
    Atomics.add(options.loaded, 0, 1)
  }
  if (library instanceof Error) {
    note(`hnswlib-node cannot be loaded, vectors are scanned without an index: ${library.message}`)
    return
  }
  const { catalog } = store()
  const loading = new KeptIndexes(
    catalog,
    library.default,
    { ...options.index, folder: options.store.path },
    new IndexStatus(catalog, options.status),
    note,
  )
  const gate = new ThreadGate(options.gate)
  await gate.pass(() => loading.load())
  kept = loading
  for (;;) {
    let isMore = false
    await gate.pass(async () => {
      isMore = work(loading)
      if (!isMore) await loading.save()
    })
    await new Promise<void>(resolve => (isMore ? setImmediate(resolve) : setTimeout(resolve, PAUSE_MS)))
  }
}

function work(indexes: KeptIndexes): boolean {
  const { environment, read, rest } = store()
  try {
    return read(snapshot => {
      indexes.catchUp(environment, snapshot)
      const exactNearest =
        (table: TableSnapshot, attribute: StorageAttribute) => (vector: Float32Array, count: number) =>
          nearestRows(table, attribute, vector, count, { snapshot, budget: new QueryBudget() })
      return indexes.work(snapshot, exactNearest, SLICE_MS)
    })
  } finally {
    rest()
  }
}

keep().catch((error: Error) => note(`the indexes of vectors are given up: ${error.stack}`))
