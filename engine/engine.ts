import { type AnswerBody, bytesOf } from './answer/answer-body.ts'
import { Binaries } from './binary/binaries.ts'
import type { Uploads } from './binary/uploads.ts'
import type { Attribute } from './catalog/attribute.ts'
import type { Catalog, DataClass } from './catalog/dataclass.ts'
import type { View } from './catalog/view.ts'
import { LoopDelay } from './base/counts/loop-delay.ts'
import { EngineErrors } from './base/engine-errors.ts'
import { BINARY_CACHE_BYTES } from './engine-options.ts'
import { EngineMetrics } from './engine-metrics.ts'
import type { CommitFeed } from './follow/commit-feed.ts'
import { ModelChange } from './model-change.ts'
import { runProcess } from './run-process.ts'
import { type Backup, Backups } from './storage/backup/backups.ts'
import type { BackupPolicy, BackupStep, MadeBackup } from './storage/backup/make-backup.ts'
import { type BackupPlace, openStorage } from './storage/backup/open-storage.ts'
import type { EngineParts } from './engine-parts.ts'
import type { EntitySets, Requester } from './entity-set/entity-sets.ts'
import { ProtocolError } from './base/errors.ts'
import { type ClassFunction, type ClassRegistry, isLogin } from './author/declare/class-registry.ts'
import type { CallResult } from './author/run/function-client.ts'
import { JobClient } from './author/run/job-client.ts'
import { FunctionErrors } from './author/declare/function-errors.ts'
import type { CallTask } from './author/run/tasks.ts'
import { calculateOutdated } from './author/run/calculate-outdated.ts'
import { type ImportRequest, importRows } from './import/import-rows.ts'
import { type PreviewRequest, previewRows, type RowPreview } from './import/preview-rows.ts'
import type { FindKeys } from './import/relation-lookup.ts'
import type { LoadSummary } from './import/load-options.ts'
import type { RowFormat } from './import/row-reader.ts'
import type { Part } from './memory/heap/shared-heap.ts'
import type { JsonBounds } from './base/json-bounds.ts'
import { jsonMembers, type JsonMembers } from './base/json-members.ts'
import { PermissionErrors } from './permission/permission-errors.ts'
import type { Rights } from './permission/explain-rights.ts'
import type { DeclaredRoles, Permissions } from './permission/permissions.ts'
import type { Granted } from './permission/roles.ts'
import type { Access } from './permission/views.ts'
import { lockHolder } from './caller/lock-holder.ts'
import { type Caller, userOf } from './caller/caller.ts'
import type { SessionData } from './caller/session-data.ts'
import type { SaveAnswer, SavedAnswers } from './placement/saved-answers.ts'
import type { QueryOutline } from './query/tasks/outline-query.ts'
import type { ComputeArgs, DistinctArgs, KeysArgs } from './query/tasks/value-tasks.ts'
import { kept, type Promised } from './base/promised.ts'
import type { FunctionCall, LockOutcome, PluginEngine } from './plugin-engine.ts'
import type { Aggregation } from './query/aggregate/aggregate.ts'
import { needsCode } from './data/suspended.ts'
import { demandUniqueAddress } from './query/bind/demand-unique-address.ts'
import type { PathListItem } from './query/parse/parse-path-list.ts'
import { warmUpGrammar } from './query/parse/warm-up.ts'
import type { QueryLimits } from './query/contract/query-limits.ts'
import type { Output, ReadRequest } from './query/contract/request.ts'
import { SessionTable } from './cluster/session-table.ts'
import type { PluginRecords, ServerRecords } from './records/server-records.ts'
import { lockStatus } from './write/contract/save-failure.ts'
import type { DeleteRequest, ListLocksResult, LoadMark, SaveRequest, SaveResult } from './write/contract/requests.ts'

/** Size up to which a body may be one entity, which a refusal shows. */
const SMALL_BODY_BYTES = 16 * 1024
/** Size up to which a command is parsed here, in a millisecond or two. */
const PARSED_BYTES = 64 * 1024

/** Maximum number of entity sets in the arguments of one call. */
const MAX_SETS = 100

