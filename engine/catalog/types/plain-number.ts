import { NUMBER } from './operand.ts'

/** Maximum length of a text for which a number is proposed. */
const MAX_LENGTH = 100
/** Groups of two or three digits, the last one of three: `1,000,000`, `10,00,000`, `1_000.5`. */
const GROUPED = /^[+-]?\d{1,3}(?:[,_'\u2019 ]\d{2,3})*[,_'\u2019 ]\d{3}(?:\.\d+)?$/
const SEPARATOR = /[,_'\u2019 ]/g
/** More than one point, so that none of them is the decimal one: `1.000.000`. */
const GROUPED_BY_POINTS = /^[+-]?\d{1,3}(?:\.\d{3}){2,}$/
const WITH_SUFFIX = /^([+-]?\d+(?:\.\d+)?) ?([kKMB])$/
const EXPONENT: Readonly<Record<string, string>> = { k: 'e3', K: 'e3', M: 'e6', B: 'e9' }

/** True for digits in groups, which people read as one number. */
export const isGrouped = (text: string): boolean => text.length <= MAX_LENGTH && GROUPED.test(text)

/**
 * The number that a person probably means by a text that is not a valid number, in valid form: 1500000 for `1,500,000` and `1.5M`. Only for
 * messages, since the text may mean something else.
 */
export function plainNumber(text: string): string | undefined {
  if (text.length > MAX_LENGTH || NUMBER.test(text)) return undefined
  // Fullwidth digits, no-break spaces, the minus sign of Unicode.
  const usual = text.normalize('NFKC').trim().replace('\u2212', '-')
  const number = GROUPED.test(usual)
    ? usual.replace(SEPARATOR, '')
    : GROUPED_BY_POINTS.test(usual)
      ? usual.replaceAll('.', '')
      : withoutSuffix(usual)
  return NUMBER.test(number) ? number : undefined
}

function withoutSuffix(text: string): string {
  const [, amount, suffix] = WITH_SUFFIX.exec(text) ?? []
  return suffix === undefined ? text : String(Number(`${amount}${EXPONENT[suffix]!}`))
}
