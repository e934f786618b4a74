import type { DateOrder } from '../base/row-formats.ts'
import { amountsIn, checkCurrencies, currencyOf, splitAmount } from './amounts.ts'
import { foreignDate, TWO_CENTURIES } from './foreign-dates.ts'
import type { ForeignFormat } from './foreign-values.ts'

/** Values of a column of CSV in a sample; null for an empty field. */
type ColumnTexts = readonly (string | null)[]

/** Texts that represent a missing value in columns of other values. */
export const NULL_TEXTS = new Set([
  '',
  '-',
  '?',
  'N/A',
  'n/a',
  'NA',
  '#N/A',
  'NULL',
  'null',
  'NaN',
  'nan',
  'None',
  '\\N',
])

/** A question that the sample leaves to the user. */
export interface OpenQuestion {
  /** One sentence, with the options that answer it. */
  readonly text: string
  /** Indexes of the columns that it is about. */
  readonly columns: readonly number[]
}

interface GuessedFormat extends ForeignFormat {
  readonly open: readonly OpenQuestion[]
}

export const NUMERIC = /^[+-]?(?:\d+|\d{1,3}(?:[.,\s'’]\d{3})+)(?:[.,]\d+)?$/
const DAY = /^\d{1,2}([./-])\d{1,2}\1\d{4}(?:[ T]\d{1,2}:.*)?$/
/** The same, also with two digits of the year. */
const ANY_DAY = /^(\d{1,2})([./-])(\d{1,2})\2(?:\d{4}|\d\d)(?:[ T]\d{1,2}:.*)?$/
/** Numbers that look like a date without a century; with single digits between points they are more often versions. */
const SHORT_DAY = /^(?:\d{1,2}([/-])\d{1,2}\1\d\d|\d\d\.\d\d\.\d\d)(?:[ T]\d{1,2}:.*)?$/

/**
 * Decides how numbers and dates are written, based on values with only one possible meaning: `25/12/2024` decides, `03/04/2024` does not.
 * @param chosenFormat options that need no guess
 */
export function guessFormat(columns: readonly ColumnTexts[], chosenFormat: ForeignFormat): GuessedFormat {
  checkCurrencies(chosenFormat.currencies)
  const open: OpenQuestion[] = []
  const filledColumns = columns.map(column =>
    column.flatMap(value => (value === null || NULL_TEXTS.has(value.trim()) ? [] : [value.trim()])),
  )
  const { years, nulls } = chosenFormat
  const currencies = chosenFormat.currencies ?? currenciesIn(filledColumns)
  const numbers = filledColumns.map(column => {
    // If an option names currencies, other values beside the amounts do not matter.
    const amounts = chosenFormat.currencies ? amountsIn(column, chosenFormat.currencies) : []
    return numbersOf(amounts.length > 0 ? amounts : column, currencies)
  })
  const decimal = chosenFormat.decimal ?? decide(DECIMAL, numbers, open)
  const dates = chosenFormat.dates ?? decide(datesWith(years), filledColumns, open)
  if (years === undefined) decide(YEARS, filledColumns, open)
  return { decimal, dates, years, currencies, nulls, open }
}

/** Currencies of columns that have only amounts in one currency each. */
function currenciesIn(columns: readonly (readonly string[])[]): string[] | undefined {
  const all = new Set(columns.flatMap(column => currencyOf(column) ?? []))
  return all.size > 0 ? [...all] : undefined
}

/** Values of a column, the amounts without their currencies. */
function numbersOf(column: readonly string[], currencies: readonly string[] = []): readonly string[] {
  const currency = currencies.length > 0 ? currencyOf(column, currencies) : undefined
  return currency !== undefined && currencies.includes(currency)
    ? column.map(text => splitAmount(text, currencies)!.number)
    : column
}

/** A question about a format, and how values answer it. */
interface Question<Answer extends string> {
  /** Form that all values of a column must have for the column to be considered. */
  readonly form: Pick<RegExp, 'test'>
  /** @returns null for an ambiguous value, undefined for one that does not concern the question */
  answer(text: string): Answer | null | undefined
  /** @param text ambiguous value, or one for each answer */
  ask(texts: readonly string[]): string
}

const DECIMAL: Question<'.' | ','> = {
  form: NUMERIC,
  answer(text) {
    const marks = text.replace(/[^.,'’\s]/g, '')
    const last = marks.at(-1)
    if (last !== '.' && last !== ',') return undefined
    const digits = text.length - text.lastIndexOf(last) - 1
    const other = last === '.' ? ',' : '.'
    // A repeated mark separates groups, as in 1,234,567.
    if (marks.length > 1 && marks[0] === last) return other
    if (marks.length > 1 || digits !== 3) return last
    const integerPart = text.slice(0, text.indexOf(last)).replace(/^[+-]/, '')
    if (integerPart.length > 3 || integerPart.startsWith('0')) return last
    // Most programs write a lone point as the decimal separator.
    return last === '.' ? undefined : null
  },
  ask: texts =>
    texts.length > 1
      ? `numbers have a point, as ${texts[0]}, and a comma, as ${texts[1]}: --decimal . or --decimal , decides`
      : `${texts[0]} may have thousands or decimals after its comma: --decimal . or --decimal , decides`,
}

/** Years of two digits count only if an option says what they mean. */
const datesWith = (years: number | undefined): Question<DateOrder> => ({
  form: years === undefined ? DAY : ANY_DAY,
  answer(text) {
    const [, first, separator, second] = ANY_DAY.exec(text)!
    if (separator === '.' || Number(first) > 12) return 'dmy'
    return Number(second) > 12 ? 'mdy' : null
  },
  ask: texts =>
    texts.length > 1
      ? `dates have the day first, as ${texts[0]}, and the month first, as ${texts[1]}: --dates dmy or --dates mdy decides`
      : `${texts[0]} may have the day or the month first: --dates dmy or --dates mdy decides`,
})

/** The option for years of two digits has no answer in the values. */
const YEARS: Question<never> = {
  form: { test: text => SHORT_DAY.test(text) || foreignDate(text, {}) !== undefined },
  answer: text => (SHORT_DAY.test(text) || foreignDate(text, {}) === TWO_CENTURIES ? null : undefined),
  ask: ([text]) => `${text} has a year of two digits: --years 1930 reads such years as those from 1930 to 2029`,
}

function decide<Answer extends string>(
  { form, answer, ask }: Question<Answer>,
  columns: readonly (readonly string[])[],
  open: OpenQuestion[],
): Answer | undefined {
  const answers = new Map<Answer, string>()
  let ambiguous: string | undefined
  const asked: number[] = []
  for (const [index, column] of columns.entries()) {
    if (column.length === 0 || !column.every(text => form.test(text))) continue
    if (column.some(text => answer(text) !== undefined)) asked.push(index)
    for (const text of column) {
      const one = answer(text)
      if (one === null) ambiguous ??= text
      else if (one !== undefined && !answers.has(one)) answers.set(one, text)
    }
  }
  const texts =
    answers.size > 1
      ? [...answers].sort(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b)).map(([, text]) => text)
      : answers.size === 0 && ambiguous !== undefined
        ? [ambiguous]
        : undefined
  if (texts) open.push({ text: ask(texts), columns: asked })
  return answers.size === 1 ? answers.keys().next().value : undefined
}

const ORDER: readonly string[] = ['.', ',', 'dmy', 'mdy']
