import { randomBytes } from 'node:crypto'
import { type Granted, type RecordChange, type ServerRecords, Sweeper } from '../../engine/index.ts'
import type { User } from '../auth/user.ts'
import { OneTimeTokens } from './one-time-tokens.ts'
import { isGuestRecord, NOTHING_GRANTED, type Peer, Session, type SessionRecord } from './session.ts'
import { type CookieOptions, SessionCookies } from './session-cookies.ts'
import { SessionErrors } from './session-errors.ts'
import { GuestIds, handleOf, randomId } from './session-id.ts'
import { SessionQuota, type SessionQuotaOptions } from './session-quota.ts'

export interface SessionOptions extends CookieOptions, SessionQuotaOptions {
  /** Minutes without a request after which a session ends. */
  idleMinutes: number
  /** Maximum idle time that a login may ask for. */
  maxIdleMinutes: number
  /** Hours after which a session ends although it is used. */
  lifetimeHours: number
  /** A login keeps what function code has stored for the guest before it. */
  keepGuestStorage: boolean
  /** Bytes of JSON that function code may store for a guest. */
  guestStorageBytes: number
}

const GUEST_HOURS = 24
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** Part of a minute of idle time that a use must add to be recorded. */
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

/** Called when a session has ended, with its handle: what it owned can go. */
export type OnSessionEnd = (handle: string) => void | Promise<void>

/**
 * The sessions of a server. LMDB has those with something to keep, under a hash of their ids; memory those that have been
 * used since the start.
 */
export class Sessions {
  private readonly tokens: OneTimeTokens
  private readonly known = new Map<string, Session>()
  private readonly quota: SessionQuota
  /** By the header that they came with. */
  private readonly recent = new Map<string, Session>()
  private readonly guestIds: GuestIds
  private readonly cookies: SessionCookies
  /** Sessions that have ended, until their records are gone. */
  private readonly ended = new Set<string>()
  private readonly endListeners: OnSessionEnd[] = []
  /** Removes what has expired. */
  private readonly sweeper: Sweeper

  private constructor(
    readonly options: SessionOptions,
    private readonly records: ServerRecords,
    private readonly now: () => number,
    guestKey: Buffer,
    private readonly onInternalError: (text: string) => void,
  ) {
    this.guestIds = new GuestIds(guestKey, now)
    this.tokens = new OneTimeTokens(records, now)
    this.cookies = new SessionCookies(options)
    this.quota = new SessionQuota(options)
    this.sweeper = new Sweeper(
      () => this.removeExpired(),
      MINUTE_MS,
      error => this.failed(error),
    )
  }

