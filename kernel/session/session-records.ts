import type { RecordChange, ServerRecords } from '../../engine/index.ts'
import { recordSlices } from '../base/record-slices.ts'
import type { Lifetimes } from './lifetimes.ts'
import { OneTimeTokens } from './one-time-tokens.ts'
import { Session, type SessionRecord } from './session.ts'
import type { SessionQuota } from './session-quota.ts'
import type { NewToken, OnEnded, SessionStore } from './session-store.ts'

const PREFIX = 'session/'

/**
 * Sessions with a record. The store has all of them, under a hash of their ids; memory has those that have been used since the
 * start.
 */
export class SessionRecords implements SessionStore {
  private readonly usedSessions = new Map<string, Session>()
  /** Handles of sessions that have ended, until their records are gone. */
  private readonly endedHandles = new Set<string>()
  private readonly oneTimeTokens: OneTimeTokens

  /**
   * @param onExcess called with a session that must end because the quota is exceeded
   * @param now milliseconds since 1970
   */
  constructor(
    private readonly records: ServerRecords,
    private readonly quota: SessionQuota,
    private readonly lifetimes: Lifetimes,
    now: () => number,
    private readonly onExcess: OnEnded,
  ) {
    this.oneTimeTokens = new OneTimeTokens(records, now)
  }

  inMemory(handle: string): Session | undefined {
    return this.usedSessions.get(handle)
  }

  find(hash: string, id = ''): Session | undefined {
    const match = this.byHandle(hash, id)
    if (match) return match
    const handle = this.oneTimeTokens.sessionOf(hash)
    return handle === undefined ? undefined : this.byHandle(handle)
  }

  async update(
    session: Session,
    change: (record: SessionRecord) => void,
    tokens: readonly NewToken[] = [],
  ): Promise<void> {
    change(session.record)
    await this.put(
      session,
      tokens.flatMap(({ hash, seconds }) => this.oneTimeTokens.create(session, hash, seconds)),
    )
  }

  extend(session: Session): Promise<void> {
    return this.put(session)
  }

  forget(handle: string): void {
    this.usedSessions.delete(handle)
    this.quota.remove(handle)
  }

  async remove({ handle, record }: Session): Promise<void> {
    const key = PREFIX + handle
    if (!this.records.get(key)) return
    this.endedHandles.add(handle)
    await this.records.put([{ key, value: undefined }, ...this.oneTimeTokens.removalsOf(record)])
    this.endedHandles.delete(handle)
  }

  async redeem(hash: string): Promise<Session | undefined> {
    const handle = await this.oneTimeTokens.redeem(hash)
    return handle === undefined ? undefined : this.byHandle(handle)
  }

  async addAlias(session: Session): Promise<string> {
    const { id, changes } = this.oneTimeTokens.createAlias(session)
    await this.put(session, changes)
    return id
  }

  async *all(): AsyncGenerator<Session> {
    for (const slice of recordSlices(this.records, PREFIX)) for (const entry of slice) yield this.sessionOf(entry)
  }

  list(limit: number): Session[] {
    return this.records.list(PREFIX, limit).map(entry => this.sessionOf(entry))
  }

  get count(): { guests: number; users: number } {
    return this.quota.count
  }

  async sweep(end: (session: Session) => Promise<void>): Promise<void> {
    await this.oneTimeTokens.sweep()
    for await (const session of this.all()) {
      if (this.lifetimes.hasExpired(session.record) || this.endedHandles.has(session.handle)) await end(session)
      // Sessions of an earlier run of the server count too.
      else this.add(session)
    }
  }

  async close(): Promise<void> {
    await this.records.put(
      [...this.usedSessions].map(([handle, { record }]) => ({ key: PREFIX + handle, value: record })),
    )
  }

  private async put(session: Session, further: readonly RecordChange[] = []): Promise<void> {
    this.remember(session)
    await this.records.put([...further, { key: PREFIX + session.handle, value: session.record }])
  }

  private byHandle(handle: string, id = ''): Session | undefined {
    const knownSession = this.usedSessions.get(handle)
    if (knownSession) return knownSession
    const record = this.records.get(PREFIX + handle) as SessionRecord | undefined
    if (!record || this.endedHandles.has(handle)) return undefined
    const session = new Session(id, record, handle)
    this.remember(session)
    return session
  }

  private remember(session: Session): void {
    this.usedSessions.set(session.handle, session)
    this.add(session)
  }

  /** Counts a session against the quota, once. */
  private add({ handle, record }: Session): void {
    for (const excess of this.quota.add(handle, record)) {
      const key = PREFIX + excess
      this.onExcess(this.sessionOf({ key, value: this.records.get(key) }))
    }
  }

  /** Session of a record; it has its id only if it has been used. */
  private sessionOf({ key, value }: { key: string; value: unknown }): Session {
    const handle = key.slice(PREFIX.length)
    return this.usedSessions.get(handle) ?? new Session('', value as SessionRecord, handle)
  }
}
