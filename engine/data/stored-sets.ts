/** The part of a stored entity set that the store itself reads. Its owner adds further members, as JSON. */
export interface StoredSetHeader {
  /** True if the set has ended and has no members; only its saved query is kept. */
  readonly hasEnded: boolean
  /** Time when this entry is to be removed, in milliseconds since 1970. */
  readonly expires: number
}

/** Change of one entity set for the writer thread. */
export interface StoredSetChange<Header extends StoredSetHeader = StoredSetHeader> {
  /** 32 upper-case hex digits. */
  readonly id: string
  /** Undefined removes the set. */
  readonly header: Header | undefined
  /** As encoded by `encodeMembers`. Undefined keeps the stored members; if the set has ended meanwhile, nothing is changed. */
  readonly members?: Uint8Array
}

/** Entity sets in the store. */
export interface StoredSets<Header extends StoredSetHeader = StoredSetHeader> {
  header(id: string): Header | undefined
  /** Members in memory that all threads share; empty when the set has no members. */
  members(id: string): Uint8Array
  /** Headers with ids greater than `after`, in order of ids, including sets that have ended and can be recreated. */
  headers(after?: string): Iterable<{ id: string; header: Header }>
  /** Ids of the entries to be removed at `now`, the oldest first. */
  expiredIds(now: number, limit: number): string[]
  /** Size of all entity sets on disk, in bytes. */
  diskBytes(): number
}
