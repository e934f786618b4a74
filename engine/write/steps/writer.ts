import type { DataClass } from '../../catalog/dataclass.ts'
import type { ThreadCounts } from '../../base/counts/thread-counts.ts'
import type { View } from '../../catalog/view.ts'
import { type ErrorData, ProtocolError } from '../../base/errors.ts'
import type { Change } from '../../data/change.ts'
import { diskProblem } from '../../base/disk-problem.ts'
import { StoreLostError, type StoreTransaction } from '../../data/store-transaction.ts'
import type { WritableStore } from '../../data/writable-store.ts'
import { PermissionErrors } from '../../permission/permission-errors.ts'
import { Views } from '../../permission/views.ts'
import { CommitTimes } from './commit-times.ts'
import type { Heartbeat } from '../contract/heartbeat.ts'
import { DeleteSteps } from './delete-steps.ts'
import { OneStep } from './one-step.ts'
import { SaveSteps } from './save-steps.ts'
import { endedSteps, type WriteSteps } from './step.ts'
import { LockTable } from '../entity/lock-table.ts'
import { openBody } from '../body/parse-body.ts'
import type { DeleteRequest, SaveRequest, WriteRequest, WriteResult } from '../contract/requests.ts'
import { type SaveRules, saveRules } from '../value/validate.ts'
import { WriteErrors } from '../contract/write-errors.ts'
import { WriterErrors } from '../contract/writer-errors.ts'
import { bodyLimits, checkTransactionSize, SAVE_LIMITS, type SaveLimits } from '../contract/write-limits.ts'

export interface WriterOptions {
  store: Pick<WritableStore, 'catalog' | 'transaction'>
  /** Called when another process has taken over the store. Nothing is written from then on. */
  onStoreLost?: (error: StoreLostError) => void
  /** Milliseconds since 1970. */
  now: () => number
  /** Returns 32 random upper-case hex digits. */
  randomUuid: () => string
  /** Called with failures that clients must not see. */
  onInternalError?: (error: unknown) => void
  limits?: SaveLimits
  /** Time limit for the entities of all requests in one transaction. */
  sliceMs?: number
  /** Maximum number of entities of one request in one transaction. */
  sliceSize?: number
  /** Number of change records that are kept, and so the number by which a reader can lag behind and still catch up. */
  keptChangeRecords?: number
  /** Called after every durable commit, to make it visible to readers; must not throw. */
  onCommit?: (changes: readonly Change[], globalStamp: number) => void
  /** Called after every durable commit with new jobs. */
  onEnqueued?: () => void
  heartbeat?: Heartbeat
  /** Counters of the thread. */
  counts?: ThreadCounts
}

/** The commit and the update of the shared memory take about as long again, so other requests wait for about 200 ms at most. */
const SLICE_MS = 90
/** Larger commits do not cost less per entity. */
const SLICE_SIZE = 10_000
/** Minimum time of a step, however many steps share a transaction. */
const MIN_SLICE_MS = 1

/** All writing: the only code that opens write transactions. Synchronous; the caller manages threads and queues. */
export class Writer {
  private readonly options: WriterOptions
  private readonly transaction: StoreTransaction
  private readonly locks: LockTable
  private readonly views: Views
  private readonly limits: SaveLimits
  private readonly rules: ReadonlyMap<DataClass, SaveRules>
  /** The last commit, until readers see it. */
  private committed: { readonly changes: readonly Change[]; readonly globalStamp: number } | undefined
  private readonly times: CommitTimes | undefined

  constructor(options: WriterOptions) {
    this.options = options
    this.limits = options.limits ?? SAVE_LIMITS
    const locks = new LockTable(options.now)
    this.locks = locks
    const { store, heartbeat, keptChangeRecords, counts } = options
    const times = counts && new CommitTimes(counts)
    this.times = times
    this.views = new Views(store.catalog)
    this.rules = new Map(store.catalog.dataClasses.map(dataClass => [dataClass, saveRules(dataClass)]))
    this.transaction = store.transaction({
      keptChangeRecords,
      onCommit: (changes, globalStamp) => {
        this.committed = { changes, globalStamp }
      },
      onPhase(phase) {
        heartbeat?.enter(phase)
        times?.enter(phase)
      },
      onRow: () => heartbeat?.beat(),
    })
  }

  /** Runs requests to completion, sharing transactions as far as they fit. @returns their durable outcomes */
  run(requests: readonly WriteRequest[]): (WriteResult | ErrorData)[] {
    const allSteps = requests.map(request => this.begin(request))
    for (let open = allSteps; open.length > 0; open = open.filter(({ outcome }) => !outcome)) this.commit(open)
    return allSteps.map(({ outcome }) => outcome!)
  }

