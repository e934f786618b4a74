import type { AnswerBody } from '../answer/answer-body.ts'
import type { Backend } from '../backend/backend.ts'
import type { Permissions } from '../permission/permissions.ts'
import type { Views } from '../permission/views.ts'
import type { Promised } from '../base/promised.ts'
import { RemoteErrors } from '../data/remote-errors.ts'
import { drive, needsOf, Suspended } from '../data/suspended.ts'
import { costOfTexts } from '../query/tasks/text-cost.ts'
import { QueryCache } from '../query/plan/query-cache.ts'
import { type BudgetLimits, QueryBudget } from '../query/scan/query-budget.ts'
import type { QueryLimits } from '../query/contract/query-limits.ts'
import type { ReadRequest } from '../query/contract/request.ts'
import type { ReadStore } from '../data/read-store.ts'
import { guardSnapshot } from '../data/restricted-snapshot.ts'
import { outlineQuery, type QueryOutline } from '../query/tasks/outline-query.ts'
import { planTask } from '../query/tasks/task-kind.ts'
import type { TaskRegistry, TaskScope } from '../query/tasks/task-kind.ts'
import { isShared } from '../entity-set/members.ts'
import { type Searched, searchIn } from '../vector/index/searched-indexes.ts'
import type { Caller } from '../caller/caller.ts'
import type { QueryPool } from './pool/query-pool.ts'
import { isTooLarge } from '../answer/serialise-errors.ts'
import { exportLimits, isExport, type Task } from '../query/tasks/task.ts'
import type { VectorPool } from './pool/vector-pool.ts'

/**
 * Limits after which a query that costs more than expected is given up in this thread: a multiple of the inline cost, because its
 * work so far is lost; at least a few milliseconds, which any query may lose on a busy machine; or an effort of some milliseconds,
 * for long texts and objects, whose sizes the estimate does not know.
 */
const OVERRUN = { factor: 10, minMs: 5, effort: 4_000_000 }
/** Size above which an answer is abandoned in this thread and created in the pool. */
const INLINE_BYTES = 1024 * 1024

/** Parsing time, in microseconds, beyond which texts are parsed in the pool: here they would hold up all requests. */
const LONG_TEXTS = 20_000

interface TaskRunnerOptions {
  readonly data: ReadStore
  readonly views: Views
  readonly permissions: Permissions
  readonly limits: QueryLimits
  readonly registry: TaskRegistry
  /** Names of dataclasses with restrict events. */
  readonly restricted: ReadonlySet<string>
  /** Expected cost up to which a task runs in this thread, in milliseconds. */
  readonly inlineCostMs: number
  readonly pool: QueryPool
  /** The back end of a dataclass that is not in this store; undefined for other dataclasses. */
  readonly elsewhere: (dataClass: string) => Pick<Backend, 'run'> | undefined
  /** Set for a model with indexes of vectors. */
  readonly vectors: VectorPool | undefined
  /** Runs tasks that need plugin code; undefined without plugin code. */
  readonly runWithCode: ((task: Task, caller?: Caller) => Promise<AnswerBody>) | undefined
}

/**
 * Decides where a task runs: immediately in this thread, in a thread of the pool, or in a function thread; after the vector searches that
 * it needs.
 */
export class TaskRunner {
  private readonly queries: QueryCache
  /** Scope and limits of tasks that run here. Created once: creating them for each task would take a measurable part of its time. */
  readonly scope: TaskScope
  private readonly limits: Pick<BudgetLimits, 'timeoutMs' | 'maxRowsExamined' | 'maxEffort'>

  constructor(private readonly options: TaskRunnerOptions) {
    const { data, views, registry, limits, inlineCostMs } = options
    this.queries = new QueryCache(limits, data.counts)
    const maxAnswerBytes = Math.min(limits.maxAnswerBytes, INLINE_BYTES)
    this.scope = {
      views,
      layouts: data.layouts,
      limits: { ...limits, maxAnswerBytes },
      queries: this.queries,
      registry,
      isTrial: true,
    }
    const overrunMs = Math.max(OVERRUN.minMs, OVERRUN.factor * inlineCostMs)
    this.limits = {
      timeoutMs: Math.min(limits.timeoutMs, overrunMs),
      maxRowsExamined: limits.maxRowsExamined,
      maxEffort: overrunMs < limits.timeoutMs ? OVERRUN.effort : undefined,
    }
  }

