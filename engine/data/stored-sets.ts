/** The part of a stored entity set that the store itself reads. Its owner keeps more beside it, as JSON. */
export interface StoredSetHeader {
  /** The set has ended and has no members; only its saved query is kept. */
  readonly hasEnded: boolean
  /** When this entry has to go, in milliseconds since 1970. */
  readonly expires: number
}

/** Change of one entity set for the writer thread. */
export interface StoredSetChange<Header extends StoredSetHeader = StoredSetHeader> {
  /** 32 upper-case hex digits. */
  readonly id: string
  /** Undefined: the set is removed. */
  readonly header: Header | undefined
  /** As `encodeMembers` makes them. Undefined: those there are stay; when the set has ended meanwhile, nothing happens. */
  readonly members?: Uint8Array
}

/** Entity sets in the store. */
export interface StoredSets<Header extends StoredSetHeader = StoredSetHeader> {
  header(id: string): Header | undefined
  /** In memory for all threads: no bytes when the set has no members. */
  members(id: string): Uint8Array
  /** All of them behind the id `after`, in order of their ids, also those that have ended and can be made again. */
  headers(after?: string): Iterable<{ id: string; header: Header }>
  /** Ids of the entries that have to go at `now`, the oldest first. */
  expired(now: number, limit: number): string[]
  /** Bytes of the disk that they all take. */
  diskBytes(): number
}
