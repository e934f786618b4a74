import type { UploadChange, UploadOwner } from '../../data/stored-uploads.ts'
import type { RecordChange } from '../../data/record-store.ts'
import type { EntitySetChange } from '../../entity-set/entity-set-header.ts'
import type { ErrorData, SaveStatus } from '../../base/errors.ts'
import type { Access } from '../../permission/views.ts'
import type { ExpectedVersion } from './expected-version.ts'
import type { LockHolder, LockInfo } from '../../caller/lock-holder.ts'

/**
 * Requests to the writer thread and their results: plain data only. Handled in `engine/write/writer.ts`.
 * Source: base specification 4.4 and 7; protocol notes 5.
 */
export type WriteRequest =
  | SaveRequest
  | DeleteRequest
  | CalculatedRequest
  | EntitySetsRequest
  | RecordsRequest
  | LockRequest
  | FreeLocksRequest
  | ListLocksRequest
  | UploadsRequest

export interface SaveRequest {
  kind: 'save'
  dataClass: string
  /** Whose rights count; undefined: nothing is restricted. */
  access?: Access | undefined
  /** The body as received, not parsed: parsing is the writer thread's work. An object, an array, or `{"__ENTITIES":[…]}`. */
  body: Uint8Array
  /** Positions of the elements of a large body that was checked before. */
  parts?: BodyParts
  /**
   * `update` writes. `validate` runs every check and writes nothing. `refresh` answers the entity as it would be and
   * writes nothing.
   */
  mode: 'update' | 'validate' | 'refresh'
  /** All or nothing: `$atomic`. */
  atomic: boolean
  /**
   * From the operator and not from a client (loading): private and read-only attributes can be set, and images and
   * blobs by a data URL.
   */
  trusted?: boolean
  /** Handle of the session: what others have locked it cannot change. */
  owner?: string | undefined
  /** Results of the hooks of the dataclass, one for each element of the body. */
  hooked?: readonly PreparedElement[]
  /** Entities are changed in the version that there is: the body has no stamps. */
  anyStamp?: boolean
  /** Versions of which each entity of the body has to have one. It needs no `__STAMP` of its own then. */
  ifMatch?: ExpectedVersion | undefined
  /** Whose uploads the body may refer to, and which of them are still valid. Absent: none. */
  uploads?: UploadAccess
  /** Bytes that came with the request: the body refers to them as to an upload. The value is encoded. */
  received?: { id: string; value: Uint8Array }
}

/** Positions of the elements of a checked body: texts of some elements each, parsed one by one. */
export interface BodyParts {
  /** False for a single object. */
  many: boolean
  /** First byte, end and number of elements of each part. */
  ranges: Uint32Array
}

export interface UploadAccess {
  owner: UploadOwner
  /** Milliseconds since 1970. */
  now: number
}

/** {@link PreparedElement.expectedStamp} of an entity that does not exist for the caller: it is missing, or hidden by a restrict event. */
export const UNSEEN = -1

/** Outcome of the code that runs before a save, for one element of the body. */
export interface PreparedElement {
  /** `__STAMP` of the entity that it saw; 0 for a new one; {@link UNSEEN}. A save of any other version is stale. */
  expectedStamp: number
  /**
   * Values as JSON by attribute name, which replace those of the element. Code may set what a client may not, stored
   * calculated attributes too.
   */
  values: Record<string, unknown>
  /** Names of those of the values that were assigned with the rights of the caller, and not by events. */
  assigned?: readonly string[]
  /** Calculated attributes that came with the value that they have. */
  unchanged: readonly string[]
  /** Why the entity is not to be saved. */
  failure?: SaveFailure
}

export interface DeleteRequest {
  kind: 'delete'
  dataClass: string
  /** Whose rights count; undefined: nothing is restricted. */
  access?: Access | undefined
  rowIds: Uint32Array
  /** The stamp that each was seen with; one that has another now stays. Undefined: none is compared. */
  stamps?: Uint32Array
  /** Versions of which each has to have one; others stay. */
  ifMatch?: ExpectedVersion | undefined
  atomic: boolean
  /** Handle of the session: what others have locked it cannot delete. */
  owner?: string | undefined
  hooked?: HookedDeletion
}

/** Rows that the drop events of some dataclasses have examined, before the deletion. */
export interface HookedDeletion {
  /** Dataclasses of which nothing may go, or lose a reference, that is not among {@link rows} as it is now. */
  dataClasses: readonly string[]
  rows: readonly HookedRow[]
}