  static async open(
    options: SessionOptions,
    records: ServerRecords,
    { now, onInternalError }: { now: () => number; onInternalError: (text: string) => void },
  ): Promise<Sessions> {
    let key = records.get('guest-key')
    if (typeof key !== 'string') {
      key = randomBytes(16).toString('hex')
      await records.put([{ key: 'guest-key', value: key }])
    }
    return new Sessions(options, records, now, Buffer.from(key as string, 'hex'), onInternalError)
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
   * Another session in place of one: with other rights, under a new id, so that an id that was known or planted before a
   * login is worth nothing after it. What function code stored goes with the old one, unless it was a guest and
   * `session.keepGuestStorage` says otherwise. Resolves when it is durable.
   * @param idleMinutes of a login that asks for more than the minimum
   */
  async renew(
    session: Session,
    user: User | undefined,
    granted: Granted,
    peer: Peer,
    idleMinutes = 0,
  ): Promise<Session> {
    const { lifetimeHours, maxIdleMinutes, idleMinutes: minimum, keepGuestStorage } = this.options
    const storage = keepGuestStorage && session.isGuest ? session.record.storage : {}
    // The old one first: an id that was planted must not outlive the login.
    await this.end(session)
    if (isGuestRecord({ user, granted })) return this.guest(peer)
    const idle = Math.min(Math.max(idleMinutes, minimum), Math.max(maxIdleMinutes, minimum))
    const endsAt = this.now() + lifetimeHours * HOUR_MS
    const expires = Math.min(this.now() + idle * MINUTE_MS, endsAt)
    const { address } = peer.client
    const renewed = new Session(randomId(), { user, granted, storage, idleMinutes: idle, expires, endsAt, address })
    await this.keep(renewed)
    return renewed
  }

  /**
   * The session with other rights. For another user, and between guests and others, it is another session, as after a login.
   * Resolves when it is durable.
   */
  async grant(session: Session, user: User | undefined, granted: Granted, peer: Peer): Promise<Session> {
    const isSame = session.user?.userName === user?.userName && session.isGuest === isGuestRecord({ user, granted })
    if (!isSame) return this.renew(session, user, granted, peer)
    if (session.isGuest) return session
    Object.assign(session.record, { user, granted })
    await this.keep(session)
    return session
  }

  /**
   * The session of a one-time token, in the place of another, under an id of its own. Resolves when it is durable.
   * @throws {SessionErrors.WRONG_CREDENTIALS} the token is not valid
   */
  async restore(session: Session, tokenHash: string): Promise<Session> {
    const handle = await this.tokens.redeem(tokenHash)
    const target = handle === undefined ? undefined : (this.known.get(handle) ?? this.load('', handle))
    if (!target || target.record.expires <= this.now()) throw SessionErrors.WRONG_CREDENTIALS()
    if (target.handle === session.handle) return session
    const { id, changes } = this.tokens.createAlias(target)
    await this.keep(target, changes)
    await this.end(session)
    return new Session(id, target.record, target.handle)
  }

  /** Adds one-time tokens, given by their hashes. Resolves when they are durable. */
  async addTokens(session: Session, tokens: readonly { hash: string; seconds: number }[]): Promise<void> {
    await this.keep(
      session,
      tokens.flatMap(({ hash, seconds }) => this.tokens.create(session, hash, seconds)),
    )
  }

  /** From now on; within what the server allows. */
  setIdleMinutes({ record }: Session, minutes: number): void {
    record.idleMinutes = Math.min(minutes, Math.max(this.options.maxIdleMinutes, this.options.idleMinutes))
    record.expires = Math.min(this.now() + record.idleMinutes * MINUTE_MS, record.endsAt)
  }

  /** A new guest. */
  guest(peer: Peer): Session {
    return new Session(this.guestIds.create(), () => this.guestRecord(peer, this.now()))
  }

  /**
   * Stores what there is to know about a session. One that has ended in the meantime stays ended: what it has taken since
   * then, such as a lock, goes. Resolves when it is durable.
   * @param further changes that belong to it
   */
  async keep(session: Session, further: readonly RecordChange[] = []): Promise<void> {
    if (session.id === undefined) return
    const { record, handle } = session
    if (record.endsAt <= this.now()) return this.end(session)
    // From now on a guest can be idle too.
    if (!this.known.has(handle)) {
      record.expires = Math.min(this.now() + record.idleMinutes * MINUTE_MS, record.endsAt)
    }
    this.remember(session)
    await this.records.put([...further, { key: PREFIX + handle, value: record }])
  }

  /** Ends it at once. Resolves when that is durable. */
  async end(session: Session): Promise<void> {
    if (session.id === undefined) return
    const { handle, record } = session
    record.expires = 0
    record.endsAt = 0
    this.known.delete(handle)
    this.quota.remove(handle)
    for (const listener of this.endListeners) this.inBackground(Promise.resolve(listener(handle)))
    if (!this.records.get(PREFIX + handle)) return
    this.ended.add(handle)
    await this.records.put([{ key: PREFIX + handle, value: undefined }, ...this.tokens.removalsOf(record)])
    this.ended.delete(handle)
  }

  /** Ends it at once, and logs when that could not be made durable. */
  endInBackground(session: Session): void {
    this.inBackground(this.end(session))
  }

  /** Ends all sessions that match. @returns how many there were */
  async endAll(matches: (session: SessionRecord, handle: string) => boolean): Promise<number> {
    let count = 0
    for (let after = PREFIX; ; ) {
      const slice = this.records.list(PREFIX, SWEEP_SLICE, after)
      for (const { key, value } of slice) {
        const handle = key.slice(PREFIX.length)
        if (!matches(value as SessionRecord, handle)) continue
        count++
        await this.end(this.stored(handle, value))
      }
      if (slice.length < SWEEP_SLICE) return count
      after = slice.at(-1)!.key
    }
  }

  /** Number of sessions with a record; those of an earlier run of the server are counted within a minute. */
  get recorded(): { guests: number; users: number } {
    return this.quota.count
  }

  onEnd(listener: OnSessionEnd): void {
    this.endListeners.push(listener)
  }

  /** Sessions with a record that have not expired. */
  list(limit: number): { handle: string; record: SessionRecord }[] {
    return this.records
      .list(PREFIX, limit)
      .map(({ key, value }) => ({ handle: key.slice(PREFIX.length), record: value as SessionRecord }))
      .map(({ handle, record }) => ({ handle, record: this.known.get(handle)?.record ?? record }))
      .filter(({ record }) => record.expires > this.now())
  }

  /**
   * The value of `Set-Cookie`. It is sent once, so it lasts as long as the session can: the server ends idle ones.
   * @param isSecure the client speaks TLS, with the server or with its proxy
   */
  setCookie(session: Session, isSecure: boolean): string {
    // The record of a guest is not asked for: it has the address, which costs a system call.
    const seconds = session.isGuest
      ? GUEST_HOURS * 3600
      : Math.max(0, Math.round((session.record.endsAt - this.now()) / 1000))
    return this.cookies.write(session.id!, seconds, isSecure)
  }

  /** A slice at a time. */
  private async removeExpired(): Promise<void> {
    await this.tokens.sweep()
    for (let after = PREFIX; ; ) {
      const slice = this.records.list(PREFIX, SWEEP_SLICE, after)
      for (const { key, value } of slice) {
        const handle = key.slice(PREFIX.length)
        const session = this.stored(handle, value)
        if (session.record.expires <= this.now() || this.ended.has(handle)) await this.end(session)
        // Sessions of an earlier run of the server count too.
        else this.count(session)
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
    const id = this.cookies.idIn(cookies)
    const session = id === undefined ? undefined : this.byId(id, peer)
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
    // A guest without stored state. A session that has ended has no time left.
    return recent.isGuest && recent.record.expires > this.now() ? recent : undefined
  }

  private byId(id: string, peer: Peer): Session | undefined {
    const handle = handleOf(id)
    const session = this.known.get(handle) ?? this.load(id, handle)
    if (session) return this.use(session)
    const madeAt = this.guestIds.madeAt(id)
    if (madeAt === undefined) return this.byAlias(handle)
    if (this.now() - madeAt > GUEST_HOURS * HOUR_MS) return undefined
    return new Session(id, this.guestRecord(peer, madeAt), handle)
  }

  private byAlias(hash: string): Session | undefined {
    const handle = this.tokens.sessionOf(hash)
    const session = handle === undefined ? undefined : (this.known.get(handle) ?? this.load('', handle))
    return session && this.use(session)
  }

  private load(id: string, handle: string): Session | undefined {
    const record = this.records.get(PREFIX + handle) as SessionRecord | undefined
    if (!record || this.ended.has(handle)) return undefined
    const session = new Session(id, record, handle)
    this.remember(session)
    return session
  }

  /** Its idle time starts again. */
  private use(session: Session): Session | undefined {
    const { record } = session
    const now = this.now()
    if (record.expires <= now) {
      this.endInBackground(session)
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

  private guestRecord({ client: { address } }: Peer, madeAt: number): SessionRecord {
    const endsAt = madeAt + GUEST_HOURS * HOUR_MS
    const { idleMinutes } = this.options
    return { user: undefined, granted: NOTHING_GRANTED, storage: {}, idleMinutes, expires: endsAt, endsAt, address }
  }

  private remember(session: Session): void {
    this.known.set(session.handle, session)
    this.count(session)
  }

  private count({ handle, record }: Session): void {
    for (const excess of this.quota.add(handle, record)) {
      this.endInBackground(this.stored(excess, this.records.get(PREFIX + excess)))
    }
  }

  /** A session of which there is a record, without its id. */
  private stored(handle: string, record: unknown): Session {
    return this.known.get(handle) ?? new Session('', record as SessionRecord, handle)
  }

  private inBackground(work: Promise<unknown>): void {
    work.catch(error => this.failed(error as Error))
  }

  private failed(error: Error): void {
    this.onInternalError(`sessions could not be stored: ${error.stack}`)
  }
}
