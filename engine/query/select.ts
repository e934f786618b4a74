import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import type { RowSet } from '../row-set/row-set.ts'
import type { Snapshot } from '../storage/snapshot.ts'
import { execute } from './execute/execute-plan.ts'
import { openSource, type Source } from './execute/open-source.ts'
import type { QueryBudget } from './execute/query-budget.ts'
import type { Rows } from './execute/rows.ts'
import { buildPlan } from './plan/build-plan.ts'
import type { Query } from './plan/logical-plan.ts'
import { optimizePlan } from './plan/optimize.ts'
import { prepareQuery } from './plan/query-cache.ts'
import { QueryErrors } from './query-errors.ts'
import type { ReadRequest } from './request.ts'

const DEFAULT_TOP = 100

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
 * Finds the entities that a request asks for: source, filter, order, page. One function, any thread.
 *
 *   names and texts → bound predicate → plan → operators → row ids
 *
 * @throws {EngineErrors.UNKNOWN_DATACLASS} and what the stages throw: `ParseErrors`, `QueryErrors`
 * @throws {QueryErrors.UNKNOWN_ENTITY} when one entity is asked for and there is none
 * Source: base specification, 4.2 and 4.3; protocol notes, 1.4 to 1.7 and 2.
 */
export function select(request: ReadRequest, catalog: Catalog, snapshot: Snapshot, budget: QueryBudget): Page {
  const context = { snapshot, budget }
  const source = openSource(request, catalog, context)
  const { dataClass } = source
  const isEntity = request.output.form === 'entity'
  const skip = isEntity ? 0 : Math.max(0, request.skip)
  const count = isEntity ? 1 : Math.max(0, request.top ?? dataClass.defaultTopSize ?? DEFAULT_TOP)
  const rows = run(request, source, { skip, count }, context)
  if (isEntity && rows.rowIds.length === 0) throw QueryErrors.UNKNOWN_ENTITY(source.name, dataClass.name)
  return { dataClass, count: rows.total, first: skip, rowIds: rows.rowIds }
}

/**
 * The whole selection of a request, whatever its paging: for a deletion, an entity set, an aggregate. In the order that
 * was asked for, else ascending. May be shared with the snapshot: do not write to it.
 * @throws as {@link select} does
 */
export function selectRowIds(
  request: Pick<ReadRequest, 'dataClass' | 'source' | 'filter' | 'params' | 'orderBy'>,
  catalog: Catalog,
  snapshot: Snapshot,
  budget: QueryBudget,
): Uint32Array {
  const context = { snapshot, budget }
  return run(request, openSource(request, catalog, context), undefined, context).rowIds
}

/** The existing entities of a selection without an order: for an aggregate. @throws as {@link select} does */
export function selectRowSet(
  { filter, params, ...request }: Pick<ReadRequest, 'dataClass' | 'source' | 'filter' | 'params'>,
  catalog: Catalog,
  snapshot: Snapshot,
  budget: QueryBudget,
): RowSet {
  const context = { snapshot, budget }
  return run({ filter, params }, openSource(request, catalog, context), undefined, context).set
}

function run(
  request: Pick<ReadRequest, 'filter' | 'params' | 'orderBy'>,
  { dataClass, rows }: Source,
  page: Query['page'],
  context: { snapshot: Snapshot; budget: QueryBudget },
): Rows {
  const plan = optimizePlan(buildPlan({ dataClass, ...prepareQuery(dataClass, request), page }))
  return execute(plan, rows, context)
}
