import { randomBytes } from 'node:crypto'
import type { SelectionSource } from '../query/request.ts'
import { RowSet } from '../row-set/row-set.ts'
import { EntitySetErrors } from './entity-set-errors.ts'
import { decodeMembers, type Members } from './members.ts'

/** A selection of one dataclass that the server keeps. Source: base specification, 2.7 and 3. */
export interface EntitySet {
  /** 32 upper-case hex digits. */
  readonly id: string
  readonly tableNumber: number
  readonly members: Members
  /** The same, in the same memory, as bytes. */
  readonly encoded: Uint8Array
  /** Time without use after which it ends. */
  readonly timeoutSeconds: number
  /** What makes it again after its end. */
  readonly saved: SavedQuery | undefined
  /** Against whose quota it counts. */
  readonly creator: string | undefined
}

/** The query of a set, as plain JSON. */
export interface SavedQuery {
  readonly source: SelectionSource & { kind: 'all' | 'keys' | 'attribute' | 'related' }
  readonly filter?: string | undefined
  /** Parts of `Params`, whose maps JSON does not have. */
  readonly params?:
    | {
        readonly positional: readonly unknown[]
        readonly named: readonly (readonly [string, unknown])[]
        readonly attributes: readonly (readonly [string, unknown])[]
      }
    | undefined
  readonly orderBy?: string | undefined
}

/** @param encoded as `encodeMembers` makes them; nobody may write to them any more */
export function entitySet({
  id,
  tableNumber,
  encoded,
  timeoutSeconds,
  saved,
  creator,
}: Omit<EntitySet, 'members'>): EntitySet {
  return { id, tableNumber, members: decodeMembers(encoded), encoded, timeoutSeconds, saved, creator }
}

export const newEntitySetId = (): string => randomBytes(16).toString('hex').toUpperCase()

/** The id in `text`, upper-case, or undefined when there can be no such set. */
export const readEntitySetId = (text: string): string | undefined =>
  /^[0-9A-Fa-f]{32}$/.test(text) ? text.toUpperCase() : undefined

/** The value of `$timeout`, in seconds. @throws {EntitySetErrors.TIMEOUT} */
export function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^0*[1-9][0-9]{0,14}$/.test(text)) throw EntitySetErrors.TIMEOUT(text)
  return Number(text)
}

/** What a read of these members starts from. */
export const sourceOf = (members: Members): SelectionSource =>
  members instanceof RowSet ? { kind: 'set', members } : { kind: 'rows', rowIds: members, ordered: true }
