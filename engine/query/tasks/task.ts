import type { SaveRequest, SaveResult } from '../../write/contract/requests.ts'
import type { PackedSave } from '../../write/contract/packed-result.ts'
import type { Searched } from '../../vector/index/searched-indexes.ts'
import type { QueryLimits } from '../contract/query-limits.ts'
import type { ReadRequest } from '../contract/request.ts'

/** Tasks on a store, in any thread: plain data. The answers are bytes. Handled in `engine/query/tasks/plan-task.ts`. */
export type Task =
  /** The answer to a read: UTF-8 JSON. */
  | { readonly kind: 'read'; readonly request: ReadRequest }
  /** A task of the registry, built in or of a plugin: UTF-8 JSON. `args` is plain data. */
  | { readonly kind: 'named'; readonly name: string; readonly request: ReadRequest; readonly args: unknown }
  /** The answer to a completed save. Only the output and the access of the request are used. */
  | {
      readonly kind: 'saved'
      readonly request: ReadRequest
      readonly mode: SaveRequest['mode']
      readonly result: SaveResult | PackedSave
    }
  /** Row ids of the page or of the whole selection, as the bytes of a `Uint32Array`. */
  | { readonly kind: 'rowIds'; readonly request: ReadRequest; readonly of: 'page' | 'selection' }
  /** The whole selection as members of an entity set, in the form of `encodeMembers`. The output is checked, but not used. */
  | { readonly kind: 'members'; readonly request: ReadRequest }

/** A task whose result is an answer for a client. */
export type AnswerTask = Task & { readonly kind: 'read' | 'named' | 'saved' }

export const isAnswer = (task: Task): task is AnswerTask => task.kind !== 'rowIds' && task.kind !== 'members'

type ReadTask = Task & { readonly kind: 'read' }

/** Maximum `$top` of lines that are answered like any other page. */
const PAGE_ROWS = 10_000

/** True for a read whose answer is lines (`$format`) of more than a page: it has limits of its own, and may take long. */
export function isExport(task: object): boolean {
  if (!('kind' in task) || task.kind !== 'read') return false
  const { output, top = Number.POSITIVE_INFINITY } = (task as ReadTask).request
  return output.rowFormat !== undefined && top > PAGE_ROWS
}

/** Limits of an export: its size is limited by the disk for exports alone. */
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

/** A task with the results of its vector searches. */
export type SearchedTask = Task & { readonly searched?: readonly Searched[] }
