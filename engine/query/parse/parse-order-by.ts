import type { FailedMatchResult } from 'ohm-js'
import type { ProtocolError } from '../../base/errors.ts'
import { toOrderTerms } from './filter-semantics.ts'
import { TEXT_LIMITS, type TextLimits } from './limits.ts'
import { ParseErrors } from './parse-errors.ts'
import { checkOrderTerms, parseBounded } from './parse-query.ts'
import { describeFailure } from './syntax-failure.ts'
import type { OrderTerm } from './syntax-tree.ts'

/**
 * Reads the text of `$orderby`: `salary DESC, employer.name`. An empty text has no terms.
 * @throws {ParseErrors.ORDER_BY} 1810
 * @throws {ParseErrors.TOO_MANY_ORDER_TERMS} 1810
 * Source: protocol notes, 1.6.
 */
export function parseOrderBy(text: string, limits: TextLimits = TEXT_LIMITS): OrderTerm[] {
  const failure = (match: FailedMatchResult): ProtocolError => {
    const { place, expected } = describeFailure(match)
    return ParseErrors.ORDER_BY(place, expected)
  }
  const terms = parseBounded(text, 'OrderList', toOrderTerms, failure, limits)
  checkOrderTerms(terms, limits)
  return terms
}
