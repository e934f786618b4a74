import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import type { ClientText } from '../contract/request.ts'
import { COUNT, ownCounts, type ThreadCounts } from '../../base/counts/thread-counts.ts'
import { ProtocolError } from '../../base/errors.ts'
import { bindFilter } from '../bind/bind-filter.ts'
import { bindOrderBy, type SortKey } from '../bind/bind-order-by.ts'
import { bindScores, nearestFirst } from '../bind/bind-scores.ts'
import type { Predicate } from '../bind/predicate.ts'
import { codeDecides } from '../contract/calculated-code.ts'
import { cachedParser } from '../parse/parse-cache.ts'
import { liftingParser } from '../parse/lift-literals.ts'
import { parseOrderBy } from '../parse/parse-order-by.ts'
import type { TextLimits } from '../parse/limits.ts'
import { type Params, readParams, type UnreadParams } from '../parse/parse-params.ts'
import type { OrderTerm, QuerySyntax } from '../parse/syntax-tree.ts'
import { follows, parseQuery } from '../parse/parse-query.ts'
import { optimizePredicate } from './optimize.ts'

/** Part of a query that does not depend on the data: bound and optimized. */
export interface PreparedQuery {
  readonly predicate: Predicate | undefined
  readonly orderBy: readonly SortKey[]
  /** The filter as written, to which an order by similarity refers. */
  readonly filter?: Predicate | undefined
}

/** Texts of a query, as sent by the client. */
export interface QueryTexts {
  readonly filter?: ClientText
  readonly params?: Params | UnreadParams
  readonly orderBy?: ClientText
  /** The filter to which an order by similarity refers, if it is not among these texts. */
  readonly orderedFilter?: Predicate | undefined
}

const PARSED = { entries: 2_000, sizeBytes: 16 * 2 ** 20 }
const PREPARED = { entries: 2_000, sizeBytes: 8 * 2 ** 20 }

/** Queries of one dataclass in one view. */
interface Prepared {
  filter(text: string): PreparedQuery
  orderBy(text: string): readonly SortKey[]
}

/**
 * Parses, binds and optimizes the texts of queries, and caches the results. One instance for all queries of a thread. A text
 * without parameters is prepared once; a text with parameters is parsed once and bound each time.
 */
export class QueryCache {
  private readonly parseFilter: (text: string) => QuerySyntax
  private readonly parseOrder: (text: string) => OrderTerm[]
  /** True if a text follows the grammar. */
  private readonly isFilter: (text: string) => boolean
  private readonly isOrderBy: (text: string) => boolean
  /** Keyed by view, so that no entry outlives the model or the roles that it was bound to. */
  private readonly prepared = new WeakMap<View, Map<DataClass, Prepared>>()

  /** @param counts counters of the thread, for lookups of filters */
  constructor(
    private readonly limits: TextLimits,
    private readonly counts: ThreadCounts = ownCounts(),
  ) {
    this.parseFilter = this.countedParser(limits)
    this.parseOrder = text => parseOrderBy(text, limits)
    this.isFilter = cachedParser(text => follows(text, 'Query', limits), PREPARED)
    this.isOrderBy = cachedParser(text => follows(text, 'OrderList', limits), PREPARED)
  }

  /** @throws {ParseErrors} {@link QueryErrors} */
  prepare(dataClass: DataClass, texts: QueryTexts, view: View): PreparedQuery {
    const preparation = this.preparedOf(dataClass, view)
    const { params, orderedFilter } = texts
    const filter = readable(texts.filter, this.isFilter, this.parseFilter)
    const query: PreparedQuery =
      filter === undefined
        ? { predicate: undefined, orderBy: [] }
        : params || codeDecides()
          ? this.prepareFilter(filter, dataClass, params && readParams(params, this.limits), view)
          : preparation.filter(filter)
    // An order inside the filter has precedence.
    if (query.orderBy.length > 0) return query
    const orderBy = readable(texts.orderBy, this.isOrderBy, this.parseOrder)
    if (orderBy === undefined) return query.filter ? { ...query, orderBy: nearestFirst(query.filter) } : query
    const keys = codeDecides() ? bindOrderBy(this.parseOrder(orderBy), dataClass, view) : preparation.orderBy(orderBy)
    return { ...query, orderBy: bindScores(keys, query.filter ?? orderedFilter, dataClass) }
  }

  /** Parser that counts each text once, although it may parse both its shape and the text itself. */
  private countedParser(limits: TextLimits): (text: string) => QuerySyntax {
    let isParsed = false
    const parse = liftingParser(text => {
      isParsed = true
      return parseQuery(text, limits)
    }, PARSED)
    return text => {
      isParsed = false
      try {
        return parse(text)
      } finally {
        this.counts[isParsed ? COUNT.parseMisses : COUNT.parseHits]!++
      }
    }
  }

  private preparedOf(dataClass: DataClass, view: View): Prepared {
    const ofView = this.prepared.get(view) ?? new Map<DataClass, Prepared>()
    let preparation = ofView.get(dataClass)
    if (!preparation) {
      preparation = {
        filter: cachedParser(
          text => this.prepareFilter(text, dataClass, undefined, view),
          PREPARED,
          isHit => this.counts[isHit ? COUNT.planHits : COUNT.planMisses]!++,
        ),
        orderBy: cachedParser(text => bindOrderBy(this.parseOrder(text), dataClass, view), PREPARED),
      }
      ofView.set(dataClass, preparation)
      this.prepared.set(view, ofView)
    }
    return preparation
  }

  private prepareFilter(text: string, dataClass: DataClass, params: Params | undefined, view: View): PreparedQuery {
    const { condition, orderBy } = this.parseFilter(text)
    const boundFilter = condition && bindFilter(condition, dataClass, params, view, this.limits)
    return {
      predicate: boundFilter && optimizePredicate(boundFilter),
      orderBy: bindScores(bindOrderBy(orderBy, dataClass, view), boundFilter, dataClass),
      filter: boundFilter,
    }
  }
}

/**
 * A text as sent, or with blanks for `+` if only that form follows the grammar.
 * @throws the error of the form with blanks, which clients with `URLSearchParams` mean, if neither follows the grammar
 */
function readable(
  clientText: ClientText | undefined,
  isText: (text: string) => boolean,
  parse: (text: string) => unknown,
): string | undefined {
  if (typeof clientText !== 'object') return clientText
  const { text, withBlanks } = clientText
  if (isText(text)) return text
  if (isText(withBlanks)) return withBlanks
  try {
    parse(withBlanks)
  } catch (error) {
    throw error instanceof ProtocolError ? error.adding('; each + was read as a blank, a plus is sent as %2B') : error
  }
  return withBlanks
}
