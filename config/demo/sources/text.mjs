/** Folded text, as the server compares texts: no accents, lower case. Source: design decisions, query semantics. */
export const fold = text =>
  text
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()

/** Words of a text, folded, each between blanks, so that `includes` finds whole words only. */
export const words = text =>
  ` ${
    fold(text)
      .match(/[\p{L}\p{N}]+/gu)
      ?.join(' ') ?? ''
  } `

/** Order by code units, which is the same on every machine. */
export const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0)

/** Order by the fold of a text, then by the text itself. */
export const compareText = (a, b) => compare(fold(a), fold(b)) || compare(a, b)

/** Joins items as in `a, b and c`. */
export const enumerate = items =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
