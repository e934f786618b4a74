import type { Reads } from '../../data/reads.ts'
import type { UploadChange, UploadOwner } from '../../data/stored-uploads.ts'
import type { RecordChange } from '../../data/record-store.ts'
import type { EntitySetChange } from '../../entity-set/entity-set-header.ts'
import type { ErrorData, SaveStatus } from '../../base/errors.ts'
import type { Access } from '../../permission/views.ts'
import type { ExpectedVersion } from './expected-version.ts'
import type { NewJob } from '../../jobs/job.ts'
import type { LockHolder, LockInfo } from '../../caller/lock-holder.ts'

/**
 * Requests to the writer thread and their results: plain data only. Handled in `engine/write/steps/writer.ts`.
 * Source: base specification 4.4 and 7; protocol notes 5.
 */
export type WriteRequest =
  | SaveRequest
  | InsertRequest
  | DeleteRequest
  | CalculatedRequest
  | EntitySetsRequest
  | RecordsRequest
  | EnqueueRequest
  | LockRequest
  | FreeLocksRequest
  | ListLocksRequest
  | UploadsRequest

export interface SaveRequest {
  kind: 'save'
  dataClass: string
  /** Rights that apply; undefined: no restrictions. */
  access?: Access | undefined
  /** The body as received; the writer thread parses it. An object, an array, or `{"__ENTITIES":[…]}`. */
  body: Uint8Array
  /** Positions of the elements of a large body that has been checked. */
  parts?: BodyParts
  /** New entities of a body that has been checked, encoded in advance, in pieces that `packRows` has packed. */
  encoded?: readonly Uint8Array[]
  /**
   * `update` writes. `validate` runs every check and writes nothing. `refresh` returns the entity as it would be and writes
   * nothing.
   */
  mode: 'update' | 'validate' | 'refresh'
  /** True if all entities are saved or none: `$atomic`. */
  atomic: boolean
  /**
   * The request comes from the operator (loading), not from a client: private and read-only attributes can be set, and images and
   * blobs with a data URL.
   */
  trusted?: boolean
  /** Handle of the session, which cannot change entities that others have locked. */
  owner?: string | undefined
  /** Name of the user, for automatic values; empty or absent for a guest and for the server itself. */
  user?: string | undefined
  /** Time of automatic values, in milliseconds since 1970; by default the time of the first transaction. */
  moment?: number | undefined
  /** Results of the hooks of the dataclass, one for each element of the body. */
  hooked?: readonly PreparedElement[]
  /**
   * Everything that the hooks have read besides the entities. If any of it has changed, the remaining entities are not saved: {@link
   * SavedEntity.isOutdated}.
   */
  reads?: Reads | undefined
  /** Entities are changed whatever their version: the body has no stamps. */
  anyStamp?: boolean
  /** Versions of which each entity of the body has to have one; it needs no `__STAMP` then. */
  ifMatch?: ExpectedVersion | undefined
  /** Owner of the uploads that the body may refer to, and the time at which they have to be valid. Absent: none. */
  uploads?: UploadAccess | undefined
  mark?: LoadMark | undefined
  /** `none`: entities of the result that were saved have no rows. */
  returning?: 'none' | undefined
  /** Bytes that were sent with the request: the body refers to them like an upload. The value is encoded. */
  received?: { id: string; value: Uint8Array }
}

/**
 * Inserts entities that were encoded for the operator (`SaveRequest.trusted`), in one transaction. Entities that cannot be inserted as
 * encoded are left out.
 */
export interface InsertRequest {
  kind: 'insert'
  dataClass: string
  /** Entities as packed by `packRows`. */
  encoded: Uint8Array
  mark?: LoadMark | undefined
}

/**
 * Records the progress of a load request in the same transactions as its entities, so that an interrupted load saves no row twice. The
 * record `key` becomes a {@link LoadProgress}.
 */
export interface LoadMark {
  key: string
  /** Identifies the request. */
  id: string
}

export interface LoadProgress {
  id: string
  /** Number of elements of the request that are done. */
  next: number
  /** Indexes of the elements that were not saved. */
  left: readonly number[]
}

/** Positions of the elements of a checked body: parts of a few elements each, parsed one by one. */
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

/** {@link PreparedElement.expectedStamp} of an entity that is missing, or that a restrict event hides from the caller. */
export const UNSEEN = -1

/** Outcome of the code that runs before a save, for one element of the body. */
export interface PreparedElement {
  /** `__STAMP` of the entity that the code saw; 0 for a new entity; {@link UNSEEN}. A save of any other version is stale. */
  expectedStamp: number
  /**
   * Values as JSON by attribute name, which replace the values of the element. Code may set attributes that a client may not, including
   * stored calculated ones.
   */
  values: Record<string, unknown>
  /** Names of the values that were assigned with the rights of the caller, not by events. */
  assigned?: readonly string[]
  /** Names of attributes that were sent with their current value: calculated ones, and aliases of related entities. */
  unchanged: readonly string[]
  /** Reason why the entity must not be saved. */
  failure?: SaveFailure
  /** Jobs that are enqueued if the entity is saved. */
  jobs?: readonly NewJob[]
}

