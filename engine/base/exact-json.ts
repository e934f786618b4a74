import { randomUUID } from 'node:crypto'
import { parse } from 'secure-json-parse'

/**
 * A number other than an integer that a double would round: its text, as a String object. Messages between threads preserve
 * String objects, and parsed JSON contains none.
 */
type LongNumber = InstanceType<StringConstructor>

export const isLongNumber = (value: unknown): value is LongNumber => value instanceof String

/**
 * Parses JSON so that integers beyond 2^53 keep their digits: they become bigints. All else is as with `JSON.parse`, and as fast
 * when there are no such integers.
 * @param fractions whether other numbers keep their digits too: those that a double would round become {@link LongNumber}
 * @throws {SyntaxError} also for `__proto__` and `constructor.prototype`
 */
export function parseExact(text: string, fractions = false): unknown {
  const value: unknown = parse(text)
  const isExact = !hasRoundedInteger(value) && !(fractions && LONG_NUMBER.test(text))
  return isExact ? value : revived(parse(markLongNumbers(text, fractions)))
}

/** Rounds long numbers as `JSON.parse` does; containers are changed in place. */
export function rounded(value: unknown): unknown {
  if (typeof value === 'bigint' || isLongNumber(value)) return Number(value)
  if (typeof value !== 'object' || value === null) return value
  const container = value as Record<string, unknown>
  for (const name of Object.keys(container)) {
    const inner = container[name]
    if (typeof inner === 'bigint' || typeof inner === 'object') container[name] = rounded(inner)
  }
  return value
}

/** Writes a result of {@link parseExact} as JSON. @throws {RangeError} for an infinite number, which JSON cannot express */
export function stringifyExact(value: unknown): string {
  // Without a callback for each value: a fifth of the time.
  if (isPlain(value)) return JSON.stringify(value)
  const marked = JSON.stringify(value, (_, each: unknown) => {
    if (each === Infinity || each === -Infinity) throw new RangeError('a number is infinite')
    return typeof each === 'bigint' || isLongNumber(each) ? `${MARK}${each}` : each
  })
  return marked.includes(MARK) ? marked.replace(MARKED, '$1') : marked
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
  return LONG_NUMBER.test(json) ? firstLong(parseExact(json, true)) : undefined
}

function firstLong(value: unknown): string | undefined {
  if (typeof value === 'bigint' || isLongNumber(value)) return String(value)
  if (typeof value !== 'object' || value === null) return undefined
  for (const inner of Object.values(value)) {
    const found = firstLong(inner)
    if (found !== undefined) return found
  }
  return undefined
}

/** Prefix of a text that stands for a number. No client can know it. */
const MARK = `number ${randomUUID()} `
const MARKED = new RegExp(`"${MARK}([-+.\\deE]+)"`, 'g')
const LONG_INTEGER = /^-?\d{16,40}$/
/** Matches every text with a number that may have more digits than a double, or be too small for one. */
const LONG_NUMBER = /\d(?:\.?\d){15}|[eE]-\d{3}/
/** Maximum characters of a number that is compared with its double; longer ones have digits that no double has. */
const MAX_COMPARED = 100
const NUMBER = /[-+.\deE]+/y
const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d

/** True if a value has an integer beyond 2^53, which may have been another one in the text. */
function hasRoundedInteger(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  if (typeof value !== 'object' || value === null) return false
  for (const inner of Array.isArray(value) ? value : Object.values(value)) if (hasRoundedInteger(inner)) return true
  return false
}

/** @param json known to be valid */
function markLongNumbers(json: string, fractions: boolean): string {
  const parts: string[] = []
  let done = 0
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (code === QUOTE) {
      for (i++; json.charCodeAt(i) !== QUOTE; i++) if (json.charCodeAt(i) === BACKSLASH) i++
    } else if ((code >= 0x30 && code <= 0x39) || code === MINUS) {
      NUMBER.lastIndex = i
      const number = NUMBER.exec(json)![0]
      if (isRounded(number, fractions)) {
        parts.push(json.slice(done, i), `"${MARK}${number}"`)
        done = i + number.length
      }
      i += number.length - 1
    }
  }
  return parts.join('') + json.slice(done)
}

function isRounded(number: string, fractions: boolean): boolean {
  if (LONG_INTEGER.test(number)) return !Number.isSafeInteger(Number(number))
  if (!fractions || !LONG_NUMBER.test(number)) return false
  return number.length > MAX_COMPARED || significant(number) !== significant(String(Number(number)))
}

/** Significant digits of a number and their power of ten, as `125e-2` or empty for zero: the same text for equal numbers. */
export function significant(number: string): string {
  const [mantissa, exponent = '0'] = number.toLowerCase().split('e') as [string, string?]
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?]
  const digits = (whole + fraction).replace(/^-?0*/, '')
  const kept = digits.replace(/0+$/, '')
  return kept && `${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`
}

/** Replaces texts that stand for numbers by the numbers, in place. */
function revived(value: unknown): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith(MARK)) return value
    const number = value.slice(MARK.length)
    return LONG_INTEGER.test(number) ? BigInt(number) : Object(number)
  }
  if (typeof value !== 'object' || value === null) return value
  const container = value as Record<string, unknown>
  for (const [name, inner] of Object.entries(container)) container[name] = revived(inner)
  return value
}
