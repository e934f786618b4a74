import { fold } from '../../base/text/fold.ts'
import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { type Aggregation, bindAggregates } from '../aggregate/aggregate.ts'
import { bindFirstScalar } from '../aggregate/measure.ts'
import type { Scalar } from '../bind/predicate.ts'
import type { QueryLimits } from '../contract/query-limits.ts'
import type { ReadRequest } from '../contract/request.ts'
import { MICROSECONDS } from '../estimate/costs.ts'
import type { QueryContext } from '../operators/query-context.ts'
import type { PathListItem } from '../parse/parse-path-list.ts'
import { planSelection, selectedOf } from '../source/select.ts'
import { type ValuesOptions, writeAggregates, writeDistinct } from '../serialise/write-values.ts'
import { costOfAggregate } from './answer-cost.ts'
import { searchesOf } from './plan-task.ts'
import { expectSelection } from './selection-cost.ts'
import type { PlannedTask, TaskKind, TaskScope } from './task-kind.ts'

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
  /** Different values. */
  readonly values: readonly Value[]
}

/**
 * Keys of at most two entities for each value of an attribute, as JSON arrays in an array. For operators: no rights apply. All values
 * together cost at most as much as all rows.
 */
export const keysTask: TaskKind<KeysArgs> = { plan: planKeys }

function planKeys(
  { dataClass: name }: ReadRequest,
  { attribute, values }: KeysArgs,
  { views }: TaskScope,
  context: QueryContext,
): PlannedTask {
  const { snapshot, budget } = context
  const dataClass = views.of(undefined).catalog.dataClassesByName.get(name)!
  return {
    searches: [],
    cost: () => MICROSECONDS.request + 2 * MICROSECONDS.key * values.length,
    run() {
      const table = snapshot.table(dataClass)
      const indexed = dataClass.attributesByName.get(attribute) as StorageAttribute
      if (dataClass.remote) return Buffer.from(JSON.stringify(remoteKeys(indexed, values, context)))
      const index = table.index(indexed)!
      const found = values.map(value => {
        const rows = index.equal(value)
        budget.examine(rows.size)
        const keys: string[] = []
        for (const rowId of rows) if (keys.push(table.row(rowId)!.key) === 2) break
        return keys
      })
      return Buffer.from(JSON.stringify(found))
    },
  }
}

/** Finds entities in a database. One that has a unique text letter by letter comes before others with its fold, as in addresses. */
function remoteKeys(attribute: StorageAttribute, values: readonly Value[], context: QueryContext): string[][] {
  const { dataClass, unique } = attribute
  const scalarOf = (value: Value) => (typeof value === 'string' ? fold(value) : (value as Scalar))
  const test = { kind: 'in', values: new Set(values.map(scalarOf)) } as const
  const { rowIds } = context.remote!.find({
    dataClass,
    among: undefined,
    referring: undefined,
    predicate: { kind: 'test', attribute, test, negated: false },
    orderBy: [],
    page: { skip: 0, count: Number.POSITIVE_INFINITY },
    isUncounted: true,
  })
  const alike = new Map<Scalar, string[]>()
  const exact = new Map<Value, string[]>()
  for (const rowId of rowIds) {
    const row = context.snapshot.table(dataClass).row(rowId)!
    const value = row.value(attribute) as Value
    keep(alike, scalarOf(value), row.key)
    if (unique) keep(exact, value, row.key)
  }
  return values.map(value => exact.get(value) ?? alike.get(scalarOf(value)) ?? [])
}

/** Adds a key to at most one other. */
function keep<T>(keys: Map<T, string[]>, value: T, key: string): void {
  const known = keys.get(value) ?? []
  if (known.length < 2) keys.set(value, [...known, key])
}

function planCompute(
  request: ReadRequest,
  { items, aggregation }: ComputeArgs,
  { views, limits, queries }: TaskScope,
  context: QueryContext,
): PlannedTask {
  const { snapshot } = context
  const view = views.of(request.access)
  const selection = planSelection(unordered(request), view, snapshot, queries)
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
        selectedOf(selection, view, context),
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
  const selection = planSelection(unordered(request), view, snapshot, queries)
  const measure = bindFirstScalar(items, selection.dataClass, view)
  const page = { skip: request.skip, count: request.top ?? Number.POSITIVE_INFINITY, counted }
  return {
    searches: searchesOf(selection),
    cost() {
      const { rows, microseconds } = expectSelection(selection, view, snapshot)
      return MICROSECONDS.request + microseconds + costOfAggregate(measure, true, rows, snapshot)
    },
    run: () =>
      writeDistinct(measure, page, selectedOf(selection, view, context), context, valuesOptions(request, limits)),
  }
}

/** Request without its order, which does not affect aggregates. */
const unordered = ({ orderBy: _, ...request }: ReadRequest): ReadRequest => request

const valuesOptions = ({ output }: ReadRequest, { maxAnswerBytes }: QueryLimits): ValuesOptions => ({
  maxAnswerBytes,
  pretty: output.pretty ?? false,
})
