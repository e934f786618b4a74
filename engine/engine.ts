import { threadId } from 'node:worker_threads'
import { Binaries } from './binary/binaries.ts'
import { sweepFiles } from './binary/binary-table.ts'
import { Uploads } from './binary/uploads.ts'
import type { Catalog, DataClass } from './catalog/dataclass.ts'
import type { View } from './catalog/view.ts'
import { EngineErrors } from './engine-errors.ts'
import {
  BINARY_CACHE_BYTES,
  ENTITY_SETS,
  type EngineOptions,
  FUNCTIONS,
  POOL,
  UPLOADS,
  VECTOR_INDEX,
} from './engine-options.ts'
import { EntitySetStore } from './entity-set/entity-set-store.ts'
import { EntitySets } from './entity-set/entity-sets.ts'
import { ProtocolError } from './errors.ts'
import { type ClassFunction, type ClassRegistry, isLogin } from './functions/class-registry.ts'
import { type CallResult, FunctionClient } from './functions/function-client.ts'
import type { FunctionPool } from './functions/function-pool.ts'
import type { CallTask } from './functions/tasks.ts'
import { calculateOutdated } from './hooks/calculate-outdated.ts'
import { HookedClasses } from './hooks/hooked-classes.ts'
import { type Part, SharedHeap } from './memory/shared-heap.ts'
import { PermissionErrors } from './permission/permission-errors.ts'
import { Permissions } from './permission/permissions.ts'
import { type Access, Views } from './permission/views.ts'
import { type Caller, QueryPool, queryThread } from './pool/query-pool.ts'
import { TaskRunner } from './pool/task-runner.ts'
import { VectorPool } from './pool/vector-pool.ts'
import type { Promised } from './promised.ts'
import type { Aggregation } from './query/aggregate/aggregate.ts'
import { CodeNeeded } from './storage/code-needed.ts'
import type { PathListItem } from './query/parse/parse-path-list.ts'
import type { Output, ReadRequest } from './query/request.ts'
import { prepareSaved, type SaveAnswer } from './query/serialise/answer-saved.ts'
import { ServerRecords } from './records/server-records.ts'
import { openReadStore, type ReadStore } from './memory/open-read-store.ts'
import { guarded } from './storage/restricted-snapshot.ts'
import { IndexStatus, indexedVectors } from './vector/vector-index.ts'
import type { DeleteRequest, DeleteResult, LockRequest, LockResult, SaveRequest, SaveResult } from './write/requests.ts'
import type { WriterClient } from './write/writer-client.ts'
import type { LinkEnd } from './write/writer-link.ts'

/** A call of a class function, as a client sends it. */
export interface FunctionCall extends Pick<CallTask, 'args' | 'read' | 'keep'> {
  readonly function: ClassFunction
}

/** A store that is open, with the threads that work on it. {@link openEngine} makes it. */
export class Engine {
  readonly entitySets: EntitySets
  /** What the server keeps for itself. */
  readonly records: ServerRecords
  /** Who may do what. Nothing is restricted until it gets roles. */
  readonly permissions: Permissions
  readonly uploads: Uploads
  readonly binaries: Binaries
  private readonly views: Views
  private readonly entitySetStore: EntitySetStore
  private readonly data: ReadStore
  private readonly pool: QueryPool
  /** Of a model with indexes of vectors. */
  private readonly vectors: VectorPool | undefined
  private readonly tasks: TaskRunner
  private readonly heap: SharedHeap | undefined
  private readonly code: FunctionClient | undefined
  private readonly hooked: HookedClasses
  private readonly restricted: ReadonlySet<string>

