import { parseExact, stringifyExact } from '../base/exact-json.ts'
import { Sweeper } from '../base/sweeper.ts'
import type { Catalog } from '../catalog/dataclass.ts'
import { type EntitySet, entitySet, type SavedQuery } from '../entity-set/entity-set.ts'
import { EntitySetErrors } from '../entity-set/entity-set-errors.ts'
import type { GuestSetLimits } from '../entity-set/guest-sets.ts'
import { encodeMembers, isOrdered, sizeOf } from '../entity-set/members.ts'
import type { ListedSet, SavedSet, SharedSets as Contract } from '../entity-set/set-store.ts'
import { SharedErrors } from './shared-errors.ts'
import type { FoundSet, SetRow, SetTable } from './set-table.ts'

interface SharedSetsOptions {
  readonly table: SetTable
  readonly catalog: Catalog
  readonly guests: GuestSetLimits
  /** Time for which a saved query is kept after the end of its set. */
  readonly savedLifetimeSeconds: number
  /** Maximum memory of members. */
  readonly memoryBytes: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly onInternalError?: ((text: string) => void) | undefined
}

/** A set as this server knows it. */
interface Copy {
  readonly content: Omit<FoundSet, 'members'>
  readonly set: EntitySet
  expires: number
}

/** Maximum number of sets of one session. */
const MAX_SETS = 10_000
/** Maximum bytes of the members of one set: 4 for each member, or one bit for each key up to the largest, or the texts of the keys. */
const MAX_BYTES = 2 ** 26
/** Bytes that are counted for a guest's set besides its members and its saved query. */
const GUEST_OVERHEAD_BYTES = 2048
const OVERHEAD_BYTES = 1024
/** A use of a set is recorded when it extends its life by more than this, or by more than a quarter of its timeout. */
const RECORDED_MS = 60_000
const SWEEP_MS = 10_000
/** An empty set: its form, and no members. */
const NO_MEMBERS = encodeMembers(new Uint32Array(0))

/**
 * Entity sets in a table that several servers share. Every request reads the row of its set, because another server may have ended it; the
 * members are read again only when they have changed.
 */
export class SharedSets implements Contract {
  /** Least recently used first. */
  private readonly copies = new Map<string, Copy>()
  private bytes = 0
  private readonly sweeper: Sweeper

  constructor(private readonly options: SharedSetsOptions) {
    this.sweeper = new Sweeper(
      () => this.sweepSlices(),
      SWEEP_MS,
      error => options.onInternalError?.(`shared entity sets were not swept: ${error.stack}`),
    )
  }

  async fetch(id: string): Promise<void> {
    const cachedCopy = this.copies.get(id)
    const foundSet = await this.options.table.find(id, cachedCopy?.content.version ?? 0)
    const tableNumber = foundSet && this.tableNumberOf(foundSet.dataClass)
    if (!foundSet || tableNumber === undefined) this.forget(id)
    else this.remember(foundSet, tableNumber, cachedCopy)
  }

  find(id: string): EntitySet | undefined {
    const copy = this.copies.get(id)
    return copy && !copy.content.hasEnded && copy.expires > this.options.now() ? copy.set : undefined
  }

  findSaved(id: string): SavedSet | undefined {
    const copy = this.copies.get(id)
    if (!copy?.set.saved) return undefined
    const { now, savedLifetimeSeconds } = this.options
    return copy.expires + (copy.content.hasEnded ? 0 : savedLifetimeSeconds * 1000) > now() ? copy.set : undefined
  }

  use(id: string, timeoutSeconds?: number): EntitySet | undefined {
    const set = this.find(id)
    if (!set) return undefined
    const { table, now } = this.options
    const copy = this.copies.get(id)!
    const timeout = timeoutSeconds ?? set.timeoutSeconds
    const expires = now() + timeout * 1000
    if (timeoutSeconds !== undefined || expires - copy.expires >= Math.min(RECORDED_MS, timeout * 250)) {
      copy.expires = expires
      // A use that is not recorded only shortens the lifetime of the set.
      this.sweeper.inBackground(table.use(id, expires, timeout))
    }
    return set
  }

