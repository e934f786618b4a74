import type { ReadRequest } from './contract/request.ts'
import { MICROSECONDS } from './estimate/costs.ts'
import { rowOfKey } from './execute/open-source.ts'
import type { QueryContext } from './operators/query-context.ts'
import { Trace } from './operators/trace.ts'
import { bindProjection } from './serialise/bind-projection.ts'
import { writeArray, writeCollection, writeEntity, writeTable } from './serialise/write-selection.ts'
import { relatedRequest } from './source/related-request.ts'
import { type Page, planPage, runPage } from './source/select.ts'
import { costOfEntities } from './tasks/answer-cost.ts'
import { expectSelection } from './tasks/selection-cost.ts'
import { type PlannedTask, searchesOf, type TaskKind, type TaskScope } from './tasks/task-kind.ts'

/** A read, from its texts to the bytes of its answer. */
export const readTask: TaskKind = { plan: planRead }

function planRead(request: ReadRequest, _args: unknown, scope: TaskScope, context: QueryContext): PlannedTask {
  const { views, layouts, limits, queries } = scope
  const { output } = request
  const { snapshot } = context
  const view = views.of(request.access)
  const relatedOf = relatedRequest(request, view)
  if (relatedOf) return planRelated(request, relatedOf, scope, context)
  const key = soleKey(request)
  if (key !== undefined) return planEntity(key, request, scope, context)
  // Names and texts become a bound predicate, a plan and operators.
  const selection = planPage(request, view, queries, context)
  const { dataClass, finder, filter, score } = selection
  return {
    searches: searchesOf(selection),
    cost() {
      const { rows, microseconds } = expectSelection(selection, view, snapshot)
      return MICROSECONDS.request + microseconds + costOfEntities(output, dataClass, rows, snapshot)
    },
    run() {
      // Bound first, so that a thread without the code of a calculated attribute does not search in vain.
      const projection = bindProjection(dataClass, output, view, layouts, limits, score)
      const { describe } = output
      const runContext = describe?.path && filter ? { ...context, trace: new Trace(view) } : context
      const page = runPage(selection, view, runContext)
      const description = describe && finder.describe(selection, describe, view, runContext)
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
  const selection = planPage(relatedOf(''), view, queries, context)
  return {
    searches: searchesOf(selection),
    cost() {
      const { rows, microseconds } = expectSelection(selection, view, snapshot)
      const writing = costOfEntities({ form: 'collection' }, selection.dataClass, rows, snapshot)
      return MICROSECONDS.request + MICROSECONDS.key + microseconds + writing
    },
    run() {
      const projection = bindProjection(dataClass, request.output, view, layouts, limits)
      const [rowId] = runPage(planPage(unfilteredRequest(request), view, queries, context), view, context).rowIds
      const { key } = snapshot.table(dataClass).row(rowId!)!
      const page = runPage({ ...selection, request: relatedOf(key) }, view, context)
      return writeEntity(rowId, projection, snapshot, context, page)
    },
  }
}

/** The request without filter, order and page, which are those of the related entities. */
const unfilteredRequest = ({ filter: _, orderBy: __, ...request }: ReadRequest): ReadRequest => request

function writePage(
  page: Page,
  output: ReadRequest['output'],
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
