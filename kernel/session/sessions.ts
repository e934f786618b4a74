import { randomBytes } from 'node:crypto'
import type { Granted } from '../../engine/index.ts'
import type { ServerRecords } from '../../engine/records/server-records.ts'
import { Sweeper } from '../../engine/sweeper.ts'
import { cookieValue } from './cookie.ts'
import { NOTHING_GRANTED, type Peer, Session, type SessionRecord, type User } from './session.ts'
import { OneTimeTokens } from './one-time-tokens.ts'
import { SessionErrors } from './session-errors.ts'
import { GuestIds, handleOf, randomId } from './session-id.ts'

export interface SessionOptions {
  /** Name of the cookie; `WASID4D` is understood beside it. */
  cookieName: string
  /** Minutes without a request after which a session ends. */
  idleMinutes: number
  /** Greatest idle time that a login may ask for. */
  maxIdleMinutes: number
  /** Hours after which a session ends although it is used. */
  lifetimeHours: number
  /** Guests of one address of whom something is kept; the oldest go when there are more. */
  guestsPerAddress: number
  sameSite: 'lax' | 'strict' | 'none'
}

/** Bytes of an id in hex. */
const ID = /^[0-9A-F]{32}$/
const OLDER_COOKIE = 'WASID4D'
const GUEST_HOURS = 24
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** Of a minute of idle time: how much a use must add to be recorded. */
const RECORDED_MS = 6_000
const SWEEP_SLICE = 500
const MAX_RECENT = 10_000
const MAX_RECENT_LENGTH = 500
const PREFIX = 'session/'

/** A request of a session. */
export interface Visit {
  /** A login puts another one here. */
  session: Session
  /** The id that the request brought, when it was valid. When the session has another at the end, the answer brings it. */
  readonly receivedId: string | undefined
  /** The client came without a session and may not keep the one that it is given. */
  readonly isNew?: boolean
}

/** Told when a session has ended, by its handle: what it owned can go. */
export type OnSessionEnd = (handle: string) => void | Promise<void>

/**
 * The sessions of a server. LMDB has those with something to keep, under a hash of their ids; memory those that have been
 * used since the start.
 */
export class Sessions {
  /** By which others take a session over. */
  readonly tokens: OneTimeTokens
  private readonly known = new Map<string, Session>()
  /** Handles of the guests among them, by the address they came from, the oldest first. */
  private readonly guests = new Map<string, Set<string>>()
  /** By the header that they came with. */
  private readonly recent = new Map<string, Session>()
  private readonly guestIds: GuestIds
  private readonly cookieNames: readonly string[]
  private readonly cookieAttributes: string
  /** Of sessions that have ended, until their records are gone. */
  private readonly ended = new Set<string>()
  private readonly endListeners: OnSessionEnd[] = []
  /** Removes what has expired. */
  private readonly sweeper: Sweeper

  private constructor(
    private readonly options: SessionOptions,
    private readonly records: ServerRecords,
    private readonly now: () => number,
    guestKey: Buffer,
    isSecure: boolean,
    private readonly onInternalError: (text: string) => void,
  ) {
    this.guestIds = new GuestIds(guestKey, now)
    this.tokens = new OneTimeTokens(records, now)
    this.cookieNames = [options.cookieName, OLDER_COOKIE]
    const { sameSite } = options
    const site = `${sameSite[0]!.toUpperCase()}${sameSite.slice(1)}`
    this.cookieAttributes = `Path=/; HttpOnly; SameSite=${site}${isSecure ? '; Secure' : ''}`
    this.sweeper = new Sweeper(
      () => this.removeExpired(),
      MINUTE_MS,
      error => this.failed(error),
    )
  }

  /** @param isSecure the server speaks TLS */
  static async open(
    options: SessionOptions,
    records: ServerRecords,
    {
      now,
      isSecure,
      onInternalError,
    }: { now: () => number; isSecure: boolean; onInternalError: (text: string) => void },
  ): Promise<Sessions> {
    let key = records.get('guest-key')
    if (typeof key !== 'string') {
      key = randomBytes(16).toString('hex')
      await records.put([{ key: 'guest-key', value: key }])
    }
    return new Sessions(options, records, now, Buffer.from(key as string, 'hex'), isSecure, onInternalError)
  }

  /**
   * The session that a request belongs to. Without a valid cookie it is a new guest.
   * @param cookies the `Cookie` header
   */
  find(cookies: string, peer: Peer): Visit {
    const session = this.recall(cookies) ?? this.byCookies(cookies, peer)
    if (session) return { session, receivedId: session.id }
    return { session: this.guest(peer), receivedId: undefined, isNew: true }
  }

