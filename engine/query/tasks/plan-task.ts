import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import { encodeMembers, lastingMembers, type Members } from '../../entity-set/members.ts'
import { costOfEntities } from './answer-cost.ts'
import { expectSelection } from './selection-cost.ts'
import { MICROSECONDS } from '../estimate/costs.ts'
import type { QueryContext } from '../operators/query-context.ts'
import { openSource, rowOfKey, type Source } from '../execute/open-source.ts'
import { remotePage } from '../source/remote-page.ts'
import { Trace } from '../operators/trace.ts'
import { describeRemote } from '../source/describe-remote.ts'
import { describeFilter } from '../plan/describe-filter.ts'
import { vectorSearches } from '../plan/vector-access.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import { relatedRequest } from '../source/related-request.ts'
import type { Output, ReadRequest } from '../contract/request.ts'
import { type Page, planPage, planSelection, runPage, runSelection, type Selection } from '../source/select.ts'
import { prepareSaved, savedWriter } from '../../write/answer-saved.ts'
import { bindProjection } from '../serialise/bind-projection.ts'
import {
  type CollectionOptions,
  writeArray,
  writeCollection,
  writeEntity,
  writeTable,
} from '../serialise/write-selection.ts'
import type { VectorSearch } from '../../data/vector-index.ts'
import { PackedResult } from '../../write/contract/packed-result.ts'
import type { PlannedTask, TaskScope } from './task-kind.ts'
import type { Task } from './task.ts'

/**
 * Plans a task without reading rows: the single function behind every answer, in any thread. Tasks are declared in
 * `engine/placement/pool/messages.ts`.
 * @throws {ProtocolError} the request itself is invalid
 */
export function planTask(task: Task, scope: TaskScope, context: QueryContext): PlannedTask {
  switch (task.kind) {
    case 'read':
      return planRead(task, scope, context)
    case 'named': {
      const kind = scope.registry.get(task.name)
      if (!kind) throw new Error(`there is no task "${task.name}"; there are ${[...scope.registry.keys()].join(', ')}`)
      return kind.plan(task.request, task.args, scope, context)
    }
    case 'saved':
      return planSaved(task, scope, context)
    case 'rowIds':
      return planRowIds(task, scope, context)
    case 'members':
      return planMembers(task, scope, context)
  }
}

type Of<Kind extends Task['kind']> = Task & { kind: Kind }

function planRead(task: Of<'read'>, scope: TaskScope, context: QueryContext): PlannedTask {
  const { request } = task
  const { views, layouts, limits, queries } = scope
  const view = views.of(request.access)
  const relatedOf = relatedRequest(request, view)
  if (relatedOf) return planRelated(request, relatedOf, scope, context)
  const key = soleKey(request)
  if (key !== undefined) return planEntity(key, request, scope, context)
  const { snapshot } = context
  const selection = planPage(request, view, snapshot, queries)
  return {
    searches: searchesOf(selection),
    cost() {
      const { rows, microseconds } = expectSelection(selection, view, snapshot)
      return MICROSECONDS.request + microseconds + costOfEntities(request.output, selection.dataClass, rows, snapshot)
    },
    run() {
      const { output } = request
      // Bound first, so that a thread without the code of a calculated attribute does not search in vain.
      const projection = bindProjection(selection.dataClass, output, view, layouts, limits, selection.score)
      const trace = output.describe?.path && selection.filter ? new Trace(view) : undefined
      const page = runPage(selection, view, trace ? { ...context, trace } : context)
      const { dataClass, predicate, filter } = selection
      const described = output.describe && predicate && filter && { dataClass, predicate, operator: filter }
      const description = described
        ? describeFilter(described, output.describe!, { view, snapshot, trace })
        : output.describe &&
          predicate &&
          context.remote &&
          describeRemote(predicate, context.remote.steps, output.describe, view)
      return writePage(page, output, description, projection, context)
    },
  }
}

/** Key of a request for one entity only by its key. */
function soleKey({ source, output, filter, orderBy }: ReadRequest): string | undefined {
  if (source.kind !== 'keys' || source.keys.length !== 1) return undefined
  return output.form === 'entity' && filter === undefined && orderBy === undefined ? source.keys[0] : undefined
}

/** Plans the most frequent request, one entity by its key, which has no alternatives. */
function planEntity(
  key: string,
  { dataClass: name, output, access }: ReadRequest,
  { views, layouts, limits }: TaskScope,
  context: QueryContext,
): PlannedTask {
  const { snapshot } = context
  const view = views.of(access)
  const dataClass = view.dataClass(name)
  return {
    searches: [],
    cost: () => MICROSECONDS.request + MICROSECONDS.key + costOfEntities(output, dataClass, 1, snapshot),
    run() {
      const projection = bindProjection(dataClass, output, view, layouts, limits)
      return writeEntity(rowOfKey(snapshot.table(dataClass), key), projection, snapshot, context)
    },
  }
}

