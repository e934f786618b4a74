import { type CalculatedAttribute, isRelation } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { type View, wholeView } from '../../catalog/view.ts'
import { ProtocolError } from '../../base/errors.ts'
import type { QueryText } from '../contract/calculated-code.ts'
import { TEXT_LIMITS, type TextLimits } from '../parse/limits.ts'
import { type Params, toParams } from '../parse/parse-params.ts'
import { parseQuery } from '../parse/parse-query.ts'
import type { Comparator, Expression, PathSyntax, PlaceholderSyntax, ValueSyntax } from '../parse/syntax-tree.ts'
import { excerpt } from '../../base/text/excerpt.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import { callQueryHandler } from './call-query-handler.ts'
import { bindComparison, type Condition } from './bind-comparison.ts'
import type { ComparisonValue } from './convert-value.ts'

import { placeholderValue, placeholderPath } from './bind-params.ts'
import { joinConditions } from './join-conditions.ts'
import { combine, type Predicate } from './predicate.ts'
import { refuseAttributeName } from './refuse-attribute-name.ts'
import { type ResolvedPath, resolvePath } from './resolve-path.ts'

/** Maximum changes between `and`, `or` and `except` in one query: each is a level of the predicate and of the call stack. */
const MAX_LEVELS = 400
/** Maximum nesting of query handlers whose queries use other calculated attributes. */
const MAX_HANDLERS = 10

/**
 * Resolves the names of a filter and converts its values.
 * @throws {QueryErrors} for names that do not exist, values that cannot be read, comparators that do not apply
 * Source: protocol notes, 2.
 */
export function bindFilter(
  expression: Expression,
  dataClass: DataClass,
  params: Params | undefined,
  view: View,
  limits: TextLimits = TEXT_LIMITS,
): Predicate {
  return bind(expression, { dataClass, params, view, callerView: view, limits, handlers: 0 }, 0)
}

interface FilterScope {
  readonly dataClass: DataClass
  readonly params: Params | undefined
  /** Number of query handlers whose queries enclose this one. */
  readonly handlers: number
  readonly view: View
  /** View of the caller, who may see less than a query handler. */
  readonly callerView: View
  readonly limits: TextLimits
}

function bind(expression: Expression, scope: FilterScope, level: number): Predicate {
  if (level > MAX_LEVELS) throw QueryErrors.TOO_DEEP(MAX_LEVELS)
  switch (expression.kind) {
    case 'and':
      return bindRun(operandsOf(expression, 'and'), scope, level)
    case 'or':
      return combine(
        'or',
        operandsOf(expression, 'or').map(operand => bind(operand, scope, level + 1)),
      )
    case 'except':
      return {
        kind: 'except',
        left: bind(expression.left, scope, level + 1),
        right: bind(expression.right, scope, level + 1),
      }
    case 'not':
      return { kind: 'not', input: bind(expression.operand, scope, level + 1) }
    case 'group':
      return bind(expression.inner, scope, level + 1)
    case 'comparison':
    case 'truth':
      return bindRun([expression], scope, level)
  }
}

/**
 * Binds one run of AND. Its conditions on one 1→N path refer to one related entity, those on one letter (`coll[a]`) to one
 * element; conditions under `not`, in parentheses or in a separate `or` refer to another one.
 */
function bindRun(operands: readonly Expression[], scope: FilterScope, level: number): Predicate {
  const conditions: Condition[] = []
  const otherPredicates: Predicate[] = []
  for (const operand of operands) {
    if (operand.kind === 'comparison' || operand.kind === 'truth') conditions.push(bindCondition(operand, scope))
    else otherPredicates.push(bind(operand, scope, level + 1))
  }
  return combine('and', [...joinConditions(conditions), ...otherPredicates])
}

/** Operands of `a and b and c`, which the parser nests to the left. */
function operandsOf(expression: Expression, kind: 'and' | 'or'): Expression[] {
  const operands: Expression[] = []
  let rest = expression
  while (rest.kind === kind) {
    operands.push(rest.right)
    rest = rest.left
  }
  return [...operands, rest].reverse()
}

function bindCondition(condition: Expression & { kind: 'comparison' | 'truth' }, scope: FilterScope): Condition {
  const path = bindPath(condition.path, scope)
  if (condition.kind === 'comparison') {
    refuseAttributeName(condition.value, path, scope.dataClass, scope.callerView)
    return compare(path, condition.comparator, bindValue(condition.value, scope), scope)
  }
  // A bool without an operator means `= true`.
  const { target, elements } = path
  if (!isRelation(target) && target.type !== 'bool' && elements.length === 0) {
    throw QueryErrors.VALUE('nothing', path.text, 'a comparator and a value; only a bool can stand alone')
  }
  return compare(path, 'equal', { kind: 'literal', text: 'true', quoted: false }, scope)
}

/** Binds a comparison. The query handler of a calculated attribute may replace it; otherwise values are compared. */
function compare(path: ResolvedPath, comparator: Comparator, value: ComparisonValue, scope: FilterScope): Condition {
  const { target, relations, elements } = path
  if (target.kind === 'calculated' && target.calculation && elements.length === 0) {
    const query = callQueryHandler(target, comparator, value)
    if (query) return { relations, leaf: bindHandlerQuery(target, query, scope) }
  }
  return bindComparison(path, comparator, value, scope.limits)
}

function bindHandlerQuery(
  attribute: CalculatedAttribute,
  { text, parameters, fault }: QueryText,
  scope: FilterScope,
): Predicate {
  if (scope.handlers === MAX_HANDLERS) throw fault('gives queries that lead to themselves')
  try {
    const { condition, orderBy } = parseQuery(text, scope.limits)
    if (!condition || orderBy.length > 0) throw fault('gives an order; it may give a condition only')
    const { dataClass } = attribute
    // The handler may use attributes that the caller may not see.
    const view = wholeView(scope.view.catalog)
    const inner = { ...scope, dataClass, params: toParams(parameters), view, handlers: scope.handlers + 1 }
    return bind(condition, inner, 0)
  } catch (error) {
    if (!(error instanceof ProtocolError) || error.httpStatus >= 500) throw error
    throw fault(`gives a query that cannot be used, ${excerpt(text)}`, error)
  }
}

const bindPath = (path: PathSyntax | PlaceholderSyntax, { dataClass, params, view }: FilterScope): ResolvedPath =>
  resolvePath(path.kind === 'path' ? path.steps : placeholderPath(path, params), dataClass, view)

function bindValue(value: ValueSyntax, { params }: FilterScope): ComparisonValue {
  switch (value.kind) {
    case 'null':
      return { kind: 'null' }
    case 'literal':
      return value
    case 'list':
      return { kind: 'list', items: value.items.map(item => ({ kind: 'literal', ...item })) }
    case 'placeholder':
      return { kind: 'parameter', name: excerpt(`:${value.path.join('.')}`), value: placeholderValue(value, params) }
  }
}
