/**
 * Entry point of the thread that queries databases for the entities of remote dataclasses. It runs tasks like a pool thread; a task that
 * needs data of a database lets others run meanwhile, and starts again when the data have arrived. Messages are declared in
 * `engine/placement/pool/messages.ts`.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { countThread } from '../base/counts/loop-delay.ts'
import type { Note } from '../data/store-options.ts'
import { openReadStore } from '../open-read-store.ts'
import { poolStore } from '../placement/pool/answer-task.ts'
import { remoteTask } from '../postgres/run/remote-task.ts'
import { loadTasks } from '../placement/task-registry.ts'
import type { PoolMessage, PoolOutcome } from '../placement/pool/messages.ts'
import type { RemoteTask, RemoteThreadOptions } from '../postgres/run/remote-tasks.ts'
import { Databases } from '../postgres/tables/databases.ts'
import { RemoteWriter } from '../postgres/writes/remote-writer.ts'

const options = workerData as RemoteThreadOptions
const { registry } = await loadTasks([])
const counts = countThread(options.store.counts, 'remote')
let scope: ReturnType<typeof openScope> | undefined
setImmediate(() => Atomics.add(options.loadedCount, 0, 1))

export default async function run(message: PoolMessage<RemoteTask>): Promise<PoolOutcome> {
  const begunAt = performance.now()
  try {
    scope ??= openScope()
    return await remoteTask(message, scope)
  } finally {
    options.ranMs[message.slot] = performance.now() - begunAt
  }
}

function openScope() {
  const store = poolStore(openReadStore(options.store, counts), options)
  const { connections, limits, saveLimits, sharesLocks, serializable, lockCount } = options
  const { catalog, layouts, views, records } = store
  const onNote = (...note: Parameters<Note>): void => parentPort?.postMessage(note)
  const databases = new Databases(catalog, { connections, timeoutMs: limits.timeoutMs, onNote, serializable })
  const writer = new RemoteWriter({
    catalog,
    layouts,
    views,
    databases,
    limits: saveLimits,
    sharesLocks,
    lockCount,
    now: Date.now,
    records,
  })
  return { options, registry, store, databases, writer }
}
