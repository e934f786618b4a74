import { shorten, UrlErrors } from './url-errors.ts'

/** Character codes with a meaning in addresses. */
export const AMPERSAND = 0x26
export const COLON = 0x3a
export const COMMA = 0x2c
export const DOLLAR = 0x24
export const DOUBLE_QUOTE = 0x22
export const EQUALS = 0x3d
const PERCENT = 0x25
export const SINGLE_QUOTE = 0x27
export const SLASH = 0x2f

/** Character code at an index; an encoded character, such as `%22`, is decoded. A stray percent sign is returned as it is. */
export function codeAt(raw: string, index: number): number {
  const code = raw.charCodeAt(index)
  return code === PERCENT && isEncoded(raw, index)
    ? hexDigit(raw.charCodeAt(index + 1)) * 16 + hexDigit(raw.charCodeAt(index + 2))
    : code
}

/** True if the character at an index is encoded in three characters. */
export function isEncoded(raw: string, index: number): boolean {
  return (
    raw.charCodeAt(index) === PERCENT &&
    hexDigit(raw.charCodeAt(index + 1)) >= 0 &&
    hexDigit(raw.charCodeAt(index + 2)) >= 0
  )
}

/** Index after the character at an index. */
export function next(raw: string, index: number): number {
  return isEncoded(raw, index) ? index + 3 : index + 1
}

/** True for letters, digits, `_` and everything beyond ASCII: a quote after one of them is an apostrophe, as in O'Reilly. */
export function isWordCharacter(code: number): boolean {
  const letter = code | 0x20
  return (letter >= 0x61 && letter <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f || code >= 0x80
}

/** Percent-decodes UTF-8; `+` stays a plus sign. @throws {UrlErrors.MALFORMED_ENCODING} 1806 */
export function decode(raw: string): string {
  if (!raw.includes('%')) return raw
  try {
    return decodeURIComponent(raw)
  } catch {
    throw UrlErrors.MALFORMED_ENCODING(shorten(raw))
  }
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
