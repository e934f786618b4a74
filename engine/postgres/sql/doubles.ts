import { between, type Cut } from './cut.ts'

/** The number `digits` · 10^-`scale`. */
interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

/** Numbers that are read as one double: an interval with both ends or without ends. */
interface Rounded {
  readonly low: Decimal
  readonly high: Decimal
  readonly hasEnds: boolean
}

/** Source: IEEE 754, binary64; numbers are rounded to the nearest double, ties to the double with an even mantissa. */
function roundedTo(double: number): Rounded {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setFloat64(0, Math.abs(double))
  const exponent = bits.getUint16(0) >>> 4
  const fraction = bits.getBigUint64(0) & FRACTION
  const mantissa = exponent === 0 ? fraction : fraction | (FRACTION + 1n)
  const power = Math.max(exponent, 1) - 1075
  const high = scaledDecimal(2n * mantissa + 1n, power - 1)
  // Doubles below a power of two are closer together than doubles above it.
  const low =
    fraction === 0n && exponent > 1
      ? scaledDecimal(4n * mantissa - 1n, power - 2)
      : scaledDecimal(2n * mantissa - 1n, power - 1)
  const hasEnds = mantissa % 2n === 0n
  return double < 0 ? { low: negative(high), high: negative(low), hasEnds } : { low, high, hasEnds }
}

const FRACTION = 2n ** 52n - 1n

/** `factor` · 2^`power` */
const scaledDecimal = (factor: bigint, power: number): Decimal =>
  power >= 0 ? { digits: factor << BigInt(power), scale: 0 } : { digits: factor * 5n ** BigInt(-power), scale: -power }

const negative = ({ digits, scale }: Decimal): Decimal => ({ digits: -digits, scale })

/** Decimal text of an integer in units of the last of `scale` places. */
export function decimalText(value: number | bigint, scale: number): string {
  const digits = String(value < 0 ? -value : value).padStart(scale + 1, '0')
  const point = digits.length - scale
  return `${value < 0 ? '-' : ''}${digits.slice(0, point)}${scale > 0 ? `.${digits.slice(point)}` : ''}`
}

/**
 * Places around the exact numbers that are read as a double.
 * @param placeOf returns the place before or after an exact number, in a type that may not have the number
 */
export function aroundDouble(
  value: number | bigint,
  placeOf: (decimal: Decimal, isBehind: boolean) => Cut = place,
): readonly [Cut, Cut] {
  const double = Number(value)
  if (!Number.isFinite(double)) return between(double > 0 ? 'end' : 'start')
  const { low, high, hasEnds } = roundedTo(double)
  const front = placeOf(low, !hasEnds)
  const back = placeOf(high, hasEnds)
  if (typeof value === 'number' || BigInt(double) === value) return [front, back]
  return between(BigInt(double) < value ? back : front)
}

const place = ({ digits, scale }: Decimal, isBehind: boolean): Cut => ({ at: decimalText(digits, scale), isBehind })

/** Greatest integer that is not above a decimal. */
export function floorOf({ digits, scale }: Decimal): { readonly floor: bigint; readonly isExact: boolean } {
  const unit = 10n ** BigInt(scale)
  const quotient = digits / unit
  if (quotient * unit === digits) return { floor: quotient, isExact: true }
  return { floor: digits < 0n ? quotient - 1n : quotient, isExact: false }
}
