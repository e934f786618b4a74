/**
 * Entry point of the threads of the pool: each opens the store itself and reads a fresh snapshot for every task, which includes
 * all commits before the task arrived. Messages are declared in `engine/placement/pool/messages.ts`.
 */
import { workerData } from 'node:worker_threads'
import { countThread } from '../base/counts/loop-delay.ts'
import { answerChanges } from '../follow/answer-changes.ts'
import { openReadStore } from '../open-read-store.ts'
import { answerTask, type PoolStore, poolStore } from '../placement/pool/answer-task.ts'
import { runBodyTask } from '../placement/body-task.ts'
import { loadTasks } from '../placement/task-registry.ts'
import type { ChangesTask, PoolMessage, PoolOutcome, PoolTask, PoolThreadOptions } from '../placement/pool/messages.ts'
import type { Task } from '../query/tasks/task.ts'

const options = workerData as PoolThreadOptions
const { registry, problems } = await loadTasks(options.tasks)
const counts = countThread(options.store.counts, 'pool')
let ownStore: PoolStore | undefined
// Plugin code may throw null after its task has ended, which Piscina would treat as an answer.
process.on('uncaughtException', error => {
  throw error instanceof Error ? error : new Error(`a task threw ${String(error)} later`)
})
// Deferred: Node.js has to finish this module first, and ends the process if the thread is terminated meanwhile.
setImmediate(() => Atomics.add(options.loadedCount, 0, 1))

export default function run(message: PoolMessage<PoolTask>): PoolOutcome {
  const begunAt = performance.now()
  try {
    return answer(message)
  } finally {
    options.ranMs[message.slot] = performance.now() - begunAt
  }
}

function answer(message: PoolMessage<PoolTask>): PoolOutcome {
  const { task } = message
  if (task.kind === 'problems') return Buffer.from(JSON.stringify(problems))
  if (task.kind === 'changes') return answerChanges({ ...message, task: task as ChangesTask }, options, registry, store)
  if ('body' in task || 'batch' in task) return runBodyTask({ ...message, task }, options, store)
  return answerTask(message as PoolMessage<Task>, options, registry, store)
}

function store(): PoolStore {
  ownStore ??= poolStore(openReadStore(options.store, counts), options)
  return ownStore
}
