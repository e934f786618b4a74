import type { FunctionCall } from './calls.ts'
import type { Engine } from './engine.ts'
import type { LockOutcome } from './locks.ts'
import type { AnswerBody } from './answer/answer-body.ts'
import type { CallResult } from './author/run/function-client.ts'
import type { JobClient } from './author/run/job-client.ts'
import type { ClassFunction, ClassRegistry } from './author/declare/class-registry.ts'
import type { Promised } from './base/promised.ts'
import type { Binaries } from './binary/binaries.ts'
import type { Uploads } from './binary/uploads.ts'
import type { DatabaseState } from './backend/backend.ts'
import type { Caller } from './caller/caller.ts'
import type { SessionData } from './caller/session-data.ts'
import type { Catalog } from './catalog/dataclass.ts'
import type { View } from './catalog/view.ts'
import type { EntitySets } from './entity-set/entity-sets.ts'
import type { CommitFeed } from './follow/commit-feed.ts'
import type { Part } from './memory/heap/shared-heap.ts'
import type { ModelChange } from './model-change.ts'
import type { Rights } from './permission/explain-rights.ts'
import type { DeclaredRoles } from './permission/permissions.ts'
import type { ImportRequest } from './import/import-rows.ts'
import type { LoadSummary } from './import/load-options.ts'
import type { PreviewRequest, RowPreview } from './import/preview-rows.ts'
import type { Granted } from './permission/roles.ts'
import type { Access } from './permission/views.ts'
import type { SaveAnswer } from './placement/saved-answers.ts'
import type { Aggregation } from './query/aggregate/aggregate.ts'
import type { QueryLimits } from './query/contract/query-limits.ts'
import type { Output, ReadRequest } from './query/contract/request.ts'
import type { PathListItem } from './query/parse/parse-path-list.ts'
import type { Backup } from './storage/backup/backups.ts'
import type { BackupPolicy, BackupStep, MadeBackup } from './storage/backup/make-backup.ts'
import type { BackupPlace } from './storage/backup/open-storage.ts'
import type { PluginRecords } from './records/server-records.ts'
import type { DeleteRequest, HeldLock, SaveRequest, SaveResult } from './write/contract/requests.ts'

/** The members of each part of the engine that plugins may use. */
const OF_CLASSES = [
  'dataStore',
  'singletons',
  'isEmpty',
  'find',
  'names',
  'describe',
  'describeDataStore',
  'describeSingletons',
  'singletonNames',
] as const
const OF_JOBS = [
  'declared',
  'onEnqueued',
  'onProgress',
  'get',
  'places',
  'counts',
  'lastPlaces',
  'schedules',
  'store',
  'enqueue',
  'run',
] as const
const OF_ENTITY_SETS = [
  'open',
  'openOther',
  'refresh',
  'create',
  'keepMembers',
  'uri',
  'setTimeout',
  'visible',
  'combine',
  'intersects',
  'clean',
  'release',
  'releaseAll',
  'list',
] as const
const OF_UPLOADS = ['receive', 'add', 'access', 'discard'] as const
const OF_BINARIES = ['cacheUsage', 'addressed', 'find', 'open', 'missing', 'addressedForWriting', 'save'] as const
const OF_COMMITS = ['isLogged', 'commits', 'commitAfter', 'check', 'end', 'read', 'readTo'] as const
const OF_MODEL_CHANGE = ['begun', 'run', 'discard'] as const

/**
 * The data as plugins see it. The `access` in a request determines its rights; without one, those of a guest apply. If the
 * `caller` disconnects, its query ends.
 */
export interface PluginEngine {
  readonly catalog: Catalog
  /** Limits of the cost of a query. */
  readonly limits: QueryLimits
  /** Classes of plugins, with their functions. */
  readonly classes: Pick<ClassRegistry, (typeof OF_CLASSES)[number]>
  /** Jobs of plugin code. For administrators: no rights apply. */
  readonly jobs: Pick<JobClient, (typeof OF_JOBS)[number]>
  readonly entitySets: Pick<EntitySets, (typeof OF_ENTITY_SETS)[number]>
  readonly uploads: Pick<Uploads, (typeof OF_UPLOADS)[number]>
  readonly binaries: Pick<Binaries, (typeof OF_BINARIES)[number]>
  /** Every commit, for plugins with `followsLog`. No rights apply. */
  readonly commits: Pick<CommitFeed, (typeof OF_COMMITS)[number]>
  /** Small JSON records of a plugin in the store, by keys of at most 1,000 bytes. */
  pluginRecords(plugin: string): PluginRecords
  /** Changes of the model while the server keeps running. For administrators. */
  readonly modelChange: Pick<ModelChange, (typeof OF_MODEL_CHANGE)[number]>

