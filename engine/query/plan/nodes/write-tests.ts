import type { ValueAttribute } from '../../../catalog/attribute.ts'
import { TYPES } from '../../../catalog/types/registry.ts'
import type { ScoreTest, Similarity } from '../../../vector/math/similarity.ts'
import type { Bound, JsonTest, Scalar, ValueTest } from '../../bind/predicate.ts'

// Writes tests as the text of plans. Values are shown in the form for comparisons: texts are folded.

export const negation = (negated: boolean): string => (negated ? 'not ' : '')

/** @param attribute attribute of the values; undefined for values inside objects */
export function writeTest(test: ValueTest, attribute: ValueAttribute | undefined): string {
  const scalar = (value: Scalar): string => writeScalar(value, attribute)
  switch (test.kind) {
    case 'any':
      return '= @'
    case 'equal':
      return `= ${scalar(test.value)}`
    case 'in':
      return `in [${[...test.values].map(scalar).join(', ')}]`
    case 'range':
      return writeRange(test, scalar)
    case 'pattern':
      return `= ${scalar(test.parts.join('@'))}`
    case 'keyword':
      return `% ${scalar(test.words.map(word => word.join('@')).join(' '))}`
    case 'anyOf':
      return test.tests.map(each => writeTest(each, attribute)).join(' or ')
  }
}

export interface Range {
  readonly lower: Bound | undefined
  readonly upper: Bound | undefined
}

export function writeRange({ lower, upper }: Range, scalar: (value: Scalar) => string): string {
  const from = lower && `${lower.inclusive ? '>=' : '>'} ${scalar(lower.value)}`
  const to = upper && `${upper.inclusive ? '<=' : '<'} ${scalar(upper.value)}`
  return [from, to].filter(Boolean).join(' ')
}

export function writeScalar(value: Scalar, attribute: ValueAttribute | undefined): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (!attribute) return String(value)
  const { cell, toCode } = TYPES[attribute.type]
  // Bools and dates are shown in the form for comparisons.
  return String(cell === 'integer' ? toCode(value, attribute) : value)
}

export function writeJsonTest(test: JsonTest): string {
  switch (test.kind) {
    case 'value':
      return ` ${negation(test.negated)}${writeTest(test.test, undefined)}`
    case 'isNull':
      return ` is ${negation(test.negated)}null`
    case 'property':
      return `.${test.name}${writeJsonTest(test.input)}`
    case 'some':
    case 'every':
      return `[${test.kind}]${writeJsonTest(test.input)}`
    case 'and':
    case 'or':
      return ` (${test.inputs.map(input => writeJsonTest(input).trimStart()).join(` ${test.kind} `)})`
    case 'not':
      return ` not(${writeJsonTest(test.input).trimStart()})`
  }
}

/** `cosine > 0.5`; without a threshold `by cosine`. */
export const writeScoreTest = ({
  similarity,
  test,
}: {
  similarity: Similarity
  test: ScoreTest | undefined
}): string => (test ? `${similarity.metric} ${SIGN[test.comparator]} ${test.threshold}` : `by ${similarity.metric}`)

const SIGN = { less: '<', lessOrEqual: '<=', greater: '>', greaterOrEqual: '>=' }
