import type { RecordStore } from '../data/record-store.ts'
import type { StoredSetChange, StoredSetHeader, StoredSets } from '../data/stored-sets.ts'
import type { EntitySet } from './entity-set.ts'

/** An entity set in the store, without its members. */
export interface EntitySetHeader
  extends StoredSetHeader,
    Pick<EntitySet, 'tableNumber' | 'timeoutSeconds' | 'saved' | 'creator' | 'guest'> {}

export type EntitySetChange = StoredSetChange<EntitySetHeader>

/** The entity sets of a store. Only this room writes them, so their headers have its type. */
export const setsOf = ({ sets }: Pick<RecordStore, 'sets'>) => sets as StoredSets<EntitySetHeader>