  constructor(
    private readonly options: EngineOptions,
    private readonly writer: WriterClient,
    private readonly memory: WebAssembly.Memory | undefined,
    /** The classes of authors. */
    readonly classes: ClassRegistry,
    private readonly functions: FunctionPool | undefined,
  ) {
    const { path, mapSizeBytes, model, wire, cacheBytes, limits, onInternalError } = options
    this.hooked = new HookedClasses(classes.classes)
    this.restricted = this.hooked.restricted
    const store = { path, mapSizeBytes, model, wire, cacheBytes, memory, restricted: this.restricted }
    const pool = { ...POOL, ...options.pool }
    this.data = openReadStore(store)
    this.views = new Views(this.catalog)
    this.permissions = new Permissions({ catalog: this.catalog, classes: classes.classes })
    const events = { onInternalError, onThreadEnd: () => this.releaseMemory(), onNote: options.onNote }
    const hasIndexes = indexedVectors(this.catalog).length > 0
    const indexStatus = hasIndexes ? IndexStatus.allocate(this.catalog) : undefined
    this.pool = new QueryPool(pool, store, limits, events, queryThread(indexStatus))
    if (indexStatus) {
      const index = options.vectorIndex ?? VECTOR_INDEX
      this.vectors = new VectorPool(this.catalog, pool, store, limits, index, events, indexStatus)
    }
    functions?.openStore(
      { open: { store, limits } },
      {
        connectWriter: end => this.linkWriter(end),
        onThreadEnd: () => this.releaseMemory(),
      },
    )
    const { deadlineMs } = { ...FUNCTIONS, ...options.functions }
    this.code = functions && new FunctionClient(functions, deadlineMs, onInternalError ?? (() => {}))
    this.tasks = new TaskRunner({
      data: this.data,
      views: this.views,
      permissions: this.permissions,
      limits,
      restricted: this.restricted,
      inlineCostMs: pool.inlineCostMs,
      pool: this.pool,
      vectors: this.vectors,
      runWithCode: this.code && ((task, caller) => this.code!.read(task, caller)),
    })
    this.heap = memory && new SharedHeap(memory)
    this.records = new ServerRecords(this.data.environment, changes => writer.write({ kind: 'records', changes }))
    const sets = { ...ENTITY_SETS, ...options.entitySets }
    this.entitySetStore = new EntitySetStore({
      ...sets,
      environment: this.data.environment,
      write: changes => writer.write({ kind: 'entitySets', changes }),
      now: options.now ?? Date.now,
      onInternalError,
    })
    this.uploads = new Uploads({
      environment: this.data.environment,
      write: changes => writer.write({ kind: 'uploads', changes }),
      limits: { ...UPLOADS, ...options.uploads },
      now: options.now ?? Date.now,
      onInternalError,
    })
    this.binaries = new Binaries({
      data: this.data,
      tasks: this.tasks,
      uploads: this.uploads,
      view: access => this.view(access),
      write: (request, caller) => this.write(request, caller),
      cacheBytes: options.binaryCacheBytes ?? BINARY_CACHE_BYTES,
    })
    this.entitySets = new EntitySets(
      this.entitySetStore,
      {
        catalog: this.catalog,
        views: this.views,
        select: (request, caller) => this.tasks.run({ kind: 'members', request }, caller),
        selectAll: request => this.tasks.run({ kind: 'members', request, isUnrestricted: true }),
        live: dataClass => this.data.read(snapshot => snapshot.table(dataClass).live),
      },
      sets,
    )
  }

  get catalog(): Catalog {
    return this.data.catalog
  }

  /** False while the writer thread is being replaced. */
  get isWritable(): boolean {
    return this.writer.isRunning
  }

  /** Resolves as soon as everything that fits is in shared memory. Until then it is read from LMDB. */
  memoryFilled(): Promise<void> {
    return this.writer.memoryFilled
  }

  /** Most bytes of shared memory. */
  get memoryBytes(): number {
    return this.options.memoryBytes ?? 0
  }

  /** Bytes of the shared memory in use, by what they are for; undefined when there is none. */
  memoryUse(): Record<Part, number> | undefined {
    return this.heap?.usedBytes()
  }

  /** Removes what a crash has left, and brings stored calculated values to the code of now. Before anything else. */
  async prepare(): Promise<void> {
    const { catalog, data, writer, hooked, code } = this
    await sweepFiles(data.environment)
    await this.uploads.sweep()
    await calculateOutdated({ catalog, data, writer, hooked, code, onProgress: this.options.onProgress })
  }

  /** Starts the threads of the pool, which otherwise start with the first query that needs them. */
  warmUp(): void {
    this.pool.warmUp()
    this.vectors?.warmUp()
    this.functions?.warmUp()
  }

  /** The catalog as somebody sees it; without rights of somebody, as nobody in particular does. */
  view(access?: Access): View {
    return this.views.of(access ?? this.permissions.nobody)
  }

