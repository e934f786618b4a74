import type { LockHolder } from '../../../caller/lock-holder.ts'
import type { DataClass } from '../../../catalog/dataclass.ts'
import type { Value } from '../../../catalog/value.ts'
import type { Snapshot } from '../../../data/snapshot.ts'
import type { NewJob } from '../../../jobs/job.ts'
import type { Holding } from '../../../postgres/database/held-transaction.ts'
import type { RemoteLimits } from '../../../postgres/run/remote-link.ts'
import type { RemoteFetch } from '../../../postgres/tables/remote-needed.ts'
import type { RemoteChange } from '../../../postgres/writes/remote-writer.ts'
import type { ReadRequest } from '../../../query/contract/request.ts'
import { keyText } from '../../../row-format/row-layout.ts'
import { RowView } from '../../../row-format/row-view.ts'
import type {
  DeleteRequest,
  DeleteResult,
  LockResult,
  SaveRequest,
  SaveResult,
} from '../../../write/contract/requests.ts'
import { DATABASE_RUNS, type EventRun, SHARED_RUNS } from '../event-run.ts'
import type { CodeSession } from '../code-session.ts'
import { LanguageErrors } from '../language-errors.ts'
import type { Changes } from './changes.ts'
import { DatabaseRun } from './database-run.ts'

/** Changes of entities of databases, made by the thread that queries the databases. Their transactions guard what events have read. */
export class DatabaseChanges implements Changes {
  readonly mayEventsWrite = false
  readonly mayGoOn = false
  /** The run of events, with their save or deletion; undefined if none is in progress. */
  private run: DatabaseRun | undefined

  constructor(private readonly codeSession: CodeSession) {}

  get hasBegun(): boolean {
    return this.run?.hasBegun ?? false
  }

  /** Name of the user, if databases receive it. */
  get user(): string | undefined {
    const { codeSession } = this
    return codeSession.options.needsUser ? codeSession.scope.userName : undefined
  }

  /** Fetches what a read needs. @throws {ProtocolError} */
  fetch(fetch: () => RemoteFetch): void {
    const { codeSession } = this
    codeSession.options.remote!.fetch(fetch, this.limits, call =>
      this.run?.forRead(call, codeSession.writes.eventRun !== undefined),
    )
  }

  save(request: SaveRequest, dataClass: DataClass): SaveResult {
    const { hooked = [] } = request
    const requestWithoutJobs = {
      ...request,
      ...(request.hooked && { hooked: hooked.map(({ jobs: _, ...each }) => each) }),
    }
    const saveResult = this.applyChange<SaveResult>({ kind: 'remoteSave', request: requestWithoutJobs }, dataClass)
    const isSaved = request.mode === 'update' && !(request.atomic && saveResult.entities.some(({ failure }) => failure))
    if (isSaved) this.afterChange(() => this.enqueueAll(hooked.filter((_, i) => !saveResult.entities[i]?.failure)))
    const { codeSession } = this
    const layout = codeSession.options.store.layouts.get(dataClass)!
    const table = codeSession.snapshots.current.table(dataClass)
    // The returned row ids are only valid in the thread that saved the rows.
    const localRowId = ({ row }: SaveResult['entities'][number]) =>
      row && { rowId: table.rowIdOf!(new RowView(layout, row).value(dataClass.key) as Value) }
    return { ...saveResult, entities: saveResult.entities.map(each => ({ ...each, ...localRowId(each) })) }
  }

  drop(
    { access, owner, ifMatch, rowIds, stamps, atomic, hooked }: Omit<DeleteRequest, 'kind'>,
    dataClass: DataClass,
  ): DeleteResult {
    const keys = this.keyTexts(dataClass, rowIds)
    const rows = hooked?.rows.filter(each => each.dataClass === dataClass.name) ?? []
    const expectedStamps = stamps
      ? Array.from(stamps, (stamp, i) => [keys[i]!, stamp] as const)
      : rows.map(each => [this.keyTexts(dataClass, [each.rowId])[0]!, each.seenStamp] as const)
    const read = { ...keyRead(dataClass, keys), access }
    const deletion = { read, keys, atomic, owner, ifMatch, stamps: new Map(expectedStamps), isCode: true }
    const result = this.applyChange<DeleteResult>({ kind: 'remoteDelete', deletion }, dataClass)
    if (!result.error) this.afterChange(() => this.enqueueAll(rows))
    return result
  }

  lock(dataClass: DataClass, rowId: number, lock: boolean, holder: LockHolder): LockResult {
    const read = { ...keyRead(dataClass, this.keyTexts(dataClass, [rowId])), access: this.codeSession.scope.access }
    return this.applyChange<LockResult>({ kind: 'remoteLock', lock: { read, lock, holder, isCode: true } }, dataClass)
  }

  /** A new snapshot, because rows that were read before the run may be outdated. */
  eventSnapshot(run: EventRun, open: Snapshot): Snapshot {
    run.ownSnapshot ??= this.codeSession.snapshots.withDatabases(open, snapshot => snapshot)
    return run.ownSnapshot
  }

