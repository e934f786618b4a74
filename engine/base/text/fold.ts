/**
 * The fold of a text: what equality, wildcards, keywords, order, distinct and uniqueness compare.
 * NFD, combining marks removed, lower case, nothing else (ø ≠ o, ß ≠ ss). Text sorts by the UTF-16 code units of its fold.
 *
 * A text that begins with another also does so folded: no letter's fold depends on what follows it.
 *
 * Cost: O(length), whatever the text.
 */
export function fold(text: string): string {
  // Most text is plain ASCII, for which lower case is the whole fold.
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return foldUnicode(text)
  return text.toLowerCase()
}

function foldUnicode(text: string): string {
  // Normalisation sorts each run of combining marks by insertion, which is quadratic in its length. Marks are removed at the end
  // anyway, so those of a long text are removed first; only the few that letters decompose into are left to be sorted.
  const letters = text.length > SHORT ? text.replace(COMBINING_MARK, '') : text
  // A sigma becomes ς at the end of a word and σ elsewhere when lowercased, so "ΟΔΟΣ" would not be a prefix of "ΟΔΟΣΑ".
  // Lowercasing never yields a letter that decomposes.
  return letters.normalize('NFD').replace(COMBINING_MARK, '').toLowerCase().replaceAll('ς', 'σ')
}

/** Texts up to this length, in UTF-16 code units, need no protection against slow normalisation. */
const SHORT = 64
/** Matches one mark at a time: for a repetition V8 keeps a stack that millions of marks overflow. */
const COMBINING_MARK = /\p{M}/gu

/** Order of folded texts: by UTF-16 code units, as `<` does for strings. */
export const compareFolded = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
