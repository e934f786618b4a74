import type { DataClass } from '../../catalog/dataclass.ts'
import { bindFilter } from '../bind/bind-filter.ts'
import { bindOrderBy, type SortKey } from '../bind/bind-order-by.ts'
import { bindScores, nearestFirst } from '../bind/bind-scores.ts'
import type { Predicate } from '../bind/predicate.ts'
import type { Asker } from '../bind/resolve-path.ts'
import { codeDecides } from '../calculated-code.ts'
import { cachedParser } from '../parse/parse-cache.ts'
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
  /** `client` unless said otherwise. */
  readonly asker?: Asker
  /** The filter that an order by similarity refers to, when it is not among these texts. */
  readonly orderedFilter?: Predicate | undefined
}

const PARSED = { entries: 2_000, sizeBytes: 16 * 2 ** 20 }
const PREPARED = { entries: 2_000, sizeBytes: 8 * 2 ** 20 }

const parse = cachedParser(parseQuery, PARSED)

/** Of one dataclass. A text without parameters is prepared once, one with them is only parsed once. */
interface Prepared {
  filter(text: string): PreparedQuery
  orderBy(text: string): readonly SortKey[]
}

// A new catalog has new dataclasses, so nothing here outlives the model that it was bound to.
const preparedFor = { client: new WeakMap<DataClass, Prepared>(), server: new WeakMap<DataClass, Prepared>() }

/**
 * Parses, binds and optimizes the texts of a query, or remembers the result.
 * @throws {ParseErrors} {@link QueryErrors}
 */
export function prepareQuery(
  dataClass: DataClass,
  { filter, params, orderBy, asker = 'client', orderedFilter }: QueryTexts,
): PreparedQuery {
  const prepared = preparedOf(dataClass, asker)
  const query: PreparedQuery =
    filter === undefined
      ? { predicate: undefined, orderBy: [] }
      : params || codeDecides()
        ? prepareFilter(filter, dataClass, params, asker)
        : prepared.filter(filter)
  // An order inside the filter has precedence.
  if (query.orderBy.length > 0) return query
  if (orderBy === undefined) return query.filter ? { ...query, orderBy: nearestFirst(query.filter) } : query
  const keys = codeDecides() ? bindOrderBy(parseOrderBy(orderBy), dataClass, asker) : prepared.orderBy(orderBy)
  return { ...query, orderBy: bindScores(keys, query.filter ?? orderedFilter, dataClass) }
}

function preparedOf(dataClass: DataClass, asker: Asker): Prepared {
  let prepared = preparedFor[asker].get(dataClass)
  if (!prepared) {
    prepared = {
      filter: cachedParser(text => prepareFilter(text, dataClass, undefined, asker), PREPARED),
      orderBy: cachedParser(text => bindOrderBy(parseOrderBy(text), dataClass, asker), PREPARED),
    }
    preparedFor[asker].set(dataClass, prepared)
  }
  return prepared
}

function prepareFilter(text: string, dataClass: DataClass, params: Params | undefined, asker: Asker): PreparedQuery {
  const { condition, orderBy } = parse(text)
  const bound = condition && bindFilter(condition, dataClass, params, asker)
  return {
    predicate: bound && optimizePredicate(bound),
    orderBy: bindScores(bindOrderBy(orderBy, dataClass, asker), bound, dataClass),
    filter: bound,
  }
}
