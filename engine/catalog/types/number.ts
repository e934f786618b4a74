import { doubleOf, roundNumbers } from '../../base/exact-json.ts'
import { schemas } from '../../base/json-schema.ts'
import { type IntegerTotals, Mismatch, type ScalarDescriptor } from './descriptor.ts'
import { MAX_SAVED, NUMBER, readDouble, readExactNumber, readScaled } from './operand.ts'
import { PLAIN_DOUBLE, plainInteger } from './plain-form.ts'

/** Common parts of the numeric types. */
export const NUMERIC = {
  options: ['indexed', 'unique', 'minValue', 'maxValue', 'default'],
  autoFill: [],
  cell: 'double',
  aggregates: 'number',
  code: { value: 'number' },
  field: 'number',
  comparison: 'number',
  isNumeric: true,
  expected: 'a number',
  jsonSchemas: () => schemas({ type: 'number' }),
  holds: value => Number.isFinite(value),
  encode: value => String(value),
  toCode: value => value,
  codeOfJson: (json): number | bigint => Number(json),
  keyText: value => String(value),
  decode: json => JSON.parse(json) as number,
  readOperand: readDouble,
} as const satisfies Partial<ScalarDescriptor>

const double = (name: string): ScalarDescriptor => ({
  ...NUMERIC,
  catalogName: () => name,
  keyFamily: () => 'number',
  convert: json => readNumber(json) ?? new Mismatch('a finite number'),
  plainForm: () => PLAIN_DOUBLE,
})

export const number = double('number')
export const float = double('float')

/** An average is the double nearest to the exact quotient. */
export const INTEGER_TOTALS: IntegerTotals = {
  sum: total => String(total),
  average: (total, count) => String(nearestQuotient(total, BigInt(count))),
}

/** Number of bits after the point. They give a quotient of any count more bits than a double, so that it is rounded only once. */
const QUOTIENT_BITS = 128n

function nearestQuotient(dividend: bigint, divisor: bigint): number {
  const scaledDividend = (dividend < 0n ? -dividend : dividend) << QUOTIENT_BITS
  const remainder = scaledDividend % divisor === 0n ? 0n : 1n
  const quotient = Number((scaledDividend / divisor) * 2n + remainder) / 2 ** (Number(QUOTIENT_BITS) + 1)
  return dividend < 0n ? -quotient : quotient
}

/** Integers of at most 32 bits. */
const integer = (name: string, bits: number, autoFill: ScalarDescriptor['autoFill']): ScalarDescriptor => {
  const maximum = 2 ** (bits - 1) - 1
  const minimum = -maximum - 1
  const form = plainInteger(minimum, maximum)
  return {
    ...NUMERIC,
    catalogName: () => name,
    autoFill,
    keyFamily: () => 'integer',
    jsonSchemas: () => schemas({ type: 'integer', minimum, maximum }),
    convert(json) {
      const value = typeof json === 'number' ? json : readScaled(json, 0)
      if (typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum) return value
      return new Mismatch(`a whole number from ${minimum} to ${maximum}`)
    },
    holds: value => Number.isInteger(value),
    plainForm: () => form,
    totals: INTEGER_TOTALS,
    codeOfJson: readLongNumber,
    readOperand: readExactNumber,
  }
}

/** A byte is signed, like the smallest integer of the protocol's own server. */
export const byte = integer('byte', 8, [])
export const word = integer('word', 16, ['increment'])
export const long = integer('long', 32, ['increment'])

/** Reads a number; an integer beyond 2^53 becomes a bigint. */
export function readLongNumber(json: string): number | bigint {
  const number = Number(json)
  return LARGE_INTEGER.test(json) && !Number.isSafeInteger(number) ? BigInt(json) : number
}

const LARGE_INTEGER = /^-?\d{16,}$/

/** Reads a finite number of a save, also from a text. */
export function readNumber(json: unknown): number | undefined {
  const isText = typeof json === 'string' && json.length <= MAX_SAVED && NUMBER.test(json)
  const number = isText ? doubleOf(json) : roundNumbers(json)
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
