import type { DataClass } from '../catalog/dataclass.ts'
import type { View } from '../catalog/view.ts'
import type { Snapshot } from '../storage/snapshot.ts'
import type { QueryContext } from './execute/evaluate.ts'
import { execute } from './execute/execute-plan.ts'
import { openSource, sourceClass } from './execute/open-source.ts'
import type { Rows } from './execute/rows.ts'
import { buildPlan } from './plan/build-plan.ts'
import type { LogicalPlan } from './plan/logical-plan.ts'
import { lower } from './plan/lower.ts'
import { optimizePlan } from './plan/optimize.ts'
import type { Operator } from './plan/physical-plan.ts'
import { type PreparedQuery, prepareQuery } from './plan/query-cache.ts'
import { findSimilarity, type SimilarityPredicate } from './bind/bind-scores.ts'
import { chooseVectorAccess } from './plan/vector-access.ts'
import { QueryErrors } from './query-errors.ts'
import type { ReadRequest } from './request.ts'

/** Entities of a page when nothing says how many. */
export const DEFAULT_TOP = 100

/** What a selection depends on: all of a request but what is shown of the entities. */
export type SelectRequest = Pick<ReadRequest, 'dataClass' | 'source' | 'filter' | 'params' | 'exact' | 'orderBy'>

/** How the entities of a request are going to be found, in one snapshot. */
export interface Selection {
  readonly request: SelectRequest
  readonly dataClass: DataClass
  readonly plan: LogicalPlan
  /** Of the plan's filter, when it has one. */
  readonly filter: Operator | undefined
  /** The first condition of the filter on a vector of the dataclass: `__SCORE` is by it. */
  readonly score?: SimilarityPredicate | undefined
}

/** A selection of which a part is sent. */
export interface PagedSelection extends Selection {
  readonly page: { readonly skip: number; readonly count: number }
  readonly isEntity: boolean
}

/** What is sent of a selection. */
export interface Page {
  readonly dataClass: DataClass
  /** Entities of the whole selection, in an entity set with those that do not exist any more. */
  readonly count: number
  /** Position of the page in the selection, from 0. */
  readonly first: number
  /** In the order in which they are sent. */
  readonly rowIds: Uint32Array
}

/**
 * Plans a selection: source, filter, order, page. Of the data it asks only what the indexes tell.
 *
 *   names and texts → bound predicate → plan → operators
 *
 * @param page undefined: the whole selection
 * @throws {EngineErrors.UNKNOWN_DATACLASS} and what the stages throw: `ParseErrors`, `QueryErrors`
 * Source: base specification, 4.2 and 4.3; protocol notes, 1.4 to 1.7 and 2.
 */
export function planSelection(
  request: SelectRequest,
  view: View,
  snapshot: Snapshot,
  page?: PagedSelection['page'],
): Selection {
  const dataClass = sourceClass(request, view)
  const query = prepareQuery(dataClass, request, view)
  const plan = optimizePlan(buildPlan({ dataClass, ...query, page }))
  const filter = query.predicate && lower(query.predicate, dataClass, snapshot)
  const score = query.filter && findSimilarity(query.filter, [])
  if (!filter || request.exact) return { request, dataClass, plan, filter, score }
  const order = page && { keys: query.orderBy, count: page.skip + page.count }
  return { request, dataClass, plan, filter: chooseVectorAccess(filter, dataClass, snapshot, order), score }
}

/** The same for the page of a request, or the one entity that it asks for. */
export function planPage(request: ReadRequest, view: View, snapshot: Snapshot): PagedSelection {
  const isEntity = request.output.form === 'entity'
  const { defaultTopSize } = sourceClass(request, view)
  const page = {
    skip: isEntity ? 0 : Math.max(0, request.skip),
    count: isEntity ? 1 : Math.max(0, request.top ?? defaultTopSize ?? DEFAULT_TOP),
  }
  const { dataClass, plan, filter, score } = planSelection(request, view, snapshot, page)
  // Not by a spread: for that V8 would make a hidden class of its own at each request.
  return { request, dataClass, plan, filter, score, page, isEntity }
}

/**
 * Finds the entities of a page.
 * @throws {QueryErrors.UNKNOWN_ENTITY} when one entity is asked for and there is none
 * @throws {QueryErrors.TIMEOUT} {@link QueryErrors.TOO_MANY_ROWS}
 */
export function runPage(selection: PagedSelection, view: View, context: QueryContext): Page {
  const { request, dataClass, plan, filter, page, isEntity } = selection
  const source = openSource(request, view, context)
  const { rowIds, total } = execute(plan, filter, source.rows, context)
  if (isEntity && rowIds.length === 0) throw QueryErrors.UNKNOWN_ENTITY(source.name, dataClass.name)
  return { dataClass, count: total, first: page.skip, rowIds }
}

/**
 * Finds all entities of a selection: for a deletion, an entity set, an aggregate. In the order that was asked for, else
 * ascending.
 * @throws as {@link runPage} does
 */
export function runSelection({ request, plan, filter }: Selection, view: View, context: QueryContext): Rows {
  return execute(plan, filter, openSource(request, view, context).rows, context)
}

/**
 * The same for rows that are at hand already: what function code asks of a selection.
 * @param page undefined: the whole selection
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
