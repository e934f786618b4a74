import { type ActionDict, type Grammar, makeRecipe, type MatchResult, type Node, type Semantics } from 'ohm-js'
import recipe from './filter.ohm'
import { ParseErrors } from './parse-errors.ts'
import { characterAt, excerpt } from './syntax-failure.ts'
import type {
  Comparator,
  Expression,
  OrderTerm,
  PathStep,
  PathSyntax,
  PlaceholderSyntax,
  QuerySyntax,
  Span,
  ValueSyntax,
} from './syntax-tree.ts'

declare module 'ohm-js' {
  /** Exported, but missing from the types of the package. */
  export function makeRecipe(recipe: string): Grammar
}

let grammar: Grammar | undefined
let semantics: Semantics | undefined

/** Grammar of `filter.ohm`. Created for the first text, since some processes and threads parse none. */
export const filterGrammar = (): Grammar => (grammar ??= makeRecipe(recipe))

/** Span from the start of the first node to the end of the last, without the blanks around them. */
const spanOf = (first: Node, last: Node = first): Span => ({ start: first.source.startIdx, end: last.source.endIdx })
const around = (first: Expression, last: Expression): Span => ({ start: first.span.start, end: last.span.end })
const texts = (nodes: Node): string[] => nodes.children.map(node => node.sourceString)

/** Replaces the character codes with which quotes inside a text are written. Source: base specification, 4.3.1. */
const withoutCodes = (text: string): string =>
  text.includes('\\u002') ? text.replaceAll('\\u0027', "'").replaceAll('\\u0022', '"') : text

type ListItem = { text: string; quoted: boolean }

/** Typed names for the operations, since a node's own are untyped. */
const build = {
  expression: (node: Node): Expression => node.expression(),
  operand: (node: Node): PathSyntax | PlaceholderSyntax => node.operand(),
  path: (node: Node): PathSyntax => node.operand(),
  steps: (node: Node): PathStep[] => node.steps(),
  comparator: (node: Node): Comparator => node.comparator(),
  value: (node: Node): ValueSyntax => node.value(),
  item: (node: Node): ListItem => node.item(),
  orderTerms: (node: Node): OrderTerm[] => node.orderTerms(),
}

/** Syntax tree of a text that matched `Query`. @throws {ParseErrors.REGULAR_EXPRESSION} @throws {ParseErrors.FORMULA} */
export const toQuery = (match: MatchResult): QuerySyntax => meaningOf(match).query()

/** Terms of a text that matched `OrderList`. */
export const toOrderTerms = (match: MatchResult): OrderTerm[] => meaningOf(match).orderTerms()

