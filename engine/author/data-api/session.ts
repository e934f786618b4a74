import { createHash, randomBytes } from 'node:crypto'
import type { Granted } from '../../permission/roles.ts'
import { GUEST_LOCK_MS, type LockHolder } from '../../caller/lock-holder.ts'
import { type EntitySetQuotas, lockHolder, type SessionChanges, type SessionData } from '../../caller/session-data.ts'
import type { CallSession } from '../declare/author-types.ts'
import { LanguageErrors } from './language-errors.ts'

/** Lookups that a thread needs for sessions. */
export interface SessionContext {
  /** True if a one-time token with this hash may exist; redeeming it decides. */
  hasToken(hash: string): boolean
  /** Number of entity sets that a session has now. */
  countSets(session: string): number
  /** All privileges that these rights include; unknown ones are left out. */
  expand(rights: Granted): readonly string[]
}

interface GivenRights {
  privileges?: string | readonly string[]
  roles?: string | readonly string[]
  userName?: string
}

/** Maximum bytes of JSON in the storage of a user's session. */
const MAX_STORAGE = 64 * 1024
/** Maximum number of one-time tokens of a session; the oldest are dropped. */
export const MAX_TOKENS = 16
const NOTHING: Granted = { privileges: [], roles: [] }

/** Key prefix of server records for one-time tokens; the hash of the token follows. */
export const TOKEN_PREFIX = 'token/'

const isNobody = (userName: string, { privileges, roles }: Granted): boolean =>
  userName === '' && privileges.length === 0 && roles.length === 0

const hashOfToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** `Session` of plugin code during one task. Source: protocol notes, 8.5. */
export class TaskSession implements CallSession {
  readonly storage: Record<string, unknown>
  private readonly storedJson: ReadonlyMap<string, string>
  private readonly pendingChanges: SessionChanges = {}
  private expanded: readonly string[]
  private granted: Granted
  private user: string
  private readonly promoted = new Map<number, string>()
  private nextPromotion = 1
  /** A new array after each change. */
  promotedPrivileges: readonly string[] = []
  /** Different for different rights and users: what restrict events return may depend on them. */
  rightsKey = ''

  constructor(
    private readonly data: SessionData,
    private readonly context: SessionContext,
  ) {
    // A session of this call only, because it arrived with a message.
    this.storage = Object.assign(Object.create(null), data.storage) as Record<string, unknown>
    this.storedJson = new Map(Object.entries(data.storage).map(([name, value]) => [name, JSON.stringify(value)]))
    this.granted = data.granted
    this.expanded = data.privileges
    this.user = data.userName
  }

  get id(): string {
    return this.data.id
  }

  /** Holder of a lock that the session takes. */
  lockHolder(): LockHolder {
    const holder = lockHolder(this.data)
    if (this.data.isOfToken) return holder
    this.pendingChanges.hasLocks = true
    // If the call is stopped early, the guest's session is not kept; its locks must not last forever.
    return this.isGuest() ? { ...holder, lastsMs: GUEST_LOCK_MS } : holder
  }

  get userName(): string {
    return this.user
  }

  get expirationDate(): string {
    return new Date(this.data.expires).toISOString()
  }

  get idleTimeout(): number {
    return this.pendingChanges.idleMinutes ?? this.data.idleMinutes
  }

  set idleTimeout(minutes: number) {
    if (!(minutes > 0)) throw LanguageErrors.NO_IDLE_TIMEOUT(String(minutes))
    this.pendingChanges.idleMinutes = minutes
  }

  get quotas(): CallSession['quotas'] {
    const { data, pendingChanges, context } = this
    const quotas = (): EntitySetQuotas => pendingChanges.entitySets ?? data.entitySets
    const change = (name: keyof EntitySetQuotas, value: number | undefined): void => {
      if (value !== undefined && !(Number.isFinite(value) && value > 0)) throw LanguageErrors.NO_QUOTA(String(value))
      const { [name]: _, ...others } = quotas()
      pendingChanges.entitySets = value === undefined ? others : { ...others, [name]: value }
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
        return { nbEntitySets: context.countSets(data.id) }
      },
    }
  }

  isGuest(): boolean {
    return isNobody(this.user, this.granted)
  }

  private isSomebodyElse(): boolean {
    const { userName, granted } = this.data
    return this.user !== userName || this.isGuest() !== isNobody(userName, granted)
  }

  isServer(): boolean {
    return false
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
    this.changePromotions()
    return id
  }

  demote(id: number): void {
    this.promoted.delete(id)
    this.changePromotions()
  }

  private changePromotions(): void {
    this.promotedPrivileges = [...this.promoted.values()]
    this.changeRights()
  }

  private changeRights(): void {
    this.rightsKey = JSON.stringify([this.user, this.expanded, this.promotedPrivileges])
  }

  createOTP(seconds = this.idleTimeout * 60): string {
    if (!(seconds > 0)) throw LanguageErrors.NO_TOKEN_TIME(String(seconds))
    const token = randomBytes(16).toString('hex').toUpperCase()
    this.pendingChanges.tokens = [...(this.pendingChanges.tokens ?? []), { hash: hashOfToken(token), seconds }].slice(
      -MAX_TOKENS,
    )
    return token
  }

  restore(token: string): boolean {
    const hash = hashOfToken(String(token))
    if (!this.context.hasToken(hash)) return false
    this.pendingChanges.restored = hash
    return true
  }

  /** Changes to the session; undefined if there are none. @throws {LanguageErrors.STORAGE_TOO_LARGE} */
  changes(): SessionChanges | undefined {
    const entries = Object.entries(this.storage).map(
      ([name, value]) => [name, JSON.stringify(value) ?? 'null'] as const,
    )
    const changedEntries = entries.filter(([name, json]) => this.storedJson.get(name) !== json)
    // Storage of a guest or of another user is not carried over to the new user.
    const bytes = (this.isSomebodyElse() ? changedEntries : entries).reduce(
      (sum, [name, json]) => sum + Buffer.byteLength(name) + Buffer.byteLength(json),
      0,
    )
    const limit = this.isGuest() ? this.data.guestStorageBytes : MAX_STORAGE
    if (bytes > limit && changedEntries.length > 0) throw LanguageErrors.STORAGE_TOO_LARGE(bytes, limit)
    const removedNames = [...this.storedJson.keys()].filter(name => !Object.hasOwn(this.storage, name))
    if (changedEntries.length > 0 || removedNames.length > 0) {
      this.pendingChanges.storage = Object.fromEntries<unknown>([
        ...changedEntries.map(([name, json]) => [name, JSON.parse(json) as unknown] as const),
        ...removedNames.map(name => [name, undefined] as const),
      ])
    }
    return Object.keys(this.pendingChanges).length > 0 ? this.pendingChanges : undefined
  }

  private grant(rights: Granted, userName?: string): void {
    this.granted = rights
    this.expanded = this.context.expand(rights)
    if (userName !== undefined) this.user = userName
    this.pendingChanges.granted = { ...rights, ...(userName !== undefined && { userName }) }
    this.changeRights()
  }
}

function namesOf(names: string | readonly string[] | undefined): string[] {
  const list = typeof names === 'string' ? names.split(',') : (names ?? [])
  return list.map(name => String(name).trim()).filter(name => name !== '')
}
