import type { AnswerBody } from '../answer/answer-body.ts'
import type { Promised } from '../base/promised.ts'
import type { Caller } from '../caller/caller.ts'
import type { LockHolder } from '../caller/lock-holder.ts'
import type { Place } from '../catalog/place.ts'
import type { ReadStore } from '../data/read-store.ts'
import type { ReadRequest } from '../query/contract/request.ts'
import type { TaskScope } from '../query/tasks/task-kind.ts'
import type { Task } from '../query/tasks/task.ts'
import type {
  DeleteRequest,
  DeleteResult,
  InsertRequest,
  InsertResult,
  ListLocksResult,
  LockResult,
  SaveRequest,
  SaveResult,
} from '../write/contract/requests.ts'
import type { SaveLimits } from '../write/contract/write-limits.ts'

/** Deletes the entities that a read selects, whatever its paging. Plain data. */
export interface Deletion extends Pick<DeleteRequest, 'atomic' | 'owner' | 'ifMatch'> {
  readonly read: ReadRequest
}

/** Locks the one entity that a read selects, or unlocks it. Plain data. */
export interface Locking {
  readonly read: ReadRequest
  readonly lock: boolean
  readonly holder: LockHolder
}

/** Reads bytes of an image or a blob of the one entity that a read selects. Plain data. */
export interface BytesRead {
  readonly read: ReadRequest
  readonly attribute: string
  /** Position of the first byte; `end` is the position after the last byte. */
  readonly start: number
  readonly end: number
}

export interface BytesFound {
  /** Key of the entity. */
  readonly key: string
  /** The value in one version of the entity; undefined for null. */
  readonly value:
    | {
        readonly bytes: Uint8Array
        /** Size of the whole value. */
        readonly size: number
        /** `__STAMP`; -1 for a table without stamps, so that its bytes are not mistaken for those of another version. */
        readonly stamp: number
        readonly version: string
      }
    | undefined
}

/** A dataclass whose entities cannot be read. Plain data. */
export interface UnreadableClass {
  readonly dataClass: string
  /** In one sentence, for operators. */
  readonly reason: string
}

/** State of a database that has entities. Plain data, for operators. */
export interface DatabaseState {
  /** Name of its connection. */
  readonly name: string
  /** `unavailable`: none of its dataclasses can be read; `incomplete`: some of them cannot. */
  readonly status: 'ready' | 'unavailable' | 'incomplete'
  /** Why it is unavailable. */
  readonly reason?: string | undefined
  /** The dataclasses that cannot be read, if it is incomplete. */
  readonly unreadable?: readonly UnreadableClass[] | undefined
}

/**
 * Port to the place where the entities of some dataclasses are stored, this store or another one, for the kernel thread. Requests have the
 * rights of their `access`, which is set.
 */
export interface Backend {
  /**
   * Runs a task on its entities.
   * @returns bytes; if they are returned synchronously, they are valid only until the next task: use them before any `await`
   * @throws {ProtocolError}
   */
  run(task: Task, caller?: Caller): Promised<AnswerBody>
  /**
   * Saves entities without the code of events; that code sends its saves itself.
   * @param onDurable called with a large result as soon as it is durable, before readers see it
   * @throws {ProtocolError} the request as a whole failed
   */
  save(request: SaveRequest, caller?: Caller, onDurable?: (result: SaveResult) => void): Promise<SaveResult>
  /** Deletes entities with the code of their events. @throws {ProtocolError} the request as a whole failed */
  delete(deletion: Deletion, caller?: Caller): Promise<DeleteResult>
  /** @throws {ProtocolError} there is no such entity */
  lock(locking: Locking, caller?: Caller): Promise<LockResult>
  /** Locks that only this back end knows, at most `limit` of them. */
  listLocks(limit: number): Promise<ListLocksResult>
  freeLocks(owner: string): Promise<void>
  /** Inserts rows that `encodeRows` has encoded. Undefined if the back end accepts entities only by {@link save}. */
  insert?(request: InsertRequest): Promise<InsertResult>
  /** Reads bytes that are not in the rows and files of this store. Undefined if there are none. */
  readBytes?(bytes: BytesRead, caller?: Caller): Promise<BytesFound>
  /** Probes its databases, at most once a second and for a few seconds. Undefined if it has none. Never rejects. */
  databases?(): Promise<readonly DatabaseState[]>
  /** Starts preparing what the back end needs; callers do not wait for it. */
  prepare?(): void
  /** Starts its threads, so that the first request does not wait for them, and probes its databases, for the log. */
  warmUp(): void
  /** Finishes running requests. */
  close(): Promise<void>
}

/** A back end that a program gives to the engine, besides this store and databases. */
export interface GivenBackend {
  /** Names of the dataclasses whose entities it has. */
  readonly dataClasses: readonly string[]
  /** Place of these entities. Plain data, because every thread builds the catalog. */
  readonly place: Place
  open(surroundings: BackendSurroundings): Backend
}

/** Parts of the engine that a back end may use. */
export interface BackendSurroundings {
  /** This store. Its snapshots suspend work that reads entities stored elsewhere. */
  readonly data: ReadStore
  /** Scope of tasks in this thread. */
  readonly scope: TaskScope
  readonly limits: SaveLimits
}
