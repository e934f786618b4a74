import { type Environment, getBytes } from '../storage/environment.ts'
import { entitySetHeaderKey, entitySetMembersKey, expiryKey, idOfExpiryKey, idOfSetKey } from '../storage/keys.ts'
import type { EntitySet } from './entity-set.ts'

/** An entity set in LMDB, without its members. */
export interface EntitySetHeader extends Pick<EntitySet, 'tableNumber' | 'timeoutSeconds' | 'saved' | 'creator'> {
  /** The set has no members any more; only its saved query is kept. */
  readonly hasEnded: boolean
  /** When this entry has to go, in milliseconds since 1970. */
  readonly expires: number
}

/** What the writer thread is to do with one entity set. */
export interface EntitySetChange {
  readonly id: string
  /** Undefined: the set is removed. */
  readonly header: EntitySetHeader | undefined
  /** As `encodeMembers` makes them. Undefined: those there are stay; when the set has ended meanwhile, nothing happens. */
  readonly members?: Uint8Array
}

const NOTHING = Buffer.alloc(0)

/** Does it, inside the open write transaction. */
export function putEntitySet(environment: Environment, { id, header, members }: EntitySetChange): void {
  const { entitySets } = environment
  const old = readHeader(environment, id)
  if (header && !header.hasEnded && !members && (!old || old.hasEnded)) return
  if (old) entitySets.removeSync(expiryKey(old.expires, id))
  if (header) {
    entitySets.putSync(entitySetHeaderKey(id), Buffer.from(JSON.stringify(header)))
    entitySets.putSync(expiryKey(header.expires, id), NOTHING)
  } else entitySets.removeSync(entitySetHeaderKey(id))
  if (members) entitySets.putSync(entitySetMembersKey(id), members as Buffer)
  else if (!header || header.hasEnded) entitySets.removeSync(entitySetMembersKey(id))
}

export function readHeader({ entitySets }: Environment, id: string): EntitySetHeader | undefined {
  const bytes = getBytes(entitySets, entitySetHeaderKey(id))
  return bytes && (JSON.parse(Buffer.from(bytes).toString()) as EntitySetHeader)
}

/** Bytes of their own. The set must have some. */
export function readMembers({ entitySets }: Environment, id: string): Uint8Array {
  return getBytes(entitySets, entitySetMembersKey(id))!.slice()
}

/** All of them, also those that have ended and can be made again. */
export function* listHeaders({ entitySets }: Environment): Generator<{ id: string; header: EntitySetHeader }> {
  const range = entitySets.getRange({ start: entitySetHeaderKey(''), end: entitySetMembersKey('') })
  for (const { key, value } of range) {
    yield { id: idOfSetKey(key), header: JSON.parse(value.toString()) as EntitySetHeader }
  }
}

/** Ids of the entries that have to go at `now`, the oldest first. */
export function expiredIds({ entitySets }: Environment, now: number, limit: number): string[] {
  const keys = entitySets.getKeys({ start: expiryKey(0), end: expiryKey(now + 1), limit })
  return [...keys.map(idOfExpiryKey)]
}
