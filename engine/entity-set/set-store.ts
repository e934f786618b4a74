import type { EntitySet } from './entity-set.ts'
import type { EntitySetHeader } from './entity-set-header.ts'

/** The query of a set that has ended, or can be recreated. */
export type SavedSet = Pick<EntitySetHeader, 'tableNumber' | 'saved' | 'creator' | 'guest'>

/** A live set, without its members. */
export interface ListedSet extends Pick<EntitySet, 'id' | 'tableNumber' | 'timeoutSeconds'> {
  /** Milliseconds since 1970. */
  readonly expires: number
  readonly size: number
  readonly isOrdered: boolean
}

/** A store of entity sets. */
export interface SetStore {
  /** A live set. Does not count as a use. */
  find(id: string): EntitySet | undefined
  /** The saved query of a set that has ended. */
  findSaved(id: string): SavedSet | undefined
  /** A live set, whose lifetime is restarted. @param timeoutSeconds its timeout from now on */
  use(id: string, timeoutSeconds?: number): EntitySet | undefined
  /**
   * Stores a set, replacing one with the same id. Settles when it is durable.
   * @param creatorLimit maximum number of sets of its creator
   * @param guestNetwork network of a guest, whose sets have bounds
   */
  put(set: EntitySet, creatorLimit?: number, guestNetwork?: string): Promise<void>
  /** Ends sets; unknown ids are ignored. Resolves when this is durable. */
  release(ids: Iterable<string>): Promise<void>
}

/** Entity sets that several servers share. */
export interface SharedSets extends SetStore {
  /** Loads the current state of a set into memory; the other functions find only sets that have been loaded. */
  fetch(id: string): Promise<void>
  /** Table numbers of the given sets that are live. */
  findLive(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
  list(limit: number): Promise<{ count: number; sets: ListedSet[] }>
}