const operations = {
  query: {
    Query_conditions: (expression, orderBy) => ({
      condition: build.expression(expression),
      orderBy: orderBy.children.flatMap(build.orderTerms),
    }),
    Query_order: orderBy => ({ condition: undefined, orderBy: build.orderTerms(orderBy) }),
    Query_empty: _end => ({ condition: undefined, orderBy: [] }),
  } satisfies ActionDict<QuerySyntax>,
  expression: {
    Expression: (first, conjunctions, rest) =>
      rest.children.reduce((left: Expression, node, i) => {
        const right = build.expression(node)
        return { kind: conjunctions.child(i).conjunction(), left, right, span: around(left, right) }
      }, build.expression(first)),
    Term: (nots, primary) =>
      nots.children.reduceRight(
        (operand: Expression, not) => ({
          kind: 'not',
          operand,
          span: { start: not.source.startIdx, end: operand.span.end },
        }),
        build.expression(primary),
      ),
    Primary_group: (open, inner, close) => ({
      kind: 'group',
      inner: build.expression(inner),
      span: spanOf(open, close),
    }),
    Primary_comparison: (operand, comparator, value) => ({
      kind: 'comparison',
      path: build.operand(operand),
      comparator: build.comparator(comparator),
      value: build.value(value),
      span: spanOf(operand, value),
    }),
    Primary_formula: (formula, _comparator, _value) => refuseFormula(formula),
    Primary_truth: truth => ({ kind: 'truth', path: build.operand(truth), span: spanOf(truth) }),
  } satisfies ActionDict<Expression>,
  conjunction: {
    conjunction_and: _word => 'and',
    conjunction_or: _word => 'or',
    conjunction_except: _word => 'except',
  } satisfies ActionDict<'and' | 'or' | 'except'>,
  comparator: {
    comparator: spelling => spelling.comparator(),
    comparator_equal: (_word, not) => (not.numChildren > 0 ? 'notEqual' : 'equal'),
    comparator_is: (_word, not) => (not.numChildren > 0 ? 'isNot' : 'is'),
    comparator_notEqual: _word => 'notEqual',
    comparator_isNot: _word => 'isNot',
    comparator_less: _word => 'less',
    comparator_lessOrEqual: _word => 'lessOrEqual',
    comparator_greater: _word => 'greater',
    comparator_greaterOrEqual: _word => 'greaterOrEqual',
    comparator_begin: _word => 'begin',
    comparator_in: _word => 'in',
    comparator_keyword: _word => 'keyword',
    comparator_regularExpression: word => {
      throw ParseErrors.REGULAR_EXPRESSION(word.sourceString, characterOf(word))
    },
  } satisfies ActionDict<Comparator>,
  operand: {
    truth: operand => build.operand(operand),
    operand: operand => build.operand(operand),
    path: path => ({ kind: 'path', steps: build.steps(path), span: spanOf(path) }),
    placeholder: toPlaceholder,
  } satisfies ActionDict<PathSyntax | PlaceholderSyntax>,
  steps: {
    path_plain: (first, _dots, rest) => [first, ...rest.children].flatMap(build.steps),
    path_doubleQuoted: (_open, first, _dots, rest, _close) => [first, ...rest.children].flatMap(build.steps),
    path_singleQuoted: (_open, first, _dots, rest, _close) => [first, ...rest.children].flatMap(build.steps),
    step: toSteps,
    doubleQuotedStep: toSteps,
    singleQuotedStep: toSteps,
  } satisfies ActionDict<PathStep[]>,
  value: {
    List: (open, items, close) => ({
      kind: 'list',
      items: items.asIteration().children.map(build.item),
      span: spanOf(open, close),
    }),
    null: word => ({ kind: 'null', span: spanOf(word) }),
    placeholder: toPlaceholder,
    quoted: node => ({ kind: 'literal', ...build.item(node), span: spanOf(node) }),
    bareWord: word => ({ kind: 'literal', text: withoutCodes(word.sourceString), quoted: false, span: spanOf(word) }),
    script: (name, _blanks, formulaArguments) => refuseFormula(name, formulaArguments),
  } satisfies ActionDict<ValueSyntax>,
  item: {
    doubleQuoted: (_open, text, _close) => ({ text: withoutCodes(text.sourceString), quoted: true }),
    singleQuoted: (_open, text, _close) => ({ text: withoutCodes(text.sourceString), quoted: true }),
    escapedQuoted: (_open, text, _close) => ({ text: withoutCodes(text.sourceString), quoted: true }),
    codeQuoted_double: (_open, text, _close) => ({ text: withoutCodes(text.sourceString), quoted: true }),
    codeQuoted_single: (_open, text, _close) => ({ text: withoutCodes(text.sourceString), quoted: true }),
    codeQuotedItem_double: (_open, text, _close) => ({ text: withoutCodes(text.sourceString), quoted: true }),
    codeQuotedItem_single: (_open, text, _close) => ({ text: withoutCodes(text.sourceString), quoted: true }),
    jsonString: (_open, text, _close) => ({ text: unescapeText(text.sourceString), quoted: true }),
    bareItem: text => ({ text: withoutCodes(text.sourceString.trimEnd()), quoted: false }),
  } satisfies ActionDict<ListItem>,
  orderTerms: {
    OrderBy: (_orderBy, terms) => terms.asIteration().children.flatMap(build.orderTerms),
    OrderList: terms => terms.asIteration().children.flatMap(build.orderTerms),
    OrderTerm: (path, direction) => [
      { path: build.path(path), descending: direction.child(0)?.child(0).ctorName === 'direction_descending' },
    ],
  } satisfies ActionDict<OrderTerm[]>,
}

function meaningOf(match: MatchResult): ReturnType<Semantics> {
  if (!semantics) {
    semantics = filterGrammar().createSemantics()
    for (const [name, actions] of Object.entries(operations)) semantics.addOperation<unknown>(name, actions)
  }
  return semantics(match)
}

function toPlaceholder(colon: Node, first: Node, _dots: Node, rest: Node): PlaceholderSyntax {
  const end = rest.numChildren > 0 ? rest : first
  return { kind: 'placeholder', path: [first.sourceString, ...texts(rest)], span: spanOf(colon, end) }
}

/** `coll[0]` addresses the property named 0, as in `coll.0`. Source: protocol notes, 2.10. */
function toSteps(name: Node, classIndex: Node, element: Node): PathStep[] {
  const step: PathStep = {
    name: name.sourceString,
    classIndex: classIndex.numChildren > 0 ? Number(classIndex.sourceString.slice(1, -1)) : undefined,
    element: undefined,
  }
  if (element.numChildren === 0) return [step]
  const inner = element.sourceString.slice(1, -1)
  if (inner === '') return [{ ...step, element: { kind: 'any' } }]
  if (inner >= 'A') return [{ ...step, element: { kind: 'link', letter: inner.toLowerCase() } }]
  return [step, { name: inner, classIndex: undefined, element: undefined }]
}

/** Text of a JSON string without its quotes. Text that is not valid JSON, such as `C:\data`, is taken literally. */
function unescapeText(text: string): string {
  if (!text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`)
  } catch {
    return withoutCodes(text)
  }
}

function refuseFormula(first: Node, last: Node = first): never {
  throw ParseErrors.FORMULA(excerpt(first.source.coverageWith(last.source).contents), characterOf(first))
}

function characterOf(node: Node): number {
  return characterAt(node.source.sourceString, node.source.startIdx)
}
