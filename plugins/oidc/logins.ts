import type { Reply, RestRequest, Scope, User } from '../../kernel/api.ts'
import { OidcErrors } from './errors.ts'
import type { OidcOptions } from './options.ts'
import { PRIVATE_HEADERS } from './page.ts'
import { BrowserCookie, PendingLogins } from './pending-logins.ts'
import { Provider } from './provider.ts'
import { returnToIn } from './return-to.ts'
import { type Claims, Refused, userOf } from './user.ts'
import { printable } from './failure.ts'

/** Maximum length of the query of an answer, with its code and state. */
const MAX_QUERY = 8_000
/** Maximum number of codes of one provider that are being redeemed, so that a provider that does not answer holds up no other one. */
const MAX_REDEEMING = 64

/** Logins and logouts at all providers. */
export class OidcLogins {
  private readonly providers = new Map<string, Provider>()
  private readonly pending: PendingLogins
  private readonly cookie: BrowserCookie
  /** Number of codes that are being redeemed, by provider. */
  private readonly redeeming = new Map<Provider, number>()

  constructor(
    private readonly scope: Scope,
    private readonly options: OidcOptions,
  ) {
    const { publicUrl, providers } = options
    for (const [name, provider] of Object.entries(providers)) {
      const redirectUri = `${publicUrl}${scope.basePath}/auth/${name}/callback`
      this.providers.set(name, new Provider(name, provider, redirectUri, scope))
    }
    this.pending = new PendingLogins(scope.now)
    this.cookie = new BrowserCookie(publicUrl.startsWith('https:'))
  }

  /** Sends a browser to its provider. @throws {OidcErrors.RETURN_TO} 400 {@link OidcErrors.UNAVAILABLE} 503 */
  async begin(name: string, { transport }: RestRequest): Promise<Reply> {
    const returnTo = this.returnTo(transport.query)
    // The same cookie for all tabs, so that logins can be in progress in each.
    const browser = this.cookie.read(transport.header('cookie')) ?? this.cookie.create()
    const checks = await this.pending.begin({ provider: name, returnTo }, browser)
    const url = await this.providers.get(name)!.authorizationUrl(checks)
    return redirect(url.href, { 'Set-Cookie': this.cookie.write(browser) })
  }

  /** Takes the answer of a provider, and begins the session. @throws {ProtocolError} */
  async finish(name: string, request: RestRequest): Promise<Reply> {
    const { transport, session } = request
    const { query } = transport
    if (query.length > MAX_QUERY) throw OidcErrors.TOO_LONG(query.length, MAX_QUERY)
    const browser = this.cookie.read(transport.header('cookie'))
    const answer = new URLSearchParams(query)
    const provider = this.providers.get(name)!
    const [state, ...further] = answer.getAll('state')
    const isOne = state !== undefined && further.length === 0 && browser !== undefined
    const login = isOne ? await this.pending.take(state, name, browser) : undefined
    if (!login) throw OidcErrors.NOT_BEGUN(`${this.options.publicUrl}${this.scope.basePath}/auth/${name}/login`)
    const refusal = answer.get('error')
    if (refusal !== null) throw OidcErrors.PROVIDER_REFUSED(provider.label, errorCode(refusal))
    const user = await this.redeem(provider, query, login)
    request.session = await this.scope.sessions.renew(session, user, user.granted, transport)
    this.scope.log.info({ provider: name, user: user.userName, ...user.granted }, 'a user has logged in')
    return redirect(new URL(login.returnTo, this.options.publicUrl).href)
  }

  /** Ends the session, and redirects to the page that ends the session at the provider too, if that is configured. */
  async logout(request: RestRequest, isPage: boolean): Promise<Reply> {
    const returnTo = this.returnTo(request.transport.query)
    const { session, transport } = request
    const { publicUrl } = this.options
    const provider = this.providerOf(session.user)
    await this.scope.sessions.end(session)
    request.session = this.scope.sessions.guest(transport)
    const end = provider?.options.logout
      ? await provider.endSessionUrl(`${publicUrl}${this.scope.basePath}/`).catch(() => undefined)
      : undefined
    if (isPage) return redirect(end?.href ?? new URL(returnTo, publicUrl).href)
    return {
      status: 200,
      headers: JSON_HEADERS,
      body: JSON.stringify({ result: true, providerLogout: end?.href ?? null }),
    }
  }

  private async redeem(provider: Provider, query: string, login: Parameters<Provider['claims']>[1]): Promise<User> {
    const before = this.redeeming.get(provider) ?? 0
    if (before >= MAX_REDEEMING) throw OidcErrors.TOO_MANY_LOGINS(MAX_REDEEMING, provider.label).retryAfter(1)
    this.redeeming.set(provider, before + 1)
    try {
      return this.admit(provider, await provider.claims(query, login))
    } finally {
      this.redeeming.set(provider, this.redeeming.get(provider)! - 1)
    }
  }

  /** User whom the options admit. @throws {OidcErrors.NOT_ALLOWED} 403; the reason is only logged */
  private admit({ name, label, options }: Provider, claims: Claims): User {
    const { log, identities } = this.scope
    try {
      const user = userOf(name, options, claims)
      // A user or key with this name has separate rights, and plugin code identifies users by name.
      if (identities.directory.has?.(user.userName))
        throw new Refused('its name is that of a user or key of this server')
      return user
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const email = typeof claims.email === 'string' ? printable(claims.email) : undefined
      log.info({ provider: name, subject: claims.sub, email, reason: error.message }, 'a login was refused')
      throw OidcErrors.NOT_ALLOWED(label)
    }
  }

  private returnTo(query: string): string {
    return returnToIn(query, this.scope.basePath, this.options.publicUrl)
  }

  private providerOf(user: User | undefined): Provider | undefined {
    const [issuer = ''] = String(user?.id ?? '').split('#', 1)
    if (!URL.canParse(issuer)) return undefined
    const { href } = new URL(issuer)
    return [...this.providers.values()].find(({ options }) => new URL(options.issuer).href === href)
  }
}

const JSON_HEADERS = { ...PRIVATE_HEADERS, 'Content-Type': 'application/json; charset=UTF-8' }

/** 303: whatever the method was, the browser continues with a GET. */
const redirect = (address: string, headers?: Record<string, string>): Reply => ({
  status: 303,
  headers: { ...PRIVATE_HEADERS, ...headers, Location: address },
  body: '',
})

/** Error code of OAuth; any other text is dropped, since it could come from anyone who can make a link. */
const errorCode = (text: string): string => (/^[a-z_]{1,50}$/.test(text) ? text : 'without a known reason')