export interface DeleteRequest {
  kind: 'delete'
  dataClass: string
  /** Rights that apply; undefined: no restrictions. */
  access?: Access | undefined
  rowIds: Uint32Array
  /** Expected stamps; entities with another stamp are not deleted. Undefined: stamps are not compared. */
  stamps?: Uint32Array
  /** Versions of which each entity has to have one; others are not deleted. */
  ifMatch?: ExpectedVersion | undefined
  atomic: boolean
  /** Handle of the session, which cannot delete entities that others have locked. */
  owner?: string | undefined
  hooked?: HookedDeletion
}

/** Rows that the drop events of some dataclasses have examined, before the deletion. */
export interface HookedDeletion {
  /** Dataclasses whose entities may be deleted or lose a reference only if {@link rows} has them in their current version. */
  dataClasses: readonly string[]
  rows: readonly HookedRow[]
  /** Everything that the code has read. If that has changed, nothing is deleted: {@link DeleteResult.changed}. */
  reads?: Reads | undefined
}

export interface HookedRow {
  dataClass: string
  rowId: number
  /** `__STAMP` of the entity that the code has seen. */
  seenStamp: number
  /** Stored calculated attributes of a row that stays without a reference, as JSON by name. */
  values?: Record<string, unknown>
  /** Jobs that are enqueued if the row is deleted. */
  jobs?: readonly NewJob[]
}

/** New values of stored calculated attributes, after their code has changed. Stamps and timestamps stay. */
export interface CalculatedRequest {
  kind: 'calculated'
  dataClass: string
  rows: readonly CalculatedRow[]
  /** Fingerprints of the code by attribute name, to be stored in `meta`; sent with the last rows. */
  fingerprints?: Record<string, string>
}

export interface CalculatedRow {
  rowId: number
  /** `__STAMP` of the entity from which the values were computed. If it has changed since, the save that changed it has computed them. */
  seenStamp: number
  /** Values as JSON by attribute name. */
  values: Record<string, unknown>
}

/** Creates, changes and ends entity sets, and records their use. Neither entities nor the global stamp change. */
interface EntitySetsRequest {
  kind: 'entitySets'
  changes: EntitySetChange[]
}

/** Creates, changes and removes records of the server itself. Neither entities nor the global stamp change. */
interface RecordsRequest {
  kind: 'records'
  changes: RecordChange[]
}

/** Enqueues jobs. Neither entities nor the global stamp change. */
export interface EnqueueRequest {
  kind: 'enqueue'
  jobs: readonly NewJob[]
}

/** Locks an entity for a session, or unlocks it. Nothing is stored. Source: protocol notes, 8.8. */
export interface LockRequest {
  kind: 'lock'
  dataClass: string
  rowId: number
  /** True to lock, false to unlock. */
  lock: boolean
  holder: LockHolder
}

/** Frees all locks of a session that has ended. */
interface FreeLocksRequest {
  kind: 'freeLocks'
  owner: string
}

/** Lists all locks. */
export interface ListLocksRequest {
  kind: 'listLocks'
  /** Maximum number of locks in the list. */
  limit: number
}

/** Stores and ends uploads. Neither entities nor the global stamp change. */
interface UploadsRequest {
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
  /** True if something that the entity's code has read has changed since, so the entity was not saved and the code must run again. */
  isOutdated?: true
}

export interface SaveFailure {
  status: SaveStatus
  error: ErrorData
}

export interface InsertResult {
  kind: 'insert'
  /** Indexes of the entities that could not be inserted; a save of these entities finds the reasons. */
  remainingIndexes: Uint32Array
}

export interface DeleteResult {
  kind: 'delete'
  deleted: number
  /** Number of entities of a database that were selected for deletion. */
  selected?: number
  /** Error of the first entity that could not be deleted. */
  error?: ErrorData
  /** True if entities have changed since code examined them, so that the remaining entities must be examined again. */
  changed?: boolean
}

export interface LockResult {
  kind: 'lock'
  /** True if the entity is now in the requested state. */
  result: boolean
  /** True if the session asked to unlock an entity that it had not locked. */
  wasNotLocked?: true
  /** Lock of another owner that prevents the request. */
  blocker?: LockInfo
}

/** A lock on an entity. */
export interface HeldLock {
  dataClass: string
  /** Key as in addresses. */
  key: string
  /** Handle of the session. */
  owner: string
  info: LockInfo
  /** Expiry in milliseconds since 1970; absent if the lock lasts until the session ends. */
  expires?: number
}

export interface ListLocksResult {
  kind: 'listLocks'
  /** Number of all locks, including those beyond the limit. */
  count: number
  locks: HeldLock[]
}

interface EnqueueResult {
  kind: 'enqueue'
  /** Id of each job, or of the existing job with the same key. */
  ids: readonly string[]
}

type DoneKind = 'calculated' | 'entitySets' | 'records' | 'freeLocks' | 'uploads' | 'transaction'

/** The request is done. `transaction`: a transaction that plugin code drives, whose steps were answered one by one. */
type Done = { [Kind in DoneKind]: { kind: Kind } }[DoneKind]

export type WriteResult = SaveResult | InsertResult | DeleteResult | LockResult | ListLocksResult | EnqueueResult | Done

/** Result type of a request. */
export type WriteResultOf<Request extends WriteRequest> = Extract<WriteResult, { kind: Request['kind'] }>
