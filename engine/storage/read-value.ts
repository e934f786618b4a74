import { fold } from '../text/fold.ts'

/**
 * Values straight from the JSON bytes of a row, for columns: several times faster than `JSON.parse`.
 * Undefined stands for null.
 */

const QUOTE = 0x22
const MINUS = 0x2d
const POINT = 0x2e
const BACKSLASH = 0x5c
const LETTER_N = 0x6e
const LETTER_T = 0x74

/** Up to 15 digits are an exact integer in a double, and so are these powers: the quotient is the correctly rounded one. */
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

/** A 64-bit integer: a bigint when it is not a safe integer. */
export function readInteger(bytes: Buffer, start: number, end: number): number | bigint | undefined {
  const number = readNumber(bytes, start, end)
  return number === undefined || Number.isSafeInteger(number) ? number : BigInt(bytes.toString('latin1', start, end))
}

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

export function readFoldedText(bytes: Buffer, start: number, end: number): string | undefined {
  const text = readText(bytes, start, end)
  return text === undefined ? undefined : fold(text)
}

export function readJson(bytes: Buffer, start: number, end: number): unknown {
  return bytes[start] === LETTER_N ? undefined : JSON.parse(bytes.toString('utf8', start, end))
}

/** True when there is something. */
export function readPresence(bytes: Buffer, start: number): true | undefined {
  return bytes[start] === LETTER_N ? undefined : true
}
