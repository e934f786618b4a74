import type { LockHolder, LockInfo } from '../caller/lock-holder.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import { identify, type TableRow } from './row-identity.ts'

interface Held {
  readonly owner: string
  readonly info: LockInfo
  /** Milliseconds since 1970; infinite: until the session ends. */
  readonly expires: number
}

/** A lock with the entity that it is on, {@link identify}. */
interface HeldRow extends Held {
  readonly row: number
}

/** Maximum locks of one owner. More are a case for a transaction. */
const MAX_PER_OWNER = 10_000

/**
 * Pessimistic locks on entities, in the memory of the writer, which asks it before each change. Nothing of it is stored:
 * a restart frees them all. Source: protocol notes, 8.8.
 */
export class LockTable {
  private readonly holders = new Map<number, Held>()
  private readonly owned = new Map<string, Set<number>>()

  /** @param now milliseconds since 1970 */
  constructor(private readonly now: () => number) {}

  /** Locks that have not been freed, some perhaps over. */
  get size(): number {
    return this.holders.size
  }

  get isEmpty(): boolean {
    return this.size === 0
  }

  /** Lock that keeps `owner` from changing an entity; undefined when there is none. */
  blocker(dataClass: DataClass, rowId: number, owner: string | undefined): Held | undefined {
    if (this.isEmpty) return undefined
    const holder = this.holder({ dataClass, rowId })
    return holder?.owner === owner ? undefined : holder
  }

  /** Locks an entity that no other owner has locked. @returns false when the owner has too many already */
  take(row: TableRow, holder: LockHolder): boolean {
    const owned = this.owned.get(holder.owner) ?? new Set()
    const key = identify(row)
    if (owned.size >= MAX_PER_OWNER && !owned.has(key)) return false
    this.owned.set(holder.owner, owned.add(key))
    const { owner, info, lastsMs = Number.POSITIVE_INFINITY } = holder
    this.holders.set(key, { owner, info, expires: this.now() + lastsMs })
    return true
  }

  /** @returns whether `owner` had locked it */
  free(row: TableRow, owner: string): boolean {
    if (this.holder(row)?.owner !== owner) return false
    this.forget(identify(row), owner)
    return true
  }

  /** Frees whatever `owner` has locked. */
  freeAll(owner: string): void {
    for (const key of this.owned.get(owner) ?? []) this.forget(key, owner)
  }

  /** Locks that last, the oldest first. */
  *list(): Iterable<HeldRow> {
    const now = this.now()
    for (const [row, held] of this.holders) if (held.expires > now) yield { ...held, row }
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
    const owned = this.owned.get(owner)
    owned?.delete(key)
    if (owned?.size === 0) this.owned.delete(owner)
  }
}
