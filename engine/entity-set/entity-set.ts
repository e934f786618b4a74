import { randomBytes } from 'node:crypto'
import type { UnreadParams } from '../query/parse/parse-params.ts'
import type { ClientText, SelectionSource } from '../query/contract/request.ts'
import { KeyList } from '../row-set/key-list.ts'
import { RowSet } from '../row-set/row-set.ts'
import { EntitySetErrors } from './entity-set-errors.ts'
import type { GuestShare } from './guest-sets.ts'
import { decodeMembers, type Members } from './members.ts'

/** A selection of one dataclass that the server keeps. Source: base specification, 2.7 and 3. */
export interface EntitySet {
  /** 32 upper-case hex digits. */
  readonly id: string
  readonly tableNumber: number
  readonly members: Members
  /** {@link members} as bytes, in the same memory. */
  readonly memberBytes: Uint8Array
  /** Time without use after which the set ends. */
  readonly timeoutSeconds: number
  /** Query that recreates the set after its end. */
  readonly saved: SavedQuery | undefined
  /** Session against whose quota the set counts. */
  readonly creator: string | undefined
  /** Network of the guest who created the set. */
  readonly guest?: GuestShare | undefined
}

/** The query of a set, as plain JSON. */
export interface SavedQuery {
  readonly source: SelectionSource & { kind: 'all' | 'keys' | 'attribute' | 'related' }
  readonly filter?: ClientText | undefined
  /** Parts of `Params` without its maps, which JSON does not have, or a text that has not been parsed. */
  readonly params?:
    | UnreadParams
    | {
        readonly positional: readonly unknown[]
        readonly named: readonly (readonly [string, unknown])[]
        readonly attributes: readonly (readonly [string, unknown])[]
      }
    | undefined
  readonly orderBy?: ClientText | undefined
}

/** @param memberBytes members from `encodeMembers`; not to be modified afterwards */
export function entitySet({
  id,
  tableNumber,
  memberBytes,
  timeoutSeconds,
  saved,
  creator,
  guest,
}: Omit<EntitySet, 'members'>): EntitySet {
  return { id, tableNumber, members: decodeMembers(memberBytes), memberBytes, timeoutSeconds, saved, creator, guest }
}

export const newEntitySetId = (): string => randomBytes(16).toString('hex').toUpperCase()

/** The id in `text` in upper case; undefined if it is not a valid id. */
export const readEntitySetId = (text: string): string | undefined =>
  /^[0-9A-Fa-f]{32}$/.test(text) ? text.toUpperCase() : undefined

/** The value of `$timeout`, in seconds. @throws {EntitySetErrors.TIMEOUT} */
export function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^0*[1-9][0-9]{0,14}$/.test(text)) throw EntitySetErrors.TIMEOUT(text)
  return Number(text)
}

/** Source for reading these members. */
export function sourceOf(members: Members): SelectionSource & { kind: 'set' | 'rows' | 'keyList' } {
  if (members instanceof KeyList) return { kind: 'keyList', members }
  return members instanceof RowSet ? { kind: 'set', members } : { kind: 'rows', rowIds: members, ordered: true }
}
