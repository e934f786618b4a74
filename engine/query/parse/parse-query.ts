import type { FailedMatchResult, MatchResult } from 'ohm-js'
import type { ProtocolError } from '../../base/errors.ts'
import { filterGrammar, toQuery } from './filter-semantics.ts'
import { TEXT_LIMITS, type TextLimits } from './limits.ts'
import { ParseErrors } from './parse-errors.ts'
import { queryFailure } from './syntax-failure.ts'
import type { Expression, OrderTerm, PathSyntax, PlaceholderSyntax, QuerySyntax } from './syntax-tree.ts'

/**
 * Reads the text of a `$filter`. Conjunctions have no precedence and associate to the left: `a or b and c` is `(a or b) and c`.
 * An empty text has no condition. Parsing takes some 30 µs a condition: see `parse-cache.ts`.
 * @throws {ParseErrors.COMPARATOR_EXPECTED} 1112
 * @throws {ParseErrors.REGULAR_EXPRESSION} 1112
 * @throws {ParseErrors.SYNTAX} 1201, also beyond the limits
 * @throws {ParseErrors.FORMULA} 1278
 * Source: protocol notes, 2; base specification, 4.3.1.
 */
export function parseQuery(text: string, limits: TextLimits = TEXT_LIMITS): QuerySyntax {
  const query = parseBounded(text, 'Query', toQuery, queryFailure, limits)
  checkOrderTerms(query.orderBy, limits)
  if (query.condition) checkExpression(query.condition, limits)
  return query
}

/** True if a text is within the limits and follows a rule of the grammar. Takes the time of a parse. */
export function follows(text: string, rule: 'Query' | 'OrderList', { maxTextLength }: TextLimits): boolean {
  if (text.length > maxTextLength) return false
  try {
    return filterGrammar().match(text, rule).succeeded()
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Matches a text of limited length with a rule of the grammar, on a limited stack. */
export function parseBounded<Tree>(
  text: string,
  rule: 'Query' | 'OrderList',
  toTree: (match: MatchResult) => Tree,
  failure: (match: FailedMatchResult) => ProtocolError,
  { maxTextLength, maxNesting }: TextLimits,
): Tree {
  if (text.length > maxTextLength) throw ParseErrors.QUERY_TOO_LONG(text.length, maxTextLength)
  try {
    const match = filterGrammar().match(text, rule)
    if (match.failed()) throw failure(match)
    return toTree(match)
  } catch (error) {
    // The grammar recurses for each parenthesis. The stack holds about twice the permitted nesting; deeper texts fail here,
    // before the nesting could be counted.
    if (error instanceof RangeError) throw ParseErrors.QUERY_TOO_DEEP(maxNesting)
    throw error
  }
}

/** @throws {ParseErrors.TOO_MANY_ORDER_TERMS} @throws {ParseErrors.PATH_TOO_LONG} */
export function checkOrderTerms(terms: readonly OrderTerm[], limits: TextLimits): void {
  const { maxOrderTerms } = limits
  if (terms.length > maxOrderTerms) throw ParseErrors.TOO_MANY_ORDER_TERMS(terms.length, maxOrderTerms)
  for (const term of terms) checkPath(term.path, limits)
}

function checkExpression(root: Expression, limits: TextLimits): void {
  const { maxNesting, maxConditions } = limits
  let conditions = 0
  const pending: { node: Expression; depth: number }[] = [{ node: root, depth: 0 }]
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { node, depth } = next
    if (depth > maxNesting) throw ParseErrors.QUERY_TOO_DEEP(maxNesting)
    switch (node.kind) {
      case 'group':
        pending.push({ node: node.inner, depth: depth + 1 })
        break
      case 'not':
        pending.push({ node: node.operand, depth: depth + 1 })
        break
      case 'comparison':
      case 'truth':
        conditions++
        checkPath(node.path, limits)
        break
      default:
        // A sequence of conditions is a left-leaning chain, which does not count as nesting.
        pending.push({ node: node.right, depth }, { node: node.left, depth })
    }
  }
  if (conditions > maxConditions) throw ParseErrors.TOO_MANY_CONDITIONS(conditions, maxConditions)
}

function checkPath(path: PathSyntax | PlaceholderSyntax, { maxPathSteps }: TextLimits): void {
  const steps = path.kind === 'path' ? path.steps.length : path.path.length
  if (steps > maxPathSteps) throw ParseErrors.PATH_TOO_LONG(maxPathSteps)
}
