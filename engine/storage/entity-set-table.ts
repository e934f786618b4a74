import { parseExact, stringifyExact } from '../base/exact-json.ts'
import type { StoredSetChange, StoredSetHeader, StoredSets } from '../data/stored-sets.ts'
import { type Environment, getBytes, keyRange } from './environment.ts'
import { entitySetHeaderKey, entitySetMembersKey, expiryKey, idOfExpiryKey, idOfSetKey } from './keys.ts'

const NOTHING = Buffer.alloc(0)
/** Bytes that fit into one page of LMDB. Finding consecutive free pages takes 8 ms in a store that has many. */
const CHUNK_BYTES = 4064
/** Copy of a chunk: LMDB cannot read from shared memory. */
const chunk = Buffer.alloc(CHUNK_BYTES)

/** Pages of a table, as LMDB counts them. */
type PageCounts = Record<'pageSize' | 'treeBranchPageCount' | 'treeLeafPageCount' | 'overflowPages', number>

/** Entity sets in LMDB: headers, members in chunks, and an index by expiry. */
export class EntitySetTable implements StoredSets {
  private readonly table: Environment['entitySets']

  constructor({ entitySets }: Pick<Environment, 'entitySets'>) {
    this.table = entitySets
  }

  header(id: string): StoredSetHeader | undefined {
    const bytes = getBytes(this.table, entitySetHeaderKey(id))
    return bytes && (parseExact(Buffer.from(bytes).toString(), 'numbers') as StoredSetHeader)
  }

  members(id: string): Uint8Array {
    const chunks: Uint8Array[] = []
    for (;;) {
      const chunk = getBytes(this.table, entitySetMembersKey(id, chunks.length))
      if (!chunk) break
      chunks.push(chunk.slice())
    }
    const members = new Uint8Array(new SharedArrayBuffer(chunks.reduce((sum, { length }) => sum + length, 0)))
    for (const [i, chunk] of chunks.entries()) members.set(chunk, i * CHUNK_BYTES)
    return members
  }

  *headers(after = ''): Generator<{ id: string; header: StoredSetHeader }> {
    const start = entitySetHeaderKey(after)
    const range = this.table.getRange({ start, exclusiveStart: after !== '', end: entitySetMembersKey('') })
    for (const { key, value } of range) {
      yield { id: idOfSetKey(key), header: parseExact(value.toString(), 'numbers') as StoredSetHeader }
    }
  }

  expiredIds(now: number, limit: number): string[] {
    const keys = this.table.getKeys({ start: expiryKey(0), end: expiryKey(now + 1), limit })
    return [...keys.map(idOfExpiryKey)]
  }

  diskBytes(): number {
    const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } = this.table.getStats() as PageCounts
    return pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages)
  }

  /** Writes a change, inside the open write transaction. */
  put({ id, header, members }: StoredSetChange): void {
    const { table } = this
    const old = this.header(id)
    if (header && !members && (!old || old.hasEnded)) return
    if (old) table.removeSync(expiryKey(old.expires, id))
    if (header) {
      table.putSync(entitySetHeaderKey(id), Buffer.from(stringifyExact(header)))
      table.putSync(expiryKey(header.expires, id), NOTHING)
    } else table.removeSync(entitySetHeaderKey(id))
    if (old && (members || !header || header.hasEnded)) {
      for (const key of this.membersKeys(id)) table.removeSync(key)
    }
    for (let at = 0; members && at < members.length; at += CHUNK_BYTES) {
      const length = Math.min(CHUNK_BYTES, members.length - at)
      chunk.set(members.subarray(at, at + length))
      table.putSync(entitySetMembersKey(id, at / CHUNK_BYTES), chunk.subarray(0, length))
    }
  }

  /** Keys of the members of a set, in order. */
  membersKeys(id: string): Buffer[] {
    return [...keyRange(this.table, entitySetMembersKey(id), entitySetMembersKey(id, 0xffffffff))]
  }
}
