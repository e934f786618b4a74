import type { SessionTable, SharedSession } from '../../engine/index.ts'
import type { Lifetimes } from './lifetimes.ts'
import { isGuestRecord, Session, type SessionRecord } from './session.ts'
import { SessionErrors } from './session-errors.ts'
import { handleOf, randomId } from './session-id.ts'
import { groupName, limitOf, type SessionQuotaOptions } from './session-quota.ts'
import type { NewToken, OnEnded, SessionStore } from './session-store.ts'

/** Configuration of sessions that several servers share. */
export interface SharedBy {
  readonly table: SessionTable
  /** Time after which a copy of a session is read again. */
  readonly copySeconds: number
}

interface SharedSessionsOptions extends SharedBy {
  readonly options: SessionQuotaOptions
  readonly lifetimes: Lifetimes
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly onEnded: OnEnded
  /** Key of the ids of guests: this server's own key until the shared key is known. */
  readonly guestKey: { readonly own: Buffer; use(key: Buffer): void }
}

/** A copy of a session in this server. */
interface Copy {
  /** The session; undefined if there is none. */
  session: Session | undefined
  version: number
  /** Time by `performance.now` after which another server may have newer data. */
  knownAt: number
}

/** Maximum number of copies. */
const MAX_COPIES = 100_000
/** Maximum number of times that a change is repeated because another server has changed the record meanwhile. */
const MAX_CHANGES = 10

/**
 * Sessions in a table that several servers share. Each server has copies of the sessions that it has used, and reads a copy again when it
 * is older than `nodes.sessionSeconds`: a session that has ended on one server is unknown to the others after that time.
 */
export class SharedSessions implements SessionStore {
  /** Copies by handle, and by the hashes of further ids. */
  private readonly copies = new Map<string, Copy>()
  private readonly fetching = new Map<string, Promise<void>>()
  /** Records that are, or were, in the table. A record without a copy may have ended, and must not be added again. */
  private readonly storedRecords = new WeakSet<SessionRecord>()
  private readonly copyMs: number
  private hasGuestKey = false
  count = { guests: 0, users: 0 }

  constructor(private readonly context: SharedSessionsOptions) {
    this.copyMs = context.copySeconds * 1000
    // Also creates the tables. A database that is unavailable is asked again later.
    this.askGuestKey().catch(() => {})
  }

  fetch(hash: string): Promise<void> | undefined {
    const copy = this.copies.get(hash)
    if (copy && this.isFresh(copy)) return undefined
    const pendingFetch = this.copyMs > 0 ? this.fetching.get(hash) : undefined
    if (pendingFetch) return pendingFetch
    const fetching = this.ask(hash).finally(() => {
      if (this.fetching.get(hash) === fetching) this.fetching.delete(hash)
    })
    this.fetching.set(hash, fetching)
    return fetching
  }

  inMemory(handle: string): Session | undefined {
    return this.copies.get(handle)?.session
  }

  find(hash: string): Session | undefined {
    return this.inMemory(hash)
  }

  async update(
    session: Session,
    change: (record: SessionRecord) => void,
    tokens: readonly NewToken[] = [],
  ): Promise<void> {
    const { handle } = session
    const { table, now, options } = this.context
    const secrets = tokens.map(({ hash, seconds }) => {
      const expires = Math.min(now() + seconds * 1000, session.record.endsAt)
      return { kind: 'token', hash, expires } as const
    })
    if (!this.inMemory(handle) && this.storedRecords.has(session.record)) {
      await this.ask(handle)
      if (!this.inMemory(handle)) {
        this.context.onEnded(session)
        return
      }
    }
    for (let changes = 0; changes < MAX_CHANGES; changes++) {
      const copy = this.copies.get(handle)
      const { record } = copy?.session ?? session
      const startedAt = performance.now()
      // Changes a copy, because the session in memory must not differ from the stored one.
      const changedRecord = structuredClone(record)
      change(changedRecord)
      const content = contentOf(handle, changedRecord)
      if (!copy?.session) {
        const excess = await table.add(content, secrets, limitOf(changedRecord, options), now())
        if (excess) {
          replace(record, changedRecord)
          this.storedRecords.add(record)
          this.put(handle, { session, version: 1, knownAt: startedAt })
          for (const each of excess) this.announceEnd(each)
          return
        }
        // Another request of the same guest was the first.
        await this.ask(handle)
        continue
      }
      const { version } = copy
      if (await table.change(content, version, secrets)) {
        if (copy.version === version) {
          replace(record, changedRecord)
          Object.assign(copy, { version: version + 1, knownAt: startedAt })
        }
        if (session.record !== record) replace(session.record, changedRecord)
        return
      }
      await this.ask(handle)
      // The session has ended on another server.
      if (!this.inMemory(handle)) return
    }
    throw SessionErrors.CHANGING()
  }

  extend({ handle, record }: Session): Promise<void> {
    return this.context.table.extend(handle, record.expires)
  }

  forget(handle: string): void {
    const endedCopy = { session: undefined, version: 0, knownAt: performance.now() }
    const copy = this.copies.get(handle)
    // Other ids may share this copy.
    if (copy) Object.assign(copy, endedCopy)
    else this.put(handle, endedCopy)
  }

  remove({ handle }: Session): Promise<void> {
    return this.context.table.remove(handle)
  }