  /**
   * The dataclass that an address names. Of one that cannot be read entities may be created, or functions be called: all
   * else is refused when it comes to it.
   * @throws {EngineErrors.UNKNOWN_DATACLASS}
   */
  addressed(name: string, access?: Access): DataClass {
    const view = this.view(access)
    const dataClass = this.catalog.dataClassesByName.get(name)
    if (!dataClass || !view.includes(dataClass)) throw view.unknownDataClass(name)
    if (view.shows(dataClass) || view.may('create', dataClass)) return dataClass
    const functions = [...this.classes.of('dataClass', name).values()]
    if (functions.some(each => this.permissions.mayExecute(each, access))) return dataClass
    throw view.unknownDataClass(name)
  }

  /**
   * The answer to a read: UTF-8 JSON.
   * @param caller may go away: its query ends then
   * @returns bytes that, when they are given at once, are only valid until the next read: use them before any `await`
   * @throws {ProtocolError}
   */
  read(request: ReadRequest, caller?: Caller): Promised<Uint8Array> {
    return this.tasks.run({ kind: 'read', request }, caller)
  }

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
  ): Promised<Uint8Array> {
    return this.tasks.run({ kind: 'compute', request, items, aggregation }, caller)
  }

  /**
   * The different values of the first scalar attribute in `items`, ascending, as far as `request` selects and pages them.
   * @returns UTF-8 JSON, valid as the answer to a read is
   * @throws {ProtocolError}
   */
  distinct(request: ReadRequest, items: readonly PathListItem[], caller?: Caller): Promised<Uint8Array> {
    return this.tasks.run({ kind: 'distinct', request, items }, caller)
  }

  /** Saves and resolves when it is durable. @throws {ProtocolError} when no entity could be looked at: bad JSON, overload */
  write(request: SaveRequest, caller?: Caller): Promise<SaveResult> {
    const known = { ...request, access: request.access ?? (request.trusted ? undefined : this.permissions.nobody) }
    const dataClass = this.catalog.dataClassesByName.get(request.dataClass)
    return dataClass && this.hooked.onSave(dataClass) ? this.code!.save(known, caller) : this.writer.write(known)
  }

  /**
   * Links a thread that waits for its writes, as function code does: see `WriterLink`.
   * @returns to be called when the thread has ended
   */
  linkWriter(end: LinkEnd): () => void {
    return this.writer.connect(end)
  }

  /** Saves, and writes the answer: the entities as they are on the server now, with what went wrong. */
  async save(request: SaveRequest, output: Output, caller?: Caller): Promise<SaveAnswer> {
    const known = { ...request, access: request.access ?? this.permissions.nobody }
    const dataClass = this.addressed(known.dataClass, known.access)
    const isShownWithOthers =
      output.expand || output.attributes || dataClass.attributes.some(({ kind }) => kind === 'alias')
    if (this.hooked.onSave(dataClass) || (this.restricted.size > 0 && isShownWithOthers)) {
      return this.code!.saveAndAnswer(known, output, caller)
    }
    const view = this.view(known.access)
    let answer: ReturnType<typeof prepareSaved>
    try {
      answer = prepareSaved(dataClass, output, { view, layouts: this.data.layouts, limits: this.options.limits })
    } catch (error) {
      if (error instanceof CodeNeeded) return this.code!.saveAndAnswer(known, output, caller)
      throw error
    }
    const result = await this.writer.write(known)
    return this.data.read(snapshot => answer(result, guarded(snapshot, this.restricted)))
  }

  /**
   * Deletes what `request` selects, whatever its paging, and resolves when it is durable.
   * @returns the number of deleted entities
   * @throws {ProtocolError} why the first entity that is left could not be deleted
   */
  async delete(
    request: ReadRequest,
    { atomic, owner }: Pick<DeleteRequest, 'atomic' | 'owner'>,
    caller?: Caller,
  ): Promise<number> {
    const view = this.view(request.access)
    const dataClass = view.dataClass(request.dataClass)
    if (!view.may('drop', dataClass)) throw PermissionErrors.DROP(dataClass.name)
    const rowIds = await this.tasks.rowIds({ ...request, exact: true }, caller)
    if (rowIds.length === 0) return 0
    const access = request.access ?? this.permissions.nobody
    const { deleted, error } = await this.drop(
      { kind: 'delete', dataClass: request.dataClass, access, rowIds, atomic, owner },
      caller,
    )
    if (!error) return deleted
    const cause = new ProtocolError(error)
    throw rowIds.length === 1 ? cause : cause.followedBy(EngineErrors.NOT_ALL_DELETED(deleted, rowIds.length))
  }

  private drop(request: DeleteRequest, caller?: Caller): Promise<DeleteResult> {
    const dataClass = this.catalog.dataClassesByName.get(request.dataClass)!
    return this.hooked.onDrop(dataClass) ? this.code!.drop(request, caller) : this.writer.write(request)
  }

  /** A login may be tried by everybody, whatever is said of it. */
  mayCall(called: ClassFunction, access?: Access): boolean {
    return isLogin(called) || this.permissions.mayExecute(called, access ?? this.permissions.nobody)
  }

  /**
   * Locks the one entity that `request` selects for a session, or unlocks it.
   * @throws {ProtocolError} 404: there is none
   */
  async lock(
    request: ReadRequest,
    { lock, holder }: Pick<LockRequest, 'lock' | 'holder'>,
    caller?: Caller,
  ): Promise<LockResult> {
    const view = this.view(request.access)
    const { name } = view.dataClass(request.dataClass)
    // A lock holds up those who may change the entity, so it takes the same right.
    if (!view.may('update', view.dataClass(name))) throw PermissionErrors.UPDATE(name)
    const rowId = await this.tasks.rowId(request, caller)
    return this.writer.write({ kind: 'lock', dataClass: request.dataClass, rowId, lock, holder })
  }

  /** Frees what a session has locked. */
  async freeLocks(owner: string): Promise<void> {
    await this.writer.write({ kind: 'freeLocks', owner })
  }

  /**
   * Calls a class function in a thread of its own kind.
   * @throws {ProtocolError} what it throws as such, or that it failed, was too late, or cannot be called now
   */
  async call({ function: called, ...call }: FunctionCall, caller?: Caller): Promise<CallResult> {
    const { fullName, name, target } = called
    const access = call.read?.access ?? this.permissions.nobody
    // Whoever may not read a dataclass can address neither an entity nor a selection of it.
    if (target.kind === 'entity' || target.kind === 'entitySelection') this.view(access).dataClass(call.read!.dataClass)
    if (!this.mayCall(called, access)) throw PermissionErrors.EXECUTE(fullName)
    const sets = await this.setsIn(call.args, access)
    const task = { kind: 'call', target, function: name, fullName, sets, access, ...call } as const
    return this.code!.call(called, task, caller)
  }

  /** The entity sets that arguments name. Only this thread knows where they are. */
  private async setsIn(args: CallTask['args'], access: Access | undefined): Promise<CallTask['sets']> {
    if (!args?.includes('"__DATASET"')) return undefined
    const ids = args.matchAll(/"__DATASET"\s*:\s*"([0-9A-Fa-f]{32})"/g)
    const sets = new Map<string, { dataClass: string; members: Uint8Array }>()
    for (const [, id] of ids) {
      const { dataClass, set } = await this.entitySets.openAny(id!, access)
      if (this.view(access).shows(dataClass)) sets.set(id!, { dataClass: dataClass.name, members: set.encoded })
    }
    return sets
  }

  /** A thread that ended in the middle of something keeps its version of the shared memory from being freed. */
  private releaseMemory(): void {
    if (!this.memory) return
    const alive = new Set([
      threadId,
      ...this.pool.threadIds,
      ...(this.vectors?.threadIds ?? []),
      ...(this.functions?.threadIds ?? []),
    ])
    new SharedHeap(this.memory).freeSlotsOfOthers(id => alive.has(id))
  }

  /** Finishes what runs and the queued writes, then closes the store. */
  async close(): Promise<void> {
    await this.functions?.close()
    // What it finds goes on in the pool.
    await this.vectors?.close()
    // What the pool still finds may be kept as an entity set.
    await this.pool.close()
    await this.entitySetStore.close()
    await this.uploads.close()
    await this.writer.close()
    await this.data.close()
  }
}
