/** Meaning of a number in a cell: itself, a day or time of day, or a time that passes midnight. */
export type NumberKind = 'number' | 'date' | 'duration'

/** Formats without a code that show dates and times, some of them only in East Asia. Source: ECMA-376, part 1, 18.8.30. */
const BUILT_IN_DATES: readonly (readonly [number, number])[] = [
  [14, 22],
  [27, 36],
  [45, 45],
  [47, 47],
  [50, 58],
]
/** `[h]:mm:ss` */
const BUILT_IN_DURATION = 46

/** Kind of the numbers with a format that has no code in the file. */
export function kindOfBuiltIn(id: number): NumberKind {
  if (id === BUILT_IN_DURATION) return 'duration'
  return BUILT_IN_DATES.some(([first, last]) => id >= first && id <= last) ? 'date' : 'number'
}

/** Texts within a format, which are shown as they are. */
const LITERAL = /"[^"]*"|\\.|[_*]./gs
const ELAPSED = /\[(?:h+|m+|s+)\]/i
/** Colours, conditions, currencies and languages. */
const BRACKETED = /\[[^\]]*\]/g
const FRACTION_OF_SECONDS = /s[.,]0+/gi

/** Kind of the numbers with a format, by its first section: `yyyy-mm-dd`, `[h]:mm`, `0.00 "days"`. */
export function kindOfFormat(code: string): NumberKind {
  const section = code.replace(LITERAL, '').split(';')[0]!
  if (ELAPSED.test(section)) return 'duration'
  const letters = section.replace(BRACKETED, '').replace(FRACTION_OF_SECONDS, 's')
  const isNumber = /[0#?@]|general/i.test(letters)
  return !isNumber && /[dmyhs]/i.test(letters) ? 'date' : 'number'
}