  /**
   * The session with other rights, under a new id: an id that somebody may have known or planted before is worth nothing.
   * Resolves when it is durable.
   * @param idleMinutes of a login that asks for more than the least
   */
  async renew(session: Session, user: User | undefined, granted: Granted, idleMinutes = 0): Promise<Session> {
    const { lifetimeHours, maxIdleMinutes, idleMinutes: least } = this.options
    const { storage, address } = session.record
    const idle = Math.min(Math.max(idleMinutes, least), Math.max(maxIdleMinutes, least))
    const endsAt = this.now() + lifetimeHours * HOUR_MS
    const expires = Math.min(this.now() + idle * MINUTE_MS, endsAt)
    const renewed = new Session(randomId(), { user, granted, storage, idleMinutes: idle, expires, endsAt, address })
    // The old one first: an id that somebody may have planted must not outlive the login.
    await this.end(session)
    await this.keep(renewed)
    return renewed
  }

  /**
   * The session with other rights. A guest who becomes somebody gets another id by it, as after a login.
   * Resolves when it is durable.
   */
  async grant(session: Session, user: User | undefined, granted: Granted): Promise<Session> {
    const before = session.user?.userName
    if (session.isGuest || before !== user?.userName) return this.renew(session, user, granted)
    Object.assign(session.record, { user, granted })
    await this.keep(session)
    return session
  }

  /**
   * The session of a one-time token, in the place of another, under an id of its own. Resolves when it is durable.
   * @throws {SessionErrors.WRONG_CREDENTIALS} the token is not valid (any more)
   */
  async restore(session: Session, tokenHash: string): Promise<Session> {
    const handle = await this.tokens.redeem(tokenHash)
    const target = handle === undefined ? undefined : (this.known.get(handle) ?? this.load('', handle))
    if (!target || target.record.expires <= this.now()) throw SessionErrors.WRONG_CREDENTIALS()
    const id = await this.tokens.addId(target.handle, target.record.endsAt)
    await this.end(session)
    return new Session(id, target.record, target.handle)
  }

  /** From now on; within what the server allows. */
  setIdleMinutes({ record }: Session, minutes: number): void {
    record.idleMinutes = Math.min(minutes, Math.max(this.options.maxIdleMinutes, this.options.idleMinutes))
    record.expires = Math.min(this.now() + record.idleMinutes * MINUTE_MS, record.endsAt)
  }

  /** A new guest. */
  guest(peer: Peer): Session {
    return new Session(this.guestIds.create(), () => this.guestRecord(peer))
  }

  /** Keeps what there is to know about a session. Resolves when it is durable. */
  async keep(session: Session): Promise<void> {
    if (session.id === undefined) return
    // From now on a guest can be idle too.
    const { record } = session
    if (!this.known.has(session.handle)) {
      record.expires = Math.min(this.now() + record.idleMinutes * MINUTE_MS, record.endsAt)
    }
    this.known.set(session.handle, session)
    if (session.isGuest) this.countGuest(session)
    await this.records.put([{ key: PREFIX + session.handle, value: session.record }])
  }

  /** Ends it at once. Resolves when that is durable. */
  async end(session: Session): Promise<void> {
    if (session.id === undefined) return
    const { handle } = session
    session.record.expires = 0
    this.forget(handle)
    for (const listener of this.endListeners) this.inBackground(Promise.resolve(listener(handle)))
    if (!this.records.get(PREFIX + handle)) return
    this.ended.add(handle)
    await this.records.put([{ key: PREFIX + handle, value: undefined }])
    this.ended.delete(handle)
  }

  /** Ends the sessions of a user, or all with these handles. @returns how many there were */
  async endAll(matches: (session: SessionRecord, handle: string) => boolean): Promise<number> {
    let count = 0
    for (let after = PREFIX; ; ) {
      const slice = this.records.list(PREFIX, SWEEP_SLICE, after)
      for (const { key, value } of slice) {
        const handle = key.slice(PREFIX.length)
        if (!matches(value as SessionRecord, handle)) continue
        count++
        await this.end(this.known.get(handle) ?? new Session('', value as SessionRecord, handle))
      }
      if (slice.length < SWEEP_SLICE) return count
      after = slice.at(-1)!.key
    }
  }

  onEnd(listener: OnSessionEnd): void {
    this.endListeners.push(listener)
  }

  /** Those of whom something is kept and that have not expired. */
  list(limit: number): { handle: string; record: SessionRecord }[] {
    return this.records
      .list(PREFIX, limit)
      .map(({ key, value }) => ({ handle: key.slice(PREFIX.length), record: value as SessionRecord }))
      .map(({ handle, record }) => ({ handle, record: this.known.get(handle)?.record ?? record }))
      .filter(({ record }) => record.expires > this.now())
  }

  /** The value of `Set-Cookie`. */
  setCookie(session: Session): string {
    const seconds = session.isGuest ? GUEST_HOURS * 3600 : session.record.idleMinutes * 60
    return `${this.options.cookieName}=${session.id}; Max-Age=${seconds}; ${this.cookieAttributes}`
  }

