import { networkOf } from '../transport/client.ts'
import { isGuestRecord, type SessionRecord } from './session.ts'

export interface SessionQuotaOptions {
  /** Maximum number of sessions of one user. */
  perUser: number
  /** Maximum number of stored guests of one network. */
  guestsPerAddress: number
  /** Maximum number of stored guests in total. */
  maxGuests: number
}

/** Limits the number of stored sessions: of one user, of the guests of one network, of all guests. */
export class SessionQuota {
  /** Handles in the order in which they were added, by the name of their group. */
  private readonly groups = new Map<string, Set<string>>()
  private readonly groupOf = new Map<string, string>()
  private readonly guests = new Set<string>()

  constructor(private readonly options: SessionQuotaOptions) {}

  /** @returns handles of sessions that must end to make room, the oldest of their kind */
  add(handle: string, record: SessionRecord): readonly string[] {
    if (this.groupOf.has(handle)) return NONE
    const isGuest = isGuestRecord(record)
    const group = groupName(record, isGuest)
    const members = this.groups.get(group) ?? new Set()
    this.groups.set(group, members.add(handle))
    this.groupOf.set(handle, group)
    if (isGuest) this.guests.add(handle)
    const { maxGuests } = this.options
    const excess: string[] = []
    if (members.size > limitOf(record, this.options)) excess.push(first(members))
    if (this.guests.size - excess.length > maxGuests) excess.push(first(this.guests))
    return excess
  }

  get count(): { guests: number; users: number } {
    const guests = this.guests.size
    return { guests, users: this.groupOf.size - guests }
  }

  remove(handle: string): void {
    const group = this.groupOf.get(handle)
    if (group === undefined) return
    this.groupOf.delete(handle)
    this.guests.delete(handle)
    const members = this.groups.get(group)!
    members.delete(handle)
    if (members.size === 0) this.groups.delete(group)
  }
}

/** Maximum number of sessions in the group of a session. */
export const limitOf = (record: SessionRecord, { perUser, guestsPerAddress }: SessionQuotaOptions): number =>
  isGuestRecord(record) ? guestsPerAddress : perUser

const NONE: readonly string[] = []
const first = (set: ReadonlySet<string>): string => set.values().next().value!

/** Group with which a session is counted. Sessions with privileges but without a user are grouped by network. */
export function groupName({ user, address }: SessionRecord, isGuest: boolean): string {
  if (isGuest) return `guest ${networkOf(address)}`
  return user ? `user ${user.userName.toLowerCase()}` : `anonymous ${networkOf(address)}`
}
