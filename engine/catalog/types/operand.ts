import { doubleOf, isLongNumber } from '../../base/exact-json.ts'

/** Value of an operand. Integers beyond 2^53 are bigints. */
export type OperandSource = string | number | bigint | boolean

/** A number between two integers from which no double can distinguish it: `9007199254740993.5`. */
export class Between {
  constructor(readonly floor: number | bigint) {}
}

export type NumericOperand = number | bigint | Between

/** True if a number is below (above) an operand. */
export const isBelow = (value: number | bigint, operand: NumericOperand): boolean =>
  operand instanceof Between ? value <= operand.floor : value < operand
export const isAbove = (value: number | bigint, operand: NumericOperand): boolean =>
  operand instanceof Between ? value > operand.floor : value > operand

export type ComparisonScalar = NumericOperand | string

// All patterns run in linear time: no two of their repetitions can match the same digits.
export const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/
const DECIMAL = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?\s*$/

/** Maximum number of characters of a number in a save. A double has at most 24, but some clients write more digits. */
export const MAX_SAVED = 100
/** Maximum length of an operand. No number that can be stored needs more, and converting digits to a bigint takes quadratic time. */
const MAX_DIGITS = 1_000
/** Maximum length of a decimal without an exponent whose double is distinct from every integer that it does not equal. */
const MAX_SHORT_NUMBER = 15

/** Finite number of an operand, which may be a text that is a number as a whole. */
export function readDouble(source: OperandSource): number | undefined {
  if (typeof source === 'string' && !isNumber(source)) return undefined
  // For an attribute that holds doubles, operands are rounded like saved values.
  const number = typeof source === 'string' ? doubleOf(source) : Number(source)
  return Number.isFinite(number) ? number : undefined
}

/** Number of an operand in units of 10^-scale, exact to the last digit. */
export function scaledOperand(source: OperandSource, scale: number): NumericOperand | undefined {
  const text = String(typeof source === 'boolean' ? Number(source) : source)
  return isNumber(text) ? readDigits(text, scale) : undefined
}

/** Reads a number of a save, also from a text, in units of 10^-scale. */
export function readScaled(json: unknown, scale: number): NumericOperand | undefined {
  const text = typeof json === 'number' || typeof json === 'bigint' || isLongNumber(json) ? String(json) : json
  return typeof text === 'string' && text.length <= MAX_SAVED && NUMBER.test(text) ? readDigits(text, scale) : undefined
}

/** Number of an operand for integers, exact to the last digit. A fraction is kept. */
export function readExactNumber(source: OperandSource): NumericOperand | undefined {
  if (typeof source === 'boolean') return Number(source)
  if (typeof source === 'number' && !Number.isFinite(source)) return undefined
  if (typeof source !== 'string') return canonical(source)
  if (!isNumber(source)) return undefined
  if (source.length > MAX_SHORT_NUMBER || /e/i.test(source)) return readDigits(source, 0)
  return Number(source)
}

const isNumber = (text: string): boolean => text.length <= MAX_DIGITS && NUMBER.test(text)

/** @param scale decimal places of the unit */
function readDigits(text: string, scale: number): NumericOperand | undefined {
  const [, sign, integerPart = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? []
  if (sign === undefined) return undefined
  const digits = BigInt(integerPart + fraction) * (sign === '-' ? -1n : 1n)
  const beyond = fraction.length - Number(exponent) - scale
  if (beyond <= 0) return canonical(digits * 10n ** BigInt(-beyond))
  const unit = 10n ** BigInt(beyond)
  // Division of bigints rounds towards zero.
  const quotient = digits / unit
  if (quotient * unit === digits) return canonical(quotient)
  return new Between(canonical(digits < 0n ? quotient - 1n : quotient))
}

/** Number if it is a safe integer or has a fraction, else a bigint, like values of a long64. */
function canonical(value: number | bigint): number | bigint {
  const number = Number(value)
  if (Number.isSafeInteger(number) || !(typeof value === 'bigint' || Number.isInteger(value))) return number
  return BigInt(value)
}
