import { cookieValue } from './cookie.ts'

export interface CookieOptions {
  /** Path at which a proxy serves the server: browsers send the cookie only below it. Empty for none. */
  basePath: string
  /** Name of the cookie; `WASID4D` is accepted too. */
  cookieName: string
  sameSite: 'lax' | 'strict' | 'none'
}

/** Id of a session: 16 bytes in hex. */
const ID = /^[0-9A-F]{32}$/
const OLDER_COOKIE = 'WASID4D'

/** Cookies of sessions, read and written. Source: RFC 6265; protocol notes, 8.1. */
export class SessionCookies {
  private readonly names: readonly string[]
  /** Attributes for clients with TLS and without. */
  private readonly attributes: { readonly secure: string; readonly plain: string }

  constructor({ cookieName, sameSite, basePath }: CookieOptions) {
    this.names = [cookieName, OLDER_COOKIE]
    // Browsers refuse `SameSite=None` without `Secure`, and `Secure` without TLS: clients without TLS receive a cookie that works
    // without it.
    this.attributes = {
      secure: `${attributes(basePath, sameSite)}; Secure`,
      plain: attributes(basePath, sameSite === 'none' ? 'lax' : sameSite),
    }
  }

  /** Id of a session in a `Cookie` header; undefined without a valid one. */
  idIn(header: string): string | undefined {
    const id = cookieValue(header, this.names)?.toUpperCase()
    return id !== undefined && ID.test(id) ? id : undefined
  }

  /**
   * Value of `Set-Cookie`.
   * @param maxAgeSeconds maximum lifetime of the session: the cookie is sent once, and with the idle time it would expire in the middle of
   * a
   *   session
   * @param isSecure true if the client uses TLS, with the server or with its proxy
   */
  write(id: string, maxAgeSeconds: number, isSecure: boolean): string {
    return `${this.names[0]}=${id}; Max-Age=${maxAgeSeconds}; ${this.attributes[isSecure ? 'secure' : 'plain']}`
  }
}

const attributes = (basePath: string, sameSite: string): string =>
  `Path=${basePath || '/'}; HttpOnly; SameSite=${sameSite[0]!.toUpperCase()}${sameSite.slice(1)}`
