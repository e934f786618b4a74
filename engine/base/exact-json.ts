import { randomUUID } from 'node:crypto'
import { parse } from 'secure-json-parse'
import { significant } from './decimal-digits.ts'
import { withRightNames } from './read-json.ts'

/**
 * A number that is neither a double nor an integer of 64 bits: its text, as a String object. Messages between threads preserve
 * String objects, and parsed JSON contains none.
 */
type LongNumber = InstanceType<StringConstructor>

export const isLongNumber = (value: unknown): value is LongNumber => value instanceof String

/**
 * Numbers that keep their digits: `doubles` rounds as `JSON.parse` does, `integers` keeps integers beyond 2^53, `numbers` keeps all numbers
 * that a double would round.
 */
export type KeptDigits = 'doubles' | 'integers' | 'numbers'

/**
 * Parses JSON so that numbers keep their digits: integers beyond 2^53 become bigints, others that a double would round become {@link
 * LongNumber}. Even where numbers are rounded, one that would become zero, infinite or a wrong integer becomes a {@link LongNumber}
 * instead. Everything else is parsed as by `JSON.parse`, and nearly as fast.
 * @param keep makes the value of a {@link LongNumber} from its text
 * @throws {SyntaxError} also for `__proto__` and `constructor.prototype`
 */
export function parseExact(
  text: string,
  keptDigits: KeptDigits = 'integers',
  keep: (number: string) => unknown = Object,
): unknown {
  const value = withRightNames(text, parse(text))
  const isExact =
    !(keptDigits === 'numbers' && LONG_NUMBER.test(text)) &&
    !MISREAD.test(text) &&
    (keptDigits === 'doubles' || !hasRoundedInteger(value))
  if (isExact) return value
  const markedText = markLongNumbers(text, keptDigits === 'numbers')
  return reviveNumbers(withRightNames(markedText, parse(markedText)), keep)
}

/** The double nearest to a number; infinite beyond 1.8e308, and NaN for a nonzero number that would become zero. */
export function doubleOf(number: string): number {
  const double = Number(number)
  return double === 0 && NOT_ZERO.test(number) ? Number.NaN : double
}

/** Replaces long numbers by their doubles as {@link doubleOf}; containers are changed in place. */
export function roundNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (isLongNumber(value)) return doubleOf(String(value))
  if (typeof value !== 'object' || value === null) return value
  const container = value as Record<string, unknown>
  for (const name of Object.keys(container)) {
    const inner = container[name]
    if (typeof inner === 'bigint' || typeof inner === 'object') container[name] = roundNumbers(inner)
  }
  return value
}

/** Writes a result of {@link parseExact} as JSON. @throws {RangeError} for an infinite number, which JSON cannot express */
export function stringifyExact(value: unknown): string {
  // Parsing without a reviver callback takes a fifth of the time.
  if (isPlain(value)) return JSON.stringify(value)
  const markedJson = JSON.stringify(value, (_, each: unknown) => {
    if (each === Infinity || each === -Infinity) throw new RangeError('a number is infinite')
    return typeof each === 'bigint' || isLongNumber(each) ? `${MARK}${each}` : each
  })
  return markedJson.includes(MARK) ? markedJson.replace(MARKED, '$1') : markedJson
}

/** True if `JSON.stringify` expresses every number in a value: none is infinite, long or a bigint. */
export function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'bigint') return false
  if (typeof value !== 'object' || value === null) return true
  if (isLongNumber(value)) return false
  for (const inner of Array.isArray(value) ? value : Object.values(value)) if (!isPlain(inner)) return false
  return true
}

/** Text of the first number in JSON that a double would round; undefined if there is none. */
export function longNumberIn(json: string): string | undefined {
  return LONG_NUMBER.test(json) ? firstNumber(parseExact(json, 'numbers'), each => typeof each !== 'number') : undefined
}

/** Text of the first number in a value that is too large or too small for a double; undefined if there is none. */
export const beyondDoubles = (value: unknown): string | undefined =>
  firstNumber(value, each => !Number.isFinite(roundNumbers(each)))

function firstNumber(value: unknown, isSought: (number: unknown) => boolean): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint' || isLongNumber(value))
    return isSought(value) ? String(value) : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const inner of Object.values(value)) {
    const innerNumber = firstNumber(inner, isSought)
    if (innerNumber !== undefined) return innerNumber
  }
  return undefined
}

