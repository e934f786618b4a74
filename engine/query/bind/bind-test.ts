import type { JsonType } from '../../catalog/attribute.ts'
import type { Comparator } from '../parse/syntax-tree.ts'
import { Between, type ComparisonScalar } from './convert-value.ts'
import type { Bound, Scalar, ValueTest } from './predicate.ts'

/** True for `!=` and `!==`: the complement of `=` over the values that are not null. */
export const isNegative = (comparator: Comparator): boolean => comparator === 'notEqual' || comparator === 'isNot'

/** True for what is asked of texts only. */
export const isTextual = (comparator: Comparator): boolean => comparator === 'begin' || comparator === 'keyword'

/**
 * The test of a comparator without its negation; that of `!=` is that of `=`. Texts are folded.
 * @param values one value, of `in` any number
 * Source: protocol notes, 2.3 and 2.5.
 */
export function bindTest(comparator: Comparator, type: JsonType, values: readonly ComparisonScalar[]): ValueTest {
  const value = values[0]!
  if (comparator === 'in') return inTest(type, values.filter(isScalar))
  if (!isScalar(value)) return betweenTest(comparator, value)
  switch (comparator) {
    case 'equal':
    case 'notEqual':
      return type === 'text' ? wildcardTest(value as string) : { kind: 'equal', value }
    case 'is':
    case 'isNot':
      return { kind: 'equal', value }
    case 'less':
      return rangeTest(undefined, { value, inclusive: false })
    case 'lessOrEqual':
      return rangeTest(undefined, { value, inclusive: true })
    case 'greater':
      return rangeTest({ value, inclusive: false }, undefined)
    case 'greaterOrEqual':
      return rangeTest({ value, inclusive: true }, undefined)
    case 'begin':
      // `begin "a"` is `= "a@"`, so an @ inside stays a wildcard.
      return wildcardTest(`${value}@`)
    case 'keyword':
      return keywordTest(value as string)
  }
}

const isScalar = (value: ComparisonScalar): value is Scalar => !(value instanceof Between)

/** No integer is equal to what lies between two of them. */
function betweenTest(comparator: Comparator, { floor }: Between): ValueTest {
  if (comparator === 'less' || comparator === 'lessOrEqual')
    return rangeTest(undefined, { value: floor, inclusive: true })
  if (comparator === 'greater' || comparator === 'greaterOrEqual')
    return rangeTest({ value: floor, inclusive: false }, undefined)
  return { kind: 'in', values: new Set() }
}

const rangeTest = (lower: Bound | undefined, upper: Bound | undefined): ValueTest => ({ kind: 'range', lower, upper })

/** `@` stands for any number of characters, none too. Alone it matches every text. */
function wildcardTest(text: string): ValueTest {
  const parts = text.split('@')
  if (parts.length === 1) return { kind: 'equal', value: text }
  return parts.every(part => part === '') ? { kind: 'any' } : { kind: 'pattern', parts }
}

function inTest(type: JsonType, values: readonly Scalar[]): ValueTest {
  if (type !== 'text') return { kind: 'in', values: new Set(values) }
  const texts = values as readonly string[]
  const tests = texts.filter(text => text.includes('@')).map(wildcardTest)
  const exact: ValueTest = { kind: 'in', values: new Set(texts.filter(text => !text.includes('@'))) }
  return tests.length === 0 ? exact : { kind: 'anyOf', tests: [exact, ...tests] }
}

/** Several words have to be there all, in any order; a value without a word is found nowhere. */
function keywordTest(text: string): ValueTest {
  const words = text.match(WORD_OR_WILDCARD) ?? []
  return words.length === 0
    ? { kind: 'in', values: new Set() }
    : { kind: 'keyword', words: words.map(word => word.split('@')) }
}

const WORD_OR_WILDCARD = /[\p{L}\p{N}@]+/gu
