import { threadId } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { AnswerSink, type PackedAnswer } from '../../answer/answer-sink.ts'
import { ByteBudget } from '../../answer/byte-budget.ts'
import { SpoolWriter } from '../../answer/spool-writer.ts'
import { isShared } from '../../entity-set/members.ts'
import { ProtocolError } from '../../base/errors.ts'
import { needsOf } from '../../data/suspended.ts'
import { QueryCache } from '../../query/plan/query-cache.ts'
import { QueryBudget } from '../../query/scan/query-budget.ts'
import { releaseBuffers } from '../../query/serialise/answer.ts'
import { Views } from '../../permission/views.ts'
import { guardSnapshot } from '../../data/restricted-snapshot.ts'
import type { ReadStore } from '../../data/read-store.ts'
import { searchIn } from '../../vector/index/searched-indexes.ts'
import { IndexStatus } from '../../data/vector-index.ts'
import { planTask } from '../../query/tasks/task-kind.ts'
import type { TaskRegistry } from '../../query/tasks/task-kind.ts'
import type { PoolMessage, PoolOutcome, PoolThreadOptions } from './messages.ts'
import { exportLimits, isExport } from '../../query/tasks/task.ts'

/** A store with the state that a thread of a pool keeps for it. */
export interface PoolStore extends ReadStore {
  readonly views: Views
  readonly queries: QueryCache
  readonly indexes: IndexStatus | undefined
}

export function poolStore(
  store: ReadStore,
  { indexStatus, limits }: Pick<PoolThreadOptions, 'indexStatus' | 'limits'>,
): PoolStore {
  const { catalog } = store
  const indexes = indexStatus && new IndexStatus(catalog, indexStatus)
  return { ...store, views: new Views(catalog), queries: new QueryCache(limits, store.counts), indexes }
}

/**
 * Runs a task in a thread of a pool, on a fresh snapshot.
 * @param store opens the store on first use, not at start: a thread that fails at start would be restarted endlessly
 */
export function answerTask(
  message: PoolMessage,
  options: PoolThreadOptions,
  registry: TaskRegistry,
  store: () => PoolStore,
): PoolOutcome {
  const sink = sinkFor(message, options, registry)
  try {
    return answerOutcome(answer(message, sink, options, registry, store), sink)
  } catch (error) {
    return failureOutcome(error, sink)
  } finally {
    sink?.close()
    releaseBuffers()
  }
}

/** Outcome of a task. @param bytes the answer, or the rest of it that the sink has not received yet */
export function answerOutcome(bytes: Uint8Array, sink: AnswerSink | undefined): PoolOutcome {
  if (sink) return transferAnswer(sink.end(bytes))
  // Bytes that are not shared belong to a buffer that the next task reuses.
  return isShared(bytes) ? bytes : (move(bytes.slice()) as unknown as Uint8Array)
}

/** Outcome of a task that has thrown. */
export function failureOutcome(error: unknown, sink: AnswerSink | undefined): PoolOutcome {
  sink?.discard()
  const needs = needsOf(error)
  if (needs) return { suspended: needs }
  return error instanceof ProtocolError ? { error: error.toData() } : { fault: error }
}

/** Sink of an answer for a client. */
export function sinkFor(
  { task, slot, spool }: PoolMessage,
  { answers }: Pick<PoolThreadOptions, 'answers'>,
  registry: TaskRegistry,
): AnswerSink | undefined {
  if (!answers || registry.get(task.kind)?.isInner) return undefined
  return new AnswerSink({
    coding: task.request.output.coding,
    spool: isExport(task)
      ? new SpoolWriter(spool, new ByteBudget(answers.exportDisk), true)
      : new SpoolWriter(spool, new ByteBudget(answers.disk), false),
    memory: new ByteBudget(answers.memory),
    holdings: answers.heldMemory,
    slot,
  })
}

function transferAnswer(packed: PackedAnswer): PoolOutcome {
  const { coding, bytes } = packed
  if (bytes && !coding) return move(bytes) as unknown as Uint8Array
  if (!bytes) return { packed }
  return move({ [transferableSymbol]: bytes.buffer, [valueSymbol]: { packed } } as never) as unknown as PoolOutcome
}

function answer(
  { task, deadlineAt, slot }: PoolMessage,
  sink: AnswerSink | undefined,
  { store: { restricted }, cancelled, worksAt, examined, sent, ...options }: PoolThreadOptions,
  registry: TaskRegistry,
  store: () => PoolStore,
): Uint8Array {
  const limits = isExport(task) ? exportLimits(options.limits) : options.limits
  const isCancelled = () => Atomics.load(cancelled, slot) === 1
  const counter = { examined: 0, sent: 0 }
  const budget = new QueryBudget({ ...limits, deadlineAt, isCancelled, counter })
  // The task may have waited for another one.
  budget.examine(0)
  const { views, layouts, queries, indexes, read, releaseSnapshot: release } = store()
  // Set only now: terminating a thread while LMDB opens would end the process.
  Atomics.store(worksAt, slot, threadId)
  try {
    return read(fullSnapshot => {
      searchIn(fullSnapshot, indexes, task.searched)
      const scope = { views, layouts, limits, queries, registry }
      return planTask(task, scope, { snapshot: guardSnapshot(fullSnapshot, restricted), budget, sink }).run()
    })
  } finally {
    examined[slot] = counter.examined
    sent[slot] = counter.sent
    Atomics.store(worksAt, slot, 0)
    release()
  }
}
