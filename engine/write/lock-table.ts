import type { DataClass } from '../catalog/dataclass.ts'

/** Who has locked an entity, as others get to see it. */
export interface LockInfo {
  /** As the client addressed the server: `127.0.0.1:8080`. */
  readonly host: string
  readonly IPAddr: string
  readonly userAgent: string
}

export interface LockHolder {
  /** Handle of the session. */
  readonly owner: string
  readonly info: LockInfo
  /** From now on; undefined: until the session ends. */
  readonly lastsMs?: number | undefined
}

interface Held {
  readonly owner: string
  readonly info: LockInfo
  readonly expires: number
}

interface Row {
  readonly dataClass: DataClass
  readonly rowId: number
}

/** How long a lock of a key or a token lasts: there is no session that could end. */
export const TOKEN_LOCK_MS = 10 * 60_000

/** The most that a guest's lasts, of whom nothing may be kept after all. */
export const GUEST_LOCK_MS = 24 * 3_600_000

/** Locks of one owner. Somebody who wants more wants a transaction. */
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

  get isEmpty(): boolean {
    return this.holders.size === 0
  }

  /** Who keeps `owner` from changing an entity; undefined when nobody does. */
  blocker(dataClass: DataClass, rowId: number, owner: string | undefined): Held | undefined {
    if (this.isEmpty) return undefined
    const holder = this.holder({ dataClass, rowId })
    return holder?.owner === owner ? undefined : holder
  }

  /** Locks an entity that nobody else has locked. @returns false when the owner has too many already */
  take(row: Row, holder: LockHolder): boolean {
    const owned = this.owned.get(holder.owner) ?? new Set()
    const key = keyOf(row)
    if (owned.size >= MAX_PER_OWNER && !owned.has(key)) return false
    this.owned.set(holder.owner, owned.add(key))
    const { owner, info, lastsMs = Number.POSITIVE_INFINITY } = holder
    this.holders.set(key, { owner, info, expires: this.now() + lastsMs })
    return true
  }

  /** @returns whether `owner` had locked it */
  free(row: Row, owner: string): boolean {
    if (this.holder(row)?.owner !== owner) return false
    this.forget(keyOf(row), owner)
    return true
  }

  /** Frees whatever `owner` has locked. */
  freeAll(owner: string): void {
    for (const key of this.owned.get(owner) ?? []) this.forget(key, owner)
  }

  private holder(row: Row): Held | undefined {
    const key = keyOf(row)
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

/** Row ids have 32 bits and table numbers 16: together they are a number that a double holds. They are never used again. */
const keyOf = ({ dataClass, rowId }: Row): number => dataClass.tableNumber * 2 ** 32 + rowId
