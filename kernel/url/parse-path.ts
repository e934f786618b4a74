import type { ProtocolError } from '../../engine/index.ts'
import {
  AMPERSAND,
  COLON,
  COMMA,
  codeAt,
  DOLLAR,
  DOUBLE_QUOTE,
  decode,
  isEncoded,
  isWordCharacter,
  next,
  SINGLE_QUOTE,
  SLASH,
} from './characters.ts'
import { shorten, UrlErrors } from './url-errors.ts'

/** Resource of a request. `parts` are the segments after the first, decoded: `att1,att2`, `$entityset`, an ID. */
export type ResourcePath =
  | { kind: 'service'; name: string; parts: string[] }
  | { kind: 'dataClass'; dataClass: string; selector: Selector; parts: string[] }

export type Selector =
  /** `Person`, or `Person()` with empty brackets. */
  | { kind: 'all'; blank?: true }
  /** `Person(1)`, `Person["a","b"]`: one or more. */
  | { kind: 'keys'; keys: string[] }
  /** `Person:email("ada@example.org")` */
  | { kind: 'attribute'; attribute: string; value: string }

/** Maximum number of parts. The longest addresses of the protocol have five; every part is looked up, or read as a list. */
const MAX_PARTS = 32

/** Path after `/rest`; undefined for a path outside of it, such as `/restaurant`. */
export function stripRestPrefix(rawPath: string): string | undefined {
  let start = 0
  while (rawPath.charCodeAt(start) === SLASH && rawPath.charCodeAt(start + 1) === SLASH) start++
  const end = start + '/rest'.length
  if (!rawPath.startsWith('/rest', start)) return undefined
  return end === rawPath.length || rawPath.charCodeAt(end) === SLASH ? rawPath.slice(end) : undefined
}

/**
 * Parses the rest of a raw path after `/rest`.
 *
 * - Brackets are `(…)` or `[…]`. Encoded brackets are brackets too, but the closing bracket has the form of the opening one: in
 *   `City(a%29b)` the key is `a)b`. The same applies to the commas between keys.
 * - Quotes, raw or encoded, around a key are removed and protect the text inside; the closing quote has the form of the opening
 *   one. A quote inside a key is part of it: `Author(O'Reilly)`. So are blanks, which can only occur encoded.
 * - Empty segments are ignored. A first segment that begins with `$` is a service.
 *
 * @throws {UrlErrors.MALFORMED_PATH} 1806
 * @throws {UrlErrors.TOO_MANY_PARTS} 1806
 * @throws {UrlErrors.EMPTY_PATH} 1806
 * @throws {UrlErrors.MALFORMED_ENCODING} 1806
 * @throws {UrlErrors.AMPERSAND_IN_PATH} 1807
 * @throws {UrlErrors.UNCLOSED_SINGLE_QUOTE} 1808
 * @throws {UrlErrors.UNCLOSED_DOUBLE_QUOTE} 1809 Source: protocol notes, 1.1, 1.4, 1.5, 1.8; base specification, 4.2.
 */
export function parsePath(rawPath: string): ResourcePath {
  let start = 0
  while (rawPath.charCodeAt(start) === SLASH) start++
  if (start >= rawPath.length) throw UrlErrors.EMPTY_PATH()
  if (codeAt(rawPath, start) === DOLLAR) {
    const end = endOfPart(rawPath, start)
    return { kind: 'service', name: decode(rawPath.slice(start, end)), parts: readParts(rawPath, end) }
  }
  const nameEnd = endOfName(rawPath, start)
  if (nameEnd === start) throw malformedPath(rawPath, start, 'the name of a dataclass')
  const dataClass = decode(rawPath.slice(start, nameEnd))
  const { selector, end } = readSelector(rawPath, nameEnd)
  if (end < rawPath.length && rawPath.charCodeAt(end) !== SLASH) throw malformedPath(rawPath, end, '"/" or the end')
  return { kind: 'dataClass', dataClass, selector, parts: readParts(rawPath, end) }
}

type Selected = { selector: Selector; end: number }

function readSelector(raw: string, start: number): Selected {
  if (codeAt(raw, start) === COLON) return readAttributeSelector(raw, next(raw, start))
  if (closingBracket(codeAt(raw, start)) === undefined) return { selector: { kind: 'all' }, end: start }
  const { texts, end } = readBrackets(raw, start, true)
  return { selector: texts.length > 0 ? { kind: 'keys', keys: texts } : { kind: 'all', blank: true }, end }
}

