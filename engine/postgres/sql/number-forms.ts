import type { Value } from '../../catalog/value.ts'
import { type ColumnForm, plainForm } from './column-form.ts'
import { at, between, type Cut, type Domain } from './cut.ts'
import { aroundDouble, floorOf, decimalText } from './doubles.ts'
import { MAX_DIGITS, readDouble, readNumber, readScaledText, readWhole } from './read-text.ts'

export const INTEGERS: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int2: [-(2n ** 15n), 2n ** 15n - 1n],
  int4: [-(2n ** 31n), 2n ** 31n - 1n],
  int8: [-(2n ** 63n), 2n ** 63n - 1n],
  oid: [0n, 2n ** 32n - 1n],
}
/** Maximum number of digits for which different decimals are always read as different doubles, in the same order. */
const EXACT_DIGITS = 15

/**
 * Values of a numeric attribute: `integer` for whole numbers, `double` for doubles, to which exact numbers are rounded, and the scale of a
 * decimal.
 */
type NumberKind = 'integer' | 'double' | number

/** @param modifier modifier of a `numeric` */
export function numberForm(kind: NumberKind, type: string, modifier = -1): ColumnForm | undefined {
  if (type in INTEGERS) return integerForm(kind, type)
  if (type === 'numeric') return numericForm(kind, declaredOf(modifier))
  if (type === 'money' && typeof kind === 'number') return moneyForm(kind)
  if (kind !== 'double') return undefined
  return type === 'float8' ? float8 : type === 'float4' ? float4 : undefined
}

/** Number of digits of a `numeric`, and number of those after the decimal point. */
export interface Declared {
  readonly digits: number
  readonly places: number
}

/** Reads both numbers from the modifier, which has a header of 4. The scale is a signed number of 11 bits. */
export const declaredOf = (modifier: number): Declared | undefined =>
  modifier < 4 ? undefined : { digits: (modifier - 4) >> 16, places: (((modifier - 4) & 0x7ff) ^ 1024) - 1024 }

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
      if (kind === 'integer') return around(value, 0)
      if (kind !== 'double') return beyond(value, kind) ?? around(value, kind)
      if (Math.abs(Number(value)) < 2 ** 53) return around(value, 0)
      return aroundDouble(value, (decimal, isBehind) => {
        const { floor, isExact } = floorOf(decimal)
        return placeOf(floor, isBehind || !isExact)
      })
    },
  }
  const limit = typeof kind === 'number' ? 10n ** BigInt(MAX_DIGITS - kind) : most + 1n
  return plainForm(limit > most ? domain : { ...domain, above: `'-${limit}'::${type}`, below: `'${limit}'::${type}` }, {
    read: kind === 'double' ? readDouble : kind === 'integer' ? readNumber : text => readScaledText(text, kind),
    // Integers are written without decimal places, which are all zeros.
    write: value => writer(kind)(value).replace(/\.0+$/, ''),
    isCut: kind === 'double' && type === 'int8',
    // PostgreSQL cannot sum values of the type oid.
    ...(type === 'oid' && { sorted: (column?: string) => `${column}::int8` }),
  })
}

/** Converts an operand, which may have a fraction, to an exact number in units of the last of `scale` places. */
function decimalOf(value: number | bigint, scale: number): { readonly digits: bigint; readonly scale: number } {
  if (typeof value === 'bigint' || Number.isInteger(value)) return { digits: BigInt(value), scale }
  const [, sign, integer, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([-+]\d+))?$/.exec(String(value))!
  // A double with a fraction is less than 2^53, and its text has no positive exponent.
  return { digits: BigInt(`${sign}${integer}${fraction}`), scale: scale + fraction.length - Number(exponent) }
}

const writer =
  (kind: NumberKind) =>
  (value: Value): string =>
    typeof kind === 'number' ? decimalText(value as number | bigint, kind) : String(value)

