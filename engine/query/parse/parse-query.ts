import type { FailedMatchResult, MatchResult } from 'ohm-js'
import type { ProtocolError } from '../../errors.ts'
import { filterGrammar, toQuery } from './filter-semantics.ts'
import { limits } from './limits.ts'
import { ParseErrors } from './parse-errors.ts'
import { queryFailure } from './syntax-failure.ts'
import type { Expression, OrderTerm, PathSyntax, PlaceholderSyntax, QuerySyntax } from './syntax-tree.ts'

/**
 * Reads the text of a `$filter`. Without precedence, from left to right: `a or b and c` is `(a or b) and c`.
 * An empty text has no condition. A parse takes some 30 µs a condition: see `parse-cache.ts`.
 * @throws {ParseErrors.COMPARATOR_EXPECTED} 1112
 * @throws {ParseErrors.REGULAR_EXPRESSION} 1112
 * @throws {ParseErrors.SYNTAX} 1201, and the other limits of `limits.ts`
 * @throws {ParseErrors.FORMULA} 1278
 * Source: protocol notes, 2; base specification, 4.3.1.
 */
export function parseQuery(text: string): QuerySyntax {
  const query = parseBounded(text, 'Query', toQuery, queryFailure)
  checkOrderTerms(query.orderBy)
  if (query.condition) checkExpression(query.condition)
  return query
}

/** Matches a text of bounded length with a rule of the grammar, on a bounded stack. */
export function parseBounded<Tree>(
  text: string,
  rule: 'Query' | 'OrderList',
  toTree: (match: MatchResult) => Tree,
  failure: (match: FailedMatchResult) => ProtocolError,
): Tree {
  if (text.length > limits.textLength) throw ParseErrors.QUERY_TOO_LONG(text.length)
  try {
    const match = filterGrammar.match(text, rule)
    if (match.failed()) throw failure(match)
    return toTree(match)
  } catch (error) {
    // The grammar descends once per parenthesis. The stack holds about twice the nesting we allow; what goes beyond
    // ends here, before anything could count it.
    if (error instanceof RangeError) throw ParseErrors.QUERY_TOO_DEEP()
    throw error
  }
}

/** @throws {ParseErrors.TOO_MANY_ORDER_TERMS} @throws {ParseErrors.PATH_TOO_LONG} */
export function checkOrderTerms(terms: readonly OrderTerm[]): void {
  if (terms.length > limits.orderTerms) throw ParseErrors.TOO_MANY_ORDER_TERMS(terms.length)
  for (const term of terms) checkPath(term.path)
}

function checkExpression(root: Expression): void {
  let conditions = 0
  const pending: { node: Expression; depth: number }[] = [{ node: root, depth: 0 }]
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { node, depth } = next
    if (depth > limits.nesting) throw ParseErrors.QUERY_TOO_DEEP()
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
        checkPath(node.path)
        break
      default:
        // A run of conditions is a chain to the left, not a nesting.
        pending.push({ node: node.right, depth }, { node: node.left, depth })
    }
  }
  if (conditions > limits.conditions) throw ParseErrors.TOO_MANY_CONDITIONS(conditions)
}

function checkPath(path: PathSyntax | PlaceholderSyntax): void {
  const steps = path.kind === 'path' ? path.steps.length : path.path.length
  if (steps > limits.pathSteps) throw ParseErrors.PATH_TOO_LONG()
}
