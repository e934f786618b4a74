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
 * Reads what follows `?` into its parameters, decoded, by name. A later one replaces an earlier one of the same name.
 *
 * Quotes, raw or as %22 and %27, protect `&` and `=`, so which of them are quotes is what matters:
 * - A value that starts with a quote is wrapped if the same quote ends it; the pair is taken off, whatever is inside:
 *   `"name='a@'"`, `'["it's"]'`.
 * - Elsewhere a quote opens only where no word stands before it, and closes only where none starts behind it. The quotes
 *   stay in the value: `["a&b",1]`, `name='Smith & Sons'`. The apostrophe of `O'Reilly` is no quote, and neither is a
 *   quote that nothing closes.
 *
 * `+` is a space in `$params` and a plus sign elsewhere. A name without `=` has an empty value.
 *
 * @throws {UrlErrors.UNCLOSED_SINGLE_QUOTE} 1808
 * @throws {UrlErrors.UNCLOSED_DOUBLE_QUOTE} 1809
 * @throws {UrlErrors.MALFORMED_ENCODING} 1806
 * Source: protocol notes, 1.2; design decisions, query strings.
 */
export function parseQueryString(raw: string): ReadonlyMap<string, string> {
  if (raw === '') return NO_PARAMETERS
  const parameters = new Map<string, string>()
  for (let start = 0; start < raw.length; ) {
    let i = start
    let code = raw.charCodeAt(i)
    while (i < raw.length && code !== EQUALS && code !== AMPERSAND) code = raw.charCodeAt(++i)
    const name = decode(raw.slice(start, i))
    if (i >= raw.length || code === AMPERSAND) {
      if (name !== '') parameters.set(name, '')
      start = i + 1
      continue
    }
    const valueStart = i + 1
    const unwrapped = endOfWrapped(raw, valueStart)
    const end = unwrapped === undefined ? endOfPlain(raw, valueStart) : next(raw, unwrapped)
    const value = unwrapped === undefined ? raw.slice(valueStart, end) : raw.slice(next(raw, valueStart), unwrapped)
    if (name !== '') parameters.set(name, decode(name === '$params' ? value.replaceAll('+', ' ') : value))
    start = end + 1
  }
  return parameters
}

const NO_PARAMETERS: ReadonlyMap<string, string> = new Map()

/** Index of the quote that closes a wrapped value, or nothing when the value is not wrapped. */
function endOfWrapped(raw: string, start: number): number | undefined {
  const quote = codeAt(raw, start)
  if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) return undefined
  let closedBefore = false
  for (let i = next(raw, start); i < raw.length; i = next(raw, i)) {
    const code = codeAt(raw, i)
    if (code === quote) {
      const behind = next(raw, i)
      if (behind >= raw.length || raw.charCodeAt(behind) === AMPERSAND) return i
      closedBefore ||= !isWordCharacter(codeAt(raw, behind))
    } else if (closedBefore && startsParameter(raw, i)) {
      // `'name' desc&$filter='x'`: the value ends here, so its quotes do not wrap it.
      return undefined
    }
  }
  if (closedBefore) return undefined
  throw quote === SINGLE_QUOTE
    ? UrlErrors.UNCLOSED_SINGLE_QUOTE('query string', start + 1)
    : UrlErrors.UNCLOSED_DOUBLE_QUOTE('query string', start + 1)
}

/** Index of the `&` that ends a value, or of the end. */
function endOfPlain(raw: string, start: number): number {
  let before = EQUALS
  // A quote that nothing closed is not looked for again, or a text full of them would take quadratic time.
  const unclosed: number[] = []
  for (let i = start; i < raw.length; ) {
    const code = codeAt(raw, i)
    if (code === AMPERSAND && !isEncoded(raw, i)) return i
    i = next(raw, i)
    if ((code === SINGLE_QUOTE || code === DOUBLE_QUOTE) && !isWordCharacter(before) && !unclosed.includes(code)) {
      const behind = endOfQuoted(raw, i, code)
      if (behind === undefined) unclosed.push(code)
      else i = behind
    }
    before = code
  }
  return raw.length
}

/** Index behind the quote that closes a quoted part, or nothing when none does before the end. */
function endOfQuoted(raw: string, start: number, quote: number): number | undefined {
  for (let i = start; i < raw.length; i = next(raw, i)) {
    if (codeAt(raw, i) !== quote) continue
    const behind = next(raw, i)
    if (behind >= raw.length || !isWordCharacter(codeAt(raw, behind))) return behind
  }
  return undefined
}

/** Whether a raw `&$` or `&%24` stands at an index. */
function startsParameter(raw: string, index: number): boolean {
  return raw.charCodeAt(index) === AMPERSAND && codeAt(raw, index + 1) === DOLLAR
}