/** An open store with the threads that work on it, made by {@link openEngine}. */
export class Engine implements PluginEngine {
  readonly entitySets: EntitySets
  /** Records of the server itself. */
  readonly records: ServerRecords
  /** Sessions of several servers; undefined if those of this one are among its records. */
  readonly sharedSessions: SessionTable | undefined
  /** Rights of all sessions. Nothing is restricted until roles are set. */
  readonly permissions: Permissions
  readonly uploads: Uploads
  readonly binaries: Binaries
  readonly classes: ClassRegistry
  readonly jobs: JobClient
  readonly metrics: EngineMetrics
  readonly modelChange: ModelChange
  readonly commits: CommitFeed
  /** Loop delay of the thread that opens the engine, which also starts the measurement. */
  readonly loopDelay: LoopDelay
  /** Dataclasses whose new entities have the name of the user. */
  private readonly userFilled: ReadonlySet<DataClass | undefined>
  private readonly closing = new AbortController()
  private readonly backups = new Set<Promise<unknown>>()

  /** @param parts parts of the store; tests use them to reach single rooms */
  constructor(readonly parts: EngineParts) {
    const { data, backends, uploads, options } = parts
    this.entitySets = parts.entitySets
    this.records = parts.records
    this.sharedSessions = parts.shared && new SessionTable(parts.shared)
    this.permissions = parts.permissions
    this.uploads = uploads
    this.classes = parts.classes
    this.commits = parts.commits
    this.loopDelay = new LoopDelay(parts.ownCounts, parts.counts.beats)
    this.binaries = new Binaries({
      data,
      backends,
      uploads,
      view: access => this.view(access),
      write: (request, caller) => this.write(request, caller),
      cacheBytes: options.binaryCacheBytes ?? BINARY_CACHE_BYTES,
      onInternalError: options.onInternalError,
    })
    const { writer, code } = parts
    this.jobs = new JobClient({ records: parts.records, writer, code, declared: parts.classes.jobs })
    this.metrics = new EngineMetrics(parts, this.binaries)
    const isUser = (each: Attribute): boolean => each.kind === 'storage' && each.autoFill === 'user'
    this.userFilled = new Set(data.catalog.dataClasses.filter(({ attributes }) => attributes.some(isUser)))
    this.modelChange = new ModelChange(options, parts.classes.classes)
  }

  get catalog(): Catalog {
    return this.parts.data.catalog
  }

  get limits(): QueryLimits {
    return this.parts.options.limits
  }

  pluginRecords(plugin: string): PluginRecords {
    return this.records.within(`plugin/${plugin}/`)
  }

  get isWritable(): boolean {
    return this.parts.writer.isRunning
  }

  /** Resolves when everything that fits is in shared memory. Until then data is read from LMDB. */
  memoryFilled(): Promise<void> {
    return this.parts.writer.memoryFilled
  }

  get memoryBytes(): number {
    return this.parts.options.memoryBytes ?? 0
  }

  memoryUse(): Record<Part, number> | undefined {
    return this.parts.heap?.usedBytes()
  }

  /**
   * Removes remains of a crash, recomputes stored calculated values whose code has changed, and has tables of databases made, which it
   * does not wait for. To be called first.
   */
  async prepare(): Promise<void> {
    const { data, writer, hooked, code, options } = this.parts
    await data.records.sweepIncoming()
    await this.uploads.sweep()
    await this.checkTasks()
    await calculateOutdated({ catalog: data.catalog, data, writer, hooked, code, onProgress: options.onProgress })
    for (const backend of this.parts.backends.all) backend.prepare?.()
  }

  /** @throws {Error} with the plugins and their tasks that cannot be loaded */
  private async checkTasks(): Promise<void> {
    const { options, pool } = this.parts
    if (!options.tasks?.length) return
    const answer = (await pool.run({ kind: 'problems' })) as Uint8Array
    const problems = JSON.parse(Buffer.from(answer).toString()) as string[]
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }

  /** Starts the threads and compiles the parser, which otherwise happens with the first query that needs them. */
  warmUp(): void {
    void warmUpGrammar()
    for (const backend of this.parts.backends.all) backend.warmUp()
    this.parts.code?.warmUp()
  }

  view(access?: Access): View {
    return this.parts.views.of(access ?? this.permissions.guest)
  }

