import type { DataClass } from '../../catalog/dataclass.ts'
import { PermissionErrors } from '../../permission/permission-errors.ts'
import type {
  CalculatedRequest,
  DeleteRequest,
  DeleteResult,
  LockResult,
  SaveRequest,
  SaveResult,
} from '../../write/contract/requests.ts'
import { isThenable } from '../../base/promised.ts'
import { inContext } from '../declare/running-call.ts'
import type { WriterLink } from '../../write/client/writer-link.ts'
import type { Changes } from './changes/changes.ts'
import { DatabaseChanges } from './changes/database-changes.ts'
import { StoreChanges } from './changes/store-changes.ts'
import { internals } from './entity-internals.ts'
import { LanguageErrors } from './language-errors.ts'
import { type NewJob, ownKey } from '../../jobs/job.ts'
import { Overlay } from '../../columns/overlay.ts'
import { type EventRun, NeedsTransaction } from './event-run.ts'
import type { CodeSession } from './code-session.ts'

/** Jobs that the events of an entity have enqueued. */
interface CollectedJobs {
  /** The entity that is saved, which may have no key yet. */
  readonly entity?: object
  readonly jobs: NewJob[]
}

/** Changes of entities: saves, deletions, locks and jobs, transactions, and what events write. */
export class Writes {
  /** Changes of the open transaction, with the bytes of the images and blobs that it has saved. */
  overlay: Overlay | undefined
  /** Time of automatic values in the open transaction. */
  private begunAt = 0
  /** Jobs of the entity whose events run; undefined if no events run. */
  private collected: CollectedJobs | undefined
  /** The run of the events before a save or a deletion; undefined if no events run. */
  eventRun: EventRun | undefined
  private readonly storeChanges: Changes
  readonly databaseChanges: DatabaseChanges

  constructor(private readonly codeSession: CodeSession) {
    this.storeChanges = new StoreChanges(codeSession)
    this.databaseChanges = new DatabaseChanges(codeSession)
  }

  /** How entities of a dataclass are changed. */
  changesOf({ place }: DataClass): Changes {
    return place.isStore ? this.storeChanges : this.databaseChanges
  }

  save(request: Omit<SaveRequest, 'kind'>): SaveResult {
    const { dataClass } = this.codeSession.binding(request.dataClass)
    return this.changesOf(dataClass).save(this.saveRequest(request), dataClass)
  }

  /** A request to the writer, with the rights of the running code. */
  saveRequest(request: Omit<SaveRequest, 'kind'>): SaveRequest {
    this.writer()
    const fullRequest: SaveRequest = { kind: 'save', ...this.codeSession.scope.rights, ...request }
    const { newRows } = this.codeSession.binding(request.dataClass)
    return newRows.areAutomatic
      ? { ...fullRequest, user: this.codeSession.scope.userName, moment: request.moment ?? this.moment }
      : fullRequest
  }

  /**
   * Time of automatic values of entities that are saved now: one for a transaction, and for a run of events. Undefined for other saves,
   * each of which has its own.
   */
  get moment(): number | undefined {
    if (this.overlay) return this.begunAt
    const { eventRun } = this
    if (eventRun) eventRun.moment ??= this.codeSession.now()
    return eventRun?.moment
  }

  drop(request: Omit<DeleteRequest, 'kind'>): DeleteResult {
    this.demandWrite()
    // Events run with their own rights, the deletion itself with the rights of the caller.
    const { rights } = this.codeSession.scope
    const { dataClass } = this.codeSession.binding(request.dataClass)
    const send = (each: typeof request) => this.changesOf(dataClass).drop({ ...rights, ...each }, dataClass)
    const { drop } = this.codeSession.options.hooks ?? {}
    const isFree = this.codeSession.scope.view.may('drop', dataClass)
    return (
      (isFree
        ? this.codeSession.scope.withOwnRights(() =>
            drop?.call(this.codeSession.options.hooks, request, this.codeSession, send),
          )
        : undefined) ?? send(request)
    )
  }

  /** Locks an entity for the session of the call, or unlocks it. */
  lock(dataClass: DataClass, rowId: number, lock: boolean): LockResult {
    if (!this.codeSession.scope.view.may('update', dataClass)) throw PermissionErrors.UPDATE(dataClass.name)
    if (!this.codeSession.scope.options) throw LanguageErrors.NO_CALL()
    const { session } = this.codeSession.scope.options
    if (!session) throw LanguageErrors.NO_SESSION('a lock')
    const holder = session.lockHolder()
    return this.changesOf(dataClass).lock(dataClass, rowId, lock, holder)
  }

