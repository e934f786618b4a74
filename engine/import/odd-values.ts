import { isLongNumber } from '../base/exact-json.ts'
import { excerpt } from '../base/text/excerpt.ts'
import { splitAmount } from './amounts.ts'
import type { ForeignFormat } from './foreign-values.ts'
import { NUMERIC } from './guess-format.ts'
import type { ValueSource } from './guess-type.ts'
import { cellText } from './table-file.ts'
import { FORMS } from './value-form.ts'

/** Minimum number of values of a column of which some are odd. */
const MIN_VALUES = 4
/** Maximum share of odd values. */
const MAX_ODD = 0.2

/**
 * Clause about the few values for whose sake a column is a string, because nearly all others are dates, amounts or numbers: a typing error, a
 * remark or the sum below a table. Undefined for a column of texts.
 */
export function oddValues(
  values: readonly unknown[],
  { isTyped }: ValueSource,
  format: ForeignFormat,
): string | undefined {
  const filledValues = values.filter(value => value !== null && value !== undefined && value !== '')
  if (filledValues.length < MIN_VALUES) return undefined
  const currency = commonCurrency(filledValues)
  const kinds: readonly [name: string, is: (value: unknown) => boolean][] = [
    ['dates', value => typeof value === 'string' && isDate(value, format)],
    [`amounts in ${currency}`, value => currency !== undefined && splitAmount(cellText(value))?.currency === currency],
    ['numbers', value => (isTyped ? isTypedNumber(value) : isNumber(cellText(value)))],
  ]
  for (const [name, is] of kinds) {
    const odd = filledValues.filter(value => !is(value))
    if (odd.length === 0 || odd.length > filledValues.length * MAX_ODD) continue
    // Codes among numbers, such as postcodes with leading zeros, are right as they are.
    if (name === 'numbers' && odd.some(value => CODE.test(cellText(value)))) continue
    const count = `${filledValues.length - odd.length} of ${filledValues.length} values are ${name}`
    return `${count}, ${JSON.stringify(excerpt(cellText(odd[0])))} is not`
  }
  return undefined
}

const isTypedNumber = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'bigint' || isLongNumber(value)

const CODE = /^[+\d][\d\s./()-]*$/

const isNumber = (text: string): boolean => NUMERIC.test(text.trim()) && !/^[+-]?0\d/.test(text.trim())

/** True for a date in any order of day and month. */
const isDate = (text: string, format: ForeignFormat): boolean =>
  FORMS.date!(text, format) || (['dmy', 'mdy'] as const).some(dates => FORMS.date!(text, { dates }))

/** Currency of most amounts, by the first ones. */
function commonCurrency(values: readonly unknown[]): string | undefined {
  for (const value of values.slice(0, 3)) {
    const currency = typeof value === 'string' ? splitAmount(value)?.currency : undefined
    if (currency !== undefined) return currency
  }
  return undefined
}
