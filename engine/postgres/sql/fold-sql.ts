/**
 * The fold of a text as SQL, equal to `engine/base/text/fold.ts` in its comparisons. Texts sort by the code units of their UTF-16; a
 * collation "C" compares code points. Characters from U+E000 to U+FFFF, which code points put before those beyond, are therefore
 * marked by a last code point in front of them.
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
    text += code - 1 === start ? escaped(start) : `${escaped(start)}-${escaped(code - 1)}`
    start = -1
  }
  return text
}

const escaped = (code: number): string =>
  code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`

let marks: string | undefined
let letters: string | undefined

/** Bracket expression of the marks that a fold removes. */
const markClass = (): string => {
  marks ??= ranges(/^\p{M}$/u)
  return `[${marks}]`
}

/** Inside of the bracket expression of letters and digits, of which words are made. */
export const letterRanges = (): string => {
  letters ??= ranges(/^[\p{L}\p{N}]$/u)
  return letters
}

const LAST = '\u{10ffff}'
/** Follows a last code point that is in the text itself. No folded text has marks. */
const MARK = '\u0300'

/** A folded text in the form of {@link foldExpression}. */
export const toStored = (folded: string): string =>
  folded.replaceAll(LAST, LAST + MARK).replace(/[\ue000-\uffff]/g, `${LAST}$&`)

/** Reverses {@link toStored}. */
export const fromStored = (text: string): string =>
  text.replace(/\u{10ffff}(\u0300?)/gu, (_, mark: string) => (mark === '' ? '' : LAST))

/** @param text SQL of type `text` */
export function foldExpression(text: string): string {
  const letters = `lower(regexp_replace(normalize(${text} COLLATE "C", NFD), '${markClass()}', '', 'g') COLLATE "und-x-icu")`
  const marked = `replace(replace(${letters}, E'\\u03c2', E'\\u03c3'), E'\\U0010FFFF', E'\\U0010FFFF\\u0300')`
  const folded = `regexp_replace(${marked}, '([\\ue000-\\uffff])', E'\\U0010FFFF\\\\1', 'g')`
  return `(CASE WHEN octet_length(${text}) = length(${text}) THEN lower(${text} COLLATE "C") ELSE ${folded} COLLATE "C" END)`
}

/** Statements that let indexes serve comparisons of texts: `CREATE INDEX ON film (tesser.fold(title))`. */
export const FOLD_FUNCTION = `CREATE SCHEMA IF NOT EXISTS tesser;
CREATE OR REPLACE FUNCTION tesser.fold(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $fold$
SELECT ${foldExpression('$1')}
$fold$;`
