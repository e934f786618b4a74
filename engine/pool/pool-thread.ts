/**
 * Entry of the threads of the pool: each reads the store by itself, a fresh snapshot for every task, so that it sees
 * whatever had been committed when the task came.
 */
import { workerData } from 'node:worker_threads'
import { answerTask, openPoolStore, type PoolStore } from './answer-task.ts'
import type { PoolMessage, PoolOutcome, PoolThreadOptions } from './tasks.ts'

const options = workerData as PoolThreadOptions
let opened: PoolStore | undefined
// Not yet: Node.js has to finish this module, and ends the process when the thread is ended meanwhile.
setImmediate(() => Atomics.add(options.loaded, 0, 1))

export default function run(message: PoolMessage): PoolOutcome {
  return answerTask(message, options, () => {
    opened ??= openPoolStore(options)
    return opened
  })
}
