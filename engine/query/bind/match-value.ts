import { jsonTypeOf, propertyOf } from '../../catalog/property.ts'
import { fold } from '../../text/fold.ts'
import type { JsonTest, Scalar, ValueTest } from './predicate.ts'

/** True for a scalar that is not null and passes. The test and the scalar are of one type. */
export type Matcher = (value: Scalar) => boolean

/** Makes a function of a test, so that nothing is decided again for every row. */
export function matcherOf(test: ValueTest): Matcher {
  switch (test.kind) {
    case 'any':
      return () => true
    case 'equal': {
      const { value } = test
      return other => other === value
    }
    case 'in': {
      const { values } = test
      return value => values.has(value)
    }
    case 'range': {
      const { lower, upper } = test
      // A number and a bigint compare exactly.
      return value =>
        (lower === undefined || value > lower.value || (lower.inclusive && value === lower.value)) &&
        (upper === undefined || value < upper.value || (upper.inclusive && value === upper.value))
    }
    case 'pattern': {
      const { parts } = test
      return value => matchesPattern(value as string, parts)
    }
    case 'keyword': {
      const { words } = test
      return value => {
        const found = (value as string).match(WORD) ?? []
        return words.every(word => found.some(candidate => matchesWord(candidate, word)))
      }
    }
    case 'anyOf': {
      const matchers = test.tests.map(matcherOf)
      return value => matchers.some(matches => matches(value))
    }
  }
}

const WORD = /[\p{L}\p{N}]+/gu

/**
 * True when the parts come in this order, the first at the start, the last at the end, with anything between them.
 * Taking the first place for each part is enough, so nothing is ever tried twice.
 */
export function matchesPattern(text: string, parts: readonly string[]): boolean {
  const first = parts[0]!
  const last = parts[parts.length - 1]!
  const end = text.length - last.length
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false
  let position = first.length
  for (let i = 1; i < parts.length - 1; i++) {
    const found = text.indexOf(parts[i]!, position)
    if (found < 0) return false
    position = found + parts[i]!.length
  }
  return position <= end
}

const matchesWord = (word: string, parts: readonly string[]): boolean =>
  parts.length === 1 ? word === parts[0] : matchesPattern(word, parts)

/** The same for a JSON value, which may be null or missing. */
export type JsonMatcher = (value: unknown) => boolean

export function jsonMatcherOf(test: JsonTest): JsonMatcher {
  switch (test.kind) {
    case 'value':
      return valueMatcherOf(test)
    case 'isNull':
      return value => (value === null || value === undefined) !== test.negated
    case 'property': {
      const { name } = test
      const matches = jsonMatcherOf(test.input)
      return value => matches(propertyOf(value, name))
    }
    case 'some': {
      const matches = jsonMatcherOf(test.input)
      return value => Array.isArray(value) && value.some(matches)
    }
    case 'every': {
      const matches = jsonMatcherOf(test.input)
      return value => Array.isArray(value) && value.length > 0 && value.every(matches)
    }
    case 'and': {
      const matchers = test.inputs.map(jsonMatcherOf)
      return value => matchers.every(matches => matches(value))
    }
    case 'or': {
      const matchers = test.inputs.map(jsonMatcherOf)
      return value => matchers.some(matches => matches(value))
    }
    case 'not': {
      const matches = jsonMatcherOf(test.input)
      return value => !matches(value)
    }
  }
}

function valueMatcherOf({ type, test, negated }: JsonTest & { kind: 'value' }): JsonMatcher {
  const matches = matcherOf(test)
  return value => {
    if (value === null || value === undefined) return false
    // A value of another type is not equal to anything asked for, nor less, nor greater: it differs.
    return (jsonTypeOf(value) === type && matches(jsonScalar(value as string | number | boolean))) !== negated
  }
}

export const jsonScalar = (value: string | number | boolean): Scalar =>
  typeof value === 'string' ? fold(value) : Number(value)
