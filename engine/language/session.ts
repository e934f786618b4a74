import { createHash, randomBytes } from 'node:crypto'
import type { Granted } from '../permission/roles.ts'
import { GUEST_LOCK_MS, type LockHolder, type LockInfo, TOKEN_LOCK_MS } from '../write/lock-table.ts'
import type { CallSession } from './author-types.ts'
import { LanguageErrors } from './language-errors.ts'

/** Of one session, undefined: as for everybody. Source: protocol notes, 8.6. */
export interface EntitySetQuotas {
  defaultTimeoutSeconds?: number
  maxTimeoutSeconds?: number
  /** Sets that it may have at a time. */
  count?: number
}

/** The session of a request, as plain data for the thread that works for it. */
export interface SessionData {
  /** What others may know it by; never what the cookie holds. */
  readonly id: string
  /** Empty for a guest. */
  readonly userName: string
  readonly granted: Granted
  /** All that it may do, promoted or included privileges too. */
  readonly privileges: readonly string[]
  readonly storage: Readonly<Record<string, unknown>>
  /** Milliseconds since 1970. */
  readonly expires: number
  readonly idleMinutes: number
  readonly entitySets: EntitySetQuotas
  /** Ends with its request: who asks has shown a key or a token. */
  readonly isOfToken: boolean
  /** What others are told about who holds a lock. */
  readonly client: LockInfo
}

/** What code has done to a session. */
export interface SessionChanges {
  granted?: Granted & { readonly userName?: string }
  /** It has locked something: it must not be forgotten before its end, which frees that. */
  hasLocks?: true
  /** Top-level entries of the storage; undefined: removed. */
  storage?: Record<string, unknown>
  idleMinutes?: number
  entitySets?: EntitySetQuotas
  /** One-time tokens that it has made, hashed. */
  tokens?: { readonly hash: string; readonly seconds: number }[]
  /** The token, hashed, by which another session takes its place. */
  restored?: string
}

/** What a thread has to look up for sessions. */
export interface SessionSurroundings {
  /** Whether there may be such a one-time token: whoever redeems it finds out. */
  hasToken(hash: string): boolean
  /** Entity sets that a session has now. */
  countSets(session: string): number
  /** Every privilege that comes with these rights; unknown ones are left out. */
  expand(rights: Granted): readonly string[]
}

interface GivenRights {
  privileges?: string | readonly string[]
  roles?: string | readonly string[]
  userName?: string
}

/** Bytes of JSON that a session may keep. */
const MAX_STORAGE = 64 * 1024
const NOTHING: Granted = { privileges: [], roles: [] }

/** Of the keys of server records for one-time tokens; their hash follows. */
export const TOKEN_PREFIX = 'token/'

const hashOfToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** `Session` of function code, for the time of one task. Source: protocol notes, 8.5. */
export class TaskSession implements CallSession {
  readonly storage: Record<string, unknown>
  private readonly stored: ReadonlyMap<string, string>
  private readonly changed: SessionChanges = {}
  private expanded: readonly string[]
  private granted: Granted
  private user: string
  private readonly promoted = new Map<number, string>()
  private nextPromotion = 1
  /** Another list after each change. */
  promotedPrivileges: readonly string[] = []

  constructor(
    private readonly data: SessionData,
    private readonly surroundings: SessionSurroundings,
  ) {
    this.storage = Object.assign(Object.create(null), structuredClone(data.storage)) as Record<string, unknown>
    this.stored = new Map(Object.entries(data.storage).map(([name, value]) => [name, JSON.stringify(value)]))
    this.granted = data.granted
    this.expanded = data.privileges
    this.user = data.userName
  }

  get id(): string {
    return this.data.id
  }

  /** Who is to hold a lock for it. */
  lockHolder(): LockHolder {
    const { id: owner, client: info, isOfToken } = this.data
    if (isOfToken) return { owner, info, lastsMs: TOKEN_LOCK_MS }
    this.changed.hasLocks = true
    // A guest who is not kept after all, because the call is ended before its end, must not lock for ever.
    return this.isGuest() ? { owner, info, lastsMs: GUEST_LOCK_MS } : { owner, info }
  }

  get userName(): string {
    return this.user
  }

  get expirationDate(): string {
    return new Date(this.data.expires).toISOString()
  }

  get idleTimeout(): number {
    return this.changed.idleMinutes ?? this.data.idleMinutes
  }

  set idleTimeout(minutes: number) {
    if (!(minutes > 0)) throw LanguageErrors.NO_IDLE_TIMEOUT(String(minutes))
    this.changed.idleMinutes = minutes
  }