  /**
   * @returns bytes; if they are returned synchronously, they are valid only until the next task: use them before any `await`
   * @throws {ProtocolError}
   */
  run(task: Task, caller?: Caller): Promised<AnswerBody> {
    try {
      return this.runHere(task, caller) ?? this.goOn(task, undefined, caller)
    } catch (error) {
      if (!needsOf(error)) throw error
      return this.goOn(task, () => Promise.reject(error), caller)
    }
  }

  /**
   * Runs a task that does not end in this turn of the event loop, in any thread that can continue it. @param first undefined: in the pool
   */
  private goOn(task: Task, first: (() => Promise<AnswerBody>) | undefined, caller?: Caller): Promise<AnswerBody> {
    const { pool, vectors, elsewhere, runWithCode, limits } = this.options
    const deadlineAt = Date.now() + (isExport(task) ? exportLimits(limits) : limits).timeoutMs
    const searchResults: Searched[] = []
    let isElsewhere = false
    const inPool = () => pool.run({ ...task, searched: searchResults }, caller, deadlineAt)
    const again = (): AnswerBody | Promise<AnswerBody> => {
      const answer = this.runHere({ ...task, searched: searchResults }, caller)
      // A synchronous result is valid only until the next task.
      return answer ? (isShared(answer) ? answer : answer.slice()) : inPool()
    }
    return drive(first ?? inPool, needs => {
      if (needs.kind === 'code') return runWithCode && (() => runWithCode(task, caller))
      if (needs.kind === 'entities') {
        const other = elsewhere(needs.dataClass)
        if (!other) return undefined
        // A task has the tables of the store and of at most one other back end.
        if (isElsewhere) throw RemoteErrors.NOT_HERE('A request that leads to two back ends', needs.dataClass)
        isElsewhere = true
        return () => other.run(task, caller)
      }
      if (needs.kind === 'rows') return undefined
      return Promise.all(needs.searches.map(search => vectors!.search(search, caller, deadlineAt))).then(results => {
        searchResults.push(...results)
        return again
      })
    })
  }

  warmUp(): void {
    const { pool, vectors } = this.options
    pool.warmUp()
    vectors?.warmUp()
  }

  async close(): Promise<void> {
    const { pool, vectors } = this.options
    // Closed before the pool, which continues with its results.
    await vectors?.close()
    await pool.close()
  }

  /** Describes how a read is executed, for the log. @throws {ProtocolError} the request is invalid */
  outline(request: ReadRequest): QueryOutline {
    const { data, views, permissions, restricted, limits, vectors } = this.options
    const view = views.of(request.access ?? permissions.guest)
    return data.read(fullSnapshot => {
      searchIn(fullSnapshot, vectors?.indexes, undefined)
      return outlineQuery(request, view, guardSnapshot(fullSnapshot, restricted), this.queries, limits)
    })
  }

  /** @returns undefined: the task costs too much for this thread @throws {ProtocolError} {@link Suspended} */
  private runHere(task: Task, caller?: Caller): Uint8Array | undefined {
    const { data, limits, restricted, inlineCostMs, vectors } = this.options
    if (inlineCostMs === 0 && !vectors) return undefined
    if (costOfTexts(task.request) > Math.max(LONG_TEXTS, inlineCostMs * 1000)) return undefined
    return data.read(fullSnapshot => {
      searchIn(fullSnapshot, vectors?.indexes, task.searched)
      const snapshot = guardSnapshot(fullSnapshot, restricted)
      const counter = { examined: 0, sent: 0 }
      const { timeoutMs, maxRowsExamined, maxEffort } = this.limits
      const budget = new QueryBudget({ timeoutMs, maxRowsExamined, maxEffort, counter })
      const plannedTask = planTask(task, this.scope, { snapshot, budget })
      if (!task.searched && plannedTask.searches.length > 0)
        throw new Suspended({ kind: 'searches', searches: plannedTask.searches })
      if (inlineCostMs === 0 || plannedTask.cost() > inlineCostMs * 1000) return undefined
      try {
        return plannedTask.run()
      } catch (error) {
        if (budget.isOver && maxEffort !== undefined) return undefined
        const maxBytes = isExport(task) ? Number.POSITIVE_INFINITY : limits.maxAnswerBytes
        if (isTooLarge(error) && this.scope.limits.maxAnswerBytes < maxBytes) return undefined
        // The entities have been saved; the pool reduces the answer as necessary.
        if (task.kind === 'saved' && !needsOf(error)) return undefined
        throw error
      } finally {
        caller?.examined?.(counter.examined)
        if (counter.sent > 0) caller?.sent?.(counter.sent)
      }
    })
  }
}
