import type { RemoteQuery } from '../plan/nodes/remote-query.ts'
import type { ValueAttribute } from '../../catalog/attribute.ts'
import type { QueryContext } from '../operators/query-context.ts'
import { type Measure, ownScalar } from './measure.ts'
import { countRemote, fetchValues, narrowQuery } from './selected.ts'
import { inRange, type Item, Sum, Summary, type Totals } from './summary.ts'

/** Summarises the values of entities that are in a database, which adds and compares them. */
export function summariseRemote(measure: Measure, query: RemoteQuery, context: QueryContext): Totals {
  if (measure.values === 'number') return totalsOf(measure, query, context)
  const count = countRemote(query, context, measure.presence)
  if (measure.values === 'json') return { ...mixedTotals(measure, query, context), count }
  const [min, max] = [false, true].map(descending => extremeOf(measure, query, descending, context))
  return { count, numbers: NONE, min, max }
}

const NONE = { count: 0, total: 0, integerTotal: 0n }

function totalsOf(measure: Measure, query: RemoteQuery, { remote }: QueryContext): Totals {
  const { count, sum, min, max } = remote!.totals(query, valuesOf(measure))
  const extreme = (value: number | bigint | undefined) => (value === undefined ? undefined : { value, rowId: 0 })
  const integerTotal = unitsOf(sum, ownScalar(measure)?.attribute.scale ?? 0)
  return { count, numbers: { count, total: Number(sum), integerTotal }, min: extreme(min), max: extreme(max) }
}

/** A decimal text in units of the last of `scale` places; further places are cut. */
function unitsOf(text: string, scale: number): bigint {
  const [, sign = '', integer = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  return BigInt(`${sign}${integer}${fraction.slice(0, scale).padEnd(scale, '0')}`)
}

/** Totals of values inside of JSON, which may be of several types. */
function mixedTotals(measure: Measure, query: RemoteQuery, context: QueryContext): Omit<Totals, 'count'> {
  const { values, rowIds, counts } = context.remote!.distinct(query, valuesOf(measure))
  const summary = new Summary(true)
  for (const [i, value] of values.entries()) summary.add(value, rowIds[i]!)
  const { numbers } = inRange(scale => ({ numbers: sumOf(values, counts, scale) }))
  const texts = [summary.min, summary.max].filter(extreme => typeof extreme?.value === 'string')
  fetchValues(
    measure,
    texts.map(extreme => extreme!.rowId),
    context,
  )
  return { numbers, min: summary.min, max: summary.max }
}

function sumOf(values: readonly Item[], counts: readonly number[], scale: number): Totals['numbers'] {
  const sum = new Sum()
  let count = 0
  for (const [i, value] of values.entries()) {
    if (typeof value !== 'number') continue
    count += counts[i]!
    sum.add(value * scale * counts[i]!, i)
  }
  return { count, total: sum.total / scale, integerTotal: 0n }
}

/** First entity in the order of a measure. Its value is written from its row. */
function extremeOf(measure: Measure, query: RemoteQuery, descending: boolean, context: QueryContext): Totals['min'] {
  const key = { ...valuesOf(measure), path: measure.name, descending }
  const orderedQuery = {
    ...narrowQuery(query, measure.presence),
    orderBy: [key],
    page: { skip: 0, count: 1 },
    isUncounted: true,
  }
  const [rowId] = context.remote!.find(orderedQuery).rowIds
  if (rowId === undefined) return undefined
  fetchValues(measure, [rowId], context)
  return { value: '', rowId }
}

const valuesOf = ({ relations, attribute, properties }: Measure) => ({
  relations,
  attribute: attribute as ValueAttribute,
  properties,
})
