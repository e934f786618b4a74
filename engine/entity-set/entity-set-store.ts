import { setImmediate } from 'node:timers/promises'
import { stringifyExact } from '../base/exact-json.ts'
import type { RecordStore } from '../data/record-store.ts'
import type { StoredSets } from '../data/stored-sets.ts'
import { Sweeper } from '../base/sweeper.ts'
import { type EntitySet, entitySet } from './entity-set.ts'
import { EntitySetErrors } from './entity-set-errors.ts'
import { type EntitySetChange, type EntitySetHeader, setsOf } from './entity-set-header.ts'
import { type GuestSetLimits, GuestSets, type GuestShare } from './guest-sets.ts'
import { SetCounts } from './set-counts.ts'
import type { SetStore } from './set-store.ts'

export interface EntitySetStoreOptions {
  store: Pick<RecordStore, 'refresh' | 'sets'>
  /** Sends changes to the writer thread, which applies them in the order of the calls. Resolves when they are durable. */
  write: (changes: EntitySetChange[]) => Promise<unknown>
  /** Maximum memory of members; beyond it, the least recently used sets are only in LMDB. */
  memoryBytes: number
  /** Unsaved bytes above which no more sets are accepted. */
  unsavedBytes?: number
  /** Bounds of the sets of guests. */
  guests: GuestSetLimits
  /** Time for which a saved query is kept after the end of its set. */
  savedLifetimeSeconds: number
  /** Milliseconds since 1970. */
  now: () => number
  /** Called with failures that no caller waits for, for the log. */
  onInternalError?: ((text: string) => void) | undefined
}

/** A live set. */
interface LiveSet extends EntitySet {
  /** Milliseconds since 1970. */
  expires: number
}

/** A set in memory. */
interface Cached extends LiveSet {
  timeoutSeconds: number
  /** Expiry that LMDB has, or will have after the write in progress. */
  storedExpires: number
}

/** Memory of a set besides its members. */
const OVERHEAD_BYTES = 512
/** Bytes that are counted for a guest's set besides its members and its saved query. */
const GUEST_OVERHEAD_BYTES = 2048
/** Maximum time of one slice of counting the sets of an earlier run of the server. */
const COUNT_MS = 10
const UNSAVED_BYTES = 256 * 1024 * 1024
/** A use of a set is recorded when it extends its life by more than this, or by more than a quarter of its timeout. */
const RECORDED_MS = 60_000
const SWEEP_INTERVAL_MS = 1_000
/** Maximum number of changes in one request to the writer, so that other requests can interleave. */
const SLICE = 500

/**
 * The entity sets of a store. LMDB has all of them, with an index by expiry; memory has the recently used ones. So nothing has to be loaded
 * at start, and unused sets cost no memory.
 *
 * Sets that are being written to LMDB are kept in `unsaved` until they are durable, and are looked up there first.
 */
export class EntitySetStore implements SetStore {
  /** In order of use, least recently used first. */
  private readonly cache = new Map<string, Cached>()
  private readonly unsaved = new Map<string, EntitySetChange>()
  private readonly inFlight = new Set<EntitySetChange>()
  private readonly sets: StoredSets<EntitySetHeader>
  private bytes = 0
  private readonly counts: SetCounts
  private readonly guests: GuestSets
  private hasCountedGuests = false
  private readonly sweeper: Sweeper

  constructor(private readonly options: EntitySetStoreOptions) {
    this.sets = setsOf(options.store)
    this.counts = new SetCounts(options.store)
    this.guests = new GuestSets(options.guests)
    this.sweeper = new Sweeper(
      () => this.sweepSlices(),
      SWEEP_INTERVAL_MS,
      // Sets that failed stay in `unsaved`; the next sweep tries them again.
      error => options.onInternalError?.(`entity sets could not be stored: ${error.stack}`),
    )
  }

  /**
   * A live set. Does not count as a use. Must not be called while a snapshot is open, because the call may move the thread to the latest
   * commit.
   */
  find(id: string): EntitySet | undefined {
    return this.findLiving(id)
  }