/** Exclusive limits of all values, and the number of digits before the point that every number between the limits can have. */
function limitsOf(kind: NumberKind): { readonly above: string; readonly below: string; readonly digits: number } {
  if (kind === 'integer') return { above: '-9223372036854775809', below: '9223372036854775808', digits: 18 }
  const below = kind === 'double' ? '1.7976931348623158e308' : `1e${MAX_DIGITS - kind}`
  return { above: `-${below}`, below, digits: kind === 'double' ? 308 : MAX_DIGITS - kind }
}

/** @param declaration undefined if the column takes any number of digits, and infinity */
function numericForm(kind: NumberKind, declaration: Declared | undefined): ColumnForm {
  const isRounded = kind === 'double' && (declaration === undefined || declaration.digits > EXACT_DIGITS)
  const { above, below, digits } = limitsOf(kind)
  const areAllWithin = declaration !== undefined && declaration.digits - declaration.places <= digits
  const places = kind === 'integer' ? 0 : kind
  const domain: Domain = {
    type: 'numeric',
    around(operand) {
      const value = operand as number | bigint
      if (kind === 'double') return isRounded ? aroundDouble(value) : at(String(value))
      return beyond(value, kind) ?? (isWhole(value) ? at : betweenTexts)(numericText(value, kind))
    },
    ...(!areAllWithin && { above: `'${above}'::numeric` }),
    // NaN is greater than all others.
    below: `'${areAllWithin ? 'NaN' : below}'::numeric`,
    ...(places !== 'double' &&
      (declaration === undefined || declaration.places > places) && {
        also: column => `${column} = round(${column}, ${places})`,
      }),
  }
  return plainForm(domain, {
    read: kind === 'double' ? readDouble : kind === 'integer' ? readWhole : text => readScaledText(text, kind),
    isCut: isRounded,
    write: writer(kind),
  })
}

const isWhole = (value: number | bigint): boolean => typeof value === 'bigint' || Number.isInteger(value)

/** Place of an operand that is equal to no value. */
const betweenTexts = (text: string): readonly [Cut, Cut] => between({ at: text, isBehind: false })

/** Place of an operand that is greater or less than all values. The operand is a whole number, or a number of units. */
function beyond(value: number | bigint, kind: 'integer' | number): readonly [Cut, Cut] | undefined {
  const limit = kind === 'integer' ? 2n ** 63n : 10n ** BigInt(MAX_DIGITS)
  if (value >= limit) return between('end')
  const isBelow = kind === 'integer' ? value < -limit : value <= -limit
  return isBelow ? between('start') : undefined
}

/** A text of an exact operand. */
function numericText(value: number | bigint, kind: NumberKind): string {
  return typeof kind === 'number' && isWhole(value) ? decimalText(BigInt(value), kind) : String(value)
}

function moneyForm(scale: number): ColumnForm {
  const numeric = numericForm(scale, { digits: 19, places: 2 })
  const asNumeric = (column?: string): string => `${column}::numeric`
  return {
    ...numeric,
    select: asNumeric,
    sorted: asNumeric,
    compared: asNumeric,
    fits: column => numeric.fits!(asNumeric(column)),
    // A string would be parsed with the separators of the database's locale.
    convert: sql => `${sql}::numeric::money`,
  }
}

const float8 = plainForm(
  {
    type: 'float8',
    around: value => at(String(value)),
    above: "'-Infinity'::float8",
    below: "'Infinity'::float8",
  },
  { read: readDouble },
)

/** Form of a `float4`. A value is shown as the shortest decimal for its float, which may differ slightly from that float. */
const float4 = plainForm(
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

/** Returns the shortest decimal that is read as this float. */
export function shortestOf(float: number): number {
  for (let digits = 1; digits <= 9; digits++) {
    const decimal = Number(float.toPrecision(digits))
    if (Math.fround(decimal) === float) return decimal
  }
  return float
}