export interface HookedRow {
  dataClass: string
  rowId: number
  /** `__STAMP` of the entity that code has seen. */
  seen: number
  /** Stored calculated attributes of a row that stays without a reference, as JSON by name. */
  values?: Record<string, unknown>
}

/** New values of stored calculated attributes, after their code has changed. Stamps and timestamps stay. */
export interface CalculatedRequest {
  kind: 'calculated'
  dataClass: string
  rows: readonly CalculatedRow[]
  /** When these rows are the last: what `meta` is to remember of the code, by attribute name. */
  fingerprints?: Record<string, string>
}

export interface CalculatedRow {
  rowId: number
  /** `__STAMP` of the entity that the values are of. One that has changed since stays: its save has computed them. */
  seen: number
  /** JSON by attribute name. */
  values: Record<string, unknown>
}

/** Puts, ends and records uses of entity sets. No entity changes, and neither does the global stamp. */
export interface EntitySetsRequest {
  kind: 'entitySets'
  changes: EntitySetChange[]
}

/** Puts and removes records of the server itself. No entity changes, and neither does the global stamp. */
export interface RecordsRequest {
  kind: 'records'
  changes: RecordChange[]
}

/** Locks an entity for a session, or unlocks it. Nothing is stored. Source: protocol notes, 8.8. */
export interface LockRequest {
  kind: 'lock'
  dataClass: string
  rowId: number
  /** False: unlock. */
  lock: boolean
  holder: LockHolder
}

/** A session has ended: its locks do too. */
export interface FreeLocksRequest {
  kind: 'freeLocks'
  owner: string
}

/** Lists the locks there are. */
export interface ListLocksRequest {
  kind: 'listLocks'
  /** Maximum locks of the list. */
  limit: number
}

/** Keeps and ends uploads. No entity changes, and neither does the global stamp. */
export interface UploadsRequest {
  kind: 'uploads'
  changes: UploadChange[]
}

export interface SaveResult {
  kind: 'save'
  /** True when the body was an array or `{"__ENTITIES"}`: the answer is `{"__ENTITIES":[…]}` then. */
  many: boolean
  entities: SavedEntity[]
  /** Global stamp after the commit. */
  globalStamp: number
}

/** The outcome for one element of the body, in its order. */
export interface SavedEntity {
  /** Bytes of the row as it exists after the request (see `row-layout.ts`); absent for a new entity that was not saved. */
  row?: Uint8Array
  rowId?: number
  /** Absent on success. `row` is then the entity as it exists on the server (base specification, 7.1). */
  failure?: SaveFailure
}

export interface SaveFailure {
  status: SaveStatus
  error: ErrorData
}

export interface DeleteResult {
  kind: 'delete'
  deleted: number
  /** Error of the first entity that could not be deleted. */
  error?: ErrorData
  /** Entities were changed since code has looked at them: what is left has to be looked at again. */
  changed?: boolean
}

export interface LockResult {
  kind: 'lock'
  /** It is as was asked for. */
  result: boolean
  /** It was to be unlocked, and the session had not locked it. */
  wasNotLocked?: true
  /** Lock of another owner that stops the request. */
  blocker?: LockInfo
}

/** A lock on an entity. */
export interface HeldLock {
  dataClass: string
  /** As addresses have it. */
  key: string
  /** Handle of the session. */
  owner: string
  info: LockInfo
  /** Milliseconds since 1970; absent: until the session ends. */
  expires?: number
}

export interface ListLocksResult {
  kind: 'listLocks'
  /** All locks, those beyond the limit too. */
  count: number
  locks: HeldLock[]
}

/** It is done. `transaction`: one that function code drives; what it did was answered step by step. */
interface Done {
  kind: 'calculated' | 'entitySets' | 'records' | 'freeLocks' | 'uploads' | 'transaction'
}

export type WriteResult = SaveResult | DeleteResult | LockResult | ListLocksResult | Done

/** Result type of a request. */
export type WriteResultOf<Request extends WriteRequest> = Request extends SaveRequest
  ? SaveResult
  : Request extends DeleteRequest
    ? DeleteResult
    : Request extends LockRequest
      ? LockResult
      : Request extends ListLocksRequest
        ? ListLocksResult
        : Done
