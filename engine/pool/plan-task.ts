import type { DataClass } from '../catalog/dataclass.ts'
import type { View } from '../catalog/view.ts'
import { encodeMembers } from '../entity-set/members.ts'
import type { Views } from '../permission/views.ts'
import { bindAggregates } from '../query/aggregate/aggregate.ts'
import { bindFirstScalar } from '../query/aggregate/measure.ts'
import { type ValuesOptions, writeAggregates, writeDistinct } from '../query/aggregate/write-values.ts'
import { costOfAggregate, costOfEntities } from '../query/cost/answer-cost.ts'
import { expectSelection } from '../query/cost/selection-cost.ts'
import { MICROSECONDS } from '../query/cost/work.ts'
import type { QueryContext } from '../query/execute/evaluate.ts'
import { rowOfKey } from '../query/execute/open-source.ts'
import { Trace } from '../query/execute/trace.ts'
import { describePlan } from '../query/plan/describe-operator.ts'
import { vectorSearches } from '../query/plan/vector-access.ts'
import type { QueryLimits } from '../query/query-limits.ts'
import type { Output, ReadRequest } from '../query/request.ts'
import { type Page, planPage, planSelection, runPage, runSelection, type Selection } from '../query/select.ts'
import { bindProjection } from '../query/serialise/bind-projection.ts'
import { type CollectionOptions, writeArray, writeCollection, writeEntity } from '../query/serialise/write-selection.ts'
import type { RowLayout } from '../storage/row-layout.ts'
import type { VectorSearch } from '../vector/searched-indexes.ts'
import type { Task } from './tasks.ts'

/** What a thread needs to know to work on tasks. */
export interface TaskScope {
  readonly views: Views
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  readonly limits: QueryLimits
}

/** A task, planned for one snapshot. */
export interface PlannedTask {
  /** What {@link run} is expected to take, in microseconds. */
  cost(): number
  /** What indexes of vectors are going to be asked. */
  readonly searches: readonly VectorSearch[]
  /** @returns bytes that are valid until the next task of this thread @throws {ProtocolError} @throws {SearchNeeded} */
  run(): Uint8Array
}

/**
 * Plans what is asked, without looking at rows: the one function behind every answer, whichever thread gives it.
 * @throws {ProtocolError} what is wrong with the request itself
 */
export function planTask(task: Task, scope: TaskScope, context: QueryContext): PlannedTask {
  switch (task.kind) {
    case 'read':
      return planRead(task, scope, context)
    case 'compute':
      return planCompute(task, scope, context)
    case 'distinct':
      return planDistinct(task, scope, context)
    case 'rowIds':
      return planRowIds(task, scope, context)
    case 'members':
      return planMembers(task, scope, context)
  }
}

type Of<Kind extends Task['kind']> = Task & { kind: Kind }

function planRead(task: Of<'read'>, scope: TaskScope, context: QueryContext): PlannedTask {
  const { request } = task
  const key = soleKey(request)
  if (key !== undefined) return planEntity(key, request, scope, context)
  const { views, layouts, limits } = scope
  const { snapshot } = context
  const view = views.of(request.access)
  const selection = planPage(request, view, snapshot)
  return {
    searches: searchesOf(selection),
    cost() {
      const { rows, microseconds } = expectSelection(selection, view, snapshot)
      return MICROSECONDS.request + microseconds + costOfEntities(request.output, selection.dataClass, rows, snapshot)
    },
    run() {
      const { output } = request
      // First: a thread without the code of a calculated attribute is not to search in vain.
      const projection = bindProjection(selection.dataClass, output, view, layouts, limits, selection.score)
      const trace = output.describe?.path && selection.filter ? new Trace(view) : undefined
      const page = runPage(selection, view, trace ? { ...context, trace } : context)
      const description = output.describe && descriptionOf(selection, output, view, trace)
      return writePage(page, output, description, projection, context)
    },
  }
}

/** Of the one entity that is asked for by its key and nothing else. */
function soleKey({ source, output, filter, orderBy }: ReadRequest): string | undefined {
  if (source.kind !== 'keys' || source.keys.length !== 1) return undefined
  return output.form === 'entity' && filter === undefined && orderBy === undefined ? source.keys[0] : undefined
}

/** One entity by its key is the most frequent request, and there is nothing to choose. */
function planEntity(
  key: string,
  { dataClass: name, output, access }: ReadRequest,
  { views, layouts, limits }: TaskScope,
  { snapshot, budget }: QueryContext,
): PlannedTask {
  const view = views.of(access)
  const dataClass = view.dataClass(name)
  return {
    searches: [],
    cost: () => MICROSECONDS.request + MICROSECONDS.key + costOfEntities(output, dataClass, 1, snapshot),
    run() {
      const projection = bindProjection(dataClass, output, view, layouts, limits)
      return writeEntity(rowOfKey(snapshot.table(dataClass), key), projection, snapshot, budget)
    },
  }
}

