import type { JsonType, ValueAttribute } from '../../catalog/attribute.ts'
import { Between, type ComparisonScalar, NUMBER, type OperandSource } from '../../catalog/types/operand.ts'
import type { TypeParameters } from '../../catalog/types/parameters.ts'
import { isGrouped, plainNumber } from '../../catalog/types/plain-number.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import type { ScalarType } from '../../catalog/value-type.ts'
import { doubleOf, isLongNumber, roundNumbers } from '../../base/exact-json.ts'
import { fold } from '../../base/text/fold.ts'
import { excerpt } from '../../base/text/excerpt.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import type { Scalar } from './predicate.ts'

const IN_DOUBLES = 'a number that double precision can hold'

/** A value of a query before its type is known: a word of the text, or the value of a placeholder in `$params`. */
export type Operand =
  | { readonly kind: 'literal'; readonly text: string; readonly quoted: boolean }
  | { readonly kind: 'parameter'; readonly name: string; readonly value: unknown }

/** The right side of a comparison. */
export type ComparisonValue =
  | { readonly kind: 'null' }
  | Operand
  | { readonly kind: 'list'; readonly items: readonly Operand[] }

/** Target of a comparison: its path, for messages, and its type, which decides how the operand is read. */
export interface Comparand {
  readonly path: string
  readonly type: ScalarType
  readonly parameters: TypeParameters
}

/**
 * Reads an operand as the type of the comparand.
 * @throws {QueryErrors.VALUE} for a literal that is not valid for the type
 * @throws {QueryErrors.PLACEHOLDER_MISSING} for null
 * @throws {QueryErrors.PLACEHOLDER_TYPE} for a parameter of another kind
 * Source: protocol notes, 2.7.
 */
export function convertValue(operand: Operand, comparand: Comparand): ComparisonScalar {
  const { expected, isNumeric, readOperand } = TYPES[comparand.type]
  const source = operand.kind === 'literal' ? operand.text : parameterValue(operand, expected)
  const value = readOperand(source, comparand.parameters, operand.kind === 'literal' && !operand.quoted)
  if (value !== undefined) return value
  const number = isNumeric && typeof source === 'string' ? plainNumber(source) : undefined
  const usable = number === undefined ? expected : `${expected}; write ${number}`
  throw operand.kind === 'literal'
    ? QueryErrors.VALUE(`"${excerpt(operand.text)}"`, comparand.path, usable)
    : QueryErrors.PLACEHOLDER_TYPE(operand.name, describe(operand.value), usable)
}

/**
 * Reads an operand that is compared with a JSON value without a declared type: an unquoted number is a number, an unquoted
 * `true` or `false` is a bool, everything else is text. A parameter has its own type.
 * @throws {QueryErrors.VALUE} for an unquoted `1,000` or `1e400`, which as a text would be compared with no number
 * Source: protocol notes, 2.10.
 */
export function convertForJson(operand: Operand, path: string): { type: JsonType; value: Scalar } {
  if (operand.kind === 'parameter') {
    // Numbers inside JSON are doubles.
    const value = parameterValue({ ...operand, value: roundNumbers(operand.value) }, 'a text, a number, true or false')
    if (typeof value === 'number' && !Number.isFinite(value))
      throw QueryErrors.PLACEHOLDER_TYPE(operand.name, describe(operand.value), IN_DOUBLES)
    if (typeof value === 'boolean') return { type: 'bool', value: Number(value) }
    return typeof value === 'string' ? { type: 'text', value: fold(value) } : { type: 'number', value }
  }
  const { text, quoted } = operand
  if (!quoted && isGrouped(text)) {
    throw QueryErrors.VALUE(`"${text}"`, path, `a number such as ${plainNumber(text)}, or a text in quotes`)
  }
  if (!quoted && (text === 'true' || text === 'false')) return { type: 'bool', value: Number(text === 'true') }
  if (!quoted && NUMBER.test(text)) {
    const value = doubleOf(text)
    if (Number.isFinite(value)) return { type: 'number', value }
    throw QueryErrors.VALUE(`"${excerpt(text)}"`, path, `${IN_DOUBLES}, or a text in quotes`)
  }
  return { type: 'text', value: fold(text) }
}

/** Reads the text of a key in an address; undefined if it is not valid for the type. */
export function convertKey(text: string, key: ValueAttribute): Scalar | undefined {
  const { readOperand, comparison } = TYPES[key.type as ScalarType]
  // A database distinguishes keys that have the same fold.
  if (key.dataClass.place.exactTexts && comparison === 'text') {
    return key.type === 'uuid' ? text.replaceAll('-', '').toUpperCase() : text
  }
  const value = readOperand(text, key, false)
  return value instanceof Between ? undefined : value
}

/** Text of an operand of any kind. */
export const textOf = (operand: Operand): string =>
  operand.kind === 'literal' ? operand.text : String(parameterValue(operand, 'a text'))

/** Folded text of an operand of any kind. */
export const convertToText = (operand: Operand): string => fold(textOf(operand))

function parameterValue({ name, value }: Operand & { kind: 'parameter' }, expected: string): OperandSource {
  if (value === null) {
    throw QueryErrors.PLACEHOLDER_MISSING(name, 'holds null; write null into the query itself: attribute = null')
  }
  if (typeof value === 'string' || typeof value === 'number') return value
  if (typeof value === 'boolean' || typeof value === 'bigint') return value
  if (isLongNumber(value)) return String(value)
  throw QueryErrors.PLACEHOLDER_TYPE(name, describe(value), expected)
}

function describe(value: unknown): string {
  if (isLongNumber(value)) return `the number ${excerpt(String(value))}`
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'number' || typeof value === 'bigint') return `the number ${value}`
  return `the ${typeof value === 'string' ? 'text' : typeof value} ${excerpt(JSON.stringify(value) ?? 'undefined')}`
}