  /**
   * The dataclass that an address names. Even if it cannot be read, the caller may be allowed to create entities or call
   * functions; other operations are refused later.
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

  read(request: ReadRequest, caller?: Caller): Promised<AnswerBody> {
    return this.parts.backends.run({ kind: 'read', request }, caller)
  }

  async keyOf({ filter: _, ...request }: ReadRequest, caller?: Caller): Promise<string> {
    const { source } = request
    if (source.kind === 'keys' && source.keys.length === 1) return source.keys[0]!
    const body = await kept(this.read({ ...request, output: { form: 'entity' } }, caller))
    return (JSON.parse(Buffer.from(await bytesOf(body)).toString()) as { __KEY: string }).__KEY
  }

  /** Describes how a read is executed, without values, for the log. @throws {ProtocolError} the request is invalid */
  outline(request: ReadRequest): QueryOutline {
    return this.parts.tasks.outline(request)
  }

  compute(
    request: ReadRequest,
    items: readonly PathListItem[],
    aggregation: Aggregation,
    caller?: Caller,
  ): Promised<AnswerBody> {
    return this.parts.backends.run(
      { kind: 'compute', request, args: { items, aggregation } satisfies ComputeArgs },
      caller,
    )
  }

  distinct(
    request: ReadRequest,
    items: readonly PathListItem[],
    caller?: Caller,
    { counted = false } = {},
  ): Promised<AnswerBody> {
    return this.parts.backends.run(
      { kind: 'distinct', request, args: { items, counted } satisfies DistinctArgs },
      caller,
    )
  }

  runTask(name: string, request: ReadRequest, args: unknown, caller?: Caller): Promised<AnswerBody> {
    return this.parts.backends.run({ kind: name, request, args }, caller)
  }

  async write(request: SaveRequest, caller?: Caller): Promise<SaveResult> {
    const access = request.access ?? (request.trusted ? undefined : this.permissions.guest)
    const dataClass = this.catalog.dataClassesByName.get(request.dataClass)
    const known = await this.checked({ ...request, access, ...this.userOf(dataClass, caller) }, dataClass, caller)
    if (dataClass && this.parts.hooked.onSave(dataClass)) return this.parts.code!.save(known, caller)
    return this.parts.backends.named(request.dataClass).save(known, caller)
  }

  /** Name of the user, where new entities have it. */
  private userOf(dataClass: DataClass | undefined, caller: Caller | undefined): Pick<SaveRequest, 'user'> | undefined {
    return this.userFilled.has(dataClass) ? { user: userOf(caller) } : undefined
  }

  /**
   * Prepares a save for the writer: a large body is read in the pool.
   * @throws {PermissionErrors.CREATE} the caller may save nothing in a large body
   */
  private checked(
    request: SaveRequest,
    dataClass: DataClass | undefined,
    caller: Caller | undefined,
  ): Promised<SaveRequest> {
    const { body, trusted, access } = request
    if (!trusted && dataClass && body.byteLength > SMALL_BODY_BYTES) {
      const view = this.view(access)
      if (!view.may('create', dataClass) && !view.may('update', dataClass)) {
        if (!view.shows(dataClass)) throw view.unknownDataClass(dataClass.name)
        throw PermissionErrors.CREATE(dataClass.name).followedBy(PermissionErrors.UPDATE(dataClass.name))
      }
    }
    const { bodies, hooked } = this.parts
    const isEncoded = dataClass !== undefined && this.parts.backends.of(dataClass).insert && !hooked.onSave(dataClass)
    return bodies.isLarge(request) ? bodies.read(request, !isEncoded, caller) : request
  }

  /**
   * Reads and encodes the texts of rows of a file for {@link insert}, with the rights of the operator.
   * @returns undefined if the writer alone does not save entities of the dataclass
   */
  async encodeRows(
    dataClass: DataClass,
    format: RowFormat,
    texts: readonly string[],
    moment?: number,
  ): Promise<Uint8Array | undefined> {
    if (this.isSavedElsewhere(dataClass)) return undefined
    return this.parts.bodies.encodeRows(dataClass.name, format, texts, moment)
  }

  /** True if code or a database takes part in saves of a dataclass. They have no {@link LoadMark}. */
  isSavedElsewhere(dataClass: DataClass): boolean {
    return !this.parts.backends.of(dataClass).insert || this.parts.hooked.onSave(dataClass)
  }

  /** Inserts what {@link encodeRows} has encoded. @returns indexes of the rows that {@link write} has to save */
  async insert(dataClass: DataClass, encoded: Uint8Array, mark?: LoadMark): Promise<Uint32Array> {
    const request = { kind: 'insert', dataClass: dataClass.name, encoded, mark } as const
    return (await this.parts.backends.of(dataClass).insert!(request)).left
  }

