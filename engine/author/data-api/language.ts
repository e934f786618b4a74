import type { Attribute } from '../../catalog/attribute.ts'
import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import { EngineErrors } from '../../base/engine-errors.ts'
import { ProtocolError } from '../../base/errors.ts'
import type { RemoteLink } from '../../postgres/run/remote-link.ts'
import { RemoteReads } from '../../postgres/reads/remote-reads.ts'
import { counter, RowNumbers } from '../../postgres/reads/remote-rows.ts'
import { RemoteSnapshot } from '../../postgres/reads/remote-snapshot.ts'
import type { RemoteCondition } from '../../query/plan/nodes/remote-query.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import type { QueryContext } from '../../query/operators/query-context.ts'
import { type BudgetLimits, QueryBudget, type RowCounter } from '../../query/scan/query-budget.ts'
import { type PreparedQuery, QueryCache, type QueryTexts } from '../../query/plan/query-cache.ts'
import type { QueryLimits } from '../../query/contract/query-limits.ts'
import type { ReadStore } from '../../data/read-store.ts'
import { RestrictedSnapshot } from '../../data/restricted-snapshot.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import type { View } from '../../catalog/view.ts'
import { PermissionErrors } from '../../permission/permission-errors.ts'
import type { Resource } from '../../permission/roles.ts'
import { type Access, Views } from '../../permission/views.ts'
import { suggestion } from '../../base/suggestion.ts'
import type {
  CalculatedRequest,
  DeleteRequest,
  DeleteResult,
  LockResult,
  SaveRequest,
  SaveResult,
} from '../../write/contract/requests.ts'
import { isThenable } from '../../base/promised.ts'
import type { CallRequest, CallSession } from '../declare/author-types.ts'
import { codeContext, inContext } from '../declare/running-call.ts'
import { UsageError } from '../declare/usage-error.ts'
import type { TaskSession } from './session.ts'
import type { WriterLink } from '../../write/client/writer-link.ts'
import { bindClasses } from './bind-classes.ts'
import type { Binding } from './binding.ts'
import type { Changes } from './changes/changes.ts'
import { DatabaseChanges } from './changes/database-changes.ts'
import { StoreChanges } from './changes/store-changes.ts'
import { DataStore, setCurrent } from './data-store.ts'
import { derived } from './derived-class.ts'
import { type AuthorClass, subjectOf } from '../declare/describe-classes.ts'
import type { EntityHooks, Visible } from './entity-hooks.ts'
import { internals } from './entity-internals.ts'
import { LanguageErrors } from './language-errors.ts'
import { type JobInfo, jobNames, jobProgress } from './jobs.ts'
import { type NewJob, ownKey } from '../../jobs/job.ts'
import { NoSession } from './no-session.ts'
import { Overlay } from '../../columns/overlay.ts'
import { type EventRun, NeedsTransaction } from './event-run.ts'
import { type WaitingScope, waitingScope } from './waiting-scope.ts'

export interface LanguageOptions {
  readonly store: ReadStore
  readonly limits: QueryLimits
  /** Plugin classes, as `authorClasses` finds them in their modules. */
  readonly classes?: readonly AuthorClass[]
  /** Without it nothing can be saved. */
  readonly writer?: WriterLink
  /** Set for a model with remote dataclasses. */
  readonly remote?: RemoteLink | undefined
  /** True if databases know the users of requests. */
  readonly needsUser?: boolean
  /** Maximum time for which a transaction may hold up other writes; 2,000 by default. */
  readonly transactionTimeoutMs?: number
  /** Milliseconds since 1970; the clock of the system by default. */
  readonly now?: () => number
  /** Plugin code around saves and drops. */
  readonly hooks?: EntityHooks
  /** Called with the progress that a job reports, as JSON. */
  readonly onProgress?: (job: string, value: string) => void
}

