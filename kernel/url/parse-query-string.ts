import {
  AMPERSAND,
  codeAt,
  DOLLAR,
  DOUBLE_QUOTE,
  decode,
  EQUALS,
  isEncoded,
  isWordCharacter,
  next,
  SINGLE_QUOTE,
} from './characters.ts'
import { UrlErrors } from './url-errors.ts'

/**
 * Parses a query string, without `?`, into its parameters, decoded, by name. If a parameter is repeated, its last value is used.
 *
 * Quotes, raw or as %22 and %27, protect `&` and `=`, so it matters which of them are quotes:
 * - A value that starts with a quote is wrapped if the same quote ends it; the pair is removed, whatever is inside:
 *   `"name='a@'"`, `'["it's"]'`.
 * - Elsewhere a quote opens only where no word precedes it, and closes only where no word follows. The quotes
 *   stay in the value: `["a&b",1]`, `name='Smith & Sons'`. The apostrophe of `O'Reilly` is not a quote, and neither is a
 *   quote without a closing one.
 *
 * `+` is a space in `$params` and a plus sign elsewhere. A name without `=` has an empty value.
 *
 * @param onRepeated called with the name of a repeated parameter
 * @throws {UrlErrors.UNCLOSED_SINGLE_QUOTE} 1808
 * @throws {UrlErrors.UNCLOSED_DOUBLE_QUOTE} 1809
 * @throws {UrlErrors.MALFORMED_ENCODING} 1806 Source: protocol notes, 1.2; design decisions, query strings.
 */
export function parseQueryString(raw: string, onRepeated?: (name: string) => void): ReadonlyMap<string, string> {
  if (raw === '') return NO_PARAMETERS
  const parameters = new Map<string, string>()
  const set = (name: string, value: string): void => {
    if (name === '') return
    if (parameters.has(name)) onRepeated?.(name)
    parameters.set(name, decode(name === '$params' ? value.replaceAll('+', ' ') : value))
  }
  const quotes = new Quotes(raw)
  for (let start = 0; start < raw.length; ) {
    let i = start
    let code = raw.charCodeAt(i)
    while (i < raw.length && code !== EQUALS && code !== AMPERSAND) code = raw.charCodeAt(++i)
    const name = decode(raw.slice(start, i))
    if (i >= raw.length || code === AMPERSAND) {
      set(name, '')
      start = i + 1
      continue
    }
    const valueStart = i + 1
    const wrappedEnd = endOfWrapped(raw, valueStart, quotes)
    const end = wrappedEnd === undefined ? endOfPlain(raw, valueStart, quotes) : next(raw, wrappedEnd)
    const value = wrappedEnd === undefined ? raw.slice(valueStart, end) : raw.slice(next(raw, valueStart), wrappedEnd)
    set(name, value)
    start = end + 1
  }
  return parameters
}

const NO_PARAMETERS: ReadonlyMap<string, string> = new Map()

/**
 * Closing quotes of a text, by kind. A quote may be closed anywhere after it, so searching from each quote would take quadratic time in a
 * text full of quotes. Here the starts of searches only increase, so that all searches together pass over the text once.
 */
class Quotes {
  #single: Closings | undefined
  #double: Closings | undefined

  constructor(private readonly raw: string) {}

  of(quote: number): Closings {
    if (quote === SINGLE_QUOTE) {
      this.#single ??= new Closings(this.raw, quote)
      return this.#single
    }
    this.#double ??= new Closings(this.raw, quote)
    return this.#double
  }
}

/** Closing quotes of one kind. Starts must not decrease from call to call; the result is the length of the text when there is none. */
class Closings {
  #closing = -1
  #wrapEnd = -1
  #parameter = -1

  constructor(
    private readonly raw: string,
    private readonly quote: number,
  ) {}

  /** Index of the first quote from `start` on that is not followed by a word. */
  closing(start: number): number {
    let i = Math.max(start, this.#closing)
    while (i < this.raw.length && !this.#closes(i)) i = next(this.raw, i)
    this.#closing = i
    return i
  }

  /** Index of the first quote from `start` on that is the last character of a parameter. */
  wrapEnd(start: number): number {
    let i = Math.max(start, this.#wrapEnd)
    while (i < this.raw.length && !this.endsParameter(i)) i = next(this.raw, i)
    this.#wrapEnd = i
    return i
  }

  /** Index of the first raw `&$` or `&%24` from `start` on. */
  parameter(start: number): number {
    const { raw } = this
    let i = Math.max(start, this.#parameter)
    while (i < raw.length && !(raw.charCodeAt(i) === AMPERSAND && codeAt(raw, i + 1) === DOLLAR)) i++
    this.#parameter = i
    return i
  }

  /** True if there is a quote at an index, after which the parameter or the text ends. */
  endsParameter(i: number): boolean {
    const { raw, quote } = this
    if (codeAt(raw, i) !== quote) return false
    const behind = next(raw, i)
    return behind >= raw.length || raw.charCodeAt(behind) === AMPERSAND
  }

  #closes(i: number): boolean {
    const { raw, quote } = this
    if (codeAt(raw, i) !== quote) return false
    const behind = next(raw, i)
    return behind >= raw.length || !isWordCharacter(codeAt(raw, behind))
  }
}

/** Index of the quote that closes a wrapped value; undefined if the value is not wrapped. */
function endOfWrapped(raw: string, start: number, quotes: Quotes): number | undefined {
  const quote = codeAt(raw, start)
  if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) return undefined
  const closings = quotes.of(quote)
  const closing = closings.closing(next(raw, start))
  if (closing >= raw.length) {
    throw quote === SINGLE_QUOTE
      ? UrlErrors.UNCLOSED_SINGLE_QUOTE('query string', start + 1)
      : UrlErrors.UNCLOSED_DOUBLE_QUOTE('query string', start + 1)
  }
  if (closings.endsParameter(closing)) return closing
  // `'name' desc&$filter='x'`: the value ends before the next parameter, so its quotes do not wrap it.
  const wrapEnd = closings.wrapEnd(closing)
  return wrapEnd < closings.parameter(closing) ? wrapEnd : undefined
}

/** Index of the `&` that ends a value, or of the end of the text. */
function endOfPlain(raw: string, start: number, quotes: Quotes): number {
  let before = EQUALS
  for (let i = start; i < raw.length; ) {
    const code = codeAt(raw, i)
    if (code === AMPERSAND && !isEncoded(raw, i)) return i
    i = next(raw, i)
    if ((code === SINGLE_QUOTE || code === DOUBLE_QUOTE) && !isWordCharacter(before)) {
      const closing = quotes.of(code).closing(i)
      if (closing < raw.length) i = next(raw, closing)
    }
    before = code
  }
  return raw.length
}