  async put(set: EntitySet, creatorLimit = MAX_SETS, guestNetwork?: string): Promise<void> {
    const { table, catalog, guests, now } = this.options
    const { id, tableNumber, members, memberBytes: encodedMembers, timeoutSeconds, creator } = set
    if (encodedMembers.length > MAX_BYTES) throw SharedErrors.SET_TOO_LARGE(encodedMembers.length, MAX_BYTES)
    const queryJson = set.saved && stringifyExact(set.saved)
    const bytes = GUEST_OVERHEAD_BYTES + encodedMembers.length + Buffer.byteLength(queryJson ?? '')
    const limit = Math.min(guests.guestBytesPerAddress, guests.maxGuestBytes)
    if (guestNetwork !== undefined && bytes > limit) throw EntitySetErrors.TOO_LARGE(bytes, limit)
    const row: SetRow = {
      id,
      dataClass: catalog.dataClasses.find(each => each.tableNumber === tableNumber)!.name,
      hasEnded: false,
      timeoutSeconds,
      expires: now() + timeoutSeconds * 1000,
      queryJson,
      creator,
      network: guestNetwork,
      bytes,
      size: sizeOf(members),
      isOrdered: isOrdered(members),
    }
    const most = Math.min(creatorLimit, MAX_SETS)
    const limits = { now: now(), most, networkBytes: guests.guestBytesPerAddress }
    const version = await table.put(row, encodedMembers, limits)
    if (version === undefined) throw EntitySetErrors.TOO_MANY_SETS(most)
    this.remember({ ...row, version, madeAt: now(), members: encodedMembers }, tableNumber)
  }

  async release(ids: Iterable<string>): Promise<void> {
    const { table, now, savedLifetimeSeconds } = this.options
    const all = [...ids]
    if (all.length === 0) return
    await table.release(all, now() + savedLifetimeSeconds * 1000)
    for (const id of all) this.forget(id)
  }

  async findLive(ids: readonly string[]): Promise<Map<string, number>> {
    if (ids.length === 0) return new Map()
    const classNames = await this.options.table.findLive(ids, this.options.now())
    return new Map([...classNames].flatMap(([id, name]) => this.entry(id, name)))
  }

  async list(limit: number): Promise<{ count: number; sets: ListedSet[] }> {
    const { count, sets } = await this.options.table.list(limit, this.options.now())
    const listedSets = sets.flatMap(set =>
      this.entry(set.id, set.dataClass).map(([, tableNumber]) => {
        const { id, timeoutSeconds, expires, size, isOrdered } = set
        return { id, tableNumber, timeoutSeconds, expires, size, isOrdered }
      }),
    )
    return { count, sets: listedSets }
  }

  /** Removes expired sets, as also happens every ten seconds. */
  sweep(): Promise<void> {
    return this.sweeper.run()
  }

  private async sweepSlices(): Promise<void> {
    const { table, now, savedLifetimeSeconds, guests } = this.options
    while (await table.sweep(now(), savedLifetimeSeconds * 1000, guests.maxGuestBytes));
  }

  close(): Promise<void> {
    return this.sweeper.close()
  }

  private entry(id: string, dataClass: string): [string, number][] {
    const tableNumber = this.tableNumberOf(dataClass)
    return tableNumber === undefined ? [] : [[id, tableNumber]]
  }

  /** Number of the table of a dataclass, which is valid only on this server. */
  private tableNumberOf(dataClass: string): number | undefined {
    return this.options.catalog.dataClassesByName.get(dataClass)?.tableNumber
  }

  private remember({ members, ...content }: FoundSet, tableNumber: number, knownCopy?: Copy): void {
    const { id, timeoutSeconds, queryJson, creator, network, bytes, madeAt, expires } = content
    this.forget(id)
    const set = entitySet({
      id,
      tableNumber,
      memberBytes: content.hasEnded ? NO_MEMBERS : (members ?? knownCopy!.set.memberBytes),
      timeoutSeconds,
      saved: queryJson === undefined ? undefined : (parseExact(queryJson, 'numbers') as SavedQuery),
      creator,
      guest: network === undefined ? undefined : { network, bytes, madeAt },
    })
    this.copies.set(id, { content, set, expires })
    this.bytes += set.memberBytes.length + OVERHEAD_BYTES
    for (const oldest of this.copies.keys()) {
      if (this.bytes <= this.options.memoryBytes || oldest === id) return
      this.forget(oldest)
    }
  }

  private forget(id: string): void {
    const copy = this.copies.get(id)
    if (!copy) return
    this.copies.delete(id)
    this.bytes -= copy.set.memberBytes.length + OVERHEAD_BYTES
  }
}
