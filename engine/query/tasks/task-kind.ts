import type { DataClass } from '../../catalog/dataclass.ts'
import type { Views } from '../../permission/views.ts'
import type { QueryLimits } from '../contract/query-limits.ts'
import type { QueryCache } from '../plan/query-cache.ts'
import type { ReadRequest } from '../contract/request.ts'
import type { QueryContext } from '../operators/query-context.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
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

/** A kind of task with a name. */
export interface TaskKind<Args = unknown> {
  /**
   * Plans the task for one snapshot, without reading rows.
   * @param args plain data
   * @throws {ProtocolError} the request itself is invalid
   */
  plan(request: ReadRequest, args: Args, scope: TaskScope, context: QueryContext): PlannedTask
}

/** Kinds by name: `compute`, `distinct`, `keys`, and those of plugins as `plugin/task`. */
export type TaskRegistry = ReadonlyMap<string, TaskKind>
