import { type Granted, type ServerRecords, Sweeper } from '../../engine/index.ts'
import type { User } from '../auth/user.ts'
import { guestKey, Guests } from './guests.ts'
import { GUEST_MS, Lifetimes } from './lifetimes.ts'
import { RecentCookies } from './recent-cookies.ts'
import { isGuestRecord, type Peer, Session, type SessionRecord } from './session.ts'
import { SessionCookies } from './session-cookies.ts'
import { SessionErrors } from './session-errors.ts'
import { handleOf, randomId } from './session-id.ts'
import type { SessionOptions } from './session-options.ts'
import { SessionQuota } from './session-quota.ts'
import { SessionRecords } from './session-records.ts'
import type { NewToken, SessionStore } from './session-store.ts'
import { type SharedBy, SharedSessions } from './shared-sessions.ts'

const SWEEP_MS = 60_000

/** A request, with its session. */
export interface Visit {
  /** Session of the request; a login replaces it. */
  session: Session
  /** Id that the request sent, if it was valid. If the session has another id at the end, the answer sends that id. */
  readonly receivedId: string | undefined
  /** The client came without a session and may not keep the one that it gets. */
  readonly isNew?: boolean
  /** Function code has changed the session, so that a guest needs its cookie. */
  isChanged?: boolean
}

/** Environment of sessions. */
interface SessionContext {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly onInternalError: (text: string) => void
  /** Sessions shared by several servers, instead of those in the store. */
  readonly shared?: SharedBy | undefined
}

/** Called with the handle of a session that has ended, so that everything it owned can be removed. */
export type OnSessionEnd = (handle: string) => void | Promise<void>

/** Sessions of a server: finds the session of a request, and begins, changes and ends sessions. */
export class Sessions {
  private readonly lifetimes: Lifetimes
  private readonly guests: Guests
  private readonly store: SessionStore
  private readonly cookies: SessionCookies
  private readonly recent = new RecentCookies()
  private readonly onInternalError: (text: string) => void
  private readonly endListeners: OnSessionEnd[] = []
  /** Removes expired records. */
  private readonly sweeper: Sweeper

  private constructor(
    readonly options: SessionOptions,
    records: ServerRecords,
    key: Buffer,
    { now, onInternalError, shared }: SessionContext,
  ) {
    this.onInternalError = onInternalError
    this.lifetimes = new Lifetimes(options, now)
    this.guests = new Guests(key, this.lifetimes, now)
    const { lifetimes } = this
    this.store = shared
      ? new SharedSessions({
          ...shared,
          options,
          lifetimes,
          now,
          onEnded: session => this.endHere(session),
          guestKey: { own: key, use: key => this.guests.use(key) },
        })
      : new SessionRecords(records, new SessionQuota(options), lifetimes, now, excess => this.endInBackground(excess))
    this.cookies = new SessionCookies(options)
    this.sweeper = new Sweeper(
      () => this.removeExpired(),
      SWEEP_MS,
      error => this.reportFailure(error),
    )
  }

  static async open(options: SessionOptions, records: ServerRecords, context: SessionContext): Promise<Sessions> {
    return new Sessions(options, records, await guestKey(records), context)
  }

  /**
   * Prepares {@link find} when sessions are shared with other servers. A guest needs no preparation, and is served even if the database is
   * unavailable.
   * @param cookies the `Cookie` header
   * @returns undefined if there is nothing to wait for
   */
  fetch(cookies: string): Promise<void> | undefined {
    if (!this.store.fetch) return undefined
    const id = this.cookies.idIn(cookies)
    if (id === undefined) return undefined
    const fetching = this.store.fetch(this.recent.get(cookies)?.handle ?? handleOf(id))
    return fetching?.catch(error => {
      if (!this.guests.hasMade(id)) throw error
    })
  }

  /**
   * Finds the session of a request. A request without a valid cookie gets a new guest.
   * @param cookies the `Cookie` header
   */
  find(cookies: string, peer: Peer): Visit {
    const session = this.recall(cookies) ?? this.byCookies(cookies, peer)
    if (session) return { session, receivedId: session.id }
    return { session: this.guest(peer), receivedId: undefined, isNew: true }
  }

  /**
   * Replaces a session by one with other rights and a new id, so that an id that was known or planted before a login is worthless after it.
   * The data that function code stored are removed with the old session, unless it was a guest's and `session.keepGuestStorage` is set.
   * Resolves when it is durable.
   * @param idleMinutes requested by a login, if more than the minimum
   */
  async renew(
    session: Session,
    user: User | undefined,
    grants: Granted,
    peer: Peer,
    idleMinutes = 0,
  ): Promise<Session> {
    const storage = this.options.keepGuestStorage && session.isGuest ? session.record.storage : {}
    // The old session ends first: an id that an attacker planted must not outlive the login.
    await this.end(session)
    if (isGuestRecord({ user, granted: grants })) return this.guest(peer)
    const { address } = peer.client
    const renewedSession = new Session(randomId(), {
      user,
      granted: grants,
      storage,
      ...this.lifetimes.begin(idleMinutes),
      address,
    })
    await this.keep(renewedSession)
    return renewedSession
  }

  /**
   * Gives a session other rights. For another user, and for a change between guest and user, the result is another session, as after a
   * login. Resolves when it is durable.
   */
  async grant(session: Session, user: User | undefined, newGrants: Granted, peer: Peer): Promise<Session> {
    const isSame =
      session.user?.userName === user?.userName && session.isGuest === isGuestRecord({ user, granted: newGrants })
    if (!isSame) return this.renew(session, user, newGrants, peer)
    if (!session.isGuest) await this.update(session, record => void Object.assign(record, { user, granted: newGrants }))
    return session
  }