export interface CallOptions {
  /**
   * Its time: queries end at `deadlineAt`, in milliseconds since 1970, with a message that names `deadlineMs`. Code that computes is
   * stopped from outside.
   */
  readonly time?: { readonly deadlineAt: number; readonly deadlineMs: number }
  /** Made by the outermost one unless given. */
  readonly state?: CallState
  /** False in the middle of a read, as in a getter or a query handler: saves and drops are refused. */
  readonly canWrite?: boolean
  /** True for work of the server itself: restrict events do not apply. */
  readonly isUnrestricted?: boolean
  /** True for events and unrestricted getters: restrict events do not apply to what they read. */
  readonly seesAll?: boolean
  /** Snapshot of a restrict event while it runs. */
  readonly restricting?: Snapshot
  /** Undefined for work of the server itself. */
  readonly session?: TaskSession | undefined
  /** `traceparent` of the request; empty or undefined without a valid one. */
  readonly traceparent?: string | undefined
  /** Rights that apply. Undefined: the rights of the code itself, which may do everything. */
  readonly access?: Access | undefined
  /** The job that the call is an attempt of. */
  readonly job?: JobInfo | undefined
}

/** State of a call until its end, shared by its parts. */
export interface CallState extends RowCounter {
  /** Session of a call without a request, made on first use. */
  noSession?: NoSession
  /** Row ids of the entities of remote dataclasses. */
  numbers?: RowNumbers
}

/** Jobs that the events of an entity have enqueued. */
interface CollectedJobs {
  /** The one that is saved, which may have no key yet. */
  readonly entity?: object
  readonly jobs: NewJob[]
}

/** A read of the current state that has not been done yet. */
interface Pending {
  settle(): void
}

const TRANSACTION_TIMEOUT_MS = 2_000

/**
 * The data API of plugin code in one thread. Everything is synchronous. A call reads from one snapshot, which is opened with the
 * first read and moves on only with the writes of the call itself. Code that waits has none meanwhile: each stretch between two
 * awaits has its own.
 */
export class Language {
  readonly catalog: Catalog
  readonly views: Views
  /** Bindings of each dataclass to its plugin classes. */
  readonly bindings: ReadonlyMap<DataClass, Binding>
  /** `ds`: an instance of the plugin's datastore class, if there is one. */
  readonly dataStore: DataStore
  /** Number of the snapshot: values read from an older one may be out of date. */
  version = 0
  readonly limits: QueryLimits
  readonly queries: QueryCache
  readonly now: () => number
  readonly pending = new Set<Pending>()
  private readonly singletons = new Map<string, object>()
  /** Options of the code that runs, unless it has waited. */
  private running: CallOptions | undefined
  /** Cached rights of the last promotion. */
  private raised: { from: Access; privileges: readonly string[]; access: Access } | undefined
  private open: Snapshot | undefined
  /** Restricted snapshots of one version, by the rights of the session. */
  private seen:
    | { readonly of: Snapshot; readonly version: number; readonly byRights: Map<string, Snapshot> }
    | undefined
  /** Reads from databases, by the snapshots that they belong to. */
  readonly reads = new WeakMap<Snapshot, RemoteReads>()
  private readonly nextNumber = counter()
  private jobNames: ReadonlyMap<unknown, string> | undefined
  /** Changes of the open transaction. */
  private overlay: Overlay | undefined
  /** Time of automatic values in the open transaction. */
  private begunAt = 0
  /** Jobs of the entity whose events run; undefined: none do. */
  private collected: CollectedJobs | undefined
  /** The run of the events before a save or a deletion; undefined: none run. */
  eventRun: EventRun | undefined
  private readonly storeChanges: Changes
  private readonly databaseChanges: DatabaseChanges

  constructor(readonly options: LanguageOptions) {
    const { store, limits, classes = [], now = Date.now } = options
    this.now = now
    this.catalog = store.catalog
    this.views = new Views(this.catalog)
    this.limits = limits
    this.queries = new QueryCache(limits, store.counts)
    this.storeChanges = new StoreChanges(this)
    this.databaseChanges = new DatabaseChanges(this)
    this.bindings = bindClasses(this, classes, store)
    this.dataStore = DataStore.bind(this, classes)
  }

