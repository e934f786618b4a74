import type { AnswerBody } from './answer/answer-body.ts'
import type { CallResult } from './author/run/function-client.ts'
import type { CallTask } from './author/run/tasks.ts'
import type { ClassFunction, ClassRegistry } from './author/declare/class-registry.ts'
import type { SaveStatus } from './base/errors.ts'
import type { Promised } from './base/promised.ts'
import type { Binaries } from './binary/binaries.ts'
import type { Uploads } from './binary/uploads.ts'
import type { Caller } from './caller/caller.ts'
import type { SessionData } from './caller/session-data.ts'
import type { Catalog } from './catalog/dataclass.ts'
import type { View } from './catalog/view.ts'
import type { EntitySets } from './entity-set/entity-sets.ts'
import type { Part } from './memory/heap/shared-heap.ts'
import type { Rights } from './permission/explain-rights.ts'
import type { DeclaredRoles } from './permission/permissions.ts'
import type { Granted } from './permission/roles.ts'
import type { Access } from './permission/views.ts'
import type { SaveAnswer } from './placement/saved-answers.ts'
import type { Aggregation } from './query/aggregate/aggregate.ts'
import type { QueryLimits } from './query/contract/query-limits.ts'
import type { Output, ReadRequest } from './query/contract/request.ts'
import type { PathListItem } from './query/parse/parse-path-list.ts'
import type { DeleteRequest, HeldLock, SaveRequest, SaveResult } from './write/contract/requests.ts'

/** A call of a class function, as a client sends it. */
export interface FunctionCall extends Pick<CallTask, 'read' | 'keep'> {
  /** JSON, as received and not checked: UTF-8. Undefined: none were given. */
  readonly args: Uint8Array | undefined
  readonly function: ClassFunction
}

/** Outcome of a lock or an unlock. */
export interface LockOutcome {
  /** It is as was asked for. */
  readonly result: boolean
  /** `__STATUS` of the answer: that it was not locked, or who has locked it. */
  readonly status: { readonly success: boolean; readonly wasNotLocked?: true } & Partial<SaveStatus>
}

/**
 * The data as plugins see it. Rights are those of the `access` in a request; without one those of a guest. A `caller` may go
 * away: its query ends then.
 */
export interface PluginEngine {
  readonly catalog: Catalog
  /** Limits of the cost of a query. */
  readonly limits: QueryLimits
  /** Classes of plugins, with their functions. */
  readonly classes: Pick<
    ClassRegistry,
    'dataStore' | 'singletons' | 'isEmpty' | 'find' | 'names' | 'describe' | 'describeDataStore' | 'describeSingletons'
  >
  readonly entitySets: Omit<EntitySets, 'openAny' | 'sweep'>
  readonly uploads: Pick<Uploads, 'receive' | 'add' | 'access' | 'discard'>
  readonly binaries: Pick<Binaries, keyof Binaries>

  /** False while the writer thread is being replaced. */
  readonly isWritable: boolean
  /** Most bytes of shared memory. */
  readonly memoryBytes: number
  /** Bytes of the shared memory in use, by what they are for; undefined when there is none. */
  memoryUse(): Record<Part, number> | undefined

  /** The rules of `roles.json`; undefined without them. For administrators: no rights apply. */
  declaredRoles(): DeclaredRoles | undefined

  /** Explains the rights that come with some privileges and roles; undefined without `roles.json`. For administrators, as above. */
  explainRights(granted: Granted): Rights | undefined

  /** The catalog within the rights of a caller; without `access` within those of a guest. */
  view(access?: Access): View

  /**
   * The answer to a read: UTF-8 JSON.
   * @returns bytes that, when they are given at once, are only valid until the next read: use them before any `await`. See
   * {@link AnswerBody} for large ones
   * @throws {ProtocolError}
   */
  read(request: ReadRequest, caller?: Caller): Promised<AnswerBody>

  /**
   * The key of the one entity that the source of a request names, whatever its filter.
   * @throws {ProtocolError} 404: there is none
   */
  keyOf(request: ReadRequest, caller?: Caller): Promise<string>

  /**
   * Aggregates of attributes over all that `request` selects, whatever its paging. Without `items` only a count.
   * @returns UTF-8 JSON, valid as the answer to a read is
   * @throws {ProtocolError}
   */
  compute(
    request: ReadRequest,
    items: readonly PathListItem[],
    aggregation: Aggregation,
    caller?: Caller,
  ): Promised<AnswerBody>

  /**
   * The different values of the first scalar attribute in `items`, ascending, as far as `request` selects and pages them.
   * @param options with `counted` each value stands with its number of entities, `{"value":…,"count":…}`, the most frequent first
   * @returns UTF-8 JSON, valid as the answer to a read is
   * @throws {ProtocolError}
   */
  distinct(
    request: ReadRequest,
    items: readonly PathListItem[],
    caller?: Caller,
    options?: { readonly counted?: boolean },
  ): Promised<AnswerBody>

  /**
   * The answer of a task of a plugin, `plugin/task`, which runs in the pool with the rights of `request` alone.
   * @param args plain data
   * @returns as a read does
   * @throws {ProtocolError} what the task throws as such; what a query would that reaches a bound
   */
  runTask(name: string, request: ReadRequest, args: unknown, caller?: Caller): Promised<AnswerBody>

  /**
   * Saves and resolves when it is durable. With `trusted` it is a save of the operator: no rights apply.
   * @returns what became of each entity
   * @throws {ProtocolError} when no entity could be looked at: bad JSON, overload
   */
  write(request: SaveRequest, caller?: Caller): Promise<SaveResult>

  /**
   * Saves, and writes the answer: the entities as they are on the server now, with what went wrong; of a validation only what went
   * wrong.
   */
  save(request: SaveRequest, output: Output, caller?: Caller): Promise<SaveAnswer>

  /**
   * Deletes what `request` selects, whatever its paging, and resolves when it is durable.
   * @returns the number of deleted entities
   * @throws {ProtocolError} why the first entity that is left could not be deleted
   */
  delete(
    request: ReadRequest,
    options: Pick<DeleteRequest, 'atomic' | 'owner' | 'ifMatch'>,
    caller?: Caller,
  ): Promise<number>

  /**
   * Locks the one entity that `request` selects for a session, or unlocks it.
   * @throws {ProtocolError} 404: there is none
   */
  lock(request: ReadRequest, lock: boolean, session: SessionData, caller?: Caller): Promise<LockOutcome>

  /** Frees what a session has locked. */
  freeLocks(owner: string): Promise<void>

  /** The locks there are, the oldest first, and their number. For administrators: no rights apply. */
  listLocks(limit: number): Promise<{ readonly count: number; readonly locks: readonly HeldLock[] }>

  /** Whether a function may be called. A login may be tried by everybody, whatever the roles say. */
  mayCall(called: ClassFunction, access?: Access): boolean

  /**
   * Calls a class function in a thread of its own kind.
   * @throws {ProtocolError} what it throws as such, or that it failed, was too late, or cannot be called now
   */
  call(call: FunctionCall, caller?: Caller): Promise<CallResult>
}