  /**
   * Replaces a session by the session of a one-time token, with an alias as its id. Resolves when it is durable.
   * @throws {SessionErrors.WRONG_CREDENTIALS} the token is not valid
   */
  async restore(session: Session, tokenHash: string): Promise<Session> {
    const target = await this.store.redeem(tokenHash)
    if (!target || this.lifetimes.hasExpired(target.record)) throw SessionErrors.WRONG_CREDENTIALS()
    if (target.handle === session.handle) return session
    const id = await this.store.addAlias(target)
    await this.end(session)
    return new Session(id, target.record, target.handle)
  }

  /** Creates a guest. */
  guest(peer: Peer): Session {
    return this.guests.create(peer)
  }

  /** Stores a session, so that it can own something. Resolves like {@link update}. */
  keep(session: Session): Promise<void> {
    return this.update(session, () => {})
  }

  /**
   * Changes a session and stores it. A session that has ended meanwhile stays ended: everything that it has acquired since then, such as a
   * lock, is released. Resolves when it is durable.
   * @param change may be called more than once
   * @param tokens one-time tokens to be added
   */
  async update(
    session: Session,
    change: (record: SessionRecord) => void,
    tokens: readonly NewToken[] = [],
  ): Promise<void> {
    if (session.id === undefined) return
    const { record, handle } = session
    if (this.lifetimes.isOver(record)) return this.end(session)
    // A guest with stored state can be idle too.
    if (!this.store.inMemory(handle)) this.lifetimes.restart(record)
    await this.store.update(session, change, tokens)
  }

  /** Sets the idle time of a record from now on, within the server's limits. */
  setIdleMinutes(record: SessionRecord, minutes: number): void {
    this.lifetimes.setIdleMinutes(record, minutes)
  }

  /** Ends a session immediately. Resolves when that is durable. */
  async end(session: Session): Promise<void> {
    if (session.id === undefined) return
    this.endHere(session)
    await this.store.remove(session)
  }

  /** Ends a session on this server. */
  private endHere({ handle, record }: Session): void {
    record.expires = 0
    record.endsAt = 0
    this.store.forget(handle)
    for (const listener of this.endListeners) this.inBackground(Promise.resolve(listener(handle)))
  }

  /** Ends a session immediately, and logs a failure to make that durable. */
  endInBackground(session: Session): void {
    this.inBackground(this.end(session))
  }

  /** Ends all sessions that match. @returns their number */
  async endAll(matches: (session: SessionRecord, handle: string) => boolean): Promise<number> {
    let count = 0
    for await (const session of this.store.all()) {
      if (!matches(session.record, session.handle)) continue
      count++
      await this.end(session)
    }
    return count
  }

  /** Number of sessions with a record; sessions of an earlier run and of other servers are included after a minute at most. */
  get recorded(): { guests: number; users: number } {
    return this.store.count
  }

  onEnd(listener: OnSessionEnd): void {
    this.endListeners.push(listener)
  }

  /** Sessions with a record that have not expired. */
  async list(limit: number): Promise<{ handle: string; record: SessionRecord }[]> {
    const sessions = await this.store.list(limit)
    return sessions
      .map(({ handle, record }) => ({ handle, record }))
      .filter(({ record }) => !this.lifetimes.hasExpired(record))
  }

  /**
   * Value of `Set-Cookie`. It is sent once, so it lasts as long as the session can; the server ends idle sessions.
   * @param isSecure the client speaks TLS, with the server or with its proxy
   */
  setCookie(session: Session, isSecure: boolean): string {
    // Avoids the record of a guest: it contains the address, which costs a system call.
    const seconds = session.isGuest ? GUEST_MS / 1000 : this.lifetimes.secondsLeft(session.record)
    return this.cookies.write(session.id!, seconds, isSecure)
  }

  /** Records the latest uses. To be called before the engine is closed. */
  async close(): Promise<void> {
    await this.sweeper.close()
    await this.store.close().catch(error => this.onInternalError(`sessions were not stored: ${error}`))
  }

  private byCookies(cookies: string, peer: Peer): Session | undefined {
    const id = this.cookies.idIn(cookies)
    const session = id === undefined ? undefined : this.byId(id, peer)
    if (session) this.recent.add(cookies, session)
    return session
  }

  private recall(cookies: string): Session | undefined {
    const recent = this.recent.get(cookies)
    if (!recent) return undefined
    const session = this.store.inMemory(recent.handle)
    if (session) return this.use(session)
    // The session belongs to a guest without stored state. A session that has ended has no time left.
    return recent.isGuest && !this.lifetimes.hasExpired(recent.record) ? recent : undefined
  }

  private byId(id: string, peer: Peer): Session | undefined {
    const handle = handleOf(id)
    const session = this.store.find(handle, id)
    return session ? this.use(session) : this.guests.find(id, handle, peer)
  }

  /** Restarts the idle time of a session; undefined if the session has expired. */
  private use(session: Session): Session | undefined {
    if (this.lifetimes.hasExpired(session.record)) {
      this.endInBackground(session)
      return undefined
    }
    if (this.lifetimes.extend(session.record)) this.inBackground(this.store.extend(session))
    return session
  }

  private removeExpired(): Promise<void> {
    return this.store.sweep(session => this.end(session))
  }

  private inBackground(work: Promise<unknown>): void {
    work.catch(error => this.reportFailure(error as Error))
  }

  private reportFailure(error: Error): void {
    this.onInternalError(`sessions could not be stored: ${error.stack}`)
  }
}
