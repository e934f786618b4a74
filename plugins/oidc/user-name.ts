import { domainToASCII } from 'node:url'

/** Maximum length of a user name without its prefix, in characters. */
export const MAX_NAME = 200
/** Control characters, invisible characters and half characters, with which one name could look like another. */
export const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/u

/** The domain has letters, digits, `.` and `-`: `domainToASCII` ends it at a `/`, and decodes `%61`. */
const EMAIL = /^([^\s@:"(),;<>\\[\]]+)@([\p{L}\p{M}\p{N}.-]+)$/u
/** Pattern that excludes numbers, which `domainToASCII` treats as an address: `127.1` and `127.0.0.1` would be the same. */
const DOMAIN = /^[a-z0-9.-]*[a-z][a-z0-9-]*\.?$/

export interface Email {
  /** In lower case; the domain is written in ASCII. */
  readonly address: string
  readonly domain: string
}

/** Returns the only spelling of an e-mail address; undefined for other texts. */
export function emailOf(text: string): Email | undefined {
  const [, local, domainText] = (text.length <= MAX_NAME && !INVISIBLE.test(text) && EMAIL.exec(text)) || []
  const domain = domainToASCII(domainText ?? '')
  // Lowercases ASCII letters only: `toLowerCase` turns the Kelvin sign into a k.
  const lower = local?.replaceAll(/[A-Z]+/g, letters => letters.toLowerCase())
  return DOMAIN.test(domain) ? { address: `${lower}@${domain}`, domain } : undefined
}

/**
 * A text as user name: `a-z 0-9 . _ ~ @ + -`, and `%` with two hexadecimal digits for each other byte in UTF-8. Queries ignore case and
 * accents: the names of different texts remain different there too.
 * @param text without half characters
 */
export const encodedName = (text: string): string =>
  text.replaceAll(/[^a-z0-9._~@+-]+/g, part => Buffer.from(part).toString('hex').replaceAll(/../g, '%$&'))