  /** Members of the JSON object in the body of a command; a large one is parsed in the pool. @throws as {@link jsonMembers} */
  async jsonMembers(body: Uint8Array, bounds: JsonBounds, caller?: Caller): Promise<JsonMembers> {
    if (body.byteLength <= PARSED_BYTES) return jsonMembers(body, bounds)
    const found = (await this.parts.pool.run({ kind: 'members', body, bounds }, caller)) as Uint8Array
    return JSON.parse(Buffer.from(found).toString()) as JsonMembers
  }

  async save(request: SaveRequest, output: Output, caller?: Caller): Promise<SaveAnswer> {
    const access = request.access ?? this.permissions.guest
    const dataClass = this.addressed(request.dataClass, access)
    const known = { ...request, access, ...this.userOf(dataClass, caller) }
    const isShownWithOthers =
      output.expand || output.attributes || dataClass.attributes.some(({ kind }) => kind === 'alias')
    if (this.parts.hooked.onSave(dataClass) || (this.parts.hooked.restricted.size > 0 && isShownWithOthers)) {
      return this.parts.code!.saveAndAnswer(await this.checked(known, dataClass, caller), output, caller)
    }
    let answer: ReturnType<SavedAnswers['prepare']>
    try {
      answer = this.parts.savedAnswers.prepare(dataClass, known.access, { mode: known.mode, output })
    } catch (error) {
      if (!needsCode(error)) throw error
      return this.parts.code!.saveAndAnswer(await this.checked(known, dataClass, caller), output, caller)
    }
    const checked = await this.checked(known, dataClass, caller)
    return answer(await this.parts.backends.of(dataClass).save(checked, caller), caller)
  }

  async delete(
    request: ReadRequest,
    { atomic, owner, ifMatch }: Pick<DeleteRequest, 'atomic' | 'owner' | 'ifMatch'>,
    caller?: Caller,
  ): Promise<number> {
    const view = this.view(request.access)
    const dataClass = view.dataClass(request.dataClass)
    if (!view.may('drop', dataClass)) throw PermissionErrors.DROP(dataClass.name)
    demandUniqueAddress(request, view)
    const deletion = { read: { ...this.parts.backends.withRights(request), exact: true }, atomic, owner, ifMatch }
    const { deleted, selected = 1, error } = await this.parts.backends.of(dataClass).delete(deletion, caller)
    if (!error) return deleted
    const cause = new ProtocolError(error)
    throw selected === 1 ? cause : cause.followedBy(EngineErrors.NOT_ALL_DELETED(deleted, selected))
  }

  declaredRoles(): DeclaredRoles | undefined {
    return this.permissions.declared
  }

  explainRights(granted: Granted): Rights | undefined {
    return this.permissions.explain(granted, this.view(this.permissions.accessOf(granted)))
  }

  mayCall(called: ClassFunction, access?: Access): boolean {
    return isLogin(called) || this.permissions.mayExecute(called, access ?? this.permissions.guest)
  }

  async lock(request: ReadRequest, lock: boolean, session: SessionData, caller?: Caller): Promise<LockOutcome> {
    const view = this.view(request.access)
    const dataClass = view.dataClass(request.dataClass)
    // A lock prevents changes to the entity, so it needs the right to change it.
    if (!view.may('update', dataClass)) throw PermissionErrors.UPDATE(dataClass.name)
    demandUniqueAddress(request, view)
    const holder = lockHolder(session)
    const locking = { read: this.parts.backends.withRights(request), lock, holder }
    const { result, wasNotLocked, blocker } = await this.parts.backends.of(dataClass).lock(locking, caller)
    if (blocker) return { result, status: { success: false, ...lockStatus(blocker) } }
    return { result, status: { success: true, ...(wasNotLocked && { wasNotLocked }) } }
  }

  async listLocks(limit: number): Promise<ListLocksResult> {
    const lists = await Promise.all(this.parts.backends.all.map(backend => backend.listLocks(limit)))
    const count = lists.reduce((sum, list) => sum + list.count, 0)
    return { kind: 'listLocks', count, locks: lists.flatMap(({ locks }) => locks).slice(0, limit) }
  }

  async freeLocks(owner: string): Promise<void> {
    for (const backend of this.parts.backends.all) await backend.freeLocks(owner)
  }

