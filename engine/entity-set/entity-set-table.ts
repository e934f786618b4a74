import { type Environment, getBytes, keyRange } from '../storage/environment.ts'
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
/** What fits into one page of LMDB. To find several free ones in a row takes 8 ms in a store that has many. */
const CHUNK_BYTES = 4064
/** LMDB cannot read from shared memory. */
const chunk = Buffer.alloc(CHUNK_BYTES)

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
  if (old && (members || !header || header.hasEnded)) {
    for (const key of membersKeys(environment, id)) entitySets.removeSync(key)
  }
  for (let at = 0; members && at < members.length; at += CHUNK_BYTES) {
    const length = Math.min(CHUNK_BYTES, members.length - at)
    chunk.set(members.subarray(at, at + length))
    entitySets.putSync(entitySetMembersKey(id, at / CHUNK_BYTES), chunk.subarray(0, length))
  }
}

export function readHeader({ entitySets }: Environment, id: string): EntitySetHeader | undefined {
  const bytes = getBytes(entitySets, entitySetHeaderKey(id))
  return bytes && (JSON.parse(Buffer.from(bytes).toString()) as EntitySetHeader)
}

/** In memory for all threads: no bytes when the set has no members. */
export function readMembers({ entitySets }: Environment, id: string): Uint8Array {
  const chunks: Uint8Array[] = []
  for (;;) {
    const chunk = getBytes(entitySets, entitySetMembersKey(id, chunks.length))
    if (!chunk) break
    chunks.push(chunk.slice())
  }
  const members = new Uint8Array(new SharedArrayBuffer(chunks.reduce((sum, { length }) => sum + length, 0)))
  for (const [i, chunk] of chunks.entries()) members.set(chunk, i * CHUNK_BYTES)
  return members
}

/** All of them, also those that have ended and can be made again. */
export function* listHeaders({ entitySets }: Environment): Generator<{ id: string; header: EntitySetHeader }> {
  const range = entitySets.getRange({ start: entitySetHeaderKey(''), end: entitySetMembersKey('') })
  for (const { key, value } of range) {
    yield { id: idOfSetKey(key), header: JSON.parse(value.toString()) as EntitySetHeader }
  }
}

/** Keys of the members of a set, in their order. */
export const membersKeys = ({ entitySets }: Environment, id: string): Buffer[] => [
  ...keyRange(entitySets, entitySetMembersKey(id), entitySetMembersKey(id, 0xffffffff)),
]

/** Ids of the entries that have to go at `now`, the oldest first. */
export function expiredIds({ entitySets }: Environment, now: number, limit: number): string[] {
  const keys = entitySets.getKeys({ start: expiryKey(0), end: expiryKey(now + 1), limit })
  return [...keys.map(idOfExpiryKey)]
}
