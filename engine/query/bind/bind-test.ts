import type { JsonType } from '../../catalog/attribute.ts'
import type { TextLimits } from '../parse/limits.ts'
import type { Comparator } from '../parse/syntax-tree.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import { Between, type ComparisonScalar } from '../../catalog/types/operand.ts'
import type { Bound, Scalar, ValueTest } from './predicate.ts'

/** True for `!=` and `!==`: the complement of `=` over the values that are not null. */
export const isNegative = (comparator: Comparator): boolean => comparator === 'notEqual' || comparator === 'isNot'

/** True for comparators that apply to texts only. */
export const isTextual = (comparator: Comparator): boolean => comparator === 'begin' || comparator === 'keyword'

/**
 * Test of a comparator without its negation: `!=` has the same test as `=`. Texts are folded.
 * @param values one value; any number for `in`
 * @param path as written, for messages
 * @throws {QueryErrors.PATTERN} for wildcards and words beyond the limits
 * Source: protocol notes, 2.3 and 2.5.
 */
export function bindTest(
  comparator: Comparator,
  type: JsonType,
  values: readonly ComparisonScalar[],
  path: string,
  limits: TextLimits,
): ValueTest {
  const value = values[0]!
  const patterns = new PatternCount(path, limits)
  if (comparator === 'in') return inTest(type, values.filter(isScalar), patterns)
  if (!isScalar(value)) return betweenTest(comparator, value)
  switch (comparator) {
    case 'equal':
    case 'notEqual':
      return type === 'text' ? wildcardTest(value as string, patterns) : { kind: 'equal', value }
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
      return wildcardTest(`${value}@`, patterns)
    case 'keyword':
      return keywordTest(value as string, patterns)
  }
}

const isScalar = (value: ComparisonScalar): value is Scalar => !(value instanceof Between)

/** Test with a number between two integers, to which no integer is equal. */
function betweenTest(comparator: Comparator, { floor }: Between): ValueTest {
  if (comparator === 'less' || comparator === 'lessOrEqual')
    return rangeTest(undefined, { value: floor, inclusive: true })
  if (comparator === 'greater' || comparator === 'greaterOrEqual')
    return rangeTest({ value: floor, inclusive: false }, undefined)
  return { kind: 'in', values: new Set() }
}

const rangeTest = (lower: Bound | undefined, upper: Bound | undefined): ValueTest => ({ kind: 'range', lower, upper })

/** Test of a text with wildcards: `@` stands for any number of characters, including none. Alone it matches every text. */
function wildcardTest(text: string, patterns: PatternCount): ValueTest {
  if (!text.includes('@')) return { kind: 'equal', value: text }
  const parts = splitAtWildcards(text, patterns)
  return parts.every(part => part === '') ? { kind: 'any' } : { kind: 'pattern', parts }
}

/** Parts between wildcards. Several wildcards in a row count as one. */
function splitAtWildcards(text: string, patterns: PatternCount): string[] {
  const parts = text.split('@').filter((part, i, { length }) => part !== '' || i === 0 || i === length - 1)
  patterns.add(parts)
  return parts
}

function inTest(type: JsonType, values: readonly Scalar[], patterns: PatternCount): ValueTest {
  if (type !== 'text') return { kind: 'in', values: new Set(values) }
  const texts = values as readonly string[]
  const tests = texts.filter(text => text.includes('@')).map(text => wildcardTest(text, patterns))
  const exact: ValueTest = { kind: 'in', values: new Set(texts.filter(text => !text.includes('@'))) }
  return tests.length === 0 ? exact : { kind: 'anyOf', tests: [exact, ...tests] }
}

/** Test of a keyword search: all words have to occur, in any order. A value without words matches nothing. */
function keywordTest(text: string, patterns: PatternCount): ValueTest {
  const words = text.match(WORD_OR_WILDCARD) ?? []
  return words.length === 0
    ? { kind: 'in', values: new Set() }
    : { kind: 'keyword', words: words.map(word => splitAtWildcards(word, patterns)) }
}

const WORD_OR_WILDCARD = /[\p{L}\p{N}@]+/gu

/**
 * Counts the parts and characters that a condition searches texts for. In the worst case, matching takes the product of the
 * lengths of the text and of the parts between wildcards, and every part is searched for.
 */
class PatternCount {
  private parts = 0

  constructor(
    private readonly path: string,
    private readonly limits: TextLimits,
  ) {}

  /** @throws {QueryErrors.PATTERN} */
  add(parts: readonly string[]): void {
    const { maxPatternLength, maxPatternParts } = this.limits
    this.parts += parts.length
    if (this.parts > maxPatternParts) {
      throw QueryErrors.PATTERN(
        this.path,
        `it has more than ${maxPatternParts} parts between wildcards, or words (query.maxPatternParts)`,
      )
    }
    let length = 0
    for (let i = 1; i < parts.length - 1; i++) length += parts[i]!.length
    if (length > maxPatternLength) {
      throw QueryErrors.PATTERN(
        this.path,
        `it has ${length} characters between wildcards, at most ${maxPatternLength} are allowed (query.maxPatternLength)`,
      )
    }
  }
}
