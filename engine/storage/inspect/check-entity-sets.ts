import { type Environment, getBytes } from '../environment.ts'
import { chunkOfMembersKey, expiryKey, entitySetHeaderKey, expiryOfKey, idOfExpiryKey, idOfSetKey } from '../keys.ts'
import { EntitySetTable } from '../entity-set-table.ts'
import { readTableState } from '../store-state.ts'
import type { EntitySetHeader } from '../../entity-set/entity-set-header.ts'
import { problemOfMembers } from '../../entity-set/members.ts'

/**
 * Every entry of the table `entitySets` that contradicts another one.
 * @param remote numbers of the tables that are in databases, which number their own rows
 * @returns a text for each problem, as it is found
 */
export function* checkEntitySets(environment: Environment, remote: ReadonlySet<number> = new Set()): Generator<string> {
  const { entitySets } = environment
  const [headers, members, ends] = [0, 1, 2].map(kind => ({ start: Buffer.of(kind), end: Buffer.of(kind + 1) }))
  for (const { key, value } of entitySets.getRange(headers!)) {
    const id = idOfSetKey(key)
    const problem = problemOfSet(environment, id, value, remote)
    if (problem) yield `entity set ${id}: ${problem}`
  }
  let last = ''
  for (const key of entitySets.getKeys(members!)) {
    const id = idOfSetKey(key)
    if (id !== last && !getBytes(entitySets, entitySetHeaderKey(id))) {
      yield `entity set ${id}: there are members of it, but no header`
    }
    last = id
  }
  for (const key of entitySets.getKeys(ends!)) {
    const [id, expires] = [idOfExpiryKey(key), expiryOfKey(key)]
    const header = getBytes(entitySets, entitySetHeaderKey(id))
    if (header && readJson(header)?.expires === expires) continue
    yield `entity set ${id}: an entry says that it ends at ${expires}, ${header ? 'its header does not' : 'but there is no header'}`
  }
}

function problemOfSet(
  environment: Environment,
  id: string,
  bytes: Uint8Array,
  remote: ReadonlySet<number>,
): string | undefined {
  const header = readJson(bytes)
  if (!header) return 'its header cannot be read'
  const { tableNumber, timeoutSeconds, hasEnded, expires } = header
  if (![tableNumber, timeoutSeconds, expires].every(Number.isFinite) || typeof hasEnded !== 'boolean') {
    return 'its header is incomplete'
  }
  if (!getBytes(environment.entitySets, expiryKey(expires, id))) return `its end at ${expires} is not noted`
  const sets = new EntitySetTable(environment)
  const keys = sets.membersKeys(id)
  if (hasEnded) return keys.length > 0 ? 'it has ended, but its members are still there' : undefined
  if (keys.length === 0) return 'it has no members'
  if (keys.some((key, i) => chunkOfMembersKey(key) !== i)) return 'a part of its members is missing'
  const { nextRowId } = readTableState(environment, tableNumber)
  return problemOfMembers(sets.members(id), remote.has(tableNumber) ? undefined : nextRowId)
}

function readJson(bytes: Uint8Array): EntitySetHeader | undefined {
  try {
    return JSON.parse(Buffer.from(bytes).toString()) as EntitySetHeader
  } catch {
    return undefined
  }
}