  get quotas(): CallSession['quotas'] {
    const { data, changed, surroundings } = this
    const quotas = (): EntitySetQuotas => changed.entitySets ?? data.entitySets
    const change = (name: keyof EntitySetQuotas, value: number | undefined): void => {
      if (value !== undefined && !(Number.isFinite(value) && value > 0)) throw LanguageErrors.NO_QUOTA(String(value))
      const { [name]: _, ...others } = quotas()
      changed.entitySets = value === undefined ? others : { ...others, [name]: value }
    }
    return {
      get defaultEntitySetTimeout() {
        return quotas().defaultTimeoutSeconds
      },
      set defaultEntitySetTimeout(seconds) {
        change('defaultTimeoutSeconds', seconds)
      },
      get maxEntitySetTimeout() {
        return quotas().maxTimeoutSeconds
      },
      set maxEntitySetTimeout(seconds) {
        change('maxTimeoutSeconds', seconds)
      },
      get nbEntitySets() {
        return quotas().count
      },
      set nbEntitySets(count) {
        change('count', count)
      },
      get currentValues() {
        return { nbEntitySets: surroundings.countSets(data.id) }
      },
    }
  }

  isGuest(): boolean {
    const { privileges, roles } = this.granted
    return this.user === '' && privileges.length === 0 && roles.length === 0
  }

  setPrivileges(rights: Parameters<CallSession['setPrivileges']>[0]): boolean {
    const isList = typeof rights === 'string' || Array.isArray(rights)
    const { privileges, roles, userName } = (isList ? { privileges: rights } : rights) as GivenRights
    this.grant({ privileges: namesOf(privileges), roles: namesOf(roles) }, userName)
    return true
  }

  clearPrivileges(): boolean {
    this.grant(NOTHING, '')
    return true
  }

  getPrivileges(): string[] {
    return [...this.expanded]
  }

  hasPrivilege(name: string): boolean {
    const isName = (other: string): boolean => other.toLowerCase() === name.toLowerCase()
    return this.expanded.some(isName) || this.promotedPrivileges.some(isName)
  }

  promote(name: string): number {
    const id = this.nextPromotion++
    this.promoted.set(id, name)
    this.promotedPrivileges = [...this.promoted.values()]
    return id
  }

  demote(id: number): void {
    this.promoted.delete(id)
    this.promotedPrivileges = [...this.promoted.values()]
  }

  createOTP(seconds = this.idleTimeout * 60): string {
    if (!(seconds > 0)) throw LanguageErrors.NO_TOKEN_TIME(String(seconds))
    const token = randomBytes(16).toString('hex').toUpperCase()
    this.changed.tokens ??= []
    this.changed.tokens.push({ hash: hashOfToken(token), seconds })
    return token
  }

  restore(token: string): boolean {
    const hash = hashOfToken(String(token))
    if (!this.surroundings.hasToken(hash)) return false
    this.changed.restored = hash
    return true
  }

  /** Undefined when nothing has been done to it. @throws {LanguageErrors.STORAGE_TOO_LARGE} */
  changes(): SessionChanges | undefined {
    const entries = Object.entries(this.storage).map(
      ([name, value]) => [name, JSON.stringify(value) ?? 'null'] as const,
    )
    const bytes = entries.reduce((sum, [name, json]) => sum + name.length + json.length, 0)
    if (bytes > MAX_STORAGE) throw LanguageErrors.STORAGE_TOO_LARGE(bytes, MAX_STORAGE)
    const changed = entries.filter(([name, json]) => this.stored.get(name) !== json)
    const removed = [...this.stored.keys()].filter(name => !Object.hasOwn(this.storage, name))
    if (changed.length > 0 || removed.length > 0) {
      this.changed.storage = Object.fromEntries<unknown>([
        ...changed.map(([name, json]) => [name, JSON.parse(json) as unknown] as const),
        ...removed.map(name => [name, undefined] as const),
      ])
    }
    return Object.keys(this.changed).length > 0 ? this.changed : undefined
  }

  private grant(rights: Granted, userName?: string): void {
    this.granted = rights
    this.expanded = this.surroundings.expand(rights)
    if (userName !== undefined) this.user = userName
    this.changed.granted = { ...rights, ...(userName !== undefined && { userName }) }
  }
}

function namesOf(names: string | readonly string[] | undefined): string[] {
  const list = typeof names === 'string' ? names.split(',') : (names ?? [])
  return list.map(name => String(name).trim()).filter(name => name !== '')
}
