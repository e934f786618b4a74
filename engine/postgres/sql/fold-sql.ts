/**
 * The fold of a text as SQL, equal to `engine/base/text/fold.ts` in its comparisons. Texts sort by their UTF-16 code units; a collation "C"
 * compares code points. Characters from U+E000 to U+FFFF, which sort before all higher ones by code point, therefore get the last code
 * point as a prefix.
 */

/** Ranges of the code points that a test finds, as the inside of a bracket expression of PostgreSQL. */
function ranges(pattern: RegExp): string {
  let text = ''
  let start = -1
  for (let code = 1; code <= 0x110000; code++) {
    const isSurrogate = code >= 0xd800 && code <= 0xdfff
    const isFound = code < 0x110000 && !isSurrogate && pattern.test(String.fromCodePoint(code))
    if (isFound && start < 0) start = code
    if (isFound || start < 0) continue
    text += code - 1 === start ? escapeCode(start) : `${escapeCode(start)}-${escapeCode(code - 1)}`
    start = -1
  }
  return text
}

const escapeCode = (code: number): string =>
  code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`

let marks: string | undefined
let between: string | undefined

/** Expression of the marks that a fold removes, one by one. */
export const markClass = (): string => {
  marks ??= `[${ranges(/^\p{M}$/u)}]`
  return marks
}

/** Expression of the characters between words: neither letters nor digits. */
export const betweenWords = (): string => {
  between ??= `[^${ranges(/^[\p{L}\p{N}]$/u)}]+`
  return between
}

const LAST = '\u{10ffff}'
/** Follows {@link LAST} itself: a code point without a character, below the code points that are marked. */
const ITSELF = '\ud7ff'

/** A folded text in the form of {@link foldExpression}. */
export const toStored = (foldedText: string): string =>
  foldedText.replaceAll(LAST, LAST + ITSELF).replace(/[\ue000-\uffff]/g, `${LAST}$&`)

/** Reverses {@link toStored}. */
export const fromStored = (text: string): string =>
  text.replace(/\u{10ffff}(\ud7ff?)/gu, (_, itself: string) => (itself === '' ? '' : LAST))

/** Maximum length of a text whose marks are sorted in negligible time. */
const SHORT = 64

/** SQL of a fold by a call of the function. @param text SQL of type `text` */
export const foldCall = (text: string): string => `(tesser.fold(${text}) COLLATE "C")`

/** @param unsortedText SQL of type `text` @param marks SQL of {@link markClass} */
export function foldExpression(unsortedText: string, marks: string): string {
  // The collation of the column may not support regular expressions.
  const text = `(${unsortedText} COLLATE "C")`
  const withoutMarks = (each: string): string => `regexp_replace(${each}, ${marks}, '', 'g')`
  // Normalisation sorts runs of marks in quadratic time, as it does in the engine.
  const short = `CASE WHEN length(${text}) > ${SHORT} THEN ${withoutMarks(text)} ELSE ${text} END`
  const letters = `lower(${withoutMarks(`normalize(${short}, NFD)`)} COLLATE "und-x-icu")`
  const foldedLetters = `replace(replace(${letters}, E'\\u03c2', E'\\u03c3'), E'\\U0010FFFF', E'\\U0010FFFF\\uD7FF')`
  const markedText = `regexp_replace(${foldedLetters}, '([\\ue000-\\uffff])', E'\\U0010FFFF\\\\1', 'g')`
  return `(CASE WHEN octet_length(${text}) = length(${text}) THEN lower(${text} COLLATE "C") ELSE ${markedText} COLLATE "C" END)`
}

/**
 * Statements that let indexes serve comparisons of texts: `CREATE INDEX ON film (tesser.fold(title) COLLATE "C")`. The function is not
 * declared as strict, so that PostgreSQL inlines its expression, which takes an eighth of the time.
 */
export const foldFunction = (): string => `CREATE SCHEMA IF NOT EXISTS tesser;
CREATE OR REPLACE FUNCTION tesser.fold(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fold$
SELECT ${foldExpression('$1', `'${markClass()}'`)}
$fold$;`