  beside<T>(
    dataClass: DataClass,
    isAtomic: boolean,
    work: () => T,
    isKept: (result: T) => boolean,
  ): { readonly result: T } | undefined {
    const gate = { isAlone: false, repeats: false }
    return this.inRun(this.runOf(dataClass, isAtomic, gate, false), work, isKept)
  }

  alone(dataClass: DataClass, isAtomic: boolean, runs: number, work: () => boolean): boolean | undefined {
    for (let run = runs + 1; run <= DATABASE_RUNS; run++) {
      const gate = { isAlone: run > SHARED_RUNS, repeats: run < DATABASE_RUNS }
      const databaseRun = this.runOf(dataClass, isAtomic, gate, true)
      this.codeSession.snapshots.settleAll()
      this.codeSession.snapshots.moveOn()
      const runResult = this.inRun(databaseRun, work, isKept => isKept)
      if (runResult) return runResult.result
    }
    return undefined
  }

  afterChange(work: () => void): void {
    if (this.run) this.run.afterCommit(work)
    else work()
  }

  private keyTexts(dataClass: DataClass, rowIds: Iterable<number>): string[] {
    const { options } = this.codeSession
    const { reads, unrestricted } = this.codeSession.snapshots
    const layout = options.store.layouts.get(dataClass)!
    const ofCall = reads.get(unrestricted)!
    return Array.from(rowIds, rowId => keyText(layout, ofCall.keyOf(dataClass, rowId)))
  }

  private applyChange<Result>(change: RemoteChange, dataClass: DataClass): Result {
    const { codeSession } = this
    this.demand(dataClass)
    codeSession.snapshots.settleAll()
    const { connection } = dataClass.remote!
    const result = codeSession.options.remote!.change(connection, change, this.limits, this.run?.forChange()) as Result
    codeSession.snapshots.moveOn()
    return result
  }

  /**
   * @throws {LanguageErrors.REMOTE_IN_EVENT} {@link LanguageErrors.REMOTE_IN_TRANSACTION} changes are not allowed inside events or
   * transactions
   */
  private demand({ name }: DataClass): void {
    const { codeSession } = this
    codeSession.writes.writer()
    if (codeSession.writes.eventRun) throw LanguageErrors.REMOTE_IN_EVENT(name)
    if (codeSession.writes.isInTransaction) throw LanguageErrors.REMOTE_IN_TRANSACTION(name)
  }

  /**
   * @param gate how other writes to the database are treated @param isWhole true if the first read or write of any kind begins the
   * transaction
   */
  private runOf(
    dataClass: DataClass,
    isAtomic: boolean,
    gate: Pick<Holding, 'isAlone' | 'repeats'>,
    isWhole: boolean,
  ): DatabaseRun {
    this.demand(dataClass)
    const { name, remote } = dataClass
    // Deferred constraints are checked at the end of an atomic change.
    const holding = { connection: remote!.connection, dataClass: name, checksAtOnce: !isAtomic, ...gate }
    return new DatabaseRun(this.codeSession.options.remote!, holding, isWhole)
  }

  private inRun<T>(
    run: DatabaseRun,
    work: () => T,
    isKept: (result: T) => boolean,
  ): { readonly result: T } | undefined {
    const { codeSession } = this
    const pending = new Set(codeSession.snapshots.pending)
    this.run = run
    let outcome: { readonly result: T } | { readonly thrown: unknown }
    try {
      outcome = { result: work() }
    } catch (exception) {
      outcome = { thrown: exception }
    }
    this.run = undefined
    if (run.hasBegun) codeSession.snapshots.moveOn()
    const ending = run.end('result' in outcome && isKept(outcome.result))
    if (ending === 'collided') {
      // Pending reads of the discarded run must not be attributed to the next run.
      for (const each of codeSession.snapshots.pending)
        if (!pending.has(each)) codeSession.snapshots.pending.delete(each)
      return undefined
    }
    if ('thrown' in outcome) throw outcome.thrown
    if (ending === 'kept') run.settle()
    return outcome
  }

  /** Enqueues the jobs of events, which are stored by the writer and not in the database. */
  private enqueueAll(items: readonly { readonly jobs?: readonly NewJob[] | undefined }[]): void {
    const jobs = items.flatMap(each => each.jobs ?? [])
    if (jobs.length > 0) this.codeSession.writes.writer().write({ kind: 'enqueue', jobs })
  }

  private get limits(): RemoteLimits {
    const { limits } = this.codeSession
    const { deadline } = this.codeSession.scope
    const deadlineAt = Math.min(deadline.deadlineAt ?? Number.POSITIVE_INFINITY, Date.now() + limits.timeoutMs)
    return { deadlineAt, user: this.user }
  }
}

const keyRead = ({ name }: DataClass, keys: readonly string[]): ReadRequest => ({
  dataClass: name,
  source: { kind: 'keys', keys },
  skip: 0,
  top: keys.length,
  output: { form: 'collection' },
})
