/** Value of an operand. Integers beyond 2^53 are bigints. */
export type OperandSource = string | number | bigint | boolean

/** A number between two integers, too long for a double to tell it from them: `9007199254740993.5`. */
export class Between {
  constructor(readonly floor: number | bigint) {}
}

export type NumericOperand = number | bigint | Between

/** Whether a number is below (above) an operand. */
export const isBelow = (value: number | bigint, operand: NumericOperand): boolean =>
  operand instanceof Between ? value <= operand.floor : value < operand
export const isAbove = (value: number | bigint, operand: NumericOperand): boolean =>
  operand instanceof Between ? value > operand.floor : value > operand

export type ComparisonScalar = NumericOperand | string

// All are linear: no two of their repetitions can match the same digits.
export const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/
const NUMBER_INSIDE = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/
const DECIMAL = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?\s*$/

/** Characters of a number in a save. */
const MAX_SAVED = 100
/** More say nothing about a number that can be stored; making a bigint of digits takes the square of their number. */
const MAX_DIGITS = 1_000
/** A shorter decimal without an exponent is exact enough as a double to be told from every integer. */
const MAX_SHORT_NUMBER = 15

/** The number that an operand is, or the first one in a text: `v20` is 20. */
export function readDouble(source: OperandSource): number | undefined {
  if (typeof source !== 'string') return Number(source)
  const text = numberIn(source)
  // An attribute that holds doubles rounds what is compared with it as it rounds what is saved.
  const number = Number(text ?? Number.NaN)
  return Number.isFinite(number) ? number : undefined
}

/** The same in units of 10^-scale, to the last digit. */
export function scaledOperand(source: OperandSource, scale: number): NumericOperand | undefined {
  const text = numberIn(String(typeof source === 'boolean' ? Number(source) : source))
  return text === undefined ? undefined : readDigits(text, scale)
}

/** A number of a save, also as a text, in units of 10^-scale. */
export function readScaled(json: unknown, scale: number): NumericOperand | undefined {
  const text = typeof json === 'number' || typeof json === 'bigint' ? String(json) : json
  return typeof text === 'string' && text.length <= MAX_SAVED && NUMBER.test(text) ? readDigits(text, scale) : undefined
}

/** The same for integers, to the last digit. A fraction is kept. */
export function readExactNumber(source: OperandSource): NumericOperand | undefined {
  if (typeof source === 'boolean') return Number(source)
  if (typeof source !== 'string') return canonical(source)
  const text = numberIn(source)
  if (text === undefined) return undefined
  if (text.length > MAX_SHORT_NUMBER || /e/i.test(text)) return readDigits(text, 0)
  return Number(text)
}

function numberIn(source: string): string | undefined {
  const text = NUMBER.test(source) ? source : NUMBER_INSIDE.exec(source)?.[0]
  return text === undefined || text.length > MAX_DIGITS ? undefined : text
}

/** @param scale decimal places of the unit */
function readDigits(text: string, scale: number): NumericOperand | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? []
  if (sign === undefined) return undefined
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n)
  const beyond = fraction.length - Number(exponent) - scale
  if (beyond <= 0) return canonical(digits * 10n ** BigInt(-beyond))
  const unit = 10n ** BigInt(beyond)
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