const searchesOf = ({ filter }: Selection): VectorSearch[] => (filter ? vectorSearches(filter) : [])

/** What is told about the filter. Source: protocol notes, 2.14. */
function descriptionOf(
  { filter, dataClass }: Selection,
  { describe }: Output,
  view: View,
  trace: Trace | undefined,
): object {
  return {
    ...(describe?.plan && filter && { __queryPlan: describePlan(filter, dataClass, view) }),
    ...(trace && { __queryPath: { steps: trace.steps } }),
  }
}

function writePage(
  page: Page,
  output: Output & CollectionOptions,
  description: object | undefined,
  projection: ReturnType<typeof bindProjection>,
  { snapshot, budget }: QueryContext,
): Uint8Array {
  switch (output.form) {
    case 'entity':
      return writeEntity(page.rowIds[0], projection, snapshot, budget)
    case 'array':
      return writeArray(page, projection, snapshot, budget)
    case 'collection':
      return writeCollection(page, projection, snapshot, output, budget, description)
  }
}

function planCompute(
  { request, items, aggregation }: Of<'compute'>,
  { views, limits }: TaskScope,
  context: QueryContext,
): PlannedTask {
  const { snapshot } = context
  const view = views.of(request.access)
  const selection = planSelection(unordered(request), view, snapshot)
  const measures = bindAggregates(items, aggregation, selection.dataClass, view)
  return {
    searches: searchesOf(selection),
    cost() {
      const { rows, microseconds } = expectSelection(selection, view, snapshot)
      return measures.reduce(
        (sum, measure) => sum + costOfAggregate(measure, aggregation.distinct, rows, snapshot),
        MICROSECONDS.request + microseconds,
      )
    },
    run: () =>
      writeAggregates(
        measures,
        aggregation,
        runSelection(selection, view, context).set,
        context,
        valuesOptions(request, limits),
      ),
  }
}

function planDistinct(
  { request, items }: Of<'distinct'>,
  { views, limits }: TaskScope,
  context: QueryContext,
): PlannedTask {
  const { snapshot } = context
  const view = views.of(request.access)
  const selection = planSelection(unordered(request), view, snapshot)
  const measure = bindFirstScalar(items, selection.dataClass, view)
  const page = { skip: request.skip, count: request.top ?? Number.POSITIVE_INFINITY }
  return {
    searches: searchesOf(selection),
    cost() {
      const { rows, microseconds } = expectSelection(selection, view, snapshot)
      return MICROSECONDS.request + microseconds + costOfAggregate(measure, true, rows, snapshot)
    },
    run: () =>
      writeDistinct(measure, page, runSelection(selection, view, context).set, context, valuesOptions(request, limits)),
  }
}

function planRowIds({ request, of }: Of<'rowIds'>, { views }: TaskScope, context: QueryContext): PlannedTask {
  const view = views.of(request.access)
  if (of === 'page') {
    const selection = planPage(request, view, context.snapshot)
    return {
      searches: searchesOf(selection),
      cost: () => costOfFinding(selection, view, context),
      run: () => bytesOf(runPage(selection, view, context).rowIds),
    }
  }
  const selection = planSelection(request, view, context.snapshot)
  return {
    searches: searchesOf(selection),
    cost: () => costOfFinding(selection, view, context),
    run: () => bytesOf(runSelection(selection, view, context).rowIds),
  }
}

function planMembers(
  { request }: Of<'members'>,
  { views, layouts, limits }: TaskScope,
  context: QueryContext,
): PlannedTask {
  const view = views.of(request.access)
  const selection = planSelection(request, view, context.snapshot)
  bindProjection(selection.dataClass, request.output, view, layouts, limits, selection.score)
  return {
    searches: searchesOf(selection),
    cost: () => costOfFinding(selection, view, context),
    run: () => encodeMembers(runSelection(selection, view, context).selection),
  }
}

const costOfFinding = (selection: Selection, view: View, { snapshot }: QueryContext): number =>
  MICROSECONDS.request + expectSelection(selection, view, snapshot).microseconds

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** An order makes no difference to what is summed up. */
const unordered = ({ orderBy: _, ...request }: ReadRequest): ReadRequest => request

const valuesOptions = ({ output }: ReadRequest, { maxAnswerBytes }: QueryLimits): ValuesOptions => ({
  maxAnswerBytes,
  pretty: output.pretty ?? false,
})
