/**
 * The engine's public API: the only way to data. It knows dataclasses, predicates and row ids, not requests.
 */
import { mkdirSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import { addCalculated } from './catalog/add-calculated.ts'
import type { Catalog, DataClass, WireOptions } from './catalog/dataclass.ts'
import { BinaryReader, type ByteSource } from './binary/binary-reader.ts'
import { sweepFiles } from './binary/binary-table.ts'
import { newUploadId, type UploadLimits, Uploads } from './binary/uploads.ts'
import { isBinary, type StorageAttribute } from './catalog/attribute.ts'
import type { View } from './catalog/view.ts'
import type { BinaryValue } from './catalog/value.ts'
import { EngineErrors } from './engine-errors.ts'
import { PermissionErrors } from './permission/permission-errors.ts'
import { Permissions } from './permission/permissions.ts'
import { type Access, Views } from './permission/views.ts'
import { type EntitySetLifetimes, EntitySets } from './entity-set/entity-sets.ts'
import { EntitySetStore } from './entity-set/entity-set-store.ts'
import { ProtocolError } from './errors.ts'
import { createSharedMemory, type Part, SharedHeap } from './memory/shared-heap.ts'
import { ServerRecords } from './records/server-records.ts'
import type { Output, ReadRequest } from './query/request.ts'
import type { PathListItem } from './query/parse/parse-path-list.ts'
import { planTask } from './pool/plan-task.ts'
import { type Caller, type PoolOptions, QueryPool } from './pool/query-pool.ts'
import { isUnrestricted, type Task, type VectorIndexOptions } from './pool/tasks.ts'
import { VectorPool } from './pool/vector-pool.ts'
import type { Aggregation } from './query/aggregate/aggregate.ts'
import { QueryBudget } from './query/execute/query-budget.ts'
import type { QueryLimits } from './query/query-limits.ts'
import { CodeNeeded } from './query/calculated-code.ts'
import { prepareSaved, type SaveAnswer } from './query/serialise/answer-saved.ts'
import { areOutdated, nullValues } from './storage/calculated.ts'
import { encodeBinary } from './storage/encode-binary.ts'
import type { Progress } from './storage/migration-run.ts'
import { guarded } from './storage/restricted-snapshot.ts'
import { openReadStore, type ReadStore } from './storage/open-read-store.ts'
import { indexedVectors } from './vector/vector-index.ts'
import { ClassRegistry, type ClassFunction } from './functions/class-registry.ts'
import { type CallResult, FunctionClient } from './functions/function-client.ts'
import { FunctionPool, type FunctionPoolOptions } from './functions/function-pool.ts'
import type { CallTask, ClassModule } from './functions/tasks.ts'
import { type CalculatedSlice, nextSlice } from './hooks/calculate.ts'
import { calculatedDeclarations, HookedClasses } from './hooks/hooked-classes.ts'
import type { DeleteRequest, DeleteResult, LockRequest, LockResult, SaveRequest, SaveResult } from './write/requests.ts'
import { WriterClient } from './write/writer-client.ts'
import type { LinkEnd } from './write/writer-link.ts'

export { describeAll, describeCatalog, describeDataClass } from './catalog/describe.ts'
export type { Caller, PoolOptions } from './pool/query-pool.ts'
export type { Aggregation } from './query/aggregate/aggregate.ts'
export { parseParams } from './query/parse/parse-params.ts'
export { parseAttributeList, parseExpandList, parsePathList } from './query/parse/parse-path-list.ts'
export type { ByteSource } from './binary/binary-reader.ts'
export { ByteCache } from './binary/byte-cache.ts'
export type { BinaryValue } from './catalog/value.ts'
export { type EntitySet, readTimeout, type SavedQuery, sourceOf } from './entity-set/entity-set.ts'
export { EntitySetErrors } from './entity-set/entity-set-errors.ts'
export { type EntitySetQuotas, type SessionChanges, type SessionData, TOKEN_PREFIX } from './language/session.ts'
export { type CreateOptions, type EntitySets, savedQuery, type SetOperator } from './entity-set/entity-sets.ts'
export type { View } from './catalog/view.ts'
export { RolesError } from './permission/check-roles.ts'
export { PermissionErrors } from './permission/permission-errors.ts'
export type { Access } from './permission/views.ts'
export type { QueryLimits } from './query/query-limits.ts'
export type { ClassFunction, ClassRegistry } from './functions/class-registry.ts'
export type { CallerSession } from './pool/query-pool.ts'
export type { CallResult } from './functions/function-client.ts'
export { FunctionErrors } from './functions/function-errors.ts'
export type { ClassModule } from './functions/tasks.ts'
export { bodyText, parseJsonBody } from './json-body.ts'

/** At once when it was cheap, else as soon as a thread of the pool has done it. */
export type Promised<T> = T | Promise<T>

/** Bytes that stay valid across an `await`. */
export const kept = (bytes: Promised<Uint8Array>): Promised<Uint8Array> =>
  bytes instanceof Promise ? bytes : bytes.slice()

export interface EngineOptions {
  /** Folder of the store; made when it does not exist. */
  path: string
  /** Content of the model file. */
  model: unknown
  wire: WireOptions
  /** Let a changed model remove what it no longer names. */
  allowLoss: boolean
  mapSizeBytes: number
  /** Memory for column segments: of this thread, and as much again of the threads of the pool together. */
  cacheBytes: number
  /** Memory that all threads share for columns, indexes and rows; 0 or undefined: everything is read from LMDB. */
  memoryBytes?: number
  /** Least time between two images of that memory in the folder of the store, which make the next start fast; 0: none. */
  imageMinutes?: number
  /** Least changes of entities between two images. */
  imageChanges?: number
  limits: QueryLimits
  pool?: Partial<PoolOptions>
  vectorIndex?: VectorIndexOptions
  entitySets?: Partial<EntitySetOptions>
  /** Modules with classes of authors, and the threads that run them. */
  functions?: { modules: readonly ClassModule[] } & Partial<FunctionPoolOptions>
  uploads?: Partial<UploadLimits>
  /** Memory for pieces of the images and blobs that were sent last. */
  binaryCacheBytes?: number
  /** Bodies that wait for the writer; beyond it a write is refused with 503. */
  writeQueueBytes: number
  /** Milliseconds since 1970, for what has a lifetime. */
  now?: () => number
  /** What is worth knowing of the writer thread, for the log. */
  onNote?: (text: string) => void
  /** What goes wrong inside the writer thread, for the log. */
  onInternalError?: (text: string) => void
  /** How far a change of the model has come. */
  onProgress?: Progress
}

export interface EntitySetOptions extends EntitySetLifetimes {
  savedLifetimeSeconds: number
  memoryBytes: number
}

/**
 * Opens a store, after the writer thread has brought it to the given model.
 * @throws {ModelError} the model is wrong; {@link MigrationError} it does not fit the data; {@link StoreError}
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  mkdirSync(options.path, { recursive: true })
  const memory = createSharedMemory(options.memoryBytes ?? 0)
  const functions = startFunctions(options)
  try {
    const classes = await functions?.describe()
    const model = addCalculated(options.model, calculatedDeclarations(classes ?? []))
    const whole = { ...options, model }
    const writer = await WriterClient.start({ ...whole, memory, maxWaitingBytes: options.writeQueueBytes })
    try {
      const engine = new Engine(whole, writer, memory, new ClassRegistry(classes), functions)
      await engine.sweepFiles()
      await engine.calculateOutdated()
      return engine
    } catch (error) {
      await writer.close()
      throw error
    }
  } catch (error) {
    await functions?.close()
    throw error
  }
}

/** Loads the classes of authors and lets go of them. @throws {Error} naming plugin and module that cannot be used */
export async function checkClasses(options: EngineOptions): Promise<void> {
  const functions = startFunctions(options)
  try {
    await functions?.describe()
  } finally {
    await functions?.close()
  }
}

function startFunctions({
  functions,
  model,
  now,
  onInternalError = () => {},
}: EngineOptions): FunctionPool | undefined {
  if (!functions || functions.modules.length === 0) return undefined
  const { dataClasses } = (model ?? {}) as { dataClasses?: unknown }
  const names = typeof dataClasses === 'object' && dataClasses !== null ? Object.keys(dataClasses) : undefined
  return new FunctionPool({ ...FUNCTIONS, dataClasses: names, ...functions }, onInternalError, now)
}

/** A call of a class function, as a client sends it. */
export interface FunctionCall extends Pick<CallTask, 'args' | 'read' | 'keep'> {
  readonly function: ClassFunction
}

/** For those who open an engine without a config file. */
const FUNCTIONS: Omit<FunctionPoolOptions, 'modules' | 'dataClasses'> = {
  threads: 0,
  queueLimit: 256,
  deadlineMs: 5_000,
  memoryBytes: 2 ** 28,
  breakerLimit: 3,
  breakerPauseMs: 30_000,
}

const VECTOR_INDEX: VectorIndexOptions = { minRows: 20_000, recall: 0.995 }

const POOL: PoolOptions = { threads: 0, queueLimit: 256, inlineCostMs: 0.2, heapBytes: 2 ** 30 }

const ENTITY_SETS: EntitySetOptions = {
  lifetimeSeconds: 7_200,
  recreatedLifetimeSeconds: 600,
  maxLifetimeSeconds: 30 * 86_400,
  savedLifetimeSeconds: 30 * 86_400,
  memoryBytes: 2 ** 28,
  setsPerCreator: 0,
}

/**
 * A query that turns out to cost more than was expected is given up in this thread after a multiple of what one may cost
 * here, for what it has done until then is lost; and not before a few milliseconds, which any may lose on a busy machine.
 */
const OVERRUN = { factor: 10, minMs: 5 }

const UPLOADS: UploadLimits = {
  maxBytes: 2 ** 28,
  maxReceiveMs: 3_600_000,
  lifetimeSeconds: 120,
  maxLifetimeSeconds: 86_400,
  maxConcurrent: 2_000,
  maxPendingBytes: 2 ** 32,
}
const BINARY_CACHE_BYTES = 2 ** 26

/** An image or a blob of an entity, as it is in one version of the entity. */
export interface StoredBinary {
  readonly value: BinaryValue
  /** `__STAMP` of the entity. */
  readonly stamp: number
  /** Of its last change: no other version of any entity has it. */
  readonly globalStamp: number
}

export class Engine {
  readonly entitySets: EntitySets
  /** What the server keeps for itself. */
  readonly records: ServerRecords
  /** Who may do what. Nothing is restricted until it gets roles. */
  readonly permissions: Permissions
  readonly uploads: Uploads
  private readonly views: Views
  private readonly binaries: BinaryReader
  private readonly entitySetStore: EntitySetStore
  private readonly data: ReadStore
  private readonly pool: QueryPool
  /** Of a model with indexes of vectors. */
  private readonly vectors: VectorPool | undefined
  private readonly inlineCostMs: number
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
    this.data = openReadStore(store, { find: attribute => this.vectors?.indexes.find(attribute) })
    this.views = new Views(this.catalog)
    this.permissions = new Permissions({ catalog: this.catalog, classes: classes.classes })
    const events = { onInternalError, onThreadEnd: () => this.releaseMemory(), onNote: options.onNote }
    this.pool = new QueryPool(pool, store, limits, events)
    if (indexedVectors(this.catalog).length > 0) {
      const index = options.vectorIndex ?? VECTOR_INDEX
      this.vectors = new VectorPool(this.catalog, pool, store, limits, index, events)
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
    this.inlineCostMs = pool.inlineCostMs
    this.heap = memory && new SharedHeap(memory)
    this.records = new ServerRecords(this.data.environment, changes => writer.putRecords({ kind: 'records', changes }))
    const sets = { ...ENTITY_SETS, ...options.entitySets }
    this.entitySetStore = new EntitySetStore({
      ...sets,
      environment: this.data.environment,
      write: changes => writer.putEntitySets({ kind: 'entitySets', changes }),
      now: options.now ?? Date.now,
      onInternalError,
    })
    this.uploads = new Uploads({
      environment: this.data.environment,
      write: changes => writer.putUploads({ kind: 'uploads', changes }),
      limits: { ...UPLOADS, ...options.uploads },
      now: options.now ?? Date.now,
      onInternalError,
    })
    this.binaries = new BinaryReader(this.data.environment.files, options.binaryCacheBytes ?? BINARY_CACHE_BYTES)
    this.entitySets = new EntitySets(
      this.entitySetStore,
      {
        catalog: this.catalog,
        views: this.views,
        select: (request, caller) => this.run({ kind: 'members', request }, caller),
        selectAll: request => this.run({ kind: 'members', request, isUnrestricted: true }),
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
    return this.run({ kind: 'read', request }, caller)
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
    return this.run({ kind: 'compute', request, items, aggregation }, caller)
  }

  /**
   * The different values of the first scalar attribute in `items`, ascending, as far as `request` selects and pages them.
   * @returns UTF-8 JSON, valid as the answer to a read is
   * @throws {ProtocolError}
   */
  distinct(request: ReadRequest, items: readonly PathListItem[], caller?: Caller): Promised<Uint8Array> {
    return this.run({ kind: 'distinct', request, items }, caller)
  }

  /**
   * The image or blob that the attribute list of `request` is about, when it is about nothing else of one entity.
   */
  binaryAttribute({ dataClass, access, output }: ReadRequest): BinaryAttribute | undefined {
    const items = output.attributes?.items
    if (output.form !== 'entity' || items?.length !== 1 || items[0]!.path.length !== 1) return undefined
    const view = this.view(access)
    const attribute = view.attribute(view.dataClass(dataClass), items[0]!.path[0]!)
    return attribute?.kind === 'storage' && isBinary(attribute.type) ? (attribute as BinaryAttribute) : undefined
  }

  /**
   * An image or a blob of the one entity that `request` selects: null when it has none.
   * @throws {ProtocolError}
   */
  readBinary(request: ReadRequest, attribute: BinaryAttribute, caller?: Caller): Promised<StoredBinary | null> {
    const binaryOf = (bytes: Uint8Array): StoredBinary | null => {
      const [rowId] = rowIdsOf(bytes)
      return this.data.read(snapshot => {
        const table = snapshot.table(attribute.dataClass)
        const value = table.binary(rowId!, attribute)
        const row = value && table.row(rowId!)
        return row ? { value, stamp: row.stamp, globalStamp: row.globalStamp } : null
      })
    }
    const found = this.run({ kind: 'rowIds', request, of: 'page' }, caller)
    return found instanceof Promise ? found.then(binaryOf) : binaryOf(found)
  }

  /**
   * The bytes of `value` from `start` to before `end`; to be closed.
   * @returns undefined when the entity has been changed or deleted meanwhile, and its bytes with it
   */
  openBinary(value: BinaryValue, start = 0, end = value.size): ByteSource | undefined {
    try {
      return this.binaries.open(value, start, end)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  /**
   * Sets an image or a blob of the one entity that `request` selects, in the version that there is, and resolves when it is
   * durable. What was received for it is discarded when that fails.
   * @param owner handle of the session, for entities that are locked
   * @throws {ProtocolError}
   */
  async saveBinary(
    request: ReadRequest,
    attribute: BinaryAttribute,
    value: BinaryValue | null,
    owner: string,
    caller?: Caller,
  ): Promise<void> {
    const id = newUploadId()
    try {
      const [rowId] = rowIdsOf(await kept(this.run({ kind: 'rowIds', request, of: 'page' }, caller)))
      const key = this.data.read(snapshot => snapshot.table(attribute.dataClass).row(rowId!)?.key)
      const entity = { __KEY: key, [attribute.name]: value && { ID: id } }
      const save: SaveRequest = {
        kind: 'save',
        dataClass: request.dataClass,
        body: new TextEncoder().encode(JSON.stringify(entity)),
        mode: 'update',
        atomic: false,
        anyStamp: true,
        access: request.access,
        owner,
        ...(value && { received: { id, value: encodeBinary(value) } }),
      }
      const { entities } = await this.write(save, caller)
      const failure = entities[0]?.failure
      if (failure) throw new ProtocolError(failure.error)
    } catch (error) {
      if (value) await this.uploads.discardUnless(error, value)
      throw error
    }
  }

  /** Removes what a crash has left of uploads. */
  async sweepFiles(): Promise<void> {
    await sweepFiles(this.data.environment)
    await this.uploads.sweep()
  }

  /** Saves and resolves when it is durable. @throws {ProtocolError} when no entity could be looked at: bad JSON, overload */
  write(request: SaveRequest, caller?: Caller): Promise<SaveResult> {
    const known = { ...request, access: request.access ?? (request.trusted ? undefined : this.permissions.nobody) }
    const dataClass = this.catalog.dataClassesByName.get(request.dataClass)
    return dataClass && this.hooked.onSave(dataClass) ? this.code!.save(known, caller) : this.writer.save(known)
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
    const result = await this.writer.save(known)
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
    const rowIds = rowIdsOf(await kept(this.run({ kind: 'rowIds', request, of: 'selection' }, caller)))
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
    return this.hooked.onDrop(dataClass) ? this.code!.drop(request, caller) : this.writer.delete(request)
  }

  /** Gives the entities the values that stored calculated attributes have with the code of now, if it is another one. */
  async calculateOutdated(): Promise<void> {
    for (const dataClass of this.catalog.dataClasses) {
      if (!areOutdated(this.data.environment, dataClass)) continue
      const hasCode = this.hooked.stored(dataClass).length > 0
      for (let done = 0, isOver = false; !isOver; ) {
        const slice = hasCode ? await this.code!.calculate(dataClass.name, done) : await this.clear(dataClass, done)
        ;({ done } = slice)
        isOver = done >= slice.total
        this.options.onProgress?.({ dataClass: dataClass.name, what: 'calculate', ...slice })
      }
    }
  }

  /** Their code is gone. */
  private async clear(dataClass: DataClass, from: number): Promise<CalculatedSlice> {
    const { request, slice } = this.data.read(snapshot =>
      nextSlice(dataClass, snapshot, from, () => nullValues(dataClass)),
    )
    await this.writer.putCalculated(request)
    return slice
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
    const [rowId] = rowIdsOf(await kept(this.run({ kind: 'rowIds', request, of: 'page' }, caller)))
    return this.writer.lock({ kind: 'lock', dataClass: request.dataClass, rowId: rowId!, lock, holder })
  }

  /** Frees what a session has locked. */
  async freeLocks(owner: string): Promise<void> {
    await this.writer.freeLocks({ kind: 'freeLocks', owner })
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
    const promoted = this.permissions.promoted(called, access)
    const task = { kind: 'call', target, function: name, fullName, sets, access, promoted, ...call } as const
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
    // What the pool still finds may be kept as an entity set.
    await this.pool.close()
    await this.vectors?.close()
    await this.entitySetStore.close()
    await this.uploads.close()
    await this.writer.close()
    await this.data.close()
  }

  /** Here and now what costs less than handing it to another thread, all else in the pool, or where the code for it is. */
  private run(task: Task, caller?: Caller): Promised<Uint8Array> {
    const access = task.request.access ?? this.permissions.nobody
    if (access !== task.request.access) return this.run({ ...task, request: { ...task.request, access } }, caller)
    if (!this.code) return this.runAnywhere(task, caller)
    const runWithCode = (error: unknown): Promise<Uint8Array> => {
      if (error instanceof CodeNeeded) return this.code!.read(task, caller)
      throw error
    }
    try {
      const answer = this.runAnywhere(task, caller)
      return answer instanceof Promise ? answer.catch(runWithCode) : answer
    } catch (error) {
      return runWithCode(error)
    }
  }

  private runAnywhere(task: Task, caller?: Caller): Promised<Uint8Array> {
    const answer = this.runHere(task, caller)
    return answer instanceof Uint8Array ? answer : answer.run(task, caller)
  }

  /** @returns the pool that has to do it: it costs too much for this thread, or takes what only another one has */
  private runHere(task: Task, caller?: Caller): Uint8Array | QueryPool {
    if (this.inlineCostMs === 0 && !this.vectors) return this.pool
    const { layouts, read } = this.data
    const { views } = this
    const { limits } = this.options
    const overrunMs = Math.max(OVERRUN.minMs, OVERRUN.factor * this.inlineCostMs)
    return read(whole => {
      const snapshot = isUnrestricted(task) ? whole : guarded(whole, this.restricted)
      const counter = { examined: 0 }
      const timeoutMs = Math.min(limits.timeoutMs, overrunMs)
      const budget = new QueryBudget({ ...limits, timeoutMs, counter })
      const planned = planTask(task, { views, layouts, limits }, { snapshot, budget })
      if (planned.usesVectorIndex) return this.vectors!
      if (this.inlineCostMs === 0 || planned.cost() > this.inlineCostMs * 1000) return this.pool
      try {
        return planned.run()
      } catch (error) {
        if (budget.isOver && overrunMs < limits.timeoutMs) return this.pool
        throw error
      } finally {
        caller?.examined?.(counter.examined)
      }
    })
  }
}

export type BinaryAttribute = StorageAttribute & { type: 'image' | 'blob' }

/** Where roles.json demands a login, this is how guests do it: they may call it whatever else is said of it. */
export const isLogin = ({ target, name }: ClassFunction): boolean =>
  target.kind === 'dataStore' && name === 'authentify'

const rowIdsOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Uint32Array =>
  new Uint32Array(buffer, byteOffset, byteLength / Uint32Array.BYTES_PER_ELEMENT)
