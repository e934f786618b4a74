import type { Value } from '../../catalog/value.ts'
import type { Scalar } from '../../query/bind/predicate.ts'
import type { ColumnForm } from './column-form.ts'
import { plain } from './plain-form.ts'
import { at, between, type Cut, type Domain } from './cut.ts'
import { aroundDouble, floorOf, unscaled } from './doubles.ts'
import { readDouble, readNumber, readScaledText, readWhole } from './read-text.ts'

const INTEGERS: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int2: [-(2n ** 15n), 2n ** 15n - 1n],
  int4: [-(2n ** 31n), 2n ** 31n - 1n],
  int8: [-(2n ** 63n), 2n ** 63n - 1n],
  oid: [0n, 2n ** 32n - 1n],
}
/** Decimals of at most this number of digits are all read as different doubles, in their order. */
const EXACT_DIGITS = 15

/**
 * Values of a numeric attribute: `integer` for whole numbers, `double` for doubles, to which exact numbers are rounded, and the scale of a
 * decimal.
 */
type NumberKind = 'integer' | 'double' | number

/** @param modifier of a `numeric` */
export function numberForm(kind: NumberKind, type: string, modifier = -1): ColumnForm | undefined {
  if (type in INTEGERS) return integerForm(kind, type)
  if (type === 'numeric') return numericForm(kind, digitsOf(modifier))
  if (type === 'money' && typeof kind === 'number') return moneyForm(kind)
  if (kind !== 'double') return undefined
  return type === 'float8' ? float8 : type === 'float4' ? float4 : undefined
}

/** Precision and scale are in the modifier behind a header of 4. */
const digitsOf = (modifier: number): number | undefined => (modifier < 4 ? undefined : (modifier - 4) >> 16)

function integerForm(kind: NumberKind, type: string): ColumnForm {
  const [least, most] = INTEGERS[type]!
  const placeOf = (floor: bigint, isBehind: boolean): Cut =>
    floor < least ? 'start' : floor > most ? 'end' : { at: String(floor), isBehind }
  const around = (value: number | bigint, scale: number): readonly [Cut, Cut] => {
    const { floor, isExact } = floorOf(decimalOf(value, scale))
    if (floor < least || floor > most) return between(placeOf(floor, true))
    return isExact ? at(String(floor)) : between(placeOf(floor, true))
  }
  const domain: Domain = {
    type,
    around(operand) {
      const value = operand as number | bigint
      if (kind !== 'double') return around(value, kind === 'integer' ? 0 : kind)
      if (Math.abs(Number(value)) < 2 ** 53) return around(value, 0)
      return aroundDouble(value, (decimal, isBehind) => {
        const { floor, isExact } = floorOf(decimal)
        return placeOf(floor, isBehind || !isExact)
      })
    },
  }
  return plain(domain, {
    read: kind === 'double' ? readDouble : kind === 'integer' ? readNumber : text => readScaledText(text, kind),
    write: writer(kind),
  })
}

/** An operand, which may have a fraction, in units of the last of `scale` places, as an exact number. */
function decimalOf(value: number | bigint, scale: number): { readonly digits: bigint; readonly scale: number } {
  if (typeof value === 'bigint' || Number.isInteger(value)) return { digits: BigInt(value), scale }
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([-+]\d+))?$/.exec(String(value))!
  // A double with a fraction is less than 2^53, and its text has no positive exponent.
  return { digits: BigInt(`${sign}${whole}${fraction}`), scale: scale + fraction.length - Number(exponent) }
}

const writer =
  (kind: NumberKind) =>
  (value: Value): string =>
    typeof kind === 'number' ? unscaled(value as number | bigint, kind) : String(value)

/** @param digits undefined if the column takes any number of them */
function numericForm(kind: NumberKind, digits: number | undefined): ColumnForm {
  const isRounded = kind === 'double' && (digits === undefined || digits > EXACT_DIGITS)
  const domain: Domain = {
    type: 'numeric',
    around: value => (isRounded ? aroundDouble(value as number | bigint) : at(numericText(value, kind))),
    // With a precision, there is no infinity; only since version 14 is there one at all.
    ...(digits === undefined
      ? { above: "'-1e1000'::numeric", below: "'1e1000'::numeric" }
      : { below: "'NaN'::numeric" }),
  }
  return plain(domain, {
    read: kind === 'double' ? readDouble : kind === 'integer' ? readWhole : text => readScaledText(text, kind),
    write: writer(kind),
  })
}

/** A text of an exact operand. */
function numericText(value: Scalar, kind: NumberKind): string {
  const isWhole = typeof value === 'bigint' || Number.isInteger(value)
  return typeof kind === 'number' && isWhole ? unscaled(BigInt(value), kind) : String(value)
}

function moneyForm(scale: number): ColumnForm {
  const numeric = numericForm(scale, 19)
  const own = (column?: string): string => `${column}::numeric`
  return { ...numeric, select: own, sorted: own, compared: own }
}

const float8 = plain(
  {
    type: 'float8',
    around: value => at(String(value)),
    above: "'-Infinity'::float8",
    below: "'Infinity'::float8",
  },
  { read: readDouble },
)

/** A value is the shortest decimal of its float, which is not exactly that float. */
const float4 = plain(
  {
    type: 'float4',
    around(value) {
      const float = Math.fround(Number(value))
      if (!Number.isFinite(float)) return between(float > 0 ? 'end' : 'start')
      const shortest = shortestOf(float)
      if (shortest === Number(value)) return at(String(shortest))
      return between({ at: String(shortest), isBehind: shortest < Number(value) })
    },
    above: "'-Infinity'::float4",
    below: "'Infinity'::float4",
  },
  { read: readDouble },
)

/** The shortest decimal that is read as this float. */
function shortestOf(float: number): number {
  for (let digits = 1; digits <= 9; digits++) {
    const decimal = Number(float.toPrecision(digits))
    if (Math.fround(decimal) === float) return decimal
  }
  return float
}
