import { number } from './cells.ts'
import type { Cell, SourceType } from './source.ts'

/** Maximum number of digits of a decimal attribute. */
const MAX_DIGITS = 18
/** Digits of a number that clients read as a double without rounding it. */
const DOUBLE_DIGITS = 15
/** Decimal places of a column that has no values and whose type does not specify them. */
const DEFAULT_SCALE = 4

/**
 * Type for exact numbers: a decimal attribute if all values fit into its 18 digits, otherwise a string, which keeps all digits.
 * @param precision number of digits; undefined if any number is possible
 * @param aggregatesOf SQL of the greatest number of decimal places, and of digits before the point, of a column's values
 */
export function decimalType(
  precision: number | undefined,
  scale: number | undefined,
  aggregatesOf: (quotedName: string) => readonly [string, string],
): SourceType {
  if (precision !== undefined && scale !== undefined && precision <= MAX_DIGITS && scale >= 0 && scale <= precision)
    return decimal(scale, precision)
  return {
    ...asText,
    generalType: asNumber,
    measure: {
      aggregates: aggregatesOf,
      decide: ([places, digits]) => decide(places, digits),
    },
  }
}

function decide(places: Cell | undefined, digits: Cell | undefined): SourceType {
  if (places === null || places === undefined) return decimal(DEFAULT_SCALE, MAX_DIGITS)
  const scale = Number(places)
  const wholeDigits = Math.max(Number(digits), 1)
  if (scale + wholeDigits <= MAX_DIGITS)
    return {
      ...decimal(scale, MAX_DIGITS),
      note: `is a decimal with ${scale} places and ${MAX_DIGITS} digits in all, as its values are`,
    }
  return { ...asText, note: `has numbers of more than ${MAX_DIGITS} digits: a string keeps them` }
}

const decimal = (scale: number, precision: number): SourceType => ({
  attribute: { type: 'decimal', scale, ...(precision > DOUBLE_DIGITS && { asText: true }) },
  cell: number,
})

const asNumber: SourceType = {
  attribute: { type: 'number' },
  cell: number,
  note: 'can have more than 18 digits: a number of double precision, which keeps 15 of them',
}

const asText: SourceType = { attribute: { type: 'string' }, cell: number }
