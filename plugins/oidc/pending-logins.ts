import { createHash, createHmac, randomBytes } from 'node:crypto'
import { EncryptJWT, jwtDecrypt } from 'jose'

const MINUTES = 10
/** Number of used states that are remembered. A provider redeems a code once, so older states are worthless too. */
const REMEMBERED = 10_000

/** A login that waits for the answer of its provider. */
interface PendingLogin {
  readonly provider: string
  readonly returnTo: string
}

/** Texts that tie the answer of a provider to its request. */
export interface Checks {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

/**
 * Pending logins. The server stores nothing for a login: `state` has its data, encrypted, and the hash of the browser's cookie; nonce and
 * code verifier are derived from it. However many logins are begun, none displaces another. They end with the process.
 */
export class PendingLogins {
  private readonly key = randomBytes(32)
  private readonly usedIds = new Set<string>()

  /** @param now milliseconds since 1970 */
  constructor(private readonly now: () => number) {}

  /** @param browser text of its cookie */
  async begin({ provider, returnTo }: PendingLogin, browser: string): Promise<Checks> {
    const state = await new EncryptJWT({ provider, returnTo, browser: hashOf(browser) })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setJti(randomBytes(16).toString('base64url'))
      .setExpirationTime(Math.floor(this.now() / 1000) + MINUTES * 60)
      .encrypt(this.key)
    return this.checksOf(state)
  }

  /**
   * Takes a login, once only.
   * @returns undefined for a state that is forged, used or too old, or belongs to another browser or provider
   */
  async take(state: string, provider: string, browser: string): Promise<(PendingLogin & Checks) | undefined> {
    const checks = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] }
    const decryptedState = await jwtDecrypt(state, this.key, { ...checks, currentDate: new Date(this.now()) }).catch(
      () => undefined,
    )
    if (!decryptedState) return undefined
    const { jti = '', returnTo, ...payload } = decryptedState.payload
    if (payload.provider !== provider || payload.browser !== hashOf(browser) || this.usedIds.has(jti)) return undefined
    this.usedIds.add(jti)
    if (this.usedIds.size > REMEMBERED) this.usedIds.delete(this.usedIds.values().next().value!)
    return { provider, returnTo: returnTo as string, ...this.checksOf(state) }
  }

  private checksOf(state: string): Checks {
    const derive = (purpose: string) => createHmac('sha256', this.key).update(`${purpose} ${state}`).digest('base64url')
    return { state, nonce: derive('nonce'), codeVerifier: derive('code verifier') }
  }
}

const hashOf = (browser: string): string => createHash('sha256').update(browser).digest('base64url')

/** Cookie that identifies a browser from the beginning of a login to its end. It gives access to nothing. */
export class BrowserCookie {
  private readonly name: string
  private readonly form: RegExp

  /** @param isSecure true if browsers reach the server with TLS; then no other host and no page without TLS can set the cookie */
  constructor(private readonly isSecure: boolean) {
    this.name = isSecure ? '__Host-tesser-login' : 'tesser-login'
    this.form = new RegExp(`(?:^|; ?)${this.name}=([\\w-]{43})(?:;|$)`)
  }

  /** Text of the cookie in a `Cookie` header. */
  read(header: string): string | undefined {
    return this.form.exec(header)?.[1]
  }

  create(): string {
    return randomBytes(32).toString('base64url')
  }

  /** Value of `Set-Cookie`. The answer of the provider is a navigation from its site, which `Lax` allows. */
  write(text: string): string {
    return `${this.name}=${text}; Path=/; Max-Age=${MINUTES * 60}; HttpOnly; SameSite=Lax${this.isSecure ? '; Secure' : ''}`
  }
}
