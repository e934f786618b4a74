import type { AggregateKind } from '../../catalog/types/descriptor.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import { evaluate, openColumns } from '../operators/evaluate.ts'
import type { QueryContext } from '../operators/query-context.ts'
import type { PathListItem } from '../parse/parse-path-list.ts'
import { lower } from '../plan/lower.ts'
import { AggregateErrors } from './aggregate-errors.ts'
import { bindMeasure, type Measure, ownScalar } from './measure.ts'
import { itemText } from './read-values.ts'
import { countRemote, isRemote, type Selected } from './selected.ts'
import { summarise, summariseDistinct } from './summarise.ts'
import type { Totals } from './summary.ts'

export type AggregateFunction = 'count' | 'sum' | 'average' | 'min' | 'max'

export interface Aggregation {
  /** `all`: every function that applies to the values. */
  readonly function: AggregateFunction | 'all'
  /** True if equal values count once. */
  readonly distinct: boolean
}

const ALL: readonly AggregateFunction[] = ['count', 'sum', 'average', 'min', 'max']
const APPLICABLE: Record<AggregateKind, readonly AggregateFunction[]> = {
  number: ALL,
  json: ALL,
  date: ['count', 'min', 'max'],
  text: ['count', 'min', 'max'],
  bool: ['count'],
  opaque: ['count'],
}
const DESCRIPTION: Record<AggregateKind, string> = {
  number: 'a number',
  json: 'a property without declared type',
  date: 'a date',
  text: 'a text',
  bool: 'a bool',
  opaque: 'not a scalar',
}

/**
 * Resolves the attributes to aggregate. Without any, only the entities can be counted: the result is empty then.
 * @throws the errors of {@link bindMeasure}
 * @throws {AggregateErrors.ATTRIBUTE_NEEDED} {@link AggregateErrors.NOT_APPLICABLE}
 */
export function bindAggregates(
  items: readonly Pick<PathListItem, 'path'>[],
  { function: functionName, distinct }: Aggregation,
  dataClass: DataClass,
  view: View,
): Measure[] {
  if (items.length === 0 && (functionName !== 'count' || distinct))
    throw AggregateErrors.ATTRIBUTE_NEEDED(dataClass.name)
  return items.map(item => {
    const measure = bindMeasure(item, dataClass, view)
    const { name, values } = measure
    const usable = APPLICABLE[values]
    if (functionName !== 'all' && !usable.includes(functionName)) {
      throw AggregateErrors.NOT_APPLICABLE(functionName, name, DESCRIPTION[values], usable.join(', '))
    }
    if (distinct && values === 'opaque') {
      throw AggregateErrors.NOT_APPLICABLE('distinct', name, DESCRIPTION[values], 'count')
    }
    return measure
  })
}

/**
 * Aggregates the values of selected entities. Null is ignored. Without values, count and sum are 0 and the others null.
 *
 * | values | functions |
 * |---|---|
 * | numbers, durations (in milliseconds) | all; a sum of 64-bit integers is exact, any other is compensated |
 * | texts, dates | count, min, max: as spelled in the first entity with this value |
 * | property without declared type | all: sum and average of the numbers, min and max with numbers below texts |
 * | bools, relations, images, blobs, objects | count |
 *
 * @returns JSON text of each result, in the order of the answer
 * @throws {QueryErrors.TOO_MANY_ROWS} {@link QueryErrors.TIMEOUT}
 * Source: base specification, 4.6; protocol notes, 6.6; design decisions, 2.
 */
export function aggregate(
  measure: Measure,
  { function: functionName, distinct }: Aggregation,
  selection: Selected,
  context: QueryContext,
): Map<AggregateFunction, string> {
  const functions = functionName === 'all' ? APPLICABLE[measure.values] : [functionName]
  if (!distinct && functions.every(name => name === 'count')) {
    return new Map([['count', String(countPresent(measure, selection, context))]])
  }
  const summary = (distinct ? summariseDistinct : summarise)(measure, selection, context)
  // The type of such a property shows only in its values: if all are texts, it has no sum.
  const isText = measure.values === 'json' && typeof summary.min?.value === 'string'
  const shownFunctions = functionName === 'all' && isText ? APPLICABLE.text : functions
  return new Map(shownFunctions.map(name => [name, resultText(name, measure, summary, context)]))
}

function countPresent({ dataClass, presence }: Measure, selection: Selected, context: QueryContext): number {
  if (isRemote(selection)) return countRemote(selection, context, presence)
  const operator = lower(presence, dataClass, context.snapshot)
  openColumns(operator, dataClass, context.snapshot)
  return evaluate(operator, dataClass, selection, context).size
}

function resultText(name: AggregateFunction, measure: Measure, summary: Totals, context: QueryContext): string {
  const { numbers } = summary
  const scalar = ownScalar(measure)
  const totals = scalar?.descriptor.totals
  switch (name) {
    case 'count':
      return String(summary.count)
    case 'sum':
      return totals ? totals.sum(numbers.integerTotal, scalar.attribute) : numberText(numbers.total)
    case 'average':
      return totals && numbers.count > 0
        ? totals.average(numbers.integerTotal, numbers.count, scalar.attribute)
        : numberText(numbers.total / numbers.count)
    case 'min':
    case 'max': {
      const extreme = summary[name]
      return extreme ? itemText(extreme.value, extreme.rowId, measure, context) : 'null'
    }
  }
}

/** JSON text of a number; `null` for the average of no values and for a sum beyond the largest double. */
const numberText = (value: number): string => (Number.isFinite(value) ? String(value) : 'null')
