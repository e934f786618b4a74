import type { Permissions } from '../permission/permissions.ts'
import type { Views } from '../permission/views.ts'
import type { Promised } from '../promised.ts'
import { CodeNeeded } from '../storage/code-needed.ts'
import { QueryBudget } from '../query/execute/query-budget.ts'
import type { QueryLimits } from '../query/query-limits.ts'
import type { ReadRequest } from '../query/request.ts'
import type { ReadStore } from '../memory/open-read-store.ts'
import { guarded } from '../storage/restricted-snapshot.ts'
import { planTask } from './plan-task.ts'
import { isShared } from '../entity-set/members.ts'
import { SearchNeeded, type Searched, searchIn, type VectorSearch } from '../vector/searched-indexes.ts'
import { type Caller, QueryPool } from './query-pool.ts'
import { isUnrestricted, type SearchedTask, type Task } from './tasks.ts'
import type { VectorPool } from './vector-pool.ts'

/**
 * A query that turns out to cost more than was expected is given up in this thread after a multiple of what one may cost
 * here, for what it has done until then is lost; and not before a few milliseconds, which any may lose on a busy machine.
 */
const OVERRUN = { factor: 10, minMs: 5 }

export interface TaskRunnerOptions {
  readonly data: ReadStore
  readonly views: Views
  readonly permissions: Permissions
  readonly limits: QueryLimits
  /** Names of dataclasses of which code says what may be seen. */
  readonly restricted: ReadonlySet<string>
  /** Expected cost up to which a task is done in this thread, in milliseconds. */
  readonly inlineCostMs: number
  readonly pool: QueryPool
  /** Of a model with indexes of vectors. */
  readonly vectors: VectorPool | undefined
  /** For what takes code of authors; undefined: there is none. */
  readonly runWithCode: ((task: Task, caller?: Caller) => Promise<Uint8Array>) | undefined
}

/** What indexes of vectors have to be asked. */
type Searches = readonly VectorSearch[]

/**
 * Decides where a task runs: here and now, in a thread of the pool, or where the code for it is; after indexes of vectors
 * were asked where it uses them.
 */
export class TaskRunner {
  constructor(private readonly options: TaskRunnerOptions) {}

  /**
   * @returns bytes that, when they are given at once, are only valid until the next task: use them before any `await`
   * @throws {ProtocolError}
   */
  run(task: Task, caller?: Caller): Promised<Uint8Array> {
    const { permissions, runWithCode } = this.options
    const access = task.request.access ?? permissions.nobody
    if (access !== task.request.access) return this.run({ ...task, request: { ...task.request, access } }, caller)
    if (!runWithCode) return this.runWithoutCode(task, caller)
    const withCode = (error: unknown): Promise<Uint8Array> => {
      if (error instanceof CodeNeeded) return runWithCode(task, caller)
      throw error
    }
    try {
      const answer = this.runWithoutCode(task, caller)
      return answer instanceof Promise ? answer.catch(withCode) : answer
    } catch (error) {
      return withCode(error)
    }
  }

  /** The one entity that `request` selects. @throws {ProtocolError} 404: there is none */
  rowId(request: ReadRequest, caller?: Caller): Promised<number> {
    const first = (bytes: Uint8Array): number => rowIdsOf(bytes)[0]!
    const found = this.run({ kind: 'rowIds', request, of: 'page' }, caller)
    return found instanceof Promise ? found.then(first) : first(found)
  }

  /** All that `request` selects, whatever its paging. @throws {ProtocolError} */
  async rowIds(request: ReadRequest, caller?: Caller): Promise<Uint32Array> {
    const found = this.run({ kind: 'rowIds', request, of: 'selection' }, caller)
    return found instanceof Promise ? rowIdsOf(await found) : rowIdsOf(found).slice()
  }

  private runWithoutCode(task: Task, caller?: Caller): Promised<Uint8Array> {
    const answer = this.runHere(task, caller)
    return answer instanceof Uint8Array ? answer : this.runElsewhere(task, answer, caller)
  }

  /** @param answer of {@link runHere} */
  private async runElsewhere(
    task: Task,
    answer: Uint8Array | QueryPool | Searches,
    caller?: Caller,
  ): Promise<Uint8Array> {
    const { limits, vectors } = this.options
    const deadlineAt = Date.now() + limits.timeoutMs
    const searched: Searched[] = []
    for (;;) {
      const isPool = answer instanceof QueryPool
      const result: Uint8Array | Searches =
        answer instanceof QueryPool
          ? await answer.run({ ...task, searched }, caller, deadlineAt).catch(searchesOf)
          : answer
      // What is given at once is valid until the next task.
      if (result instanceof Uint8Array) return isPool || isShared(result) ? result : result.slice()
      searched.push(...(await Promise.all(result.map(search => vectors!.search(search, caller, deadlineAt)))))
      answer = this.runHere({ ...task, searched }, caller)
    }
  }

  /** @returns what has to be known first, or the pool that has to do it because it costs too much for this thread */
  private runHere(task: SearchedTask, caller?: Caller): Uint8Array | QueryPool | Searches {
    const { data, views, limits, restricted, inlineCostMs, pool, vectors } = this.options
    if (inlineCostMs === 0 && !vectors) return pool
    const overrunMs = Math.max(OVERRUN.minMs, OVERRUN.factor * inlineCostMs)
    return data.read(whole => {
      searchIn(whole, vectors?.indexes, task.searched)
      const snapshot = isUnrestricted(task) ? whole : guarded(whole, restricted)
      const counter = { examined: 0 }
      const timeoutMs = Math.min(limits.timeoutMs, overrunMs)
      const budget = new QueryBudget({ timeoutMs, maxRowsExamined: limits.maxRowsExamined, counter })
      const planned = planTask(task, { views, layouts: data.layouts, limits }, { snapshot, budget })
      if (!task.searched && planned.searches.length > 0) return planned.searches
      if (inlineCostMs === 0 || planned.cost() > inlineCostMs * 1000) return pool
      try {
        return planned.run()
      } catch (error) {
        if (budget.isOver && overrunMs < limits.timeoutMs) return pool
        return searchesOf(error)
      } finally {
        caller?.examined?.(counter.examined)
      }
    })
  }
}

/** @throws {unknown} any other error */
function searchesOf(error: unknown): Searches {
  if (error instanceof SearchNeeded) return [error.search]
  throw error
}

const rowIdsOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Uint32Array =>
  new Uint32Array(buffer, byteOffset, byteLength / Uint32Array.BYTES_PER_ELEMENT)
