import { jsonTypeOf, propertyOf } from '../../catalog/property.ts'
import { partFinder } from '../../base/text/find-part.ts'
import { fold } from '../../base/text/fold.ts'
import type { JsonTest, Scalar, ValueTest } from './predicate.ts'

/** Returns true if a scalar, which is not null, passes. The test and the scalar have the same type. */
type Matcher = (value: Scalar) => boolean

/** Compiles a test to a function, so that its kind is not examined again for every row. */
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
    case 'pattern':
      return patternMatcher(test.parts) as Matcher
    case 'keyword': {
      const exact = test.words.flatMap(parts => (parts.length === 1 ? parts : []))
      const patterns = test.words.filter(parts => parts.length > 1).map(patternMatcher)
      return value => {
        const valueWords = wordsOf(value as string)
        if (!exact.every(word => valueWords.has(word))) return false
        const candidates = [...valueWords]
        return patterns.every(matches => candidates.some(matches))
      }
    }
    case 'anyOf': {
      const matchers = test.tests.map(matcherOf)
      return value => matchers.some(matches => matches(value))
    }
  }
}

/** Distinct words of a folded text. */
function wordsOf(text: string): Set<string> {
  try {
    return new Set(text.match(WORD))
  } catch (error) {
    // V8 uses the stack for repetitions, and millions of letters outside the basic multilingual plane overflow it.
    if (!(error instanceof RangeError)) throw error
    const words = new Set<string>()
    let start = 0
    let end = 0
    for (const letter of text) {
      if (!LETTER.test(letter)) {
        if (end > start) words.add(text.slice(start, end))
        start = end + letter.length
      }
      end += letter.length
    }
    return end > start ? words.add(text.slice(start)) : words
  }
}

const LETTER = /[\p{L}\p{N}]/u
const WORD = /[\p{L}\p{N}]+/gu

/**
 * Returns a test: true for texts that contain the parts in this order, the first at the start, the last at the end. The first
 * occurrence of each part is enough, so there is no backtracking.
 */
export function patternMatcher(parts: readonly string[]): (text: string) => boolean {
  const first = parts[0]!
  const last = parts[parts.length - 1]!
  const between = parts.slice(1, -1).map(part => ({ length: part.length, find: partFinder(part) }))
  return text => {
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    let position = first.length
    for (const { length, find } of between) {
      const index = find(text, position)
      if (index < 0) return false
      position = index + length
    }
    return position <= text.length - last.length
  }
}

/** Approximate maximum number of character visits per character of a text. */
export function effortOf(test: ValueTest): number {
  switch (test.kind) {
    case 'pattern':
      return EFFORT.pattern
    case 'keyword':
      return EFFORT.words + test.words.length
    case 'anyOf':
      return test.tests.reduce((sum, each) => sum + effortOf(each), 0)
    case 'any':
    case 'equal':
    case 'in':
    case 'range':
      return 0
  }
}

const EFFORT = { pattern: 1, words: 20 }

/** Called with the number of characters before they are visited. @throws {ProtocolError} if there are too many */
type Look = (characters: number) => void

/** Returns true if a JSON value, which may be null or missing, passes. */
type JsonMatcher = (value: unknown) => boolean

export function jsonMatcherOf(test: JsonTest, look: Look = () => {}): JsonMatcher {
  switch (test.kind) {
    case 'value':
      return valueMatcherOf(test, look)
    case 'isNull':
      return value => (value === null || value === undefined) !== test.negated
    case 'property': {
      const { name } = test
      const matches = jsonMatcherOf(test.input, look)
      return value => matches(propertyOf(value, name))
    }
    case 'some': {
      const matches = jsonMatcherOf(test.input, look)
      return value => Array.isArray(value) && value.some(matches)
    }
    case 'every': {
      const matches = jsonMatcherOf(test.input, look)
      return value => Array.isArray(value) && value.length > 0 && value.every(matches)
    }
    case 'and': {
      const matchers = test.inputs.map(input => jsonMatcherOf(input, look))
      return value => matchers.every(matches => matches(value))
    }
    case 'or': {
      const matchers = test.inputs.map(input => jsonMatcherOf(input, look))
      return value => matchers.some(matches => matches(value))
    }
    case 'not': {
      const matches = jsonMatcherOf(test.input, look)
      return value => !matches(value)
    }
  }
}

function valueMatcherOf({ type, test, negated }: JsonTest & { kind: 'value' }, look: Look): JsonMatcher {
  const matches = matcherOf(test)
  const effort = 1 + effortOf(test)
  return value => {
    if (value === null || value === undefined) return false
    look(typeof value === 'string' ? 1 + value.length * effort : 1)
    // A value of another type is neither equal to, nor less, nor greater than the operand: it only differs from it.
    return (jsonTypeOf(value) === type && matches(jsonScalar(value as string | number | boolean))) !== negated
  }
}

export const jsonScalar = (value: string | number | boolean): Scalar =>
  typeof value === 'string' ? fold(value) : Number(value)
