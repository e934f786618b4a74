import { InputError } from '../base/input-error.ts'
import { excerpt } from '../base/text/excerpt.ts'

/** A number with a currency, as `$13.37`, `1.234,50 €` or `($5.00)`. */
interface Amount {
  readonly currency: string
  readonly number: string
}

/** Words for currencies that are recognized without an option; three letters may be a unit as well. */
const WORDS =
  'EUR|USD|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|HUF|RON|TRY|CAD|AUD|NZD|INR|BRL|MXN|ZAR|Fr\\.|kr\\.?|zł|Kč|Ft|lei'
const CURRENCY = String.raw`(?:\p{L}{0,3}\p{Sc}|${WORDS})`
const NUMBER = String.raw`[\d.,\s'’]*\d`
/** No amount is longer; the expression takes long for long texts. */
const MAX_LENGTH = 48
const AMOUNT = new RegExp(
  String.raw`^(?<sign>[-+]|\()?\s*(?:(?<before>${CURRENCY})\s*(?<inner>[-+])?\s*(?<second>${NUMBER})|(?<first>${NUMBER})\s*(?<after>${CURRENCY}))(?<end>\))?$`,
  'u',
)

/**
 * Splits an amount; undefined for any other text. Brackets are the minus of accountants.
 * @param given currencies besides those that are recognized
 */
export function splitAmount(text: string, given: readonly string[] = []): Amount | undefined {
  if (text.length > MAX_LENGTH) return undefined
  for (const currency of given) {
    const amount = text.includes(currency) ? split(text.replace(currency, ANY_CURRENCY)) : undefined
    if (amount?.currency === ANY_CURRENCY) return { ...amount, currency }
  }
  return split(text)
}

/** @throws {InputError} a text is not a currency: a digit of a number would be left out with it */
export function checkCurrencies(currencies: readonly string[] = []): void {
  const wrong = currencies.find(text => !/^[^\d\s.,'’+()-][^\d]{0,9}$/u.test(text))
  if (wrong !== undefined)
    throw new InputError(`${JSON.stringify(excerpt(wrong))} is not a currency: give signs or words such as $,€,EUR,kr.`)
}

/** The sign of Unicode for a currency without a sign. */
const ANY_CURRENCY = '¤'

function split(text: string): Amount | undefined {
  const groups: Readonly<Record<string, string | undefined>> | undefined = AMOUNT.exec(text.trim())?.groups
  if (!groups) return undefined
  const { sign, before, inner, second, first, after, end } = groups
  if ((sign === '(') !== (end !== undefined) || (sign !== undefined && inner !== undefined)) return undefined
  const isNegative = sign === '-' || sign === '(' || inner === '-'
  return { currency: (before ?? after)!, number: `${isNegative ? '-' : ''}${(first ?? second)!.trim()}` }
}

/** The currency of all texts; undefined if a text is not an amount, or is one in another currency. */
export function currencyOf(texts: readonly string[], given?: readonly string[]): string | undefined {
  const currency = texts.length > 0 ? splitAmount(texts[0]!, given)?.currency : undefined
  const isSame = (text: string): boolean => splitAmount(text, given)?.currency === currency
  return currency !== undefined && texts.every(isSame) ? currency : undefined
}

/** The texts that are amounts in one of the given currencies. */
export const amountsIn = (texts: readonly string[], currencies: readonly string[]): string[] =>
  texts.filter(text => currencies.includes(splitAmount(text, currencies)?.currency ?? ''))
