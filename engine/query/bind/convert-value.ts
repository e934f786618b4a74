import type { JsonType, ValueAttribute } from '../../catalog/attribute.ts'
import { INTEGER_TYPES, type ScalarType } from '../../catalog/value-type.ts'
import { parseDate } from '../../catalog/date.ts'
import { fold } from '../../text/fold.ts'
import { excerpt, QueryErrors } from '../query-errors.ts'
import type { Scalar } from './predicate.ts'

/** A value of a query before its type is known: a word of the text, or what `$params` holds for a placeholder. */
export type Operand =
  | { readonly kind: 'literal'; readonly text: string; readonly quoted: boolean }
  | { readonly kind: 'parameter'; readonly name: string; readonly value: unknown }

/** What a value is compared with: the path, for messages, and the type that decides how the value is read. */
export interface Comparand {
  readonly path: string
  readonly type: ScalarType
  /** Only for dates: the time of day does not count. */
  readonly simpleDate: boolean
}

/** A number between two integers, too long for a double to tell it from them: `9007199254740993.5`. */
export class Between {
  constructor(readonly floor: number | bigint) {}
}

export type ComparisonScalar = Scalar | Between

const EXPECTED: Record<ScalarType, string> = {
  bool: 'true or false',
  byte: 'a number',
  word: 'a number',
  long: 'a number',
  long64: 'a number',
  number: 'a number',
  float: 'a number',
  date: 'a date such as 2020-01-31 or 2020-01-31T15:23:00Z',
  duration: 'milliseconds, or a time such as 01:30:00',
  string: 'a text; put true and false into quotes',
  uuid: 'a text of 32 hexadecimal digits',
}

const DAY_MS = 86_400_000

/** How values of a type are compared. */
export function comparisonType(type: ScalarType): JsonType {
  if (type === 'string' || type === 'uuid') return 'text'
  return type === 'bool' ? 'bool' : 'number'
}

/**
 * Reads an operand as the type of what it is compared with.
 * @throws {QueryErrors.VALUE} for a literal that cannot be read so
 * @throws {QueryErrors.PLACEHOLDER_MISSING} for null
 * @throws {QueryErrors.PLACEHOLDER_TYPE} for a parameter of another kind
 * Source: protocol notes, 2.7.
 */
export function convertValue(operand: Operand, comparand: Comparand): ComparisonScalar {
  const source = operand.kind === 'literal' ? operand.text : parameterValue(operand, EXPECTED[comparand.type])
  const value = readAs(source, comparand, operand.kind === 'literal' && !operand.quoted)
  if (value !== undefined) return value
  throw operand.kind === 'literal'
    ? QueryErrors.VALUE(`"${excerpt(operand.text)}"`, comparand.path, EXPECTED[comparand.type])
    : QueryErrors.PLACEHOLDER_TYPE(operand.name, describe(source), EXPECTED[comparand.type])
}

/**
 * Reads an operand that is compared with a JSON value of no declared type: an unquoted number is a number, an unquoted
 * `true` or `false` a bool, everything else text. A parameter has its own type.
 * Source: protocol notes, 2.10.
 */
export function convertForJson(operand: Operand): { type: JsonType; value: Scalar } {
  if (operand.kind === 'parameter') {
    const value = parameterValue(operand, 'a text, a number, true or false')
    if (typeof value === 'boolean') return { type: 'bool', value: Number(value) }
    return typeof value === 'number' ? { type: 'number', value } : { type: 'text', value: fold(value) }
  }
  const { text, quoted } = operand
  if (!quoted && (text === 'true' || text === 'false')) return { type: 'bool', value: Number(text === 'true') }
  if (!quoted && NUMBER.test(text) && Number.isFinite(Number(text))) return { type: 'number', value: Number(text) }
  return { type: 'text', value: fold(text) }
}

/** Reads the text of a key in an address, or undefined when it is none: `v20` is no number here. */
export function convertKey(text: string, key: ValueAttribute): Scalar | undefined {
  const { simpleDate } = key
  const type = key.type as ScalarType
  if (comparisonType(type) === 'number' && type !== 'date' && !NUMBER.test(text)) return undefined
  const value = readAs(text, { path: key.name, type, simpleDate }, false)
  return value instanceof Between ? undefined : value
}