/** Plans one entity with a selection of its related entities. */
function planRelated(
  request: ReadRequest,
  relatedOf: (key: string) => ReadRequest,
  { views, layouts, limits, queries }: TaskScope,
  context: QueryContext,
): PlannedTask {
  const { snapshot } = context
  const view = views.of(request.access)
  const dataClass = view.dataClass(request.dataClass)
  // The plan is the same for every entity.
  const selection = planPage(relatedOf(''), view, snapshot, queries)
  return {
    searches: searchesOf(selection),
    cost() {
      const { rows, microseconds } = expectSelection(selection, view, snapshot)
      const writing = costOfEntities({ form: 'collection' }, selection.dataClass, rows, snapshot)
      return MICROSECONDS.request + MICROSECONDS.key + microseconds + writing
    },
    run() {
      const projection = bindProjection(dataClass, request.output, view, layouts, limits)
      const rowId = soleRow(request, dataClass, view, context)
      const { key } = snapshot.table(dataClass).row(rowId)!
      const page = runPage({ ...selection, request: relatedOf(key) }, view, context)
      return writeEntity(rowId, projection, snapshot, context, page)
    },
  }
}

/** The entity of a request, whatever its filter. @throws {QueryErrors.UNKNOWN_ENTITY} */
function soleRow(request: ReadRequest, dataClass: DataClass, view: View, context: QueryContext): number {
  const first = { skip: 0, count: 1 }
  const { name, rowIds } = dataClass.remote
    ? remotePage({ request, dataClass, predicate: undefined, orderBy: [] }, first, view, context)
    : firstOf(openSource(request, view, context))
  const [rowId] = rowIds
  if (rowId === undefined) throw QueryErrors.UNKNOWN_ENTITY(name, dataClass.name)
  return rowId
}

const firstOf = ({ name, rows }: Source) => ({ name, rowIds: rows.page(0, 1) })

export const searchesOf = ({ filter, dataClass }: Selection): VectorSearch[] =>
  filter ? vectorSearches(filter, dataClass) : []

function writePage(
  page: Page,
  output: Output & CollectionOptions,
  description: object | undefined,
  projection: ReturnType<typeof bindProjection>,
  context: QueryContext,
): Uint8Array {
  const { snapshot, budget } = context
  budget.sends(page.rowIds.length)
  switch (output.form) {
    case 'entity':
      return writeEntity(page.rowIds[0], projection, snapshot, context)
    case 'array':
      return writeArray(page, projection, snapshot, context)
    case 'collection':
      return writeCollection(page, projection, snapshot, output, context, description)
    case 'table':
      return writeTable(page, output.table!, projection, snapshot, context)
  }
}

function planSaved(
  { request, mode, result: sent }: Of<'saved'>,
  { views, layouts, limits, isTrial }: TaskScope,
  context: QueryContext,
): PlannedTask {
  const { output } = request
  const { snapshot } = context
  const view = views.of(request.access)
  // Creating does not require read permission.
  const dataClass = view.catalog.dataClassesByName.get(request.dataClass)!
  const isPacked = 'rows' in sent
  const options = { view, layouts, limits }
  return {
    searches: [],
    cost: () =>
      isPacked
        ? Number.POSITIVE_INFINITY
        : MICROSECONDS.request + costOfEntities(output, dataClass, sent.entities.length, snapshot),
    run() {
      const shape = { mode, output }
      const write = isTrial ? savedWriter(dataClass, shape, options) : prepareSaved(dataClass, shape, options)
      return write(isPacked ? new PackedResult(sent) : sent, snapshot, context)
    },
  }
}

function planRowIds({ request, of }: Of<'rowIds'>, { views, queries }: TaskScope, context: QueryContext): PlannedTask {
  const view = views.of(request.access)
  if (of === 'page') {
    const selection = planPage(request, view, context.snapshot, queries)
    return {
      searches: searchesOf(selection),
      cost: () => costOfFinding(selection, view, context),
      run: () => bytesOf(runPage(selection, view, context).rowIds),
    }
  }
  const selection = planSelection(request, view, context.snapshot, queries)
  return {
    searches: searchesOf(selection),
    cost: () => costOfFinding(selection, view, context),
    run: () => bytesOf(runSelection(selection, view, context).rowIds),
  }
}

function planMembers(
  { request }: Of<'members'>,
  { views, layouts, limits, queries }: TaskScope,
  context: QueryContext,
): PlannedTask {
  const view = views.of(request.access)
  const selection = planSelection(request, view, context.snapshot, queries)
  bindProjection(selection.dataClass, request.output, view, layouts, limits, selection.score)
  return {
    searches: searchesOf(selection),
    cost: () => costOfFinding(selection, view, context),
    run: () => encodeMembers(findMembers(selection, view, layouts, context)),
  }
}

function findMembers(selection: Selection, view: View, layouts: TaskScope['layouts'], context: QueryContext): Members {
  const { dataClass } = selection
  if (!dataClass.remote) return runSelection(selection, view, context).selection
  const { rowIds } = remotePage(selection, undefined, view, context)
  return lastingMembers(rowIds, dataClass, context.remote!, layouts.get(dataClass)!)
}

const costOfFinding = (selection: Selection, view: View, { snapshot }: QueryContext): number =>
  MICROSECONDS.request + expectSelection(selection, view, snapshot).microseconds

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)