  /** A slice at a time. */
  private async removeExpired(): Promise<void> {
    await this.tokens.sweep()
    for (let after = PREFIX; ; ) {
      const slice = this.records.list(PREFIX, SWEEP_SLICE, after)
      for (const { key, value } of slice) {
        const handle = key.slice(PREFIX.length)
        const session = this.known.get(handle) ?? new Session('', value as SessionRecord, handle)
        if (session.record.expires <= this.now()) await this.end(session)
      }
      if (slice.length < SWEEP_SLICE) return
      after = slice.at(-1)!.key
    }
  }

  /** Records the last uses. Before the engine is closed. */
  async close(): Promise<void> {
    await this.sweeper.close()
    const changes = [...this.known].map(([handle, { record }]) => ({ key: PREFIX + handle, value: record }))
    await this.records.put(changes).catch(error => this.onInternalError(`sessions were not stored: ${error}`))
  }

  private byCookies(cookies: string, peer: Peer): Session | undefined {
    const id = cookieValue(cookies, this.cookieNames)?.toUpperCase()
    const session = id !== undefined && ID.test(id) ? this.byId(id, peer) : undefined
    if (!session || cookies.length > MAX_RECENT_LENGTH) return session
    if (this.recent.size >= MAX_RECENT) this.recent.clear()
    this.recent.set(cookies, session)
    return session
  }

  /** Hashes and ciphers cost more than a read by key, so they are done once for each client. */
  private recall(cookies: string): Session | undefined {
    const recent = this.recent.get(cookies)
    if (!recent) return undefined
    const session = this.known.get(recent.handle)
    if (session) return this.use(session)
    // A guest of whom nothing is kept. One that has ended has no time left.
    return recent.isGuest && recent.record.expires > this.now() ? recent : undefined
  }

  private byId(id: string, peer: Peer): Session | undefined {
    const handle = handleOf(id)
    const session = this.known.get(handle) ?? this.load(id, handle)
    if (session) return this.use(session)
    const madeAt = this.guestIds.madeAt(id)
    if (madeAt === undefined) return this.byFurtherId(handle)
    if (this.now() - madeAt > GUEST_HOURS * HOUR_MS) return undefined
    return new Session(id, this.guestRecord(peer), handle)
  }

  private byFurtherId(hash: string): Session | undefined {
    const handle = this.tokens.sessionOf(hash)
    const session = handle === undefined ? undefined : (this.known.get(handle) ?? this.load('', handle))
    return session && this.use(session)
  }

  private load(id: string, handle: string): Session | undefined {
    const record = this.records.get(PREFIX + handle) as SessionRecord | undefined
    if (!record || this.ended.has(handle)) return undefined
    const session = new Session(id, record, handle)
    this.known.set(handle, session)
    if (session.isGuest) this.countGuest(session)
    return session
  }

  /** Its idle time starts again. */
  private use(session: Session): Session | undefined {
    const { record } = session
    const now = this.now()
    if (record.expires <= now) {
      this.inBackground(this.end(session))
      return undefined
    }
    const expires = Math.min(now + record.idleMinutes * MINUTE_MS, record.endsAt)
    // Not every use is worth writing.
    if (expires - record.expires >= Math.min(MINUTE_MS, record.idleMinutes * RECORDED_MS)) {
      record.expires = expires
      this.inBackground(this.records.put([{ key: PREFIX + session.handle, value: record }]))
    }
    return session
  }

  private guestRecord({ remoteAddress: address }: Peer): SessionRecord {
    const endsAt = this.now() + GUEST_HOURS * HOUR_MS
    const { idleMinutes } = this.options
    return { user: undefined, granted: NOTHING_GRANTED, storage: {}, idleMinutes, expires: endsAt, endsAt, address }
  }

  private countGuest(session: Session): void {
    const { address } = session.record
    const handles = this.guests.get(address) ?? new Set<string>()
    this.guests.set(address, handles)
    handles.add(session.handle)
    for (const handle of handles) {
      if (handles.size <= this.options.guestsPerAddress) return
      const oldest = this.known.get(handle)
      if (oldest) this.inBackground(this.end(oldest))
      else handles.delete(handle)
    }
  }

  private forget(handle: string): boolean {
    const session = this.known.get(handle)
    if (!session) return false
    this.known.delete(handle)
    const handles = this.guests.get(session.record.address)
    handles?.delete(handle)
    if (handles?.size === 0) this.guests.delete(session.record.address)
    return true
  }

  private inBackground(work: Promise<unknown>): void {
    work.catch(error => this.failed(error as Error))
  }

  private failed(error: Error): void {
    this.onInternalError(`sessions could not be stored: ${error.stack}`)
  }
}