/** The text of an operand, whatever it is. */
export function convertToText(operand: Operand): string {
  return fold(operand.kind === 'literal' ? operand.text : String(parameterValue(operand, 'a text')))
}

function parameterValue({ name, value }: Operand & { kind: 'parameter' }, expected: string): string | number | boolean {
  if (value === null) {
    throw QueryErrors.PLACEHOLDER_MISSING(name, 'holds null; write null into the query itself: attribute = null')
  }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  throw QueryErrors.PLACEHOLDER_TYPE(name, describe(value), expected)
}

function readAs(
  source: string | number | boolean,
  { type, simpleDate }: Comparand,
  bare: boolean,
): ComparisonScalar | undefined {
  switch (type) {
    case 'bool':
      return TRUTH.get(String(source))
    case 'date': {
      // A number could be milliseconds, a year or 20200131: nobody could tell.
      const ms = typeof source === 'string' ? parseDate(source) : undefined
      return ms !== undefined && simpleDate ? Math.floor(ms / DAY_MS) * DAY_MS : ms
    }
    case 'duration':
      return (typeof source === 'string' ? readTime(source) : undefined) ?? readNumber(source, type)
    case 'string':
      return bare && (source === 'true' || source === 'false') ? undefined : fold(String(source))
    case 'uuid':
      return fold(String(source).replaceAll('-', ''))
    default:
      return readNumber(source, type)
  }
}

const TRUTH: ReadonlyMap<string, number> = new Map([
  ['true', 1],
  ['false', 0],
  ['1', 1],
  ['0', 0],
])

// All are linear: no two of their repetitions can match the same digits.
const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/
const NUMBER_INSIDE = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/
const DECIMAL = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?\s*$/
const TIME = /^\s*(-?)(\d{1,9}):([0-5]?\d)(?::([0-5]?\d(?:\.\d+)?))?\s*$/

const INTEGERS: ReadonlySet<ScalarType> = new Set(INTEGER_TYPES)
/** A shorter decimal without an exponent is exact enough as a double to be told from every integer. */
const MAX_SHORT_NUMBER = 15

/** The number that a text is, or the first one in it: `v20` is 20. A fraction is kept, whatever the type. */
function readNumber(source: string | number | boolean, type: ScalarType): number | bigint | Between | undefined {
  if (typeof source === 'boolean') return Number(source)
  const isInteger = INTEGERS.has(type)
  if (typeof source === 'number') return isInteger ? canonical(source) : source
  const text = NUMBER.test(source) ? source : NUMBER_INSIDE.exec(source)?.[0]
  if (text === undefined) return undefined
  // An attribute that holds doubles rounds what is compared with it as it rounds what is saved.
  if (isInteger && (text.length > MAX_SHORT_NUMBER || /e/i.test(text))) return readExactly(text)
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

function readExactly(text: string): number | bigint | Between | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? []
  if (sign === undefined) return undefined
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n)
  const scale = BigInt(fraction.length) - BigInt(exponent)
  if (scale <= 0n) return canonical(digits * 10n ** -scale)
  const unit = 10n ** scale
  // Division of bigints goes towards zero.
  const quotient = digits / unit
  if (quotient * unit === digits) return canonical(quotient)
  return new Between(canonical(digits < 0n ? quotient - 1n : quotient))
}

/** A number when it is a safe integer or has a fraction, else a bigint: as a long64 is read. */
function canonical(value: number | bigint): number | bigint {
  const number = Number(value)
  if (Number.isSafeInteger(number) || !(typeof value === 'bigint' || Number.isInteger(value))) return number
  return BigInt(value)
}

/** `hh:mm` or `hh:mm:ss` in milliseconds. */
function readTime(text: string): number | undefined {
  const [, sign, hours, minutes, seconds = '0'] = TIME.exec(text) ?? []
  if (hours === undefined) return undefined
  return (sign ? -1 : 1) * Math.round(((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000)
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  return `the ${typeof value === 'string' ? 'text' : typeof value} ${excerpt(JSON.stringify(value) ?? 'undefined')}`
}