  async redeem(hash: string): Promise<Session | undefined> {
    const startedAt = performance.now()
    const redeemedSession = await this.context.table.redeem(hash, this.context.now())
    return redeemedSession && this.accept(redeemedSession, startedAt).session
  }

  async addAlias(session: Session): Promise<string> {
    const { table } = this.context
    const { handle, record } = session
    const id = randomId()
    await table.addSecret(handle, { kind: 'alias', hash: handleOf(id), expires: record.endsAt })
    return id
  }

  async *all(): AsyncGenerator<Session> {
    for (let after = ''; ; ) {
      const slice = await this.context.table.list(after)
      for (const storedSession of slice) yield this.sessionOf(storedSession)
      const last = slice.at(-1)
      if (!last) return
      after = last.handle
    }
  }

  async list(limit: number): Promise<Session[]> {
    return (await this.context.table.list('', limit)).map(listedSession => this.sessionOf(listedSession))
  }

  async sweep(): Promise<void> {
    const { table } = this.context
    for (let endedCount = await this.sweepSlice(); endedCount > 0; ) endedCount = await this.sweepSlice()
    const heldHandles = [...this.copies].flatMap(([hash, { session }]) => (session?.handle === hash ? hash : []))
    for (const handle of heldHandles.length > 0 ? await table.findMissing(heldHandles) : []) this.announceEnd(handle)
    for (const [hash, copy] of this.copies) if (!copy.session && !this.isFresh(copy)) this.copies.delete(hash)
    this.count = await table.count()
  }

  async close(): Promise<void> {}

  private async sweepSlice(): Promise<number> {
    const { table, now, options } = this.context
    const endedHandles = await table.sweep(now(), options.maxGuests)
    for (const handle of endedHandles) {
      if (this.inMemory(handle)) this.announceEnd(handle)
      else this.context.onEnded(new Session('', endedRecord(), handle))
    }
    return endedHandles.length
  }

  private isFresh({ session, knownAt }: Copy): boolean {
    if (performance.now() - knownAt >= this.copyMs) return false
    // Another server may have extended the session.
    return !session || !this.context.lifetimes.hasExpired(session.record)
  }

  private async ask(hash: string): Promise<void> {
    await this.askGuestKey()
    const startedAt = performance.now()
    const foundSession = await this.context.table.find(hash, this.context.now())
    if (foundSession) {
      const copy = this.accept(foundSession, startedAt)
      if (hash !== foundSession.handle) this.put(hash, copy)
      return
    }
    const copy = this.copies.get(hash)
    // The session has begun meanwhile.
    if (copy && copy.knownAt > startedAt) return
    if (copy?.session?.handle === hash) this.announceEnd(hash)
    else this.put(hash, { session: undefined, version: 0, knownAt: startedAt })
  }

  private async askGuestKey(): Promise<void> {
    if (this.hasGuestKey) return
    const { table, guestKey } = this.context
    const key = await table.secret('guest-key', guestKey.own.toString('hex'))
    if (this.hasGuestKey) return
    this.hasGuestKey = true
    guestKey.use(Buffer.from(key, 'hex'))
  }

  /** Copies a session from the table, unless this server has newer data. */
  private accept(sharedSession: SharedSession, startedAt: number): Copy {
    const { handle, version } = sharedSession
    const knownCopy = this.copies.get(handle)
    if (!knownCopy?.session) {
      // The session has ended meanwhile.
      if (knownCopy && knownCopy.knownAt > startedAt) return knownCopy
      const session = this.sessionOf(sharedSession)
      this.storedRecords.add(session.record)
      const copy = { session, version, knownAt: startedAt }
      this.put(handle, copy)
      return copy
    }
    const { record } = knownCopy.session
    if (version > knownCopy.version) replace(record, recordOf(sharedSession))
    else record.expires = Math.max(record.expires, sharedSession.expires)
    knownCopy.version = Math.max(version, knownCopy.version)
    knownCopy.knownAt = Math.max(startedAt, knownCopy.knownAt)
    return knownCopy
  }

  private announceEnd(handle: string): void {
    const session = this.inMemory(handle)
    if (session) this.context.onEnded(session)
  }

  private put(hash: string, copy: Copy): void {
    this.copies.delete(hash)
    if (this.copies.size >= MAX_COPIES) this.copies.delete(this.copies.keys().next().value!)
    this.copies.set(hash, copy)
  }

  private sessionOf(sharedSession: SharedSession): Session {
    return this.inMemory(sharedSession.handle) ?? new Session('', recordOf(sharedSession), sharedSession.handle)
  }
}

function contentOf(handle: string, record: SessionRecord) {
  const isGuest = isGuestRecord(record)
  const { expires } = record
  return { handle, record: JSON.stringify(record), expires, owner: groupName(record, isGuest), isGuest }
}

const recordOf = ({ record, expires }: SharedSession): SessionRecord => ({
  ...(JSON.parse(record) as SessionRecord),
  expires,
})

const endedRecord = (): SessionRecord => ({
  user: undefined,
  granted: { privileges: [], roles: [] },
  storage: {},
  idleMinutes: 0,
  expires: 0,
  endsAt: 0,
  address: '',
})

/** Replaces the content of a record in place, because requests may hold the record. */
function replace(record: SessionRecord, content: SessionRecord): void {
  for (const name of Object.keys(record)) if (!(name in content)) delete record[name as keyof SessionRecord]
  Object.assign(record, content)
}
