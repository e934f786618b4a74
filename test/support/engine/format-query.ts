import {
  type Expression,
  type OrderTerm,
  type PathStep,
  type PathSyntax,
  type PlaceholderSyntax,
  type QuerySyntax,
  SPELLING,
  type ValueSyntax,
} from '../../../engine/query/parse/syntax-tree.ts'

/**
 * A syntax tree as text in one spelling. Parsing it returns the same tree, except for the spans.
 *
 *   `a like x&&(b#2)order by c DESC`   →   `a = x and (b != 2) order by c desc`
 */
export function formatQuery({ condition, orderBy }: QuerySyntax): string {
  const parts = []
  if (condition) parts.push(formatExpression(condition))
  if (orderBy.length > 0) parts.push(`order by ${formatOrderBy(orderBy)}`)
  return parts.join(' ')
}

export function formatOrderBy(terms: readonly OrderTerm[]): string {
  return terms.map(({ path, descending }) => (descending ? `${formatPath(path)} desc` : formatPath(path))).join(', ')
}

function formatExpression(expression: Expression): string {
  // A run of conditions is a left-leaning chain that may be thousands long: iterated, without recursion.
  const run: string[] = []
  let first = expression
  for (; isBinary(first); first = first.left) run.push(`${first.kind} ${formatTerm(first.right)}`)
  return [formatTerm(first), ...run.reverse()].join(' ')
}

function formatTerm(term: Expression): string {
  switch (term.kind) {
    case 'and':
    case 'or':
    case 'except':
      return `(${formatExpression(term)})`
    case 'not':
      return `not ${formatTerm(term.operand)}`
    case 'group':
      return `(${formatExpression(term.inner)})`
    case 'comparison':
      return `${formatOperand(term.path)} ${SPELLING[term.comparator]} ${formatValue(term.value)}`
    case 'truth':
      return formatOperand(term.path)
  }
}

function isBinary(expression: Expression): expression is Extract<Expression, { left: Expression }> {
  return expression.kind === 'and' || expression.kind === 'or' || expression.kind === 'except'
}

const formatOperand = (operand: PathSyntax | PlaceholderSyntax): string =>
  operand.kind === 'path' ? formatPath(operand) : formatPlaceholder(operand)

const formatPlaceholder = ({ path }: PlaceholderSyntax): string => `:${path.join('.')}`

/** Quotes a path that would be read as something else. */
function formatPath({ steps }: PathSyntax): string {
  const path = steps.map(formatStep).join('.')
  const isPlain = steps.every(({ name }) => /^[\w$\-\u{80}-\u{10FFFF}]+$/u.test(name))
  const isKeyword = /^(not|and|or|except)$/i.test(steps[0]!.name)
  return isPlain && !isKeyword ? path : quote(path)
}

function formatStep({ name, classIndex, element }: PathStep): string {
  const index = classIndex === undefined ? '' : `{${classIndex}}`
  return `${name}${index}${element === undefined ? '' : element.kind === 'any' ? '[]' : `[${element.letter}]`}`
}

function formatValue(value: ValueSyntax): string {
  switch (value.kind) {
    case 'null':
      return 'null'
    case 'placeholder':
      return formatPlaceholder(value)
    case 'literal':
      return value.quoted ? quote(value.text) : formatWord(value.text)
    case 'list':
      return `[${value.items.map(item => (item.quoted ? JSON.stringify(item.text) : formatWord(item.text))).join(', ')}]`
  }
}

function quote(text: string): string {
  if (!text.includes('"')) return `"${text}"`
  if (!text.includes("'")) return `'${text}'`
  return `"${text.replaceAll('"', '\\u0022')}"`
}

/** A word as written; a quote at its start becomes its character code, because two such words would be one quoted text. */
function formatWord(text: string): string {
  if (text.startsWith('"')) return `\\u0022${text.slice(1)}`
  if (text.startsWith("'")) return `\\u0027${text.slice(1)}`
  return text
}