  /** False while the writer thread is being replaced. */
  readonly isWritable: boolean
  /**
   * States of the databases with dataclasses, from a probe of each that is at most a second old. Takes a few seconds if a database hangs.
   * For administrators: no rights apply.
   */
  databases(): Promise<readonly DatabaseState[]>
  /** Maximum bytes of shared memory. */
  readonly memoryBytes: number
  /** Bytes of shared memory in use, by purpose; undefined if there is none. */
  memoryUse(): Record<Part, number> | undefined

  /** The rules of `roles.json`; undefined without them. For administrators: no rights apply. */
  declaredRoles(): DeclaredRoles | undefined

  /** Explains the rights of privileges and roles; undefined without `roles.json`. For administrators: no rights apply. */
  explainRights(grants: Granted): Rights | undefined

  /** The catalog within the rights of a caller; without `access`, of a guest. */
  view(access?: Access): View

  /**
   * The answer to a read: UTF-8 JSON.
   * @returns bytes; if they are returned synchronously, they are valid only until the next read: use them before any `await`. See
   * {@link AnswerBody} for large answers
   * @throws {ProtocolError}
   */
  read(request: ReadRequest, caller?: Caller): Promised<AnswerBody>

  /**
   * The key of the one entity that the source of a request names, whatever its filter.
   * @throws {ProtocolError} 404: there is none
   */
  keyOf(request: ReadRequest, caller?: Caller): Promise<string>

  /**
   * Aggregates of attributes over all entities that `request` selects, whatever its paging. Without `items`, only a count.
   * @returns UTF-8 JSON, valid as long as the answer to a read
   * @throws {ProtocolError}
   */
  compute(
    request: ReadRequest,
    items: readonly PathListItem[],
    aggregation: Aggregation,
    caller?: Caller,
  ): Promised<AnswerBody>

  /**
   * Distinct values of the first scalar attribute in `items`, ascending, within the selection and the paging of `request`.
   * @param options with `counted`, each value comes with its number of entities, `{"value":…,"count":…}`, most frequent first
   * @returns UTF-8 JSON, valid as long as the answer to a read
   * @throws {ProtocolError}
   */
  distinct(
    request: ReadRequest,
    items: readonly PathListItem[],
    caller?: Caller,
    options?: { readonly counted?: boolean },
  ): Promised<AnswerBody>

  /**
   * The answer of a plugin's task, `plugin/task`, which runs in the pool only with the rights of `request`.
   * @param args plain data
   * @returns the same as {@link read}
   * @throws {ProtocolError} error of the task; a bound of queries is exceeded
   */
  runTask(name: string, request: ReadRequest, args: unknown, caller?: Caller): Promised<AnswerBody>

  /**
   * Saves entities and resolves when this is durable. With `trusted` it is a save of the operator: no rights apply.
   * @returns the outcome for each entity
   * @throws {ProtocolError} the request as a whole failed: bad JSON, overload
   */
  write(request: SaveRequest, caller?: Caller): Promise<SaveResult>

  /**
   * Saves entities and writes the answer: the entities as they are on the server now, with their errors; for a validation only
   * errors.
   */
  save(request: SaveRequest, output: Output, caller?: Caller): Promise<SaveAnswer>

  /**
   * Deletes the entities that `request` selects, whatever its paging, and resolves when this is durable.
   * @returns the number of deleted entities
   * @throws {ProtocolError} error of the first entity that could not be deleted
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

  /** Frees all locks of a session. */
  freeLocks(owner: string): Promise<void>

  /** All locks, oldest first, and their number. For administrators: no rights apply. */
  listLocks(limit: number): Promise<{ readonly count: number; readonly locks: readonly HeldLock[] }>