  /** The saved query of a set that has ended. */
  findSaved(id: string): Pick<EntitySetHeader, 'tableNumber' | 'saved' | 'creator' | 'guest'> | undefined {
    const header = this.header(id)
    return header?.saved ? header : undefined
  }

  /** A live set, whose lifetime is restarted. @param timeoutSeconds its timeout from now on */
  use(id: string, timeoutSeconds?: number): EntitySet | undefined {
    const set = this.findLiving(id)
    if (!set) return undefined
    if (timeoutSeconds !== undefined) set.timeoutSeconds = timeoutSeconds
    set.expires = this.options.now() + set.timeoutSeconds * 1000
    const isCached = this.cache.delete(id)
    if (isCached) this.cache.set(id, set)
    const recordedMs = Math.min(RECORDED_MS, set.timeoutSeconds * 250)
    const isShorter = set.expires < set.storedExpires
    if (!isCached || isShorter || set.expires - set.storedExpires >= recordedMs) this.record(set)
    return set
  }

  /**
   * Stores a set, replacing one with the same id. Its members must not be modified afterwards.
   * @param creatorLimit maximum number of sets of its creator
   * @param guestNetwork network of a guest: the oldest sets of the network, or of all guests, end when they exceed their bounds
   * @returns settles when the set is durable
   * @throws {EntitySetErrors.TOO_MUCH_UNSAVED} {@link EntitySetErrors.TOO_MANY_SETS} {@link EntitySetErrors.TOO_LARGE}
   */
  async put(set: EntitySet, creatorLimit = Number.POSITIVE_INFINITY, guestNetwork?: string): Promise<void> {
    const { memoryBytes, unsavedBytes = UNSAVED_BYTES, now } = this.options
    if (this.bytes > memoryBytes + unsavedBytes) throw EntitySetErrors.TOO_MUCH_UNSAVED(unsavedBytes).retryAfter(1)
    const guest = guestNetwork === undefined ? undefined : this.guestShare(guestNetwork, set)
    const { creator } = set
    const isCounted = creator !== undefined && !this.find(set.id)
    if (isCounted) {
      if (creatorLimit < Number.POSITIVE_INFINITY && this.counts.of(creator) >= creatorLimit) {
        throw EntitySetErrors.TOO_MANY_SETS(creatorLimit)
      }
      this.counts.add(creator, 1)
    }
    this.forget(set.id)
    const expires = now() + set.timeoutSeconds * 1000
    const cachedSet: Cached = { ...set, guest, expires, storedExpires: expires }
    this.remember(cachedSet)
    const change = { id: set.id, header: headerOf(cachedSet), members: set.memberBytes }
    this.unsaved.set(set.id, change)
    this.guests.remove(set.id)
    if (guest) this.guests.put(set.id, guest)
    this.evict()
    try {
      await this.send([change, ...this.endExcess(guest)])
    } catch (error) {
      // The client receives an error, so the set must not exist.
      if (isCounted) this.counts.add(creator, -1)
      if (this.unsaved.get(set.id) === change) this.unsaved.delete(set.id)
      if (this.cache.get(set.id) === cachedSet) {
        this.forget(set.id)
        this.guests.remove(set.id)
      }
      throw error
    }
    for (let more = this.endExcess(guest); more.length > 0; more = this.endExcess(guest)) await this.send(more)
  }

  /** Ends sets; unknown ids are ignored. Resolves when this is durable. */
  async release(ids: Iterable<string>): Promise<void> {
    const changes: EntitySetChange[] = []
    for (const id of new Set(ids)) {
      const set = this.findLiving(id)
      if (set) changes.push(this.end(set))
    }
    await this.sendInSlices(changes)
  }

  /** Writes unsaved changes and removes expired sets, slice by slice. */
  sweep(): Promise<void> {
    return this.sweeper.run()
  }

  /** Records all uses. To be called before the writer is closed; if the writer fails, unsaved changes are lost. */
  async close(): Promise<void> {
    await this.sweeper.close()
    try {
      await this.flush()
      for (const set of this.cache.values()) if (set.expires > set.storedExpires) this.record(set)
      await this.flush()
    } catch (error) {
      this.options.onInternalError?.(`entity sets could not be stored before the end: ${(error as Error).stack}`)
    }
  }