  async call({ function: called, isInner = false, ...call }: FunctionCall, caller?: Caller): Promise<CallResult> {
    const { fullName, name, target, isAsync } = called
    const access = call.read?.access ?? this.permissions.guest
    // Without the right to read a dataclass, neither entities nor selections of it can be addressed.
    if (target.kind === 'entity' || target.kind === 'entitySelection') this.view(access).dataClass(call.read!.dataClass)
    if (!this.mayCall(called, access)) throw PermissionErrors.EXECUTE(fullName)
    if (target.kind === 'entity') demandUniqueAddress(call.read!, this.view(access))
    const sets = isInner ? undefined : await this.setsIn(call.args, { access, caller })
    const inner = isInner ? called.place : undefined
    const task = { kind: 'call', target, function: name, fullName, isAsync, sets, access, inner, ...call } as const
    return this.parts.code!.call(called, task, caller)
  }

  /** Entity sets that arguments name; only this thread can look them up. */
  private async setsIn(args: FunctionCall['args'], requester: Requester): Promise<CallTask['sets']> {
    const bytes = args && Buffer.from(args.buffer, args.byteOffset, args.byteLength)
    if (!bytes?.includes('"__DATASET"')) return undefined
    const ids = new Set<string>()
    for (const [, id] of bytes.toString('latin1').matchAll(/"__DATASET"\s*:\s*"([0-9A-Fa-f]{32})"/g)) {
      if (ids.add(id!).size > MAX_SETS) throw FunctionErrors.TOO_MANY_SETS(MAX_SETS)
    }
    const sets = new Map<string, { dataClass: string; members: Uint8Array }>()
    for (const id of ids) {
      const { dataClass, set } = await this.entitySets.openAny(id, requester)
      if (this.view(requester.access).shows(dataClass))
        sets.set(id, { dataClass: dataClass.name, members: set.encoded })
    }
    return sets
  }

  /** Keys of at most two entities for each value of an indexed attribute, with the rights of the operator. */
  async findKeys(...[{ dataClass, name }, values]: Parameters<FindKeys>): Promise<string[][]> {
    const request: ReadRequest = {
      dataClass: dataClass.name,
      source: { kind: 'all' },
      skip: 0,
      top: 0,
      output: { form: 'array' },
    }
    const args: KeysArgs = { attribute: name, values }
    const answer = await kept(this.parts.backends.run({ kind: 'keys', request, args }))
    return JSON.parse(Buffer.from(await bytesOf(answer)).toString()) as string[][]
  }

  importRows(request: ImportRequest): Promise<LoadSummary> {
    return importRows(this, this.catalog, request, (this.parts.options.now ?? Date.now)())
  }

  previewRows(request: PreviewRequest): Promise<RowPreview> {
    return previewRows(this, this.catalog, request)
  }

  async backup(place: BackupPlace, policy: BackupPolicy, onProgress: (step: BackupStep) => void): Promise<MadeBackup> {
    const { path, mapSizeBytes, besides, onNote = () => {} } = this.parts.options
    const job = { path, mapSizeBytes, place, ...(besides && { besides }), ...policy }
    const running = runProcess('backup', job, { onNote, onProgress, signal: this.closing.signal })
    this.backups.add(running)
    try {
      return await running
    } finally {
      this.backups.delete(running)
    }
  }

  listBackups(place: BackupPlace, onDamaged: (problem: string) => void): Promise<Backup[]> {
    return new Backups(openStorage(place)).list(onDamaged)
  }

  /** Ends backups and changes of the model, finishes running requests and queued writes, then closes the store. */
  async close(): Promise<void> {
    this.closing.abort()
    this.commits.close()
    await Promise.allSettled([...this.backups, this.modelChange.close()])
    const {
      code,
      backends,
      databases,
      shared,
      sharedSets,
      entitySetStore,
      uploads,
      writer,
      data,
      spools,
      exportSpools,
    } = this.parts
    this.loopDelay.stop()
    await code?.close()
    // Results of the pool may still be kept as an entity set.
    for (const backend of backends.all) await backend.close()
    await databases?.close()
    await sharedSets?.close()
    await shared?.close()
    await entitySetStore.close()
    await uploads.close()
    await writer.close()
    await data.close()
    spools.close()
    exportSpools.close()
  }
}
