/** Pool thread in which reads of groups never end and check no deadline. */
import { workerData } from 'node:worker_threads'
import { openReadStore } from '../../../../engine/open-read-store.ts'
import { answerTask, type PoolStore, poolStore } from '../../../../engine/placement/pool/answer-task.ts'
import { kernelRegistry } from '../../../../engine/placement/task-registry.ts'
import type { PoolMessage, PoolOutcome, PoolThreadOptions } from '../../../../engine/placement/pool/messages.ts'

const options = workerData as PoolThreadOptions
let opened: PoolStore | undefined
setImmediate(() => Atomics.add(options.loadedCount, 0, 1))

export default function run(message: PoolMessage): PoolOutcome {
  const { task } = message
  return answerTask(message, options, kernelRegistry([]), () => {
    opened ??= poolStore(openReadStore(options.store), options)
    return task.request.dataClass === 'Group' ? { ...opened, read: stuckIn(opened) } : opened
  })
}

const stuckIn = ({ read }: PoolStore): PoolStore['read'] =>
  function never<T>(): T {
    return read(snapshot => {
      for (let i = 0; ; i++) snapshot.table(opened!.catalog.dataClasses[0]!).row(i % 2)
    })
  }