  /** Number of live sets of a creator. */
  countOf(creator: string): number {
    return this.counts.of(creator)
  }

  /** Number of all live sets, and the first `limit` of them. */
  list(limit: number): { count: number; sets: LiveSet[] } {
    const { store, now } = this.options
    store.refresh()
    let count = 0
    const ids: string[] = []
    for (const { id, header } of this.sets.headers()) {
      if (header.hasEnded || header.expires <= now()) continue
      count++
      if (ids.length < limit) ids.push(id)
    }
    return { count, sets: ids.flatMap(id => this.findLiving(id) ?? []) }
  }

  /** Number of sets in memory, and their bytes. */
  get usage(): { sets: number; bytes: number } {
    return { sets: this.cache.size, bytes: this.bytes }
  }

  /** Disk space of all sets, and the bytes of guests' sets that count against their bounds. */
  get sizes(): { diskBytes: number; guestBytes: number } {
    this.options.store.refresh()
    return { diskBytes: this.sets.diskBytes(), guestBytes: this.guests.bytes }
  }

  private async sweepSlices(): Promise<void> {
    await this.flush()
    if (!this.hasCountedGuests) await this.countGuests()
    for (;;) {
      const { store, now } = this.options
      store.refresh()
      const changes: EntitySetChange[] = []
      for (const id of this.sets.expiredIds(now(), SLICE)) {
        if (this.unsaved.has(id)) continue
        const set = this.cache.get(id)
        if (set && set.expires > now()) changes.push(this.record(set))
        else changes.push(this.endStored(id))
      }
      if (changes.length === 0) return
      await this.send(changes)
    }
  }

  /** Counts the guests' sets of an earlier run of the server, slice by slice. */
  private async countGuests(): Promise<void> {
    for (let last = this.countGuestsAfter(''); last !== undefined; last = this.countGuestsAfter(last)) {
      await setImmediate()
    }
    this.guests.sort()
    this.hasCountedGuests = true
  }

  /** @returns the last id that was counted; undefined: all have been */
  private countGuestsAfter(after: string): string | undefined {
    const until = performance.now() + COUNT_MS
    this.options.store.refresh()
    for (const { id, header } of this.sets.headers(after)) {
      const change = this.unsaved.get(id)
      const guest = change ? change.header?.guest : header.guest
      if (guest && !this.guests.has(id)) this.guests.put(id, guest)
      if (performance.now() > until) return id
    }
    return undefined
  }

  /** @throws {EntitySetErrors.TOO_LARGE} */
  private guestShare(network: string, { memberBytes, saved }: EntitySet): GuestShare {
    const { guestBytesPerAddress, maxGuestBytes } = this.options.guests
    const bytes = GUEST_OVERHEAD_BYTES + memberBytes.length + savedBytes(saved)
    const limit = Math.min(guestBytesPerAddress, maxGuestBytes)
    if (bytes > limit) throw EntitySetErrors.TOO_LARGE(bytes, limit)
    return { network, bytes, madeAt: this.options.now() }
  }

  /** Ends a slice of the guests' sets that exceed the bounds, and removes their saved queries. @returns changes to be written */
  private endExcess(guest: GuestShare | undefined): EntitySetChange[] {
    const changes: EntitySetChange[] = []
    while (guest && changes.length < SLICE) {
      const id = this.guests.excess(guest.network)
      if (id === undefined) break
      const header = this.header(id)
      this.forget(id)
      changes.push(this.endEntry(id, header && { ...header, saved: undefined }))
    }
    return changes
  }

  private flush(): Promise<void> {
    return this.sendInSlices([...this.unsaved.values()])
  }

