import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import type { View } from '../catalog/view.ts'
import { type ErrorData, ProtocolError } from '../errors.ts'
import type { Change } from '../storage/change-log.ts'
import type { Environment } from '../storage/environment.ts'
import type { RowLayout } from '../storage/row-layout.ts'
import { PermissionErrors } from '../permission/permission-errors.ts'
import { Views } from '../permission/views.ts'
import {
  CalculatedJob,
  DeleteJob,
  endedJob,
  FreeLocksJob,
  LockJob,
  SaveJob,
  SideJob,
  type StepContext,
  type WriteJob,
} from './jobs.ts'
import { LockTable } from './lock-table.ts'
import { parseBody } from './parse-body.ts'
import type { WriteRequest, WriteResult } from './requests.ts'
import { WriterErrors } from './write-errors.ts'
import { WriteTransaction } from './write-transaction.ts'

export interface WriterOptions {
  environment: Environment
  catalog: Catalog
  layouts: ReadonlyMap<DataClass, RowLayout>
  /** Milliseconds since 1970. */
  now: () => number
  /** 32 upper-case hex digits. */
  randomUuid: () => string
  /** What a client must not see of a failure. */
  onInternalError?: (error: unknown) => void
  /** Entities of one request that go into one transaction when others wait for their turn. */
  sliceSize?: number
  /** Change records that are kept: how far a reader may be behind and still catch up. */
  keptChangeRecords?: number
  /** Gets to know every durable commit, before its outcomes are; must not throw. */
  onCommit?: (changes: readonly Change[], globalStamp: number) => void
}

const SLICES_WHEN_ALONE = 5

/** All writing: the only code that opens write transactions. Synchronous; threads and queues are its caller's. */
export class Writer {
  private readonly options: WriterOptions
  private readonly transaction: WriteTransaction
  private readonly locks: LockTable
  private readonly views: Views

  constructor(options: WriterOptions) {
    this.options = options
    this.locks = new LockTable(options.now)
    this.views = new Views(options.catalog)
    this.transaction = new WriteTransaction(
      options.environment,
      options.layouts,
      options.keptChangeRecords ?? 100_000,
      options.onCommit,
    )
  }

  /** Runs the requests to their end, together as far as they fit. @returns their outcomes, which are durable */
  run(requests: readonly WriteRequest[]): (WriteResult | ErrorData)[] {
    const jobs = requests.map(request => this.begin(request))
    for (let open = jobs; open.length > 0; open = open.filter(job => !job.outcome)) this.commit(open)
    return jobs.map(job => job.outcome!)
  }

  /** Reads a request. Nothing is written yet. */
  begin(request: WriteRequest): WriteJob {
    try {
      if (request.kind === 'entitySets' || request.kind === 'records' || request.kind === 'uploads') {
        return new SideJob(request)
      }
      if (request.kind === 'freeLocks') return new FreeLocksJob(request)
      if (request.kind === 'lock') return new LockJob(request, this.dataClass(request.dataClass))
      if (request.kind === 'calculated') return new CalculatedJob(request, this.dataClass(request.dataClass))
      const view = this.views.of(request.access, request.kind === 'delete' || request.trusted ? 'code' : 'client')
      const dataClass = this.dataClass(request.dataClass, view)
      if (request.kind === 'delete') {
        if (!view.may('drop', dataClass)) {
          return endedJob({ kind: 'delete', deleted: 0, error: PermissionErrors.DROP(dataClass.name).toData() })
        }
        return new DeleteJob(request, dataClass, view)
      }
      return new SaveJob(request, dataClass, parseBody(request.body, dataClass), view)
    } catch (error) {
      return endedJob(this.errorData(error))
    }
  }

  /** Brings every job one step further, all in one durable transaction. */
  commit(jobs: readonly WriteJob[]): void {
    const open = jobs.filter(job => !job.outcome)
    if (open.length === 0) return
    const { now, randomUuid, sliceSize = 2_000 } = this.options
    // Fewer, larger transactions are faster; who comes meanwhile waits for one of them.
    const timestamp = new Date(now()).toISOString()
    const context: StepContext = {
      transaction: this.transaction,
      timestamp,
      randomUuid,
      locks: this.locks,
      sliceSize: open.length === 1 ? sliceSize * SLICES_WHEN_ALONE : sliceSize,
    }
    let accepts: ((globalStamp: number) => void)[] = []
    let globalStamp: number
    try {
      globalStamp = this.transaction.run(() => {
        accepts = open.map(job => job.step(context))
      })
    } catch (error) {
      // Nothing of this was written. One job may have spoilt it for all, so each gets a transaction of its own.
      if (open.length > 1) for (const job of open) this.commit([job])
      else open[0]!.fail(this.errorData(error))
      return
    }
    for (const accept of accepts) accept(globalStamp)
  }

  /** @throws {EngineErrors.UNKNOWN_DATACLASS} */
  private dataClass(name: string, view: View = this.views.of(undefined, 'code')): DataClass {
    const dataClass = this.options.catalog.dataClassesByName.get(name)
    // Who may create entities needs not be able to read them.
    if (dataClass && view.includes(dataClass) && (view.shows(dataClass) || view.may('create', dataClass)))
      return dataClass
    throw view.unknownDataClass(name)
  }

  private errorData(error: unknown): ErrorData {
    if (error instanceof ProtocolError) return error.toData()
    this.options.onInternalError?.(error)
    return (isDiskError(error) ? WriterErrors.DISK_FULL() : WriterErrors.FAILED()).toData()
  }
}

/** MDB_MAP_FULL, EIO (what LMDB makes of a write that the disk took only in part), EFBIG, ENOSPC, EDQUOT; Node's names. */
const DISK_CODES = new Set<unknown>([-30792, 5, 27, 28, 122, 'EIO', 'EFBIG', 'ENOSPC', 'EDQUOT'])
const isDiskError = (error: unknown): boolean => error instanceof Error && 'code' in error && DISK_CODES.has(error.code)