  /**
   * Runs `work`, in which `ds` belongs to this language. Inside another call it shares that call's snapshot.
   * @throws what `work` throws
   */
  run<T>(call: CallOptions, work: () => T): T {
    const { running, call: outer } = this
    const options = { state: { examined: 0 }, ...outer, ...call }
    const before = setCurrent(this)
    this.running = options
    try {
      return inContext({ data: { language: this, options } satisfies WaitingScope }, work)
    } finally {
      this.running = running
      setCurrent(before)
      if (!outer) this.rest()
    }
  }

  /** Called when code that has waited waits again or ends. */
  endStretch(): void {
    if (!this.running) this.rest()
  }

  private get call(): CallOptions | undefined {
    if (this.running) return this.running
    const scope = waitingScope()
    return scope?.language === this ? scope.options : undefined
  }

  /** Snapshot of the call, restricted by restrict events. @throws {LanguageErrors.NO_CALL} */
  get snapshot(): Snapshot {
    const { unrestricted } = this
    const { hooks } = this.options
    const { isUnrestricted, seesAll, restricting } = this.call!
    if (!hooks?.visible || isUnrestricted || seesAll) return unrestricted
    if (restricting) return restricting
    // Restrict events may find other entities after each write.
    if (this.seen?.of !== unrestricted || this.seen.version !== this.version)
      this.seen = { of: unrestricted, version: this.version, byRights: new Map() }
    const { byRights } = this.seen
    const { rightsKey } = this
    let snapshot = byRights.get(rightsKey)
    if (!snapshot) {
      snapshot = this.restricted(unrestricted, dataClass => hooks.visible!(dataClass, this))
      byRights.set(rightsKey, snapshot)
    }
    return snapshot
  }

  /** Different for different rights and users of the session. */
  get rightsKey(): string {
    return this.call?.session?.rightsKey ?? ''
  }

  /** A snapshot of the call without the entities that are not visible. */
  restricted(unrestricted: Snapshot, visible: (dataClass: DataClass) => Visible | undefined): Snapshot {
    const ofRemote = (dataClass: DataClass) => visible(dataClass) as readonly RemoteCondition[] | undefined
    const ofStore = (dataClass: DataClass) =>
      dataClass.place.isStore ? (visible(dataClass) as RowSet | undefined) : undefined
    return this.withDatabases(unrestricted, base => new RestrictedSnapshot(base, ofStore), ofRemote)
  }

  /** A snapshot whose remote dataclasses are read from their databases, for the rest of the stretch. */
  withDatabases(
    local: Snapshot,
    wrap: (snapshot: Snapshot) => Snapshot,
    visible?: (dataClass: DataClass) => readonly RemoteCondition[] | undefined,
  ): Snapshot {
    const { remote, store } = this.options
    if (!remote) return wrap(local)
    const state = this.call!.state!
    state.numbers ??= new RowNumbers(this.nextNumber)
    const reads = new RemoteReads({
      tables: remote.tables,
      layouts: store.layouts,
      need: fetch => this.databaseChanges.fetch(fetch),
      user: () => this.databaseChanges.user,
      knowsCounts: () => !this.databaseChanges.hasBegun,
      numbers: state.numbers,
      ...(visible && { visible }),
    })
    const snapshot = wrap(new RemoteSnapshot(local, reads))
    this.reads.set(snapshot, reads)
    reads.context = this.contextOf(snapshot)
    return snapshot
  }

  /** Snapshot of the call without restrictions. @throws {LanguageErrors.NO_CALL} */
  get unrestricted(): Snapshot {
    if (!this.call) throw LanguageErrors.NO_CALL()
    if (this.overlay) return this.overlay
    this.open ??= this.withDatabases(this.options.store.snapshot(), snapshot => snapshot)
    const { eventRun: run, open } = this
    return run ? this.changesOf(run.dataClass).eventSnapshot(run, open) : open
  }

