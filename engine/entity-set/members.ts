import { RowSet } from '../row-set/row-set.ts'

/** Row ids of an entity set: a set, or a list where they have an order of their own. They may be of deleted entities. */
export type Members = RowSet | Uint32Array

const FORMS = ['list', 'ids', 'words'] as const
/** Form and number of members, u32 each. */
const HEAD = 2

/**
 * Members as bytes of their own, for the store and for other threads: u32 in the machine's byte order. A list that
 * ascends becomes a set, which is smaller.
 */
export function encodeMembers(members: Members): Uint8Array {
  const set = members instanceof RowSet || !isAscending(members) ? members : RowSet.fromSorted(members)
  const { form, values, size } =
    set instanceof RowSet ? set.data : ({ form: 'list', values: set, size: set.length } as const)
  const encoded = new Uint32Array(HEAD + values.length)
  encoded[0] = FORMS.indexOf(form)
  encoded[1] = size
  encoded.set(values, HEAD)
  return new Uint8Array(encoded.buffer)
}

/** @param encoded is shared: nobody may write to it any more */
export function decodeMembers({ buffer, byteOffset, length }: Uint8Array): Members {
  const [index, size] = new Uint32Array(buffer, byteOffset, HEAD)
  const values = new Uint32Array(buffer, byteOffset + 4 * HEAD, length / 4 - HEAD)
  const form = FORMS[index!]!
  return form === 'list' ? values : RowSet.fromData({ form, values, size: size! })
}

/** What is wrong with bytes that {@link encodeMembers} should have made of rows below `rowIdLimit`, or undefined. */
export function problemOfMembers(encoded: Uint8Array, rowIdLimit: number): string | undefined {
  if (encoded.length % 4 !== 0 || encoded.length < 4 * HEAD) return `its members have ${encoded.length} bytes`
  const [index, size] = new Uint32Array(encoded.buffer, encoded.byteOffset, HEAD)
  const form = FORMS[index!]
  if (!form) return `its members have the unknown form ${index}`
  const values = new Uint32Array(encoded.buffer, encoded.byteOffset + 4 * HEAD)
  const set = form === 'words' ? RowSet.fromWords(values) : undefined
  const count = set?.size ?? values.length
  if (count !== size) return `it has ${count} members and says ${size}`
  if (form === 'ids' && values.length > 1 && !isAscending(values)) return 'its members are out of order'
  const last = (set?.toIds() ?? values).reduce((last, rowId) => Math.max(last, rowId), -1)
  return last < rowIdLimit ? undefined : `row ${last} is a member, but the next row id is ${rowIdLimit}`
}

/** Lists that have been combined, as sets: the second time costs nothing. */
const sets = new WeakMap<Uint32Array, RowSet>()

/** The members without their order. */
export function setOf(members: Members): RowSet {
  if (members instanceof RowSet) return members
  const set = sets.get(members) ?? RowSet.fromIds(members)
  sets.set(members, set)
  return set
}

/** Those among `live`, in the same order. */
export const existing = (members: Members, live: RowSet): Members =>
  members instanceof RowSet ? members.and(live) : members.filter(rowId => live.has(rowId))

function isAscending(rowIds: Uint32Array): boolean {
  for (let i = 1; i < rowIds.length; i++) if (rowIds[i - 1]! >= rowIds[i]!) return false
  return true
}
