/**
 * Entry point of the thread that asks databases for the entities of remote dataclasses. It runs tasks as the threads of the pool do;
 * when one needs data of a database, others go on, and it begins again when the data have arrived. Messages are declared in
 * `engine/placement/tasks.ts`.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { countThread } from '../base/counts/loop-delay.ts'
import { openReadStore } from '../open-read-store.ts'
import { type PoolStore, poolStore } from '../placement/answer-task.ts'
import { remoteTask } from '../placement/remote-task.ts'
import { loadTasks } from '../placement/task-registry.ts'
import type { PoolMessage, PoolOutcome, RemoteThreadOptions } from '../placement/tasks.ts'
import { Databases } from '../postgres/databases.ts'

const options = workerData as RemoteThreadOptions
const { registry } = await loadTasks([])
const counts = countThread(options.store.counts, 'remote')
let opened: { readonly store: PoolStore; readonly databases: Databases } | undefined
setImmediate(() => Atomics.add(options.loaded, 0, 1))

export default async function run(message: PoolMessage): Promise<PoolOutcome> {
  const begunAt = performance.now()
  try {
    const { store, databases } = open()
    return await remoteTask(message, options, registry, store, databases)
  } finally {
    options.ranMs[message.slot] = performance.now() - begunAt
  }
}

function open(): NonNullable<typeof opened> {
  if (opened) return opened
  const store = poolStore(openReadStore(options.store, counts), options)
  const databases = new Databases(store.catalog, {
    connections: options.connections,
    timeoutMs: options.limits.timeoutMs,
    onNote: text => parentPort?.postMessage(text),
  })
  opened = { store, databases }
  return opened
}
