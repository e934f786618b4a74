import type { Value } from '../value.ts'
import type { WireOptions } from '../dataclass.ts'
import { parseDate } from '../../base/time/read-date.ts'

/**
 * Values of a type whose bytes need no conversion: they are exactly what `encode` writes, so that rows can copy them from a file or a
 * body. Only usual values have this form; all others are converted.
 */
export interface PlainForm {
  /** True if `encode` writes quotes, between which the bytes are. */
  readonly isText: boolean
  /** True if `bytes[start…end]`, which is UTF-8, has this form. */
  test(bytes: Buffer, start: number, end: number): boolean
  /** The value of bytes that have this form. */
  value(bytes: Buffer, start: number, end: number): Value
}

const QUOTE = 0x22
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const BACKSLASH = 0x5c
const BLANK = 0x20

/** Maximum number of digits with which different decimals are different doubles. */
const MAX_DIGITS = 15
/** Maximum number of zeros after `0.` that JavaScript writes. */
const MAX_ZEROS = 5

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE

/** Texts without anything that JSON escapes. */
export const PLAIN_TEXT: PlainForm = {
  isText: true,
  test(bytes, start, end) {
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!
      if (byte < BLANK || byte === QUOTE || byte === BACKSLASH) return false
    }
    return true
  },
  value: (bytes, start, end) => bytes.toString('utf8', start, end),
}

/** 32 upper-case hex digits. */
export const PLAIN_UUID: PlainForm = {
  isText: true,
  test(bytes, start, end) {
    if (end - start !== 32) return false
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!
      if (!isDigit(byte) && !(byte >= 0x41 && byte <= 0x46)) return false
    }
    return true
  },
  value: (bytes, start, end) => bytes.toString('latin1', start, end),
}

/** `true` and `false`. */
export const PLAIN_BOOL: PlainForm = {
  isText: false,
  test: (bytes, start, end) => isWord(bytes, start, end, TRUE) || isWord(bytes, start, end, FALSE),
  value: (_, start, end) => end - start === TRUE.length,
}

const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')

function isWord(bytes: Buffer, start: number, end: number, word: Buffer): boolean {
  if (end - start !== word.length) return false
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word[i]) return false
  return true
}

/** Integers that are doubles, in a range. */
export const plainInteger = (minimum: number, maximum: number): PlainForm => ({
  isText: false,
  test(bytes, start, end) {
    if (integerEnd(bytes, start, end) !== end || digitCount(bytes, start, end) > MAX_DIGITS) return false
    const value = numberOf(bytes, start, end)
    return value >= minimum && value <= maximum && !Object.is(value, -0)
  },
  value: numberOf,
})

/** Doubles as JavaScript writes them, without an exponent. */
export const PLAIN_DOUBLE: PlainForm = {
  isText: false,
  test(bytes, start, end) {
    const point = integerEnd(bytes, start, end)
    if (point < 0 || digitCount(bytes, start, end) > MAX_DIGITS) return false
    if (point === end) return !isMinusZero(bytes, start, end)
    if (!isFraction(bytes, point, end) || bytes[end - 1] === ZERO) return false
    const firstDigit = bytes[start] === MINUS ? start + 1 : start
    return bytes[firstDigit] !== ZERO || zeros(bytes, point + 1, end) <= MAX_ZEROS
  },
  value: numberOf,
}

/** Decimals with all their places. */
export const plainDecimal = (scale: number, isText: boolean): PlainForm => ({
  isText,
  test(bytes, start, end) {
    const point = integerEnd(bytes, start, end)
    if (point < 0 || digitCount(bytes, start, end) > MAX_DIGITS) return false
    const places = scale === 0 ? point === end : end - point - 1 === scale && isFraction(bytes, point, end)
    return places && !(bytes[start] === MINUS && unscaled(bytes, start, end) === 0)
  },
  value: unscaled,
})

/** Dates in the years 1000 … 9999: `2020-01-31`, or `2020-01-31T15:23:00.000Z`. */
export function plainDate(simpleDate: boolean, { dateOnlyFormat }: WireOptions): PlainForm | undefined {
  if (simpleDate && dateOnlyFormat !== 'iso') return undefined
  const form = simpleDate ? DAY : MOMENT
  return {
    isText: true,
    test(bytes, start, end) {
      if (end - start !== form.length || bytes[start] === ZERO) return false
      for (let i = 0; i < form.length; i++) {
        const byte = bytes[start + i]!
        if (form[i] === ZERO ? !isDigit(byte) : byte !== form[i]) return false
      }
      return isDay(bytes, start) && (simpleDate || isTime(bytes, start + DAY.length + 1))
    },
    value: (bytes, start, end) => parseDate(bytes.toString('latin1', start, end))!,
  }
}

const DAY = Buffer.from('0000-00-00')
const MOMENT = Buffer.from('0000-00-00T00:00:00.000Z')

const pairAt = (bytes: Buffer, at: number): number => (bytes[at]! - ZERO) * 10 + bytes[at + 1]! - ZERO

function isDay(bytes: Buffer, start: number): boolean {
  const month = pairAt(bytes, start + 5)
  const day = pairAt(bytes, start + 8)
  if (month < 1 || month > 12 || day < 1) return false
  // Only the last days of a month need its length.
  if (day <= 28) return true
  return parseDate(bytes.toString('latin1', start, start + DAY.length)) !== undefined
}

const isTime = (bytes: Buffer, start: number): boolean =>
  pairAt(bytes, start) < 24 && pairAt(bytes, start + 3) < 60 && pairAt(bytes, start + 6) < 60

/** End of an integer without leading zeros; -1 if there is none. */
function integerEnd(bytes: Buffer, start: number, end: number): number {
  const first = bytes[start] === MINUS ? start + 1 : start
  let at = first
  while (at < end && isDigit(bytes[at]!)) at++
  return at === first || (bytes[first] === ZERO && at > first + 1) ? -1 : at
}

/** True for a point and at least one digit. */
function isFraction(bytes: Buffer, point: number, end: number): boolean {
  if (bytes[point] !== POINT || point + 1 === end) return false
  for (let i = point + 1; i < end; i++) if (!isDigit(bytes[i]!)) return false
  return true
}

/** Number of digits, or one more. */
const digitCount = (bytes: Buffer, start: number, end: number): number => end - start - (bytes[start] === MINUS ? 1 : 0)

function zeros(bytes: Buffer, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at] === ZERO) at++
  return at - start
}

const isMinusZero = (bytes: Buffer, start: number, end: number): boolean =>
  end - start === 2 && bytes[start] === MINUS && bytes[start + 1] === ZERO

/** All digits as an integer. */
function unscaled(bytes: Buffer, start: number, end: number): number {
  let value = 0
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    if (isDigit(byte)) value = value * 10 + byte - ZERO
  }
  return bytes[start] === MINUS ? -value : value
}

/** A decimal of at most 15 digits: the quotient of two integers that are doubles is rounded once. */
function numberOf(bytes: Buffer, start: number, end: number): number {
  let divisor = 1
  for (let i = end - 1; i > start; i--) {
    if (bytes[i] === POINT) return unscaled(bytes, start, end) / divisor
    divisor *= 10
  }
  return unscaled(bytes, start, end)
}
