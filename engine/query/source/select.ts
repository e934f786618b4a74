import { type DataClass, defaultTop } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import { findSimilarity } from '../bind/bind-scores.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import type { ReadRequest } from '../contract/request.ts'
import { sourceClass } from '../execute/open-source.ts'
import type { QueryContext } from '../operators/query-context.ts'
import { buildPlan } from '../plan/build-plan.ts'
import { optimizePlan } from '../plan/optimize.ts'
import type { QueryCache } from '../plan/query-cache.ts'
import type { Finder, PageRange, Selection, SelectRequest } from './finder.ts'
import { LOCAL } from './local.ts'
import { REMOTE } from './remote.ts'

/** A selection of which one page is sent. */
interface PagedSelection extends Selection {
  readonly page: PageRange
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

/** State of the data that a selection is planned for. */
type PlanContext = Pick<QueryContext, 'snapshot' | 'remote'>

export const finderOf = (dataClass: DataClass, { remote }: PlanContext): Finder =>
  remote?.has(dataClass) ? REMOTE : LOCAL

/**
 * Plans a selection: source, filter, order, page.
 *
 *   names and texts → bound predicate → plan → operators
 *
 * @param page undefined for the whole selection
 * @throws {EngineErrors.UNKNOWN_DATACLASS} and errors of the stages: `ParseErrors`, `QueryErrors`; {@link Suspended}
 * Source: base specification, 4.2 and 4.3; protocol notes, 1.4 to 1.7 and 2.
 */
export function planSelection(
  request: SelectRequest,
  view: View,
  queries: QueryCache,
  context: PlanContext,
  page?: PageRange,
): Selection {
  const dataClass = sourceClass(request, view)
  const finder = finderOf(dataClass, context)
  const query = queries.prepare(dataClass, request, view)
  const { predicate, orderBy } = query
  const plan = optimizePlan(buildPlan({ dataClass, ...query, page }))
  const score = query.filter && findSimilarity(query.filter, [])
  const filter = finder.operatorFor(query, request, dataClass, page, context)
  return { request, dataClass, finder, plan, predicate, orderBy, filter, score }
}

/** Plans the selection of a page, or of the single entity of a request. */
export function planPage(request: ReadRequest, view: View, queries: QueryCache, context: QueryContext): PagedSelection {
  const isEntity = request.output.form === 'entity'
  const page = {
    skip: isEntity ? 0 : Math.max(0, request.skip),
    count: isEntity ? 1 : Math.max(0, request.top ?? defaultTop(sourceClass(request, view))),
  }
  const selection = planSelection(request, view, queries, context, page)
  const { dataClass, finder, plan, predicate, orderBy, filter, score } = selection
  // No spread: V8 would create a new hidden class for each request.
  const isUncounted = isEntity || request.output.form === 'array'
  return { request, dataClass, finder, plan, predicate, orderBy, filter, score, page, isEntity, isUncounted }
}

/**
 * Finds the entities of a page.
 * @throws {QueryErrors.UNKNOWN_ENTITY} when a single entity is requested and does not exist
 * @throws {QueryErrors.TIMEOUT} {@link QueryErrors.TOO_MANY_ROWS} {@link Suspended}
 */
export function runPage(selection: PagedSelection, view: View, context: QueryContext): Page {
  const { dataClass, finder, page, isEntity, isUncounted } = selection
  const { rowIds, total, name } = finder.page(selection, page, view, context, isUncounted)
  if (isEntity && rowIds.length === 0) throw QueryErrors.UNKNOWN_ENTITY(name, dataClass.name)
  return { dataClass, count: total, first: page.skip, rowIds }
}
