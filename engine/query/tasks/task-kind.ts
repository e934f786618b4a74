import type { DataClass } from '../../catalog/dataclass.ts'
import type { Views } from '../../permission/views.ts'
import type { QueryLimits } from '../contract/query-limits.ts'
import type { QueryCache } from '../plan/query-cache.ts'
import type { ReadRequest } from '../contract/request.ts'
import type { QueryContext } from '../operators/query-context.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import { vectorSearches } from '../plan/vector-access.ts'
import type { Selection } from '../source/finder.ts'
import type { Task } from './task.ts'
import type { VectorSearch } from '../../data/vector-index.ts'

/** Context of a thread that runs tasks. */
export interface TaskScope {
  readonly views: Views
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  readonly limits: QueryLimits
  readonly queries: QueryCache
  readonly registry: TaskRegistry
  /** True if a failed task is repeated in the pool, so it must not fall back to a reduced answer. */
  readonly isTrial?: boolean
}

/** A task, planned for one snapshot. */
export interface PlannedTask {
  /** Expected time of {@link run}, in microseconds. */
  cost(): number
  /** First searches of indexes of vectors. */
  readonly searches: readonly VectorSearch[]
  /**
   * @returns bytes that are valid until the next task of this thread: the answer, or the part that was not written to the
   * context's sink
   * @throws {ProtocolError} {@link Suspended}
   */
  run(): Uint8Array
}

/** A kind of task. It is in the registry under its name, in every thread that may run it. */
export interface TaskKind<Args = unknown> {
  /** True if the result is for this server: it is neither compressed nor put into a file. */
  readonly isInner?: boolean
  /**
   * Plans the task for one snapshot, without reading rows.
   * @param args plain data
   * @throws {ProtocolError} the request itself is invalid
   */
  plan(request: ReadRequest, args: Args, scope: TaskScope, context: QueryContext): PlannedTask
}

/** Kinds by name. */
export type TaskRegistry = ReadonlyMap<string, TaskKind>

/** Plans a task without reading rows: in any thread, every answer comes from here. @throws {ProtocolError} the request itself is invalid */
export function planTask({ kind, request, args }: Task, scope: TaskScope, context: QueryContext): PlannedTask {
  const taskKind = scope.registry.get(kind)
  if (!taskKind) throw new Error(`there is no task "${kind}"; there are ${[...scope.registry.keys()].join(', ')}`)
  return taskKind.plan(request, args, scope, context)
}

/** Searches that a selection begins with. */
export const searchesOf = ({ filter, dataClass }: Selection): VectorSearch[] =>
  filter ? vectorSearches(filter, dataClass) : []
