import { type DataClass, defaultTop } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import type { QueryContext } from '../operators/query-context.ts'
import { execute } from '../execute/execute-plan.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import { FIRST_TASK_ROW } from '../plan/nodes/remote-query.ts'
import { openSource, sourceClass } from '../execute/open-source.ts'
import type { Selected } from '../aggregate/selected.ts'
import { remotePage, remoteQuery } from './remote-page.ts'
import { Rows } from '../contract/rows.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import { buildPlan } from '../plan/build-plan.ts'
import type { Predicate } from '../bind/predicate.ts'
import type { LogicalPlan } from '../plan/nodes/logical-plan.ts'
import { lower } from '../plan/lower.ts'
import { optimizePlan } from '../plan/optimize.ts'
import type { Operator } from '../operators/operator.ts'
import type { PreparedQuery, QueryCache } from '../plan/query-cache.ts'
import { findSimilarity, type SimilarityPredicate } from '../bind/bind-scores.ts'
import { passesFew } from '../scan/sample-scores.ts'
import { chooseVectorAccess } from '../plan/vector-access.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import type { ReadRequest } from '../contract/request.ts'

/** Part of a request that decides its selection, without the form of the answer. */
export type SelectRequest = Pick<ReadRequest, 'dataClass' | 'source' | 'filter' | 'params' | 'exact' | 'orderBy'>

/** Plan to find the entities of a request in one snapshot. */
export interface Selection {
  readonly request: SelectRequest
  readonly dataClass: DataClass
  readonly plan: LogicalPlan
  readonly predicate: Predicate | undefined
  readonly orderBy: readonly SortKey[]
  /** Operator of the predicate; undefined for a remote dataclass, whose database chooses. */
  readonly filter: Operator | undefined
  /** The first condition of the filter on a vector of the dataclass, which defines `__SCORE`. */
  readonly score?: SimilarityPredicate | undefined
}

/** A selection of which one page is sent. */
interface PagedSelection extends Selection {
  readonly page: { readonly skip: number; readonly count: number }
  readonly isEntity: boolean
  /** True if the answer does not say how many entities the selection has. */
  readonly isUncounted: boolean
}

/** Page of a selection. */
export interface Page {
  readonly dataClass: DataClass
  /** Number of entities in the whole selection; for an entity set including deleted ones. */
  readonly count: number
  /** Position of the page in the selection, from 0. */
  readonly first: number
  /** Row ids of the page in the order of the answer. */
  readonly rowIds: Uint32Array
}

/**
 * Plans a selection: source, filter, order, page. Reads no data except counts of hits in indexes, and samples of vectors for
 * thresholds.
 *
 *   names and texts → bound predicate → plan → operators
 *
 * @param page undefined for the whole selection
 * @throws {EngineErrors.UNKNOWN_DATACLASS} and errors of the stages: `ParseErrors`, `QueryErrors`
 * Source: base specification, 4.2 and 4.3; protocol notes, 1.4 to 1.7 and 2.
 */
export function planSelection(
  request: SelectRequest,
  view: View,
  snapshot: Snapshot,
  queries: QueryCache,
  page?: PagedSelection['page'],
): Selection {
  const dataClass = sourceClass(request, view)
  const query = queries.prepare(dataClass, request, view)
  const plan = optimizePlan(buildPlan({ dataClass, ...query, page }))
  const { predicate, orderBy } = query
  const score = query.filter && findSimilarity(query.filter, [])
  if (dataClass.remote) return { request, dataClass, plan, predicate, orderBy, filter: undefined, score }
  const filter = predicate && lower(predicate, dataClass, snapshot)
  if (!filter || request.exact) return { request, dataClass, plan, predicate, orderBy, filter, score }
  const order = page && { keys: query.orderBy, count: page.skip + page.count }
  const chosen = chooseVectorAccess(filter, dataClass, {
    snapshot,
    order,
    passesFew: ({ attribute, similarity }, test) =>
      passesFew(attribute, similarity, test, snapshot.table(attribute.dataClass)),
  })
  return { request, dataClass, plan, predicate, orderBy, filter: chosen, score }
}

/** Plans the selection of a page, or of the single entity of a request. */
export function planPage(request: ReadRequest, view: View, snapshot: Snapshot, queries: QueryCache): PagedSelection {
  const isEntity = request.output.form === 'entity'
  const page = {
    skip: isEntity ? 0 : Math.max(0, request.skip),
    count: isEntity ? 1 : Math.max(0, request.top ?? defaultTop(sourceClass(request, view))),
  }
  const { dataClass, plan, predicate, orderBy, filter, score } = planSelection(request, view, snapshot, queries, page)
  // No spread, for which V8 would create a new hidden class at each request.
  const isUncounted = isEntity || request.output.form === 'array'
  return { request, dataClass, plan, predicate, orderBy, filter, score, page, isEntity, isUncounted }
}

/**
 * Finds the entities of a page.
 * @throws {QueryErrors.UNKNOWN_ENTITY} when a single entity is requested and does not exist
 * @throws {QueryErrors.TIMEOUT} {@link QueryErrors.TOO_MANY_ROWS}
 */
export function runPage(selection: PagedSelection, view: View, context: QueryContext): Page {
  const { request, dataClass, plan, filter, page, isEntity } = selection
  if (dataClass.remote) {
    const { rowIds, total, name } = remotePage(selection, page, view, context, selection.isUncounted)
    if (isEntity && rowIds.length === 0) throw QueryErrors.UNKNOWN_ENTITY(name, dataClass.name)
    return { dataClass, count: total, first: page.skip, rowIds }
  }
  const source = openSource(request, view, context)
  const { rowIds, total } = execute(plan, filter, source.rows, context)
  if (isEntity && rowIds.length === 0) throw QueryErrors.UNKNOWN_ENTITY(source.name, dataClass.name)
  return { dataClass, count: total, first: page.skip, rowIds }
}

/**
 * Finds all entities of a selection, for a deletion, an entity set or an aggregate, in the requested order or else by row id.
 * @throws the errors of {@link runPage}
 */
export function runSelection(selection: Selection, view: View, context: QueryContext): Rows {
  const { request, dataClass, plan, filter } = selection
  if (dataClass.remote) {
    const { rowIds } = remotePage(selection, undefined, view, context)
    // These row ids outlive the task.
    if (rowIds.some(rowId => rowId >= FIRST_TASK_ROW)) throw RemoteErrors.NOT_HERE('this', dataClass.name)
    return Rows.found(rowIds)
  }
  return execute(plan, filter, openSource(request, view, context).rows, context)
}

/** The entities of a selection for an aggregate. @throws the errors of {@link runPage} */
export const selectedOf = (selection: Selection, view: View, context: QueryContext): Selected =>
  selection.dataClass.remote
    ? remoteQuery(selection, undefined, view, context)
    : runSelection(selection, view, context).set

/**
 * Applies a query to given rows, for plugin code that queries a selection.
 * @param page undefined for the whole selection
 * @throws {QueryErrors.TIMEOUT} {@link QueryErrors.TOO_MANY_ROWS}
 */
export function selectRows(
  dataClass: DataClass,
  query: PreparedQuery,
  rows: Rows,
  context: QueryContext,
  page?: PagedSelection['page'],
): Rows {
  const plan = optimizePlan(buildPlan({ dataClass, ...query, page }))
  const filter = query.predicate && lower(query.predicate, dataClass, context.snapshot)
  return execute(plan, filter, rows, context)
}
