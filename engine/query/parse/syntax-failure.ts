import type { FailedMatchResult } from 'ohm-js'
import type { ProtocolError } from '../../base/errors.ts'
import { ParseErrors } from './parse-errors.ts'

const EXCERPT_LENGTH = 24

/** Position for messages: `at character 12, near "York"`, counted from 1 in code points. */
export function placeOf(text: string, offset: number): string {
  const character = characterAt(text, offset)
  if (offset >= text.length) return `at character ${character}, where it ends`
  return `at character ${character}, near "${excerpt(text.slice(offset))}"`
}

/** Position of the character at an offset in UTF-16 code units, counted from 1 in code points. */
export function characterAt(text: string, offset: number): number {
  let character = 1
  for (let i = 0; i < offset; i += text.codePointAt(i)! > 0xffff ? 2 : 1) character++
  return character
}

/** Beginning of a text from a client, short enough for a message. */
export function excerpt(text: string): string {
  if (text.length <= EXCERPT_LENGTH) return text
  // Truncated between code points, so that no half character is left.
  return `${Array.from(text.slice(0, 2 * EXCERPT_LENGTH))
    .slice(0, EXCERPT_LENGTH)
    .join('')}…`
}

/** Position of the failure and the input expected there, in words. */
export function describeFailure(match: FailedMatchResult): { place: string; expected: string } {
  const offset = match.getRightmostFailurePosition()
  return { place: placeOf(match.input, offset), expected: expectedAt(match, match.input.slice(offset)) }
}

function expectedAt(match: FailedMatchResult, rest: string): string {
  const first = rest[0]
  if ((first === '"' || first === "'") && !rest.includes(first, 1)) return `a closing ${first}`
  const expected = match.getExpectedText()
  const behindWord = !['a value', 'an attribute', '"]"'].some(name => expected.includes(name))
  const hint = behindWord && first ? hintsByCharacter.get(first) : undefined
  return hint ?? explanations.reduce((text, [name, words]) => text.replace(name, words), expected)
}

/** Names of grammar rules, with words for messages. */
const explanations: [name: string, words: string][] = [
  ['end of input', 'the end'],
  ['a comparator', 'a comparator (such as = != < >= begin in)'],
  ['a conjunction', 'a conjunction (and, or, except)'],
  ['a value', 'a value (a word, a "quoted text", a placeholder such as :1, or null)'],
]

/** Hints for characters that can only be mistakes where neither an attribute nor a value may begin. */
const hintsByCharacter = new Map([
  [')', 'nothing, since no "(" is open'],
  ['.', 'a name after "."'],
  ['{', 'an index from {1} to {999}'],
  ['[', '[], a letter such as [a], or a position such as [0]'],
])

/** Error for a query text that does not match the grammar. */
export function queryFailure(match: FailedMatchResult): ProtocolError {
  const { place, expected } = describeFailure(match)
  // A failure at the end of the text means that a parenthesis is missing.
  const betweenWords = match.getRightmostFailurePosition() < match.input.length
  return betweenWords && (expected.includes('a comparator') || expected.includes('a conjunction'))
    ? ParseErrors.COMPARATOR_EXPECTED(place, expected)
    : ParseErrors.SYNTAX(place, expected)
}