function readAttributeSelector(raw: string, start: number): Selected {
  const open = endOfName(raw, start)
  if (open === start) throw malformedPath(raw, start, 'the name of an attribute')
  if (closingBracket(codeAt(raw, open)) === undefined) throw malformedPath(raw, open, 'a value in brackets: "("')
  const { texts, end } = readBrackets(raw, open, false)
  const value = texts[0]
  if (value === undefined) throw malformedPath(raw, end - 1, 'a value; an empty one is written ("")')
  return { selector: { kind: 'attribute', attribute: decode(raw.slice(start, open)), value }, end }
}

/** Texts between the brackets that open at `start`, none for empty brackets, and the index after the brackets. */
function readBrackets(raw: string, start: number, severalTexts: boolean): { texts: string[]; end: number } {
  const close = closingBracket(codeAt(raw, start))!
  const encoded = isEncoded(raw, start)
  const separates = (i: number, separator: number): boolean =>
    codeAt(raw, i) === separator && (encoded || !isEncoded(raw, i))
  const ends = (i: number): boolean => separates(i, close) || (severalTexts && separates(i, COMMA))

  const texts: string[] = []
  for (let i = next(raw, start); ; ) {
    const textStart = i
    const quote = codeAt(raw, textStart)
    const isQuoted = quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE
    const isQuoteEncoded = isEncoded(raw, textStart)
    // The closing quote is the first one before a separator, so that `("it"s")` needs no escape.
    const closes = (i: number): boolean =>
      codeAt(raw, i) === quote && isEncoded(raw, i) === isQuoteEncoded && ends(next(raw, i))
    i = isQuoted ? next(raw, textStart) : textStart
    while (i < raw.length && !(isQuoted ? closes(i) : ends(i))) i = next(raw, i)
    if (i >= raw.length) {
      if (!isQuoted) throw malformedPath(raw, raw.length, `a closing "${String.fromCharCode(close)}"`)
      throw unclosedQuote(quote, textStart)
    }
    const text = decode(raw.slice(isQuoted ? next(raw, textStart) : textStart, i))
    if (isQuoted) i = next(raw, i)
    const isLast = codeAt(raw, i) === close
    const isNothing = text === '' && !isQuoted
    if (isNothing && !(isLast && texts.length === 0))
      throw malformedPath(raw, textStart, 'a key; an empty one is written ""')
    if (!isNothing) texts.push(text)
    i = next(raw, i)
    if (isLast) return { texts, end: i }
  }
}

function readParts(raw: string, start: number): string[] {
  const parts: string[] = []
  for (let i = start; i < raw.length; ) {
    const end = endOfPart(raw, i)
    if (end > i && parts.push(decode(raw.slice(i, end))) > MAX_PARTS) throw UrlErrors.TOO_MANY_PARTS(MAX_PARTS)
    i = end + 1
  }
  return parts
}

/** Index of the end of the name of a dataclass or an attribute: at a bracket, a colon, a slash or the end of the text. */
function endOfName(raw: string, start: number): number {
  let i = start
  for (; i < raw.length; i = next(raw, i)) {
    const code = codeAt(raw, i)
    if (code === COLON || closingBracket(code) !== undefined) return i
    if (isEncoded(raw, i)) continue
    if (code === SLASH) return i
    if (code === AMPERSAND) throw UrlErrors.AMPERSAND_IN_PATH(i + 1)
  }
  return i
}

/** Index of the slash that ends a segment, or of the end of the text. Quotes protect slashes, as in `fn("a/b")`. */
function endOfPart(raw: string, start: number): number {
  let before = SLASH
  for (let i = start; i < raw.length; ) {
    const code = codeAt(raw, i)
    if (!isEncoded(raw, i)) {
      if (code === SLASH) return i
      if (code === AMPERSAND) throw UrlErrors.AMPERSAND_IN_PATH(i + 1)
    }
    const quoteAt = i
    i = next(raw, i)
    if ((code === SINGLE_QUOTE || code === DOUBLE_QUOTE) && !isWordCharacter(before)) {
      while (i < raw.length && codeAt(raw, i) !== code) i = next(raw, i)
      if (i >= raw.length) throw unclosedQuote(code, quoteAt)
      i = next(raw, i)
    }
    before = code
  }
  return raw.length
}

function closingBracket(open: number): number | undefined {
  return open === 0x28 ? 0x29 : open === 0x5b ? 0x5d : undefined
}

function unclosedQuote(quote: number, index: number): ProtocolError {
  return quote === SINGLE_QUOTE
    ? UrlErrors.UNCLOSED_SINGLE_QUOTE('path', index + 1)
    : UrlErrors.UNCLOSED_DOUBLE_QUOTE('path', index + 1)
}

function malformedPath(raw: string, index: number, expected: string): ProtocolError {
  return UrlErrors.MALFORMED_PATH(shorten(raw), index + 1, expected)
}