  /** How entities of a dataclass are changed. */
  changesOf({ place }: DataClass): Changes {
    return place.isStore ? this.storeChanges : this.databaseChanges
  }

  /** Session of the call; an empty one without a request. @throws {LanguageErrors.NO_CALL} */
  get session(): CallSession {
    if (!this.call) throw LanguageErrors.NO_CALL()
    const { session, isUnrestricted = false, state } = this.call
    if (session) return session
    state!.noSession ??= new NoSession(isUnrestricted)
    return state!.noSession
  }

  /** Request of the call; an empty one without a request. @throws {LanguageErrors.NO_CALL} */
  get request(): CallRequest {
    if (!this.call) throw LanguageErrors.NO_CALL()
    const { traceparent = '', job } = this.call
    const { onProgress } = this.options
    return {
      traceparent,
      job: job && {
        id: job.id,
        attempt: job.attempt,
        ...(job.key !== undefined && { key: job.key }),
        progress: value => onProgress?.(job.id, jobProgress(value)),
      },
      get signal() {
        return codeContext()?.call?.signal ?? NEVER_ABORTED
      },
    }
  }

  /** View of the running code. */
  get view(): View {
    return this.views.of(this.access, 'code')
  }

  /** @throws like {@link reading} */
  prepare(dataClass: DataClass, texts: QueryTexts): PreparedQuery {
    return this.reading(view => this.queries.prepare(dataClass, texts, view))
  }

  /**
   * Reads names and texts of plugin code in the view of the running code.
   * @throws {UsageError} they cannot be used; alike for a name that does not exist and one that is hidden from the caller, who may have
   * sent it. Its cause, for the log, tells them apart.
   */
  reading<T>(read: (view: View) => T): T {
    try {
      return read(this.view)
    } catch (error) {
      if (!isRefusal(error)) throw error
      throw new UsageError(error.message, this.isHidden(read) ? PermissionErrors.READ() : error)
    }
  }

  /** True if names and texts could be used with the rights of the code itself. */
  private isHidden(read: (view: View) => unknown): boolean {
    if (!this.hasCallerRights) return false
    try {
      read(this.views.of(undefined, 'code'))
      return true
    } catch {
      return false
    }
  }

  /** True if the rights of the running code are limited to those of the caller. */
  get hasCallerRights(): boolean {
    return this.call?.access !== undefined
  }

  /** True if an attribute does not exist for the running code. */
  hides(attribute: Attribute): boolean {
    return this.hasCallerRights && !this.view.shows(attribute)
  }

  /** @throws {PermissionErrors.READ} entities of the dataclass may not be read */
  demandRead(dataClass: DataClass): void {
    if (this.hasCallerRights && !this.view.shows(dataClass)) throw PermissionErrors.READ()
  }

  /** Runs `work` with the rights of the code itself. */
  withOwnRights<T>(work: () => T): T {
    return this.hasCallerRights ? this.run({ access: undefined }, work) : work()
  }

  /** Runs events: with the rights of the code itself, and whatever restrict events hide from the caller. */
  asEvent<T>(work: () => T): T {
    return this.hasCallerRights ? this.run({ access: undefined, seesAll: true }, work) : this.seeingAll(work)
  }

  /** Runs `work`, which sees what restrict events hide from the caller. */
  seeingAll<T>(work: () => T): T {
    const isRestricted = this.options.hooks?.visible !== undefined && !this.call?.seesAll
    return isRestricted ? this.run({ seesAll: true }, work) : work()
  }

  /** Runs `work` with the privileges to which `roles.json` promotes a function while it runs. Source: protocol notes, 8.4. */
  promoting<T>(resources: readonly Resource[], work: () => T): T {
    const { access, session } = this.call ?? {}
    if (!access || !session) return work()
    const promotions = this.views.promotedBy(resources, access).map(privilege => session.promote(privilege))
    const demote = () => {
      for (const promotion of promotions) session.demote(promotion)
    }
    if (promotions.length === 0) return work()
    let isLater = false
    try {
      const result = work()
      isLater = isThenable(result)
      return isLater ? (endingWith(result as PromiseLike<unknown>, demote) as T) : result
    } finally {
      if (!isLater) demote()
    }
  }

