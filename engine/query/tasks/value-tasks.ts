import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { type Aggregation, bindAggregates } from '../aggregate/aggregate.ts'
import { bindFirstScalar } from '../aggregate/measure.ts'
import type { QueryLimits } from '../contract/query-limits.ts'
import type { ReadRequest } from '../contract/request.ts'
import { MICROSECONDS } from '../estimate/costs.ts'
import type { QueryContext } from '../operators/query-context.ts'
import type { PathListItem } from '../parse/parse-path-list.ts'
import { finderOf, planSelection } from '../source/select.ts'
import { type ValuesOptions, writeAggregates, writeDistinct } from '../serialise/write-values.ts'
import { costOfAggregate } from './answer-cost.ts'
import { expectSelection } from './selection-cost.ts'
import { type PlannedTask, searchesOf, type TaskKind, type TaskScope } from './task-kind.ts'

export interface ComputeArgs {
  readonly items: readonly PathListItem[]
  readonly aggregation: Aggregation
}

/** Aggregates over all selected entities. */
export const computeTask: TaskKind<ComputeArgs> = { plan: planCompute }

export interface DistinctArgs {
  readonly items: readonly PathListItem[]
  /** Return each value with its number of entities, most frequent first. */
  readonly counted: boolean
}

/** Distinct values of an attribute. */
export const distinctTask: TaskKind<DistinctArgs> = { plan: planDistinct }

export interface KeysArgs {
  /** Name of an attribute with an index. */
  readonly attribute: string
  /** Distinct values. */
  readonly values: readonly Value[]
}

/**
 * Keys of at most two entities for each value of an attribute, as JSON arrays in an array. No rights apply, since the task is for
 * operators. All values together cost at most as much as all rows.
 */
export const keysTask: TaskKind<KeysArgs> = { plan: planKeys }

function planKeys(
  { dataClass: name }: ReadRequest,
  { attribute, values }: KeysArgs,
  { views }: TaskScope,
  context: QueryContext,
): PlannedTask {
  const dataClass = views.of(undefined).catalog.dataClassesByName.get(name)!
  const indexedAttribute = dataClass.attributesByName.get(attribute) as StorageAttribute
  return {
    searches: [],
    cost: () => MICROSECONDS.request + 2 * MICROSECONDS.key * values.length,
    run: () => Buffer.from(JSON.stringify(finderOf(dataClass, context).keysOf(indexedAttribute, values, context))),
  }
}

function planCompute(
  request: ReadRequest,
  { items, aggregation }: ComputeArgs,
  { views, limits, queries }: TaskScope,
  context: QueryContext,
): PlannedTask {
  const { snapshot } = context
  const view = views.of(request.access)
  const selection = planSelection(unorderedRequest(request), view, queries, context)
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
        selection.finder.aggregateInput(selection, view, context),
        context,
        valuesOptions(request, limits),
      ),
  }
}

function planDistinct(
  request: ReadRequest,
  { items, counted }: DistinctArgs,
  { views, limits, queries }: TaskScope,
  context: QueryContext,
): PlannedTask {
  const { snapshot } = context
  const view = views.of(request.access)
  const selection = planSelection(unorderedRequest(request), view, queries, context)
  const measure = bindFirstScalar(items, selection.dataClass, view)
  const page = { skip: request.skip, count: request.top ?? Number.POSITIVE_INFINITY, counted }
  return {
    searches: searchesOf(selection),
    cost() {
      const { rows, microseconds } = expectSelection(selection, view, snapshot)
      return MICROSECONDS.request + microseconds + costOfAggregate(measure, true, rows, snapshot)
    },
    run: () =>
      writeDistinct(
        measure,
        page,
        selection.finder.aggregateInput(selection, view, context),
        context,
        valuesOptions(request, limits),
      ),
  }
}

/** Request without its order, which does not affect aggregates. */
const unorderedRequest = ({ orderBy: _, ...request }: ReadRequest): ReadRequest => request

const valuesOptions = ({ output }: ReadRequest, { maxAnswerBytes }: QueryLimits): ValuesOptions => ({
  maxAnswerBytes,
  pretty: output.pretty ?? false,
})
