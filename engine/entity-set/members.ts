import { rowIdentity } from '../query/source/identity.ts'
import { KeyList } from '../row-set/key-list.ts'
import { RowSet } from '../row-set/row-set.ts'

/** Row ids of an entity set: a set, or a list if they have an order. Deleted entities may be among them. */
export type RowMembers = RowSet | Uint32Array

/** Members of an entity set: row ids, or identities of entities whose row ids do not last. */
export type Members = RowMembers | KeyList

export const sizeOf = (members: Members): number => ('size' in members ? members.size : members.length)

/** True for members in a particular order. */
export const isOrdered = (members: Members): boolean => !(members instanceof RowSet)

const FORMS = ['list', 'ids', 'words', 'keys'] as const
/** Form and number of members, u32 each. */
const HEAD = 2

/** Cached sets of lists: combining 500,000 members takes 0.1 ms, building their set 2 ms or more. */
const sets = new WeakMap<Uint32Array, RowSet>()

/** The members as a set, without their order. */
export function setOf(members: RowMembers): RowSet {
  if (members instanceof RowSet) return members
  const set = sets.get(members) ?? RowSet.fromIds(members)
  sets.set(members, set)
  return set
}

/** Members as identities, in their order. */
export const keyListOf = (members: Members): KeyList =>
  members instanceof KeyList
    ? members
    : KeyList.of(Array.from(members instanceof RowSet ? members.toIds() : members, rowIdentity))

/**
 * Members as bytes, for the store and for other threads, which share them: u32 in the machine's byte order. An ascending list is encoded as
 * a set, which is smaller. Any other list is followed by its set if the set is a bitmap, which adds a sixteenth.
 */
export function encodeMembers(members: Members): Uint8Array {
  if (members instanceof KeyList) return encode({ form: 'keys', values: members.data, size: members.size })
  if (members instanceof RowSet) return encode(members.data)
  if (isAscending(members)) return encode(RowSet.fromSorted(members).data)
  const set = RowSet.fromIds(members)
  const list = { form: 'list', values: members, size: members.length } as const
  return set.isSparse ? encode(list) : encode(list, set.data)
}

function encode(...parts: readonly { form: (typeof FORMS)[number]; values: Uint32Array; size: number }[]): Uint8Array {
  const length = parts.reduce((sum, { values }) => sum + HEAD + values.length, 0)
  const words = new Uint32Array(new SharedArrayBuffer(4 * length))
  let at = 0
  for (const { form, values, size } of parts) {
    words.set([FORMS.indexOf(form), size], at)
    words.set(values, at + HEAD)
    at += HEAD + values.length
  }
  return new Uint8Array(words.buffer)
}

/** True if the bytes are in shared memory, as encoded members are. */
export const isShared = ({ buffer }: Uint8Array): boolean => buffer instanceof SharedArrayBuffer

/** @param bytes shared, and not to be modified afterwards */
export function decodeMembers({ buffer, byteOffset, length }: Uint8Array): Members {
  const words = new Uint32Array(buffer, byteOffset, length / 4)
  const form = FORMS[words[0]!]
  if (form === 'keys') return KeyList.fromData(words.subarray(HEAD), words[1]!)
  if (form !== 'list') return decodeSet(words)
  const list = words.subarray(HEAD, HEAD + words[1]!)
  const setWords = words.subarray(HEAD + words[1]!)
  if (setWords.length > 0) sets.set(list, decodeSet(setWords))
  return list
}

function decodeSet(words: Uint32Array): RowSet {
  const form = FORMS[words[0]!] as 'ids' | 'words'
  return RowSet.fromData({ form, values: words.subarray(HEAD), size: words[1]! })
}

/**
 * Problem of bytes that should be the result of {@link encodeMembers} for rows below `rowIdLimit`, or undefined.
 * @param rowIdLimit undefined for a remote dataclass
 */
export function problemOfMembers(bytes: Uint8Array, rowIdLimit: number | undefined): string | undefined {
  if (bytes.length % 4 !== 0 || bytes.length < 4 * HEAD) return `its members have ${bytes.length} bytes`
  const [index, size] = new Uint32Array(bytes.buffer, bytes.byteOffset, HEAD) as unknown as [number, number]
  const form = FORMS[index]
  if (!form) return `its members have the unknown form ${index}`
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + 4 * HEAD, bytes.length / 4 - HEAD)
  if (form === 'keys') return KeyList.problemOf(words, size)
  const values = form === 'list' ? words.subarray(0, size) : words
  const set = form === 'words' ? RowSet.fromWords(values) : undefined
  const count = set?.size ?? values.length
  if (count !== size) return `it has ${count} members and says ${size}`
  if (form === 'ids' && values.length > 1 && !isAscending(values)) return 'its members are out of order'
  if (form === 'list' && !Buffer.from(encodeMembers(values)).equals(bytes))
    return 'its members are not those of its bitmap'
  if (rowIdLimit === undefined) return undefined
  const last = (set?.toIds() ?? values).reduce((last, rowId) => Math.max(last, rowId), -1)
  return last < rowIdLimit ? undefined : `row ${last} is a member, but the next row id is ${rowIdLimit}`
}

/** Members among `liveRows`, in the same order. */
export const existingMembers = (members: RowMembers, liveRows: RowSet): RowMembers =>
  members instanceof RowSet ? members.and(liveRows) : members.filter(rowId => liveRows.has(rowId))

function isAscending(rowIds: Uint32Array): boolean {
  for (let i = 1; i < rowIds.length; i++) if (rowIds[i - 1]! >= rowIds[i]!) return false
  return true
}
