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

export const setOf = (members: Members): RowSet => (members instanceof RowSet ? members : RowSet.fromIds(members))

/** Those among `live`, in the same order. */
export const existing = (members: Members, live: RowSet): Members =>
  members instanceof RowSet ? members.and(live) : members.filter(rowId => live.has(rowId))

function isAscending(rowIds: Uint32Array): boolean {
  for (let i = 1; i < rowIds.length; i++) if (rowIds[i - 1]! >= rowIds[i]!) return false
  return true
}
