/** Operators of the builder: comparators, and some that are a comparator with a certain value. */
import { type Attribute, isRelation } from '../base/model.ts'
import { comparatorsFor } from './complete.ts'
import { type Comparator, type Condition, itemsOf, type Value } from './filter-tree.ts'

export type Operator = Comparator | 'contains' | 'null' | 'notNull' | 'truth'
export type Simple = Exclude<Condition, { kind: 'group' }>

/** Operators that suit an attribute, the most common first. */
export function operatorsFor(attribute: Attribute | undefined): readonly Operator[] {
  if (attribute && isRelation(attribute)) return ['null', 'notNull']
  const comparators = comparatorsFor(attribute) as readonly Comparator[]
  if (attribute?.type === 'bool') return ['truth', ...comparators, 'null', 'notNull']
  return attribute?.type === 'string'
    ? ['contains', ...comparators, 'null', 'notNull']
    : [...comparators, 'null', 'notNull']
}

/** Pattern of `contains`; with nothing between the wildcards, before a value is typed, it matches any text. */
const CONTAINS = /^@([^@]*)@$/s

export function operatorOf(condition: Simple): Operator {
  if (condition.kind === 'truth') return 'truth'
  const { comparator, value } = condition
  if (value.kind === 'null' && (comparator === '=' || comparator === '===')) return 'null'
  if (value.kind === 'null' && (comparator === '!=' || comparator === '!==')) return 'notNull'
  return comparator === '=' && value.kind === 'literal' && CONTAINS.test(value.text) ? 'contains' : comparator
}

/** Text of the value as users write it: `contains` without wildcards, items of a list separated by commas. */
export function operandOf(condition: Simple): string {
  if (condition.kind === 'truth') return ''
  const { value } = condition
  switch (value.kind) {
    case 'null':
      return ''
    case 'literal':
      return operatorOf(condition) === 'contains' ? CONTAINS.exec(value.text)![1]! : value.text
    case 'list':
      return value.items.map(({ text }) => (/[,"']/.test(text) ? JSON.stringify(text) : text)).join(', ')
  }
}

/** Condition from an operator and the text of its value. */
export function conditionWith(
  path: string,
  attribute: Attribute | undefined,
  operator: Operator,
  operand: string,
): Simple {
  const compared = (comparator: Comparator, value: Value): Simple => ({ kind: 'comparison', path, comparator, value })
  const literal = (text: string) => ({ text, quoted: isQuoted(text, attribute?.type) })
  switch (operator) {
    case 'truth':
      return { kind: 'truth', path }
    case 'null':
      return compared('=', { kind: 'null' })
    case 'notNull':
      return compared('!=', { kind: 'null' })
    case 'contains':
      return compared('=', { kind: 'literal', text: `@${operand.replaceAll('@', '')}@`, quoted: true })
    case 'in':
      return compared('in', { kind: 'list', items: textsOf(operand).map(literal) })
    default:
      return compared(operator, { kind: 'literal', ...literal(operand) })
  }
}

/** Items of a list as users write it; commas within quotes do not separate. */
const textsOf = (operand: string): readonly string[] =>
  itemsOf(operand)?.map(({ text }) => text) ??
  operand
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')

/** In attributes with objects, numbers are numbers only without quotes. */
function isQuoted(text: string, type: string | undefined): boolean {
  if (text === '' || type === 'string' || type === 'uuid') return true
  return (type === undefined || type === 'object') && Number.isNaN(Number(text))
}
