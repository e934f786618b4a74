import type { Searched } from '../../vector/index/searched-indexes.ts'
import type { QueryLimits } from '../contract/query-limits.ts'
import type { ReadRequest } from '../contract/request.ts'

/** A task on a store, for any thread: plain data. Its answer is bytes. */
export interface Task {
  /** Name of the kind in the registry: a built-in one, or `plugin/task`. */
  readonly kind: string
  readonly request: ReadRequest
  /** Plain data; see the kind. */
  readonly args?: unknown
  /** Results of searches of vectors that the task has needed so far. */
  readonly searched?: readonly Searched[]
}

/** Maximum `$top` of lines that are answered like any other page. */
const PAGE_ROWS = 10_000

/** True for a read whose answer is lines (`$format`) of more than a page: it has separate limits, and may take long. */
export function isExport(task: object): boolean {
  if (!('kind' in task) || task.kind !== 'read') return false
  const { output, top = Number.POSITIVE_INFINITY } = (task as Task).request
  return output.rowFormat !== undefined && top > PAGE_ROWS
}

/** Limits of an export, whose size is limited only by the disk for exports. */
export const exportLimits = (limits: QueryLimits): QueryLimits => ({
  ...limits,
  timeoutMs: limits.exportTimeoutMs,
  maxAnswerBytes: Number.POSITIVE_INFINITY,
})

/** Module of a plugin with a task: its default export is a `TaskFunction`. Plain data, for the threads that load it. */
export interface TaskModule {
  /** Name of the plugin, for messages. */
  readonly plugin: string
  /** Name in the registry: `plugin/task`. */
  readonly name: string
  /** URL of the JavaScript to import. */
  readonly url: string
  /** Source file, for messages. */
  readonly source: string
}
