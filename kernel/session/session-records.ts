import type { RecordChange, ServerRecords } from '../../engine/index.ts'
import { recordSlices } from '../base/record-slices.ts'
import { Session, type SessionRecord } from './session.ts'
import type { SessionQuota } from './session-quota.ts'

const PREFIX = 'session/'

/**
 * Sessions with a record. The store has all of them, under a hash of their ids; memory has those that have been used since the
 * start.
 */
export class SessionRecords {
  private readonly used = new Map<string, Session>()
  /** Handles of sessions that have ended, until their records are gone. */
  private readonly ended = new Set<string>()

  /** @param onExcess called with a session that must end because the quota is exceeded */
  constructor(
    private readonly records: ServerRecords,
    private readonly quota: SessionQuota,
    private readonly onExcess: (session: Session) => void,
  ) {}

  /** A session that has been used since the start. */
  inMemory(handle: string): Session | undefined {
    return this.used.get(handle)
  }

  /** A session by its handle; undefined when it has no record, or has ended. @param id if the caller knows it */
  find(handle: string, id = ''): Session | undefined {
    const used = this.used.get(handle)
    if (used) return used
    const record = this.records.get(PREFIX + handle) as SessionRecord | undefined
    if (!record || this.ended.has(handle)) return undefined
    const session = new Session(id, record, handle)
    this.remember(session)
    return session
  }

  /** Stores a session. Resolves when that is durable. @param further changes that belong to it */
  async put(session: Session, further: readonly RecordChange[] = []): Promise<void> {
    this.remember(session)
    await this.records.put([...further, { key: PREFIX + session.handle, value: session.record }])
  }

  /** Takes a session out of memory; {@link remove} must follow. */
  forget(handle: string): void {
    this.used.delete(handle)
    this.quota.remove(handle)
  }

  /** Removes a record, if there is one. Resolves when that is durable. @param further changes that belong to it */
  async remove(handle: string, further: readonly RecordChange[]): Promise<void> {
    const key = PREFIX + handle
    if (!this.records.get(key)) return
    this.ended.add(handle)
    await this.records.put([{ key, value: undefined }, ...further])
    this.ended.delete(handle)
  }

  /** True if a session has ended and still has a record. */
  hasEnded({ handle }: Session): boolean {
    return this.ended.has(handle)
  }

  /** All sessions, including those that have ended. The caller may wait after each. */
  *all(): Generator<Session> {
    for (const slice of recordSlices(this.records, PREFIX)) for (const entry of slice) yield this.sessionOf(entry)
  }

  list(limit: number): Session[] {
    return this.records.list(PREFIX, limit).map(entry => this.sessionOf(entry))
  }

  /** Counts a session against the quota, once. */
  count({ handle, record }: Session): void {
    for (const excess of this.quota.add(handle, record)) {
      const key = PREFIX + excess
      this.onExcess(this.sessionOf({ key, value: this.records.get(key) }))
    }
  }

  /** Stores the latest uses. */
  async close(): Promise<void> {
    await this.records.put([...this.used].map(([handle, { record }]) => ({ key: PREFIX + handle, value: record })))
  }

  private remember(session: Session): void {
    this.used.set(session.handle, session)
    this.count(session)
  }

  /** Session of a record; it has its id only if it has been used. */
  private sessionOf({ key, value }: { key: string; value: unknown }): Session {
    const handle = key.slice(PREFIX.length)
    return this.used.get(handle) ?? new Session('', value as SessionRecord, handle)
  }
}