  private async sendInSlices(changes: readonly EntitySetChange[]): Promise<void> {
    for (let i = 0; i < changes.length; i += SLICE) {
      // A newer change may have been sent meanwhile; an older one must not follow it.
      const isNewest = (change: EntitySetChange): boolean => this.unsaved.get(change.id) === change
      await this.send(changes.slice(i, i + SLICE).filter(change => isNewest(change) && !this.inFlight.has(change)))
    }
  }

  private async send(changes: readonly EntitySetChange[]): Promise<void> {
    if (changes.length === 0) return
    for (const change of changes) this.inFlight.add(change)
    try {
      await this.options.write([...changes])
    } finally {
      for (const change of changes) this.inFlight.delete(change)
    }
    for (const change of changes) if (this.unsaved.get(change.id) === change) this.unsaved.delete(change.id)
    this.evict()
  }

  private findLiving(id: string): Cached | undefined {
    const set = this.cache.get(id) ?? this.load(id)
    if (!set || set.expires > this.options.now()) return set
    this.sweeper.inBackground(this.send([this.end(set)]))
    return undefined
  }

  private load(id: string): Cached | undefined {
    const header = this.header(id)
    if (!header || header.hasEnded) return undefined
    const { expires } = header
    const memberBytes = this.sets.members(id)
    const set: Cached = { ...entitySet({ id, ...header, memberBytes }), expires, storedExpires: expires }
    this.remember(set)
    this.evict()
    return set
  }

  private header(id: string): EntitySetHeader | undefined {
    this.options.store.refresh()
    const change = this.unsaved.get(id)
    return change ? change.header : this.sets.header(id)
  }

  /** Schedules the recording of a use. */
  private record(set: Cached): EntitySetChange {
    const pendingChange = this.unsaved.get(set.id)
    // A pending change that has the members of a new set must keep them.
    if (pendingChange?.members) return pendingChange
    set.storedExpires = set.expires
    const change = { id: set.id, header: headerOf(set) }
    this.unsaved.set(set.id, change)
    return change
  }

  /** Ends a set in memory. @returns the change to be written */
  private end(set: Cached): EntitySetChange {
    this.forget(set.id)
    return this.endEntry(set.id, headerOf(set))
  }

  private endStored(id: string): EntitySetChange {
    this.forget(id)
    return this.endEntry(id, this.sets.header(id))
  }

  private endEntry(id: string, header: EntitySetHeader | undefined): EntitySetChange {
    const { now, savedLifetimeSeconds } = this.options
    const hadMembers = header !== undefined && !header.hasEnded
    if (hadMembers && header.creator !== undefined) this.counts.add(header.creator, -1)
    const endedHeader: EntitySetHeader | undefined =
      hadMembers && header.saved
        ? {
            ...header,
            hasEnded: true,
            expires: now() + savedLifetimeSeconds * 1000,
            guest: header.guest && { ...header.guest, bytes: GUEST_OVERHEAD_BYTES + savedBytes(header.saved) },
          }
        : undefined
    if (endedHeader?.guest) this.guests.put(id, endedHeader.guest)
    else this.guests.remove(id)
    const change = { id, header: endedHeader }
    this.unsaved.set(id, change)
    return change
  }

  private remember(set: Cached): void {
    this.cache.set(set.id, set)
    this.bytes += set.memberBytes.length + OVERHEAD_BYTES
  }

  private forget(id: string): void {
    const set = this.cache.get(id)
    if (!set) return
    this.cache.delete(id)
    this.bytes -= set.memberBytes.length + OVERHEAD_BYTES
  }

  /** Removes sets that LMDB has from memory until the rest fits. */
  private evict(): void {
    for (const set of this.cache.values()) {
      if (this.bytes <= this.options.memoryBytes) return
      if (this.unsaved.get(set.id)?.members) continue
      if (set.expires > set.storedExpires) this.record(set)
      this.forget(set.id)
    }
  }
}

const savedBytes = (query: EntitySet['saved']): number => (query ? Buffer.byteLength(stringifyExact(query)) : 0)

function headerOf({ tableNumber, timeoutSeconds, saved, creator, guest, expires }: Cached): EntitySetHeader {
  return { tableNumber, timeoutSeconds, saved, creator, guest, hasEnded: false, expires }
}