  /** Creates the steps of a request, which is declared in `engine/write/contract/requests.ts`. Nothing is written yet. */
  begin(request: WriteRequest): WriteSteps {
    try {
      if (request.kind === 'save') return this.beginSave(request)
      if (request.kind === 'delete') return this.beginDelete(request)
      return new OneStep(request, 'dataClass' in request ? this.dataClass(request.dataClass) : undefined)
    } catch (error) {
      return endedSteps(this.errorData(error))
    }
  }

  private beginSave(request: SaveRequest): WriteSteps {
    const { limits } = this
    const view = this.views.of(request.access, request.trusted ? 'code' : 'client')
    const dataClass = this.dataClass(request.dataClass, view)
    const body = openBody(request, dataClass, request.trusted ? undefined : bodyLimits(request, limits))
    checkTransactionSize(request, body.length, limits)
    return new SaveSteps(request, dataClass, body, view, limits)
  }

  private beginDelete(request: DeleteRequest): WriteSteps {
    const { maxTransactionEntities } = this.limits
    const view = this.views.of(request.access, 'code')
    const dataClass = this.dataClass(request.dataClass, view)
    if (!view.may('drop', dataClass)) {
      return endedSteps({ kind: 'delete', deleted: 0, error: PermissionErrors.DROP(dataClass.name).toData() })
    }
    if (request.atomic && request.rowIds.length > maxTransactionEntities) {
      throw WriteErrors.TOO_MANY_AT_ONCE('a deletion with $atomic', maxTransactionEntities)
    }
    return new DeleteSteps(request, dataClass, view)
  }

  /**
   * Runs one step of every request, all in one durable transaction.
   * @param onDurable called when outcomes of saves are known and durable, before readers see the commit; must not throw
   */
  commit(requests: readonly WriteSteps[], onDurable?: () => void): void {
    const open = requests.filter(({ outcome }) => !outcome)
    if (open.length === 0) return
    const { now, randomUuid, heartbeat, sliceSize = SLICE_SIZE, sliceMs = SLICE_MS } = this.options
    let hasJobs = false
    const step = {
      transaction: this.transaction,
      timestamp: new Date(now()).toISOString(),
      randomUuid,
      locks: this.locks,
      limits: this.limits,
      rules: this.rules,
      sliceSize,
      endsAt: 0,
      beat: () => heartbeat?.beat(),
      enqueued: () => {
        hasJobs = true
      },
    }
    const stepMs = Math.max(MIN_SLICE_MS, sliceMs / open.length)
    let accepts: ((globalStamp: number) => void)[] = []
    let globalStamp: number
    try {
      globalStamp = this.transaction.run(() => {
        accepts = open.map(request => {
          step.endsAt = performance.now() + stepMs
          return request.step(step)
        })
      })
    } catch (error) {
      // Nothing was written. One request may have caused the failure of all, so each is repeated in its own transaction.
      if (open.length > 1) for (const request of open) this.commit([request], onDurable)
      else open[0]!.fail(this.errorData(error))
      return
    }
    // Other requests are answered as soon as they have an outcome.
    for (const [i, accept] of accepts.entries()) if (open[i] instanceof SaveSteps) accept(globalStamp)
    onDurable?.()
    this.publish()
    for (const [i, accept] of accepts.entries()) if (!(open[i] instanceof SaveSteps)) accept(globalStamp)
    if (hasJobs) this.options.onEnqueued?.()
  }

  /** Makes the last commit visible to readers. */
  private publish(): void {
    const { committed, options, times, locks } = this
    if (!committed) return
    this.committed = undefined
    const { onCommit, heartbeat } = options
    heartbeat?.enter('working')
    onCommit?.(committed.changes, committed.globalStamp)
    heartbeat?.enter('idle')
    times?.committed(committed.changes.length)
    if (heartbeat) heartbeat.locks = locks.size
    heartbeat?.committed()
  }

  /** @throws {EngineErrors.UNKNOWN_DATACLASS} */
  private dataClass(name: string, view: View = this.views.of(undefined, 'code')): DataClass {
    const dataClass = this.options.store.catalog.dataClassesByName.get(name)
    // Creating does not require read permission.
    if (dataClass && view.includes(dataClass) && (view.shows(dataClass) || view.may('create', dataClass)))
      return dataClass
    throw view.unknownDataClass(name)
  }

  private errorData(error: unknown): ErrorData {
    if (error instanceof ProtocolError) return error.toData()
    if (error instanceof StoreLostError) {
      this.options.onStoreLost?.(error)
      return WriterErrors.STORE_LOST().toData()
    }
    this.options.onInternalError?.(error)
    const problem = diskProblem(error)
    return (problem === undefined ? WriterErrors.FAILED() : WriterErrors.DISK(problem)).toData()
  }
}
