import { serialize } from 'node:v8'
import { move } from 'piscina'
import { releaseBuffers } from '../../query/serialise/answer.ts'
import { answerOutcome, failureOutcome, sinkFor } from '../../placement/pool/answer-task.ts'
import { planTask } from '../../query/tasks/task-kind.ts'
import { serveLink } from './remote-end.ts'
import type { Task } from '../../query/tasks/task.ts'
import { type RemoteScope, RemoteWork } from './remote-work.ts'
import type { PoolMessage, PoolOutcome } from '../../placement/pool/messages.ts'
import type { RemoteTask, RemoteWriteTask } from './remote-tasks.ts'
import { exportLimits, isExport } from '../../query/tasks/task.ts'
import { isLargeResult, joinPacked, packResult } from '../../write/contract/packed-result.ts'
import type { SaveResult } from '../../write/contract/requests.ts'

/** Interval at which tasks that wait for a database check whether their answers are still needed, in milliseconds. */
const WATCH_MS = 50

interface OpenTask {
  readonly slot: number
  readonly waiting: AbortController
}
/** Tasks of this thread that have not ended. */
const open = new Set<OpenTask>()
let watching: NodeJS.Timeout | undefined

/** Aborts a task soon after its answer is no longer needed. */
function watch(task: OpenTask, cancellations: Int32Array): void {
  open.add(task)
  watching ??= setInterval(() => {
    for (const { slot, waiting } of open) if (Atomics.load(cancellations, slot) === 1) waiting.abort()
  }, WATCH_MS).unref()
}

function unwatch(task: OpenTask): void {
  open.delete(task)
  if (open.size > 0) return
  clearInterval(watching)
  watching = undefined
}

/**
 * Runs a task that needs databases. Whenever it needs data that have not been read yet, it waits without holding up the thread, and begins
 * again on the newest state of the store.
 */
export async function remoteTask(message: PoolMessage<RemoteTask>, scope: RemoteScope): Promise<PoolOutcome> {
  const { task, slot, deadlineAt, user } = message
  if ('transfer' in task) {
    serveLink({ port: task.transfer[0], signal: task.signal }, scope)
    return new Uint8Array(0)
  }
  const controller = new AbortController()
  const openTask = { slot, waiting: controller }
  watch(openTask, scope.options.cancelled)
  const { options, registry, store } = scope
  const limits = isExport(task) ? exportLimits(options.limits) : options.limits
  const isCode = ('lock' in task && task.lock.isCode) || ('bytes' in task && task.bytes.isCode) || false
  const work = new RemoteWork(scope, { limits, slot, deadlineAt, signal: controller.signal, user, isCode })
  const sink = isWrite(task) ? undefined : sinkFor({ ...message, task }, options, registry)
  try {
    if (isWrite(task)) return bytesOfResult(await work.write(task))
    const { views, layouts, queries } = store
    // The bytes must be copied before another task of this thread writes an answer.
    return await work.repeat(
      context =>
        answerOutcome(planTask(task, { views, layouts, limits, queries, registry }, { ...context, sink }).run(), sink),
      () => sink?.restart(),
    )
  } catch (error) {
    return failureOutcome(error, sink)
  } finally {
    unwatch(openTask)
    sink?.close()
    releaseBuffers()
  }
}

/** A large result of a save is shared: as objects, it costs this thread and the kernel more than its answer. */
function bytesOfResult(result: unknown): Uint8Array {
  const { kind } = (result ?? {}) as { kind?: unknown }
  if (kind === 'save' && isLargeResult(result as SaveResult)) return joinPacked(packResult(result as SaveResult))
  return move(serialize(result)) as unknown as Uint8Array
}

const isWrite = (task: Task | RemoteWriteTask): task is RemoteWriteTask => task.kind.startsWith('remote')
