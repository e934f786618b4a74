import { type Directory, KEY_PREFIX } from '../auth/directory.ts'
import type { Logins } from '../auth/logins.ts'
import type { Tokens } from '../auth/tokens.ts'
import type { User } from '../auth/user.ts'
import type { TransportRequest, TransportResponse } from '../transport/transport.ts'
import type { PagePolicy } from './page-policy.ts'
import type { RequestQuota } from './request-quota.ts'
import { Session } from './session.ts'
import { SessionErrors } from './session-errors.ts'
import type { Sessions, Visit } from './sessions.ts'

/** Source of users, keys and tokens, replaceable by a plugin or a reload. */
export interface Identities {
  directory: Pick<Directory, 'authenticate' | 'byKey'> & Partial<Pick<Directory, 'isCurrent' | 'has'>>
  tokens: Tokens | undefined
}

interface VisitorParts extends Pick<Visitors, 'sessions' | 'identities' | 'logins' | 'quota' | 'pages'> {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Reads the file of users and keys if it has changed. */
  readonly refresh: () => Promise<void>
  /** Stops watching the file of users. */
  readonly stopWatching: () => Promise<void>
}

/** Authenticates requests. */
export class Visitors {
  readonly sessions: Sessions
  readonly identities: Identities
  readonly logins: Logins
  readonly quota: RequestQuota
  readonly pages: PagePolicy
  private readonly now: () => number
  private readonly refresh: () => Promise<void>
  private readonly stopWatching: () => Promise<void>

  constructor({ sessions, identities, logins, quota, pages, now, refresh, stopWatching }: VisitorParts) {
    this.sessions = sessions
    this.identities = identities
    this.logins = logins
    this.quota = quota
    this.pages = pages
    this.now = now
    this.refresh = refresh
    this.stopWatching = stopWatching
  }

  /** To be called before the engine is closed. */
  async close(): Promise<void> {
    await this.stopWatching()
    await this.sessions.close()
  }

  /**
   * Authenticates a request. Reads the head immediately, and returns a promise only for a token that has not been seen before, for an
   * unknown key, and for a session about which other servers may have newer data.
   * @throws {ProtocolError} invalid key or token, a page of another site, an exceeded quota
   */
  visit(request: TransportRequest): Visit | Promise<Visit> {
    const authorization = request.header('authorization')
    if (authorization !== '' && /^bearer\b/i.test(authorization)) {
      this.pages.admit(request, false)
      return this.byToken(authorization.slice(6).trim(), request)
    }
    const cookies = request.header('cookie')
    const fetching = this.sessions.fetch(cookies)
    return fetching ? fetching.then(() => this.byCookies(cookies, request)) : this.byCookies(cookies, request)
  }

  private byCookies(cookies: string, request: TransportRequest): Visit {
    const visit = this.current(this.sessions.find(cookies, request), request)
    this.pages.admit(request, visit.receivedId !== undefined)
    // A session for this request only (protocol notes, 8.1).
    if (visit.receivedId === undefined && request.header('nosession-4d') === 'true') {
      return this.admit({ ...visit, receivedId: visit.session.id }, request)
    }
    return this.admit(visit, request)
  }

  /** Ends a visit after its answer, and adds the cookie of a new session to the answer. */
  leave(
    { session, receivedId, isChanged }: Visit,
    request: TransportRequest,
    reply: TransportResponse,
  ): TransportResponse {
    if (this.quota.isLimited) this.quota.leave(request.client.network)
    if (session.id === undefined || session.id === receivedId) return reply
    // Most paths outside the protocol do not need a guest session.
    if (session.isGuest && !isChanged && !request.path.startsWith('/rest')) return reply
    // Written out: an object copied with `...` and then extended is slow to create.
    const { status, headers, tag, body } = reply
    return { status, headers, cookie: this.sessions.setCookie(session, request.isSecure), tag, body }
  }

  /** Replaces the session of a user who has been removed, or whose password or rights have changed since the login, by a guest's. */
  private current(visit: Visit, request: TransportRequest): Visit {
    const { session } = visit
    const user = session.isGuest ? undefined : session.user
    if (!user || (this.identities.directory.isCurrent?.(user) ?? true)) return visit
    this.sessions.endInBackground(session)
    return { session: this.sessions.guest(request), receivedId: undefined, isNew: true }
  }

  private byToken(token: string, request: TransportRequest): Visit | Promise<Visit> {
    if (token.startsWith(KEY_PREFIX)) return this.byKey(token, request)
    const { tokens } = this.identities
    const knownUser = tokens?.recall(token)
    if (knownUser || !tokens) return this.asUser(knownUser, token, request)
    return tokens.verify(token).then(user => this.asUser(user, token, request))
  }

  /** An unknown key may have been created since the last look at the file. */
  private byKey(key: string, request: TransportRequest): Visit | Promise<Visit> {
    const user = this.userOf(key)
    if (user) return this.asUser(user, key, request)
    return this.refresh().then(() => this.asUser(this.userOf(key), key, request))
  }

  private userOf(key: string): User | undefined {
    return this.identities.directory.byKey(key, this.now())
  }

  /** A session that ends with its request. */
  private asUser(user: User | undefined, token: string, request: TransportRequest): Visit {
    if (!user) throw SessionErrors.WRONG_CREDENTIALS()
    const session = Session.ofToken(user, token, request.client.address)
    return this.admit({ session, receivedId: undefined }, request)
  }

  private admit(visit: Visit, request: TransportRequest): Visit {
    const { quota } = this
    if (!quota.isLimited) return visit
    const { network } = request.client
    quota.enter(visit.session, network)
    request.onExamined = rows => quota.charge(visit.session, network, rows)
    return visit
  }
}