  /** Context for one query of the call. */
  get context(): QueryContext {
    return this.contextOf(this.snapshot)
  }

  private contextOf(snapshot: Snapshot): QueryContext {
    const budget = new QueryBudget({ ...this.limits, ...this.deadline, counter: this.call!.state! })
    const remote = this.options.remote && this.reads.get(snapshot)
    const context = { snapshot, budget, remote }
    if (remote) remote.context = context
    return context
  }

  /** @throws {EngineErrors.UNKNOWN_DATACLASS} */
  binding(name: string): Binding {
    const dataClass = this.catalog.dataClassesByName.get(name)
    if (dataClass) return this.bindings.get(dataClass)!
    const known = this.catalog.dataClasses.map(each => each.name)
    throw EngineErrors.UNKNOWN_DATACLASS(name, suggestion(name, known))
  }

  /** The only instance of a singleton class in this thread, made on first use. */
  singleton(name: string): object | undefined {
    let instance = this.singletons.get(name)
    if (!instance) {
      const found = this.options.classes?.find(each => each.name === name && subjectOf(each).kind === 'singleton')
      if (!found) return undefined
      instance = new (derived(found as new () => object, this))()
      this.singletons.set(name, instance)
    }
    return instance
  }

  /** Registers a read to be settled before the snapshot moves on. */
  wait(pending: Pending): void {
    this.pending.add(pending)
  }

  settled(pending: Pending): void {
    this.pending.delete(pending)
  }

  save(request: Omit<SaveRequest, 'kind'>): SaveResult {
    const { dataClass } = this.binding(request.dataClass)
    return this.changesOf(dataClass).save(this.saveRequest(request), dataClass)
  }

  /** A request to the writer, with the rights of the running code. */
  saveRequest(request: Omit<SaveRequest, 'kind'>): SaveRequest {
    this.writer()
    const whole: SaveRequest = { kind: 'save', ...this.rights, ...request }
    const { newRows } = this.binding(request.dataClass)
    return newRows.areAutomatic ? { ...whole, user: this.userName, moment: request.moment ?? this.moment } : whole
  }

  /**
   * Time of automatic values of entities that are saved now: one for a transaction, and for a run of events. Undefined for other saves,
   * each of which has its own.
   */
  get moment(): number | undefined {
    if (this.overlay) return this.begunAt
    const { eventRun, now } = this
    if (eventRun) eventRun.moment ??= now()
    return eventRun?.moment
  }

  /** Name of the user of the call; empty for a guest and for the server itself. */
  get userName(): string {
    return this.call?.session?.userName ?? ''
  }

  drop(request: Omit<DeleteRequest, 'kind'>): DeleteResult {
    this.demandWrite()
    // Events run with their own rights, the deletion itself with those of the caller.
    const { rights } = this
    const { dataClass } = this.binding(request.dataClass)
    const send = (each: typeof request) => this.changesOf(dataClass).drop({ ...rights, ...each }, dataClass)
    const { drop } = this.options.hooks ?? {}
    const isFree = this.view.may('drop', dataClass)
    return (
      (isFree ? this.withOwnRights(() => drop?.call(this.options.hooks, request, this, send)) : undefined) ??
      send(request)
    )
  }

  /** Locks an entity for the session of the call, or unlocks it. */
  lock(dataClass: DataClass, rowId: number, lock: boolean): LockResult {
    if (!this.view.may('update', dataClass)) throw PermissionErrors.UPDATE(dataClass.name)
    if (!this.call) throw LanguageErrors.NO_CALL()
    const { session } = this.call
    if (!session) throw LanguageErrors.NO_SESSION('a lock')
    const holder = session.lockHolder()
    return this.changesOf(dataClass).lock(dataClass, rowId, lock, holder)
  }

