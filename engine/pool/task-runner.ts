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
import type { Caller, QueryPool } from './query-pool.ts'
import { isUnrestricted, type Task } from './tasks.ts'
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

/** Decides where a task runs: here and now, in a thread of the pool, in that of the vectors, or where the code for it is. */
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
    return answer instanceof Uint8Array ? answer : answer.run(task, caller)
  }

  /** @returns the pool that has to do it: it costs too much for this thread, or takes what only another one has */
  private runHere(task: Task, caller?: Caller): Uint8Array | QueryPool {
    const { data, views, limits, restricted, inlineCostMs, pool, vectors } = this.options
    if (inlineCostMs === 0 && !vectors) return pool
    const overrunMs = Math.max(OVERRUN.minMs, OVERRUN.factor * inlineCostMs)
    return data.read(whole => {
      const snapshot = isUnrestricted(task) ? whole : guarded(whole, restricted)
      const counter = { examined: 0 }
      const timeoutMs = Math.min(limits.timeoutMs, overrunMs)
      const budget = new QueryBudget({ timeoutMs, maxRowsExamined: limits.maxRowsExamined, counter })
      const planned = planTask(task, { views, layouts: data.layouts, limits }, { snapshot, budget })
      if (planned.usesVectorIndex) return vectors!
      if (inlineCostMs === 0 || planned.cost() > inlineCostMs * 1000) return pool
      try {
        return planned.run()
      } catch (error) {
        if (budget.isOver && overrunMs < limits.timeoutMs) return pool
        throw error
      } finally {
        caller?.examined?.(counter.examined)
      }
    })
  }
}

const rowIdsOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Uint32Array =>
  new Uint32Array(buffer, byteOffset, byteLength / Uint32Array.BYTES_PER_ELEMENT)
