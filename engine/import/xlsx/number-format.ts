/** Meaning of a number in a cell: itself, an amount of money, a day with or without a time, a time alone, or a time that passes midnight. */
type NumberKind = 'number' | 'money' | 'date' | 'clock' | 'duration'

export interface NumberFormat {
  readonly kind: NumberKind
  /** Decimal places that an amount of money is shown with. */
  readonly places: number
}

/** Formats without a code that show dates and times, some of them only in East Asia. Source: ECMA-376, part 1, 18.8.30. */
const BUILT_IN: readonly (readonly [first: number, last: number, kind: NumberKind, places?: number])[] = [
  [5, 6, 'money'],
  [7, 8, 'money', 2],
  [14, 17, 'date'],
  [18, 21, 'clock'],
  [22, 22, 'date'],
  [27, 31, 'date'],
  [32, 33, 'clock'],
  [34, 36, 'date'],
  [42, 42, 'money'],
  [44, 44, 'money', 2],
  [45, 45, 'clock'],
  // `[h]:mm:ss`
  [46, 46, 'duration'],
  [47, 47, 'clock'],
  [50, 58, 'date'],
]

/** Format of a number whose code is not in the file. */
export function formatOfBuiltIn(id: number): NumberFormat {
  const [, , kind = 'number', places = 0] = BUILT_IN.find(([first, last]) => id >= first && id <= last) ?? []
  return { kind, places }
}

/** Format of a number by its code: `yyyy-mm-dd`, `[h]:mm`, `#,##0.00 €`, `0.00 "days"`. */
export function formatOfCode(code: string): NumberFormat {
  const kind = kindOfCode(code)
  return { kind, places: kind === 'money' ? (/\.(0+)/.exec(code.replace(LITERAL, ''))?.[1]?.length ?? 0) : 0 }
}

/** Texts within a format, which are shown as they are. */
const LITERAL = /"[^"]*"|\\.|[_*]./gs
const ELAPSED = /\[(?:h+|m+|s+)\]/i
/** Colours, conditions, currencies and languages. */
const BRACKETED = /\[[^\]]*\]/g
const FRACTION_OF_SECONDS = /s[.,]0+/gi
/** Minutes, which are next to hours or seconds; the same letter elsewhere is a month. */
const MINUTES = /(h[^a-z]*)m{1,2}|m{1,2}([^a-z]*s)/gi

function kindOfCode(code: string): NumberKind {
  const plain = code.replace(LITERAL, '')
  // Time sheets may have a section for times below a day.
  if (ELAPSED.test(plain)) return 'duration'
  const letters = plain.split(';')[0]!.replace(BRACKETED, '').replace(FRACTION_OF_SECONDS, 's')
  if (/[0#?@]|general/i.test(letters)) return isMoney(code) ? 'money' : 'number'
  if (!/[dmyhs]/i.test(letters)) return 'number'
  const others = letters.replace(MINUTES, '$1$2').replace(/am\/pm|a\/p/gi, '')
  return /[hs]/i.test(others) && !/[dmyegb]/i.test(others) ? 'clock' : 'date'
}

/** Currency in brackets, with or without a language: `[$€-407]`, `[$CHF]`. */
const CURRENCY = /\[\$([^\]-]+)(?:-[^\]]*)?\]/
/** Codes of currencies; every browser and Node.js have the list. */
const CODES = new Set(Intl.supportedValuesOf('currency'))

/** True for a format of numbers with a currency, as a sign or as a code: `$#,##0.00`, `0.00 "EUR"`; not for a share of 100. */
function isMoney(code: string): boolean {
  if (code.includes('%')) return false
  // A gap as wide as a sign shows none.
  if (CURRENCY.test(code) || /\p{Sc}/u.test(code.replace(/[_*]./g, ''))) return true
  return (code.match(/"[^"]*"/g) ?? []).some(text => CODES.has(text.slice(1, -1).trim()))
}