  /** Writes new values of stored calculated attributes. */
  putCalculated(request: CalculatedRequest): void {
    this.written(writer => writer.write(request))
  }

  /** Enqueues a job with the transaction, or with the save or deletion whose event runs. @returns the id of the job, or of the one with its key */
  enqueue(job: NewJob): string {
    const writer = this.writer()
    if (this.collected) {
      const { jobs } = this.collected
      const { key, name } = job
      const known = key === undefined ? undefined : jobs.find(other => other.key === key && other.name === name)
      if (!known) jobs.push(job)
      return known?.id ?? this.holder(job) ?? job.id
    }
    const { result } = writer.write({ kind: 'enqueue', jobs: [job] })
    return result.ids[0]!
  }

  /** Runs the events before a save or a deletion, whose jobs are to be written with it. */
  collecting<T>(collected: CollectedJobs | undefined, work: () => T): T {
    const outer = this.collected
    this.collected = collected
    try {
      return work()
    } finally {
      this.collected = outer
    }
  }

  /** Runs events before a save or a deletion: records what they read, and binds what they write to the run. */
  runEvents<T>(run: EventRun, work: () => T): T {
    const outer = this.eventRun
    this.eventRun = run
    try {
      return work()
    } finally {
      this.eventRun = outer
    }
  }

  /** Keeps or undoes what the events of a run have written in the transaction. */
  endRun(run: EventRun, keep: boolean): void {
    const { mark, outer, later } = run
    if (mark !== undefined) {
      if (!keep) this.overlay!.rollback(mark)
      this.version++
      this.options.writer!.finish(keep)
    }
    if (!keep) return
    for (const [before, saved] of run.replaced) internals.follow(before, saved)
    if (outer) for (const each of later) outer.later.push(each)
  }

  /** Does work when what the running events write has been committed: now, if none run. */
  afterCommit(work: () => void): void {
    if (this.eventRun) this.eventRun.later.push(work)
    else work()
  }

  /** To be called before a write of which events may be a part. @throws like {@link beginWrites} */
  demandWrite(): void {
    if (this.eventRun) this.beginWrites(this.eventRun)
  }

  /** @throws {NeedsTransaction} the events of the run write outside of a transaction; {@link LanguageErrors.REMOTE_EVENT} */
  private beginWrites(run: EventRun): void {
    if (!this.changesOf(run.dataClass).mayEventsWrite) throw LanguageErrors.REMOTE_EVENT(run.dataClass.name)
    if (!this.overlay) {
      run.needsTransaction = true
      throw new NeedsTransaction()
    }
    if (run.mark !== undefined) return
    if (run.outer) this.beginWrites(run.outer)
    this.options.writer!.begin(this.timeLeft())
    run.mark = this.overlay.mark
  }

  /** The entity whose events before a save run. */
  get saving(): object | undefined {
    return this.collected?.entity
  }

  private holder({ name, key }: NewJob): string | undefined {
    return key === undefined ? undefined : (this.options.store.records.record(ownKey(name, key)) as string | undefined)
  }

  /** Name of the job that a function is: see `@job`. */
  jobName(called: unknown): string | undefined {
    this.jobNames ??= jobNames(this, this.options.classes ?? [])
    return this.jobNames.get(called)
  }

  get isInTransaction(): boolean {
    return this.overlay !== undefined
  }

  /** The open transaction, which keeps the bytes of images and blobs that it has saved. */
  get transactionOverlay(): Overlay | undefined {
    return this.overlay
  }

