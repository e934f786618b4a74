import { significant } from '../base/decimal-digits.ts'

/** Digits that identify a double. Source: IEEE 754. */
const DOUBLE_DIGITS = 17
/** Source: ECMA-262, Number.prototype.toPrecision. */
const MAX_PRECISION = 100
/** A number that may be too small for a double. */
const SMALL = /e-\d{3}/i

/** True if a double keeps all digits that a program has written. */
export function isDouble(text: string): boolean {
  if (text.length < DOUBLE_DIGITS - 1 && !SMALL.test(text)) return true
  const notation = significant(text)
  const digits = notation.indexOf('e')
  if (digits < DOUBLE_DIGITS - 1 && !SMALL.test(text)) return true
  return digits <= MAX_PRECISION && notation === significant(Number(text).toPrecision(Math.max(digits, 1)))
}