/** Prefix of a text that stands for a number. No client can know it. */
const MARK = `number ${randomUUID()} `
const MARKED = new RegExp(`"${MARK}([-+.\\deE]+)"`, 'g')
const LONG_INTEGER = /^-?\d{16,40}$/
/** Matches every text with a number that may have more digits than a double, or be too small for one. */
const LONG_NUMBER = /\d(?:\.?\d){15}|[eE]-\d{3}/
/**
 * Matches every text with a number that its double misrepresents: one that becomes zero or infinite has an exponent of three digits or a
 * fraction that begins with zeros; one that becomes an integer has a fraction of zeros or nines, or many digits before its point or
 * exponent. Repetitions are written out, because V8 searches them several times as fast as `\d{4}`.
 */
const MISREAD =
  /\d(?:[eE][+-]?\d\d\d+(?:[\s,\]}]|$)|\.0000|\.9999|\d\d\d\d(?:\.(?<=\d{12}.)|[eE](?<=[\d.]{16}.)(?<!\D\d\.\d+.(?=-))))/
const NOT_ZERO = /^[^eE]*[1-9]/
/** Smallest double that is too large for every integer type. */
const INTEGERS = 2 ** 64
/** Maximum characters of a number that is compared with its double; longer ones have digits that no double has. */
const MAX_COMPARED = 100
const NUMBER = /[-+.\deE]+/y
const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d

/** True if a value has a number beyond 2^53, which may have been another one in the text. */
function hasRoundedInteger(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER
  if (typeof value !== 'object' || value === null) return false
  for (const inner of Array.isArray(value) ? value : Object.values(value)) if (hasRoundedInteger(inner)) return true
  return false
}

/** @param json known to be valid */
function markLongNumbers(json: string, fractions: boolean): string {
  const parts: string[] = []
  let copiedTo = 0
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (code === QUOTE) {
      for (i++; json.charCodeAt(i) !== QUOTE; i++) if (json.charCodeAt(i) === BACKSLASH) i++
    } else if ((code >= 0x30 && code <= 0x39) || code === MINUS) {
      NUMBER.lastIndex = i
      const number = NUMBER.exec(json)![0]
      const keptNumber = keptText(number, fractions)
      if (keptNumber !== undefined) {
        parts.push(json.slice(copiedTo, i), `"${MARK}${keptNumber}"`)
        copiedTo = i + number.length
      }
      i += number.length - 1
    }
  }
  return parts.join('') + json.slice(copiedTo)
}

/** Text that keeps the digits of a number; undefined if it is read as a double. */
function keptText(number: string, fractions: boolean): string | undefined {
  const double = doubleOf(number)
  if (LONG_INTEGER.test(number)) return Number.isSafeInteger(double) ? undefined : number
  if (!Number.isFinite(double)) return number
  if (Number.isInteger(double) && Math.abs(double) < INTEGERS) {
    const integer = integerOf(number)
    return integer !== undefined && BigInt(integer) === BigInt(double) ? undefined : (integer ?? number)
  }
  if (!fractions || !LONG_NUMBER.test(number)) return undefined
  return number.length > MAX_COMPARED || significant(number) !== significant(String(double)) ? number : undefined
}

/** Digits of a number that is an integer in any notation; undefined if it is not an integer. */
function integerOf(number: string): string | undefined {
  const [digits, power] = significant(number).split('e') as [string, string?]
  if (power === undefined) return '0'
  return Number(power) < 0 ? undefined : `${number.startsWith('-') ? '-' : ''}${digits}${'0'.repeat(Number(power))}`
}

/** Replaces texts that stand for numbers by the numbers, in place. */
function reviveNumbers(value: unknown, keep: (number: string) => unknown): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith(MARK)) return value
    const number = value.slice(MARK.length)
    return LONG_INTEGER.test(number) ? BigInt(number) : keep(number)
  }
  if (typeof value !== 'object' || value === null) return value
  const container = value as Record<string, unknown>
  for (const [name, inner] of Object.entries(container)) container[name] = reviveNumbers(inner, keep)
  return value
}
