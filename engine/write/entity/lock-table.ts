import type { LockHolder, LockInfo } from '../../caller/lock-holder.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { identify, type TableRow } from './row-identity.ts'

interface Held {
  readonly owner: string
  readonly info: LockInfo
  /** Expiry in milliseconds since 1970; infinite if the lock lasts until the session ends. */
  readonly expires: number
}

/** A lock with the identity of its entity, see {@link identify}. */
interface HeldRow extends Held {
  readonly row: number
}

/** Maximum number of locks of one owner. Changes of more entities need a transaction. */
const MAX_PER_OWNER = 10_000

/**
 * Pessimistic locks on entities, in the memory of the writer, which checks them before each change. They are not stored: a restart
 * frees them all. Source: protocol notes, 8.8.
 */
export class LockTable {
  private readonly holders = new Map<number, Held>()
  private readonly rowsByOwner = new Map<string, Set<number>>()

  /** @param now milliseconds since 1970 */
  constructor(private readonly now: () => number) {}

  /** Number of locks that have not been freed, perhaps including expired ones. */
  get size(): number {
    return this.holders.size
  }

  get isEmpty(): boolean {
    return this.size === 0
  }

  /** Lock that keeps `owner` from changing an entity; undefined if there is none. */
  blocker(dataClass: DataClass, rowId: number, owner: string | undefined): Held | undefined {
    if (this.isEmpty) return undefined
    const holder = this.holder({ dataClass, rowId })
    return holder?.owner === owner ? undefined : holder
  }

  /** Locks an entity that no other owner has locked. @returns false if the owner has too many locks */
  take(row: TableRow, holder: LockHolder): boolean {
    const ownedRows = this.rowsByOwner.get(holder.owner) ?? new Set()
    const key = identify(row)
    if (ownedRows.size >= MAX_PER_OWNER && !ownedRows.has(key)) return false
    this.rowsByOwner.set(holder.owner, ownedRows.add(key))
    const { owner, info, lastsMs = Number.POSITIVE_INFINITY } = holder
    this.holders.set(key, { owner, info, expires: this.now() + lastsMs })
    return true
  }

  /** Unlocks an entity. @returns true if `owner` had locked it */
  free(row: TableRow, owner: string): boolean {
    if (this.holder(row)?.owner !== owner) return false
    this.forget(identify(row), owner)
    return true
  }

  /** Frees all locks of `owner`. */
  freeAll(owner: string): void {
    for (const key of this.rowsByOwner.get(owner) ?? []) this.forget(key, owner)
  }

  /** Locks that have not expired, oldest first. */
  *list(): Iterable<HeldRow> {
    const now = this.now()
    for (const [row, lock] of this.holders) if (lock.expires > now) yield { ...lock, row }
  }

  private holder(row: TableRow): Held | undefined {
    const key = identify(row)
    const holder = this.holders.get(key)
    if (!holder || holder.expires > this.now()) return holder
    this.forget(key, holder.owner)
    return undefined
  }

  private forget(key: number, owner: string): void {
    this.holders.delete(key)
    const ownerRows = this.rowsByOwner.get(owner)
    ownerRows?.delete(key)
    if (ownerRows?.size === 0) this.rowsByOwner.delete(owner)
  }
}
