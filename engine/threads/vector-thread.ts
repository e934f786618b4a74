/**
 * Entry point of the thread that owns the vector indexes: hnswlib-node shares no memory between threads, so all searches run here. The rest
 * of a query runs where other queries do. Between searches the thread builds the indexes and keeps them up to date. Without hnswlib-node
 * there are no indexes and no searches. Messages are declared in `engine/placement/pool/messages.ts`, searches and their results in
 * `engine/vector/index/searched-indexes.ts`.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { move } from 'piscina'
import type { StorageAttribute } from '../catalog/attribute.ts'
import type { ReadStore } from '../data/read-store.ts'
import { countThread } from '../base/counts/loop-delay.ts'
import { openReadStore } from '../open-read-store.ts'
import { nearestRows } from '../query/execute/nearest-rows.ts'
import { QueryBudget } from '../query/scan/query-budget.ts'
import type { TableSnapshot } from '../data/snapshot.ts'
import type { Hnswlib } from '../vector/index/hnsw-graph.ts'
import { KeptIndexes } from '../vector/index/kept-indexes.ts'
import type { VectorSearch } from '../data/vector-index.ts'
import { encodeFound, type Found } from '../vector/index/searched-indexes.ts'
import { ThreadGate } from '../vector/index/thread-gate.ts'
import { IndexStatus } from '../data/vector-index.ts'
import type { PoolMessage, PoolOutcome, VectorThreadOptions } from '../placement/pool/messages.ts'

/** Maximum time for which a query waits for work on the indexes, in milliseconds. */
const SLICE_MS = 2
const PAUSE_MS = 100

const options = workerData as VectorThreadOptions
const note = (text: string): void => parentPort?.postMessage([text])
let keptIndexes: KeptIndexes | undefined
let readStore: ReadStore | undefined

const store = (): ReadStore => {
  readStore ??= openReadStore(options.store, countThread(options.store.counts, 'vector'))
  return readStore
}

export default function run({ task, slot }: PoolMessage<VectorSearch>): PoolOutcome {
  const begunAt = performance.now()
  try {
    const isCancelled = Atomics.load(options.cancelled, slot) === 1
    return move(encodeFound(isCancelled ? undefined : search(task))) as unknown as Uint8Array
  } catch (error) {
    return { fault: error }
  } finally {
    options.ranMs[slot] = performance.now() - begunAt
  }
}

/** Searches an index. @returns undefined: the index cannot be used */
function search({ dataClass, attribute, vector, count }: VectorSearch): Found | undefined {
  const { records, read, releaseSnapshot: release } = store()
  try {
    return read(snapshot => {
      if (!keptIndexes) return undefined
      keptIndexes.catchUp(records, snapshot)
      const neighbours = keptIndexes.find(dataClass, attribute)?.nearest?.(vector, count)
      return neighbours && { ...neighbours, stamp: keptIndexes.stamp! }
    })
  } finally {
    release()
  }
}

async function keep(): Promise<void> {
  let library: { default: Hnswlib } | Error
  try {
    // The thread is not terminated while it opens the store and loads the library.
    store()
    library = await import('hnswlib-node').catch((error: Error) => error)
  } finally {
    Atomics.add(options.loadedCount, 0, 1)
  }
  if (library instanceof Error) {
    note(withoutLibrary(library))
    return
  }
  const { catalog } = store()
  const loading = new KeptIndexes(
    catalog,
    library.default,
    { ...options.index, folder: options.store.path },
    new IndexStatus(catalog, options.indexStatus),
    note,
  )
  const gate = new ThreadGate(options.gate)
  await gate.pass(() => loading.load())
  keptIndexes = loading
  for (;;) {
    let isMore = false
    await gate.pass(async () => {
      isMore = work(loading)
      if (!isMore) await loading.save()
    })
    await new Promise<void>(resolve => (isMore ? setImmediate(resolve) : setTimeout(resolve, PAUSE_MS)))
  }
}

/** An installation without scripts does not build the library; one without a compiler leaves the package out. */
function withoutLibrary({ code, message }: NodeJS.ErrnoException): string {
  const reason = message.split('\n')[0]!.replace(/\. Tried:$/, '')
  const command = `npm ${code === 'ERR_MODULE_NOT_FOUND' ? 'install' : 'rebuild'} hnswlib-node`
  return `hnswlib-node cannot be loaded (${reason}): vectors are searched without an index, which takes longer; ${command} builds it, with a C++ compiler, make and Python`
}

function work(indexes: KeptIndexes): boolean {
  const { records, read, releaseSnapshot: release } = store()
  try {
    return read(snapshot => {
      indexes.catchUp(records, snapshot)
      const exactNearest =
        (table: TableSnapshot, attribute: StorageAttribute) => (vector: Float32Array, count: number) =>
          nearestRows(table, attribute, vector, count, { snapshot, budget: new QueryBudget() })
      return indexes.work(snapshot, exactNearest, SLICE_MS)
    })
  } finally {
    release()
  }
}

keep().catch((error: Error) => note(`the indexes of vectors are given up: ${error.stack}`))
