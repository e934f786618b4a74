import * as oauth from 'openid-client'
import type { Scope } from '../../kernel/api.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { OidcErrors } from './errors.ts'
import { checkMetadata } from './metadata.ts'
import type { ProviderOptions } from './options.ts'
import type { Checks } from './pending-logins.ts'
import { describeFailure, isOutage } from './failure.ts'
import type { Claims } from './user.ts'

const DISCOVERED_MS = 3_600_000
/** Time after a failed discovery in which it is not repeated: each attempt can take as long as the timeout. */
const PAUSE_MS = 5_000
/** Maximum difference between the clocks of the provider and of this machine. */
const CLOCK_SECONDS = 30

interface Discovered {
  readonly config: Promise<oauth.Configuration>
  until: number
}

/** One provider: requests to it, and the verification of its answers. */
export class Provider {
  private discovered: Discovered | undefined

  /** @param redirectUri address of the callback, registered at the provider */
  constructor(
    readonly name: string,
    readonly options: ProviderOptions,
    private readonly redirectUri: string,
    private readonly scope: Pick<Scope, 'log' | 'now'>,
  ) {}

  get label(): string {
    return this.options.label ?? this.name
  }

  /** Address at which the user logs in. @throws {OidcErrors.UNAVAILABLE} 503 */
  async authorizationUrl({ state, nonce, codeVerifier }: Checks): Promise<URL> {
    const config = await this.configuration()
    return oauth.buildAuthorizationUrl(config, {
      ...this.options.parameters,
      redirect_uri: this.redirectUri,
      scope: this.options.scopes,
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    })
  }

  /**
   * Redeems the code of an answer, and verifies the tokens received for it.
   * @param query query string of the callback
   * @throws {OidcErrors.LOGIN_FAILED} 401 {@link OidcErrors.UNAVAILABLE} 503
   */
  async claims(query: string, { state, nonce, codeVerifier }: Checks): Promise<Claims> {
    const config = await this.configuration()
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier }
    try {
      const tokens = await oauth.authorizationCodeGrant(config, new URL(`${this.redirectUri}?${query}`), {
        ...checks,
        idTokenExpected: true,
      })
      const claims = tokens.claims()!
      checkToken(claims)
      const asksMore = this.options.userInfo && config.serverMetadata().userinfo_endpoint !== undefined
      if (!asksMore) return claims
      return mergeClaims(await oauth.fetchUserInfo(config, tokens.access_token, claims.sub), claims)
    } catch (error) {
      this.tell('a login failed', error)
      throw isOutage(error) ? this.unavailable(error) : OidcErrors.LOGIN_FAILED(this.label)
    }
  }

  /** Address at which the session at the provider ends; undefined if it has none. @throws {OidcErrors.UNAVAILABLE} 503 */
  async endSessionUrl(after: string): Promise<URL | undefined> {
    const config = await this.configuration()
    if (config.serverMetadata().end_session_endpoint === undefined) return undefined
    return oauth.buildEndSessionUrl(config, { post_logout_redirect_uri: after })
  }

  private configuration(): Promise<oauth.Configuration> {
    if (!this.discovered || this.discovered.until <= this.scope.now()) {
      const discovery: Discovered = { config: this.discover(), until: this.scope.now() + DISCOVERED_MS }
      discovery.config.catch(() => {
        discovery.until = this.scope.now() + PAUSE_MS
      })
      this.discovered = discovery
    }
    return this.discovered.config
  }

  private async discover(): Promise<oauth.Configuration> {
    const { issuer, clientId, timeoutSeconds } = this.options
    const isPlain = issuer.startsWith('http:')
    // Without this check a token is trusted only because it came over TLS; a proxy that terminates TLS could then forge one.
    const execute = [oauth.enableNonRepudiationChecks, ...(isPlain ? [oauth.allowInsecureRequests] : [])]
    try {
      const config = await oauth.discovery(
        new URL(issuer),
        clientId,
        { [oauth.clockTolerance]: CLOCK_SECONDS },
        clientAuth(this.options),
        { execute, timeout: timeoutSeconds, [oauth.customFetch]: boundedFetch },
      )
      checkMetadata(config.serverMetadata(), this.options)
      return config
    } catch (error) {
      const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
      this.tell('the discovery of a provider failed', error, { address })
      throw this.unavailable(error)
    }
  }

  private tell(text: string, error: unknown, facts: object = {}): void {
    const { clientSecret } = this.options
    this.scope.log.warn({ provider: this.name, ...facts, reason: describeFailure(error, clientSecret) }, text)
  }

  private unavailable(error: unknown) {
    return isOutage(error)
      ? OidcErrors.UNAVAILABLE(this.label).retryAfter(PAUSE_MS / 1000)
      : OidcErrors.UNUSABLE(this.label)
  }
}

/** The configured method, or else the usual method unless the provider only supports the other one. Source: OpenID Connect Core, 9. */
function clientAuth({ clientSecret, clientAuthentication }: ProviderOptions): oauth.ClientAuth {
  if (clientSecret === undefined) return oauth.None()
  const methods = { basic: oauth.ClientSecretBasic(clientSecret), post: oauth.ClientSecretPost(clientSecret) }
  return (server, ...rest) => {
    const methodNames = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const usual =
      methodNames.includes('client_secret_post') && !methodNames.includes('client_secret_basic') ? 'post' : 'basic'
    return methods[clientAuthentication ?? usual](server, ...rest)
  }
}

/** @throws {Error} a claim is invalid that the library does not check */
function checkToken({ iat, sub }: oauth.IDToken): void {
  if (iat > Date.now() / 1000 + CLOCK_SECONDS) throw new Error('the ID token was issued in the future (iat)')
  // Source: OpenID Connect Core, 2.
  if (!/^[ -~]{1,255}$/.test(sub)) throw new Error('the ID token has no subject of 1 to 255 ASCII characters (sub)')
}

/**
 * Claims of both answers. The signed token has precedence; the confirmation of an e-mail address is taken from the same answer as the
 * address.
 */
function mergeClaims(userInfo: Claims, token: Claims): Claims {
  const { email_verified: confirmed } = token.email === undefined ? userInfo : token
  return { ...userInfo, ...token, email_verified: confirmed }
}