  /**
   * Keeps all or none of the saves and drops of `work`, which sees its own writes.
   * @param moment time of automatic values, if the transaction is the outermost one
   * @returns what `work` returns; if that is false, nothing is kept
   * @throws what `work` throws, and nothing is kept; {@link LanguageErrors.ASYNC_TRANSACTION}
   */
  transaction<T>(work: () => T, moment = this.now()): T {
    const writer = this.writer()
    this.demandWrite()
    const isOutermost = !this.overlay
    this.settleAll()
    writer.begin(this.timeLeft())
    // The writer does nothing else until the end, so this is the state that the transaction starts from.
    if (isOutermost) {
      this.overlay = new Overlay(this.freshSnapshot(), this.options.store.layouts)
      this.begunAt = moment
    }
    const overlay = this.overlay!
    const { mark } = overlay
    const revoked = { is: false }
    let keep = false
    try {
      const result = this.collecting(undefined, () => inContext({ revoked }, work))
      if (isThenable(result)) {
        revoked.is = true
        result.then(undefined, () => {})
        throw LanguageErrors.ASYNC_TRANSACTION()
      }
      this.settleAll()
      keep = result !== false
      return result
    } finally {
      if (!keep) overlay.rollback(mark)
      if (isOutermost) this.overlay = undefined
      this.version++
      try {
        writer.finish(keep)
      } finally {
        if (isOutermost) this.moveOn()
      }
    }
  }

  /** Rights of the caller with the current promotions. */
  get access(): Access | undefined {
    const { access, session } = this.call ?? {}
    if (!access || !session || session.promotedPrivileges.length === 0) return access
    const { promotedPrivileges: privileges } = session
    if (this.raised?.from !== access || this.raised.privileges !== privileges) {
      this.raised = { from: access, privileges, access: this.views.promoted(access, privileges) }
    }
    return this.raised.access
  }

  /** Rights of the running code, for the writer. */
  private get rights(): Pick<SaveRequest, 'access' | 'owner'> {
    return { access: this.access, owner: this.call?.session?.id }
  }

  /** Writes to the store, and moves on to the state after it. */
  written<R>(write: (writer: WriterLink) => { result: R; changes: Parameters<Overlay['add']>[0] }): R {
    const writer = this.writer()
    this.demandWrite()
    this.settleAll()
    const { result, changes } = write(writer)
    this.overlay?.add(changes)
    if (this.overlay) this.version++
    else this.moveOn()
    return result
  }

  /** @throws {LanguageErrors.NO_CALL} {@link LanguageErrors.READ_ONLY} */
  writer(): WriterLink {
    if (!this.call) throw LanguageErrors.NO_CALL()
    if (this.call.canWrite === false || !this.options.writer) throw LanguageErrors.READ_ONLY()
    return this.options.writer
  }

  get deadline(): Pick<BudgetLimits, 'deadlineAt' | 'timeoutMs'> {
    const { time } = this.call ?? {}
    return time ? { deadlineAt: time.deadlineAt, timeoutMs: time.deadlineMs } : {}
  }

  private timeLeft(): number {
    const deadlineAt = this.call?.time?.deadlineAt
    // The process is being debugged.
    if (deadlineAt === Number.POSITIVE_INFINITY) return deadlineAt
    const most = this.options.transactionTimeoutMs ?? TRANSACTION_TIMEOUT_MS
    return Math.max(1, Math.min(most, (deadlineAt ?? Number.POSITIVE_INFINITY) - Date.now()))
  }

  settleAll(): void {
    for (const pending of this.pending) pending.settle()
  }

  private freshSnapshot(): Snapshot {
    this.moveOn()
    return this.unrestricted
  }

  moveOn(): void {
    this.seen = undefined
    this.open?.release()
    this.open = undefined
    this.version++
  }

  private rest(): void {
    this.pending.clear()
    if (!this.open) return
    this.moveOn()
    this.options.store.releaseSnapshot()
  }
}

/** A text that could not be used, in contrast to work that took too long. */
const isRefusal = (error: unknown): error is ProtocolError => error instanceof ProtocolError && error.httpStatus < 500

const NEVER_ABORTED = new AbortController().signal

/** A promise for the same result that is settled after `end`. */
async function endingWith(result: PromiseLike<unknown>, end: () => void): Promise<unknown> {
  try {
    return await result
  } finally {
    end()
  }
}