  /** Writes new values of stored calculated attributes. */
  putCalculated(request: CalculatedRequest): void {
    this.writeToStore(writer => writer.write(request))
  }

  /**
   * Enqueues a job with the transaction, or with the save or deletion whose event runs. @returns the id of the job, or of the existing job
   * with the same key
   */
  enqueue(job: NewJob): string {
    const writer = this.writer()
    if (this.collected) {
      const { jobs } = this.collected
      const { key, name } = job
      const collectedJob = key === undefined ? undefined : jobs.find(other => other.key === key && other.name === name)
      if (!collectedJob) jobs.push(job)
      return collectedJob?.id ?? this.holder(job) ?? job.id
    }
    const { result } = writer.write({ kind: 'enqueue', jobs: [job] })
    return result.ids[0]!
  }

  /** Runs the events before a save or a deletion, whose jobs are to be written with it. */
  collecting<T>(collectedJobs: CollectedJobs | undefined, work: () => T): T {
    const outer = this.collected
    this.collected = collectedJobs
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
      this.codeSession.snapshots.version++
      this.codeSession.options.writer!.finish(keep)
    }
    if (!keep) return
    for (const [before, replacement] of run.savedReplacements) internals.follow(before, replacement)
    if (outer) for (const each of later) outer.later.push(each)
  }

  /** Runs `work` when the writes of the running events have been committed: immediately, if no events run. */
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
    this.codeSession.options.writer!.begin(this.codeSession.scope.timeLeft())
    run.mark = this.overlay.mark
  }

  /** The entity whose events before a save run. */
  get saving(): object | undefined {
    return this.collected?.entity
  }

  private holder({ name, key }: NewJob): string | undefined {
    return key === undefined
      ? undefined
      : (this.codeSession.options.store.records.record(ownKey(name, key)) as string | undefined)
  }

  get isInTransaction(): boolean {
    return this.overlay !== undefined
  }

  /**
   * Keeps all or none of the saves and drops of `work`, which sees its own writes.
   * @param moment time of automatic values, if the transaction is the outermost one
   * @returns what `work` returns; if that is false, nothing is kept
   * @throws what `work` throws, and nothing is kept; {@link LanguageErrors.ASYNC_TRANSACTION}
   */
  transaction<T>(work: () => T, moment = this.codeSession.now()): T {
    const writer = this.writer()
    this.demandWrite()
    const isOutermost = !this.overlay
    this.codeSession.snapshots.settleAll()
    writer.begin(this.codeSession.scope.timeLeft())
    // The writer does nothing else until the end, so this is the state that the transaction starts from.
    if (isOutermost) {
      this.overlay = new Overlay(this.codeSession.snapshots.freshSnapshot(), this.codeSession.options.store.layouts)
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
      this.codeSession.snapshots.settleAll()
      keep = result !== false
      return result
    } finally {
      if (!keep) overlay.rollback(mark)
      if (isOutermost) this.overlay = undefined
      this.codeSession.snapshots.version++
      try {
        writer.finish(keep)
      } finally {
        if (isOutermost) this.codeSession.snapshots.moveOn()
      }
    }
  }

  /** Writes to the store, and moves on to the state after it. */
  writeToStore<R>(write: (writer: WriterLink) => { result: R; changes: Parameters<Overlay['add']>[0] }): R {
    const writer = this.writer()
    this.demandWrite()
    this.codeSession.snapshots.settleAll()
    const { result, changes } = write(writer)
    this.overlay?.add(changes)
    if (this.overlay) this.codeSession.snapshots.version++
    else this.codeSession.snapshots.moveOn()
    return result
  }

  /** @throws {LanguageErrors.NO_CALL} {@link LanguageErrors.READ_ONLY} */
  writer(): WriterLink {
    if (!this.codeSession.scope.options) throw LanguageErrors.NO_CALL()
    if (this.codeSession.scope.options.canWrite === false || !this.codeSession.options.writer)
      throw LanguageErrors.READ_ONLY()
    return this.codeSession.options.writer
  }
}
