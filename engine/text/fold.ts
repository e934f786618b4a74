/**
 * The fold of a text: what equality, wildcards, keywords, order, distinct and uniqueness compare.
 * NFD, combining marks removed, lower case, nothing else (ø ≠ o, ß ≠ ss). Text sorts by the UTF-16 code units of its fold.
 *
 * A text that begins with another also does so folded: no letter's fold depends on what follows it.
 */
export function fold(text: string): string {
  // Most text is plain ASCII, for which lower case is the whole fold.
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return foldUnicode(text)
  return text.toLowerCase()
}

function foldUnicode(text: string): string {
  // A lower-case letter can be composed again, hence the second round. A sigma is lowered to ς at the end of a word and to
  // σ elsewhere, which would keep "ΟΔΟΣ" from being the beginning of "ΟΔΟΣΑ".
  return stripMarks(stripMarks(text).toLowerCase()).replaceAll('ς', 'σ')
}

const stripMarks = (text: string): string => text.normalize('NFD').replace(COMBINING_MARKS, '')
const COMBINING_MARKS = /\p{M}+/gu

/** Order of folded texts: by UTF-16 code units, as `<` does for strings. */
export const compareFolded = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
