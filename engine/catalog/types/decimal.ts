import { schemas } from '../../base/json-schema.ts'
import { Mismatch, type ScalarDescriptor } from './descriptor.ts'
import { NUMERIC } from './number.ts'
import { Between, readScaled, scaledOperand } from './operand.ts'
import { plainDecimal } from './plain-form.ts'

/**
 * Exact decimal numbers with `scale` places: integers in units of 10^-scale, numbers where these are exact, else bigints.
 * Rows and answers write all places, so that the digits without the point are the integer.
 */
export const decimal: ScalarDescriptor = {
  ...NUMERIC,
  catalogName: ({ asText }) => (asText ? 'string' : 'number'),
  catalogOptions: ({ scale }) => ({ scale }),
  options: [...NUMERIC.options, 'scale', 'asText'],
  needs: { scale: 'a decimal needs the count of its digits after the point' },
  cell: 'integer',
  exactJson: 'numbers',
  // A string, because code that calculates with doubles would round.
  code: { value: 'string', assigned: 'string | number | bigint' },
  jsonSchemas: ({ asText }) =>
    schemas(asText ? { type: 'string', pattern: '^-?[0-9]+([.][0-9]+)?$' } : { type: 'number' }, {
      type: ['number', 'string'],
    }),
  keyFamily: ({ scale }) => `decimal ${scale}`,
  totals: {
    sum: (total, { scale, asText }) => quote(textOf(total, scale), asText),
    average: (total, count, { scale, asText }) =>
      quote(textOf(quotient(total * AVERAGE_UNIT, BigInt(count)), scale + AVERAGE_PLACES), asText),
  },
  convert(json, { scale }) {
    const value = readScaled(json, scale)
    return value === undefined || value instanceof Between || !isInRange(value)
      ? new Mismatch(`a decimal number of at most ${MAX_DIGITS - scale} digits before the point and ${scale} after it`)
      : value
  },
  holds: value => (typeof value === 'bigint' || Number.isInteger(value)) && isInRange(value as number | bigint),
  encode: (value, { scale, asText }) => quote(textOf(value as number | bigint, scale), asText),
  plainForm: ({ scale, asText }) => plainDecimal(scale, asText),
  decode(json) {
    const digits = json.replace(NO_DIGIT, '')
    const number = Number(digits)
    return Number.isSafeInteger(number) ? number : BigInt(digits)
  },
  toCode: (value, { scale }) => textOf(value as number | bigint, scale),
  codeOfJson: json => json.replaceAll('"', ''),
  keyText: (value, { scale }) => textOf(value as number | bigint, scale),
  readOperand: (source, { scale }) => scaledOperand(source, scale),
}

/** Maximum number of digits: all such numbers fit into 64 bits. */
const MAX_DIGITS = 18
/** Additional decimal places of an average. */
const AVERAGE_PLACES = 6
const AVERAGE_UNIT = 10n ** BigInt(AVERAGE_PLACES)
const LIMIT = 10n ** BigInt(MAX_DIGITS)
const NO_DIGIT = /[".]/g

const isInRange = (value: number | bigint): boolean => value > -LIMIT && value < LIMIT

const quote = (text: string, asText: boolean): string => (asText ? `"${text}"` : text)

function textOf(value: number | bigint, scale: number): string {
  if (scale === 0) return String(value)
  const digits = String(value < 0 ? -value : value).padStart(scale + 1, '0')
  return `${value < 0 ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** Rounded to the nearest integer, halves away from zero. */
function quotient(dividend: bigint, divisor: bigint): bigint {
  const half = dividend < 0n ? -divisor : divisor
  return (2n * dividend + half) / (2n * divisor)
}