  /**
   * Saves the rows of a file as entities, as `tesser load` does. For administrators: no rights apply.
   * @throws {Error} the file cannot be read; rows that were saved stay saved
   */
  importRows(request: ImportRequest): Promise<LoadSummary>

  /**
   * Reads and checks the first rows of a file as {@link importRows} would, and saves nothing. For administrators: no rights apply.
   * @throws {Error} the file cannot be read
   */
  previewRows(request: PreviewRequest): Promise<RowPreview>

  /**
   * Creates a backup of the store and of the files that belong to it, in a separate process, while the server keeps running. For
   * administrators: no rights apply.
   * @throws {Error} with the reason why the backup failed
   */
  backup(place: BackupPlace, policy: BackupPolicy, onProgress: (step: BackupStep) => void): Promise<MadeBackup>

  /** The complete backups of a place, the oldest first. For administrators: no rights apply. @param onDamaged called for each damaged one */
  listBackups(place: BackupPlace, onDamaged: (problem: string) => void): Promise<Backup[]>

  /** True if a function may be called. A login function may be called by everyone, whatever the roles say. */
  mayCall(classFunction: ClassFunction, access?: Access): boolean

  /**
   * Calls a class function in a function thread.
   * @throws {ProtocolError} error of the function; it failed, exceeded its deadline, or cannot be called now
   */
  call(call: FunctionCall, caller?: Caller): Promise<CallResult>
}

/** A method of an object. Accessors are not called, because that may be expensive or fail. */
function methodOf(part: object, name: PropertyKey): ((...args: never) => unknown) | undefined {
  for (let at: object | null = part; at; at = Object.getPrototypeOf(at)) {
    const property = Object.getOwnPropertyDescriptor(at, name)
    if (property) return typeof property.value === 'function' ? property.value : undefined
  }
  return undefined
}

/** A frozen object with only the named members of `part`: methods are bound, other members are read at each access. */
function only<T extends object, K extends keyof T>(part: T, names: readonly K[]): Pick<T, K> {
  const narrow = {} as Pick<T, K>
  for (const name of names) {
    const method = methodOf(part, name)
    const property = method ? { value: method.bind(part) } : { get: () => part[name] }
    Object.defineProperty(narrow, name, { ...property, enumerable: true })
  }
  return Object.freeze(narrow)
}

/** The engine as plugins see it: an interface, not a security boundary, since they run in the same process. */
export function pluginEngine(engine: Engine): PluginEngine {
  const { queries, saves, locks, calls, rows, permissions, parts } = engine
  const { writer, heap, options, backends } = parts
  const members: PluginEngine = {
    catalog: engine.catalog,
    limits: engine.limits,
    classes: only(engine.classes, OF_CLASSES),
    jobs: only(engine.jobs, OF_JOBS),
    entitySets: only(engine.entitySets, OF_ENTITY_SETS),
    uploads: only(engine.uploads, OF_UPLOADS),
    binaries: only(engine.binaries, OF_BINARIES),
    commits: only(engine.commits, OF_COMMITS),
    modelChange: only(engine.modelChange, OF_MODEL_CHANGE),
    pluginRecords: plugin => engine.records.within(`plugin/${plugin}/`),
    get isWritable() {
      return writer.isRunning
    },
    databases: () => backends.databases(),
    memoryBytes: options.memoryBytes ?? 0,
    memoryUse: () => heap?.usedBytes(),
    declaredRoles: () => permissions.declaredRoles,
    explainRights: grants => permissions.explain(grants, queries.view(permissions.accessOf(grants))),
    ...only(queries, ['view', 'read', 'keyOf', 'compute', 'distinct', 'runTask']),
    ...only(saves, ['write', 'save', 'delete']),
    lock: locks.lock.bind(locks),
    freeLocks: locks.free.bind(locks),
    listLocks: locks.list.bind(locks),
    ...only(rows, ['importRows', 'previewRows']),
    backup: engine.backups.make.bind(engine.backups),
    listBackups: engine.backups.list.bind(engine.backups),
    ...only(calls, ['mayCall', 'call']),
  }
  return Object.freeze(members)
}
