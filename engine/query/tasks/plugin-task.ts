import { ProtocolError } from '../../base/errors.ts'
import { errorOfThrown } from '../../base/thrown-error.ts'
import { SerialiseErrors } from '../../answer/serialise-errors.ts'
import { runAs } from '../../author/declare/running-code.ts'
import type { View } from '../../catalog/view.ts'
import { bindFirstScalar, ownScalar } from '../aggregate/measure.ts'
import { forEachValue, itemText } from '../aggregate/read-values.ts'
import type { ReadRequest } from '../contract/request.ts'
import type { QueryContext } from '../operators/query-context.ts'
import { planSelection } from '../source/select.ts'
import { planTask, type TaskKind, type TaskScope } from './task-kind.ts'
import type { Task, TaskModule } from './task.ts'

/**
 * Task of a plugin: the default export of a module that threads of the pool load. It runs synchronously, on one state of the data,
 * and may be run again from the beginning, so it must not have effects besides its result.
 * @returns JSON as UTF-8 bytes, or a value that is sent as JSON
 */
export type TaskFunction<Args = unknown> = (store: TaskStore, args: Args) => unknown

/**
 * One state of the data within the rights of the caller, regardless of the `access` of a request. The deadline, the bound of examined rows
 * and the cancellation when the caller disconnects apply to the whole task. Errors that it throws must be passed on.
 */
export interface TaskStore {
  /** The read that was passed to the task. */
  readonly request: ReadRequest
  /** The catalog within the rights of the caller. */
  readonly view: View
  /** Entities that a request selects, whatever its paging; {@link request} by default. */
  select(request?: ReadRequest): TaskSelection
  /** The answer to a read: UTF-8 JSON. */
  read(request?: ReadRequest): Uint8Array
  /** The answer of another task: `compute`, `distinct` or one of a plugin. */
  run(name: string, args: unknown, request?: ReadRequest): Uint8Array
  /** Counts rows; call it before your own loops examine them. @throws {ProtocolError} if a bound is reached */
  examine(rows: number): void
}

export interface TaskSelection {
  /** Number of entities. */
  readonly size: number
  /** Row ids, ascending. An entity has the same id in all selections. */
  readonly rowIds: Uint32Array
  /**
   * Calls `visit` for each entity with a value, by ascending row id. Numbers and durations are numbers, dates milliseconds since
   * 1970, bools 0 or 1, texts as they were saved, decimals strings; integers beyond 2^53 are bigints.
   * @param attribute name, or a path over N→1 relations or into an object
   * @throws {ProtocolError} 404: no such attribute that the caller may read
   */
  forEach(attribute: string, visit: (value: TaskValue, rowId: number) => void): void
}

export type TaskValue = number | bigint | string | boolean

/** Registry entry of a plugin's task. Its cost is infinite, so that it never runs in the kernel thread. */
export const pluginTask = ({ plugin, name }: TaskModule, run: TaskFunction): TaskKind => ({
  plan: (request, args, scope, context) => ({
    cost: () => Number.POSITIVE_INFINITY,
    // The searches of a plugin's task are known only when it runs.
    searches: [],
    run: () => runAs({ plugin, function: name }, () => answerOf(run, args, taskStore(request, scope, context), scope)),
  }),
})

function answerOf(run: TaskFunction, args: unknown, store: TaskStore, { limits }: TaskScope): Uint8Array {
  const result = resultOf(() => run(store, args))
  const bytes = result instanceof Uint8Array ? result : Buffer.from(jsonOf(result))
  if (bytes.length > limits.maxAnswerBytes) throw SerialiseErrors.ANSWER_TOO_LARGE(limits.maxAnswerBytes)
  // Its deadline may have passed in a loop that examined nothing.
  store.examine(0)
  return bytes
}

function resultOf(run: () => unknown): unknown {
  try {
    return run()
  } catch (cause) {
    const error = errorOfThrown(cause)
    throw error ? new ProtocolError(error) : cause
  }
}

function jsonOf(value: unknown): string {
  const isLater = value instanceof Promise
  const text = isLater ? undefined : JSON.stringify(value)
  if (text === undefined) throw new TypeError(`it returned ${isLater ? 'a promise' : typeof value}, which is not JSON`)
  return text
}

function taskStore(ownRequest: ReadRequest, scope: TaskScope, { snapshot, budget }: QueryContext): TaskStore {
  const { views, queries } = scope
  const { access } = ownRequest
  const view = views.of(access)
  // Without the sink, which is only for the answer of the task.
  const context: QueryContext = { snapshot, budget }
  const withAccess = (request: ReadRequest = ownRequest): ReadRequest => ({ ...request, access })
  const answer = (task: Task): Uint8Array => planTask(task, scope, context).run().slice()
  return {
    request: ownRequest,
    view,
    select(request) {
      const selection = planSelection(withAccess(request), view, queries, context)
      const { set } = selection.finder.all(selection, view, context)
      const rowIds = set.toIds()
      return {
        size: rowIds.length,
        rowIds,
        forEach(attribute, visit) {
          const measure = bindFirstScalar([{ path: attribute.split('.'), range: undefined }], selection.dataClass, view)
          const isText = measure.values === 'text' || measure.values === 'json'
          const scalar = ownScalar(measure)
          const integers = scalar?.descriptor.totals && scalar
          forEachValue(measure, set, context, (value, rowId) => {
            // Columns contain folded texts.
            const item = value as TaskValue
            if (isText) visit(JSON.parse(itemText(item, rowId, measure, context)) as TaskValue, rowId)
            else if (integers) visit(integers.descriptor.toCode(item, integers.attribute) as TaskValue, rowId)
            else visit(item, rowId)
          })
        },
      }
    },
    read: request => answer({ kind: 'read', request: withAccess(request) }),
    run: (name, args, request) => answer({ kind: name, args, request: withAccess(request) }),
    examine: rows => budget.examine(rows),
  }
}
