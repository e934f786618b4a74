import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import { bindFilter } from '../bind/bind-filter.ts'
import { bindOrderBy, type SortKey } from '../bind/bind-order-by.ts'
import { bindScores, nearestFirst } from '../bind/bind-scores.ts'
import type { Predicate } from '../bind/predicate.ts'
import { codeDecides } from '../calculated-code.ts'
import { cachedParser } from '../parse/parse-cache.ts'
import { liftingParser } from '../parse/lift-literals.ts'
import { parseOrderBy } from '../parse/parse-order-by.ts'
import type { Params } from '../parse/parse-params.ts'
import { parseQuery } from '../parse/parse-query.ts'
import { optimizePredicate } from './optimize.ts'

/** What does not depend on the data: bound and optimized. */
export interface PreparedQuery {
  readonly predicate: Predicate | undefined
  readonly orderBy: readonly SortKey[]
  /** The filter as it was written: what an order by similarity refers to. */
  readonly filter?: Predicate | undefined
}

export interface QueryTexts {
  readonly filter?: string
  readonly params?: Params
  readonly orderBy?: string
  /** The filter that an order by similarity refers to, when it is not among these texts. */
  readonly orderedFilter?: Predicate | undefined
}

const PARSED = { entries: 2_000, sizeBytes: 16 * 2 ** 20 }
const PREPARED = { entries: 2_000, sizeBytes: 8 * 2 ** 20 }

const parse = liftingParser(parseQuery, PARSED)

/** Of one dataclass in one view. A text without parameters is prepared once, one with them is only parsed once. */
interface Prepared {
  filter(text: string): PreparedQuery
  orderBy(text: string): readonly SortKey[]
}

// Nothing here outlives the model, or the roles, that it was bound to.
const preparedFor = new WeakMap<View, Map<DataClass, Prepared>>()

/**
 * Parses, binds and optimizes the texts of a query, or remembers the result.
 * @throws {ParseErrors} {@link QueryErrors}
 */
export function prepareQuery(
  dataClass: DataClass,
  { filter, params, orderBy, orderedFilter }: QueryTexts,
  view: View,
): PreparedQuery {
  const prepared = preparedOf(dataClass, view)
  const query: PreparedQuery =
    filter === undefined
      ? { predicate: undefined, orderBy: [] }
      : params || codeDecides()
        ? prepareFilter(filter, dataClass, params, view)
        : prepared.filter(filter)
  // An order inside the filter has precedence.
  if (query.orderBy.length > 0) return query
  if (orderBy === undefined) return query.filter ? { ...query, orderBy: nearestFirst(query.filter) } : query
  const keys = codeDecides() ? bindOrderBy(parseOrderBy(orderBy), dataClass, view) : prepared.orderBy(orderBy)
  return { ...query, orderBy: bindScores(keys, query.filter ?? orderedFilter, dataClass) }
}

function preparedOf(dataClass: DataClass, view: View): Prepared {
  const ofView = preparedFor.get(view) ?? new Map<DataClass, Prepared>()
  let prepared = ofView.get(dataClass)
  if (!prepared) {
    prepared = {
      filter: cachedParser(text => prepareFilter(text, dataClass, undefined, view), PREPARED),
      orderBy: cachedParser(text => bindOrderBy(parseOrderBy(text), dataClass, view), PREPARED),
    }
    ofView.set(dataClass, prepared)
    preparedFor.set(view, ofView)
  }
  return prepared
}

function prepareFilter(text: string, dataClass: DataClass, params: Params | undefined, view: View): PreparedQuery {
  const { condition, orderBy } = parse(text)
  const bound = condition && bindFilter(condition, dataClass, params, view)
  return {
    predicate: bound && optimizePredicate(bound),
    orderBy: bindScores(bindOrderBy(orderBy, dataClass, view), bound, dataClass),
    filter: bound,
  }
}
