import type { WireOptions } from '../catalog/dataclass.ts'
import { fold } from '../base/text/fold.ts'
import { parseWireDate } from '../catalog/types/wire-date.ts'

/**
 * Reads values for columns straight from the JSON bytes of a row, several times faster than `JSON.parse`.
 * Undefined stands for null.
 */

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const BACKSLASH = 0x5c
const LETTER_N = 0x6e
const LETTER_T = 0x74

/** An integer of up to 15 digits is exact in a double, and so are these powers of 10: their quotient is rounded correctly. */
const MAX_FAST_DIGITS = 15
const POWERS_OF_10 = Array.from({ length: MAX_FAST_DIGITS + 1 }, (_, exponent) => 10 ** exponent)

export function readNumber(bytes: Buffer, start: number, end: number): number | undefined {
  const digitsStart = bytes[start] === MINUS ? start + 1 : start
  if (end - digitsStart <= MAX_FAST_DIGITS) {
    let digits = 0
    let point = -1
    let at = digitsStart
    for (; at < end; at++) {
      const byte = bytes[at]!
      if (byte >= 0x30 && byte <= 0x39) digits = digits * 10 + (byte - 0x30)
      else if (byte === POINT && point < 0) point = at
      else break
    }
    if (at === end) {
      const absolute = point < 0 ? digits : digits / POWERS_OF_10[end - point - 1]!
      return digitsStart === start ? absolute : -absolute
    }
  }
  return bytes[start] === LETTER_N ? undefined : Number(bytes.toString('latin1', start, end))
}

/** Reads the numbers of a JSON array without whitespace into `floats`, from index `at` on. */
export function readNumbers(bytes: Buffer, start: number, end: number, floats: Float32Array, at: number): void {
  for (let from = start + 1, i = from; i < end; i++) {
    if (bytes[i] !== COMMA && i !== end - 1) continue
    floats[at++] = readNumber(bytes, from, i)!
    from = i + 1
  }
}

/** Reads a vector into `into`, which it returns. */
export function readVector(bytes: Buffer, start: number, end: number, into: Float32Array): Float32Array | undefined {
  if (bytes[start] === LETTER_N) return undefined
  readNumbers(bytes, start, end, into, 0)
  return into
}

/** Reads digits as a 64-bit integer, a bigint when it is not a safe one. Skips quotes and the point of a decimal. */
export function readInteger(bytes: Buffer, start: number, end: number): number | bigint | undefined {
  if (bytes[start] === LETTER_N) return undefined
  let absolute = 0
  let isNegative = false
  for (let at = start; at < end; at++) {
    const digit = bytes[at]! - 0x30
    if (digit >= 0 && digit <= 9) absolute = absolute * 10 + digit
    else if (bytes[at] === MINUS) isNegative = true
  }
  // Rounding never takes a number above 2^53 below it, so an unsafe integer is always detected.
  if (!Number.isSafeInteger(absolute)) return BigInt(bytes.toString('latin1', start, end).replace(NO_DIGIT, ''))
  return isNegative ? -absolute : absolute
}

const NO_DIGIT = /[".]/g

/** 1 or 0. */
export function readBoolean(bytes: Buffer, start: number): number | undefined {
  return bytes[start] === LETTER_N ? undefined : bytes[start] === LETTER_T ? 1 : 0
}

export function readText(bytes: Buffer, start: number, end: number): string | undefined {
  if (bytes[start] !== QUOTE) return undefined
  let union = 0
  for (let at = start + 1; at < end - 1; at++) {
    if (bytes[at] === BACKSLASH) return JSON.parse(bytes.toString('utf8', start, end)) as string
    union |= bytes[at]!
  }
  return bytes.toString(union < 0x80 ? 'latin1' : 'utf8', start + 1, end - 1)
}

/** Milliseconds since 1970. */
export function readDate(
  bytes: Buffer,
  start: number,
  end: number,
  simpleDate: boolean,
  wire: WireOptions,
): number | undefined {
  const length = end - start
  // `"2026-01-31"` or `"2026-01-31T10:00:00.000Z"`: five times faster than `Date.parse`. Years beyond four digits have a sign.
  if (bytes[start] === QUOTE && bytes[start + 5] === MINUS && (length === 12 || length === 26)) {
    const days = daysSince1970(digits(bytes, start + 1, 4), digits(bytes, start + 6, 2), digits(bytes, start + 9, 2))
    if (length === 12) return days * DAY_MS
    const seconds =
      (digits(bytes, start + 12, 2) * 60 + digits(bytes, start + 15, 2)) * 60 + digits(bytes, start + 18, 2)
    return days * DAY_MS + seconds * 1000 + digits(bytes, start + 21, 3)
  }
  const text = readText(bytes, start, end)
  return text === undefined ? undefined : parseWireDate(text, simpleDate, wire)
}

function digits(bytes: Buffer, start: number, count: number): number {
  let number = 0
  for (let i = 0; i < count; i++) number = number * 10 + bytes[start + i]! - 0x30
  return number
}

/**
 * Days since 1970 of a Gregorian date. Years begin in March here, so that a leap day is the last day of its year, and the
 * months before it are 30.6 days long on average.
 */
function daysSince1970(year: number, month: number, day: number): number {
  const monthFromMarch = (month + 9) % 12
  const y = month < 3 ? year - 1 : year
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400)
  return 365 * y + leapDays + Math.floor((306 * monthFromMarch + 5) / 10) + day - 719_469
}

const DAY_MS = 86_400_000

export function readFoldedText(bytes: Buffer, start: number, end: number): string | undefined {
  const text = readText(bytes, start, end)
  return text === undefined ? undefined : fold(text)
}

export function readJson(bytes: Buffer, start: number, end: number): unknown {
  return bytes[start] === LETTER_N ? undefined : JSON.parse(bytes.toString('utf8', start, end))
}

/** True when there is a value. */
export function readPresence(bytes: Buffer, start: number): true | undefined {
  return bytes[start] === LETTER_N ? undefined : true
}
