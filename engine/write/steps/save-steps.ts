import type { DataClass } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import type { View } from '../../catalog/view.ts'
import type { ErrorData } from '../../base/errors.ts'
import { keyText } from '../../row-format/row-layout.ts'
import { enqueueJobs } from '../../jobs/enqueue-jobs.ts'
import type { StoreTransaction } from '../../data/store-transaction.ts'
import type { LockTable } from '../entity/lock-table.ts'
import { FailureDigest } from '../entity/failure-digest.ts'
import { identified } from '../entity/row-identity.ts'
import type { SaveBody } from '../body/parse-body.ts'
import { EncodedBody, type EncodedRows, unpackRows } from '../contract/encoded-rows.ts'
import { putCalculated } from '../entity/put-calculated.ts'
import type {
  CalculatedRequest,
  EnqueueRequest,
  EntitySetsRequest,
  FreeLocksRequest,
  HeldLock,
  InsertRequest,
  ListLocksRequest,
  LoadMark,
  LoadProgress,
  LockRequest,
  LockResult,
  RecordsRequest,
  SavedEntity,
  SaveRequest,
  UploadsRequest,
  WriteResult,
} from '../contract/requests.ts'
import type { SaveContext } from '../entity/entity-change.ts'
import { saveEncoded } from '../entity/save-encoded.ts'
import { OUTDATED, saveEntity } from '../entity/save-entity.ts'
import type { SaveRules } from '../value/validate.ts'
import { WriteErrors } from '../contract/write-errors.ts'
import { isOneTransaction, type WriteLimits } from '../contract/write-limits.ts'

/** Environment of a step. */
export interface StepContext {
  readonly transaction: StoreTransaction
  readonly timestamp: string
  readonly randomUuid: () => string
  readonly locks: LockTable
  readonly limits: WriteLimits
  readonly rules: ReadonlyMap<DataClass, SaveRules>
  /** Maximum number of entities in a step. */
  readonly sliceSize: number
  /** End of the step as of `performance.now`, so that other requests can interleave. A step always does some work. */
  readonly endsAt: number
  /** To be called periodically while a step waits for another thread. */
  readonly beat: () => void
  /** To be called when jobs have been enqueued that can run soon. */
  readonly enqueued: () => void
}

/** Environment of a step of a save, which only asks for locks. */
type SaveStep = Omit<StepContext, 'locks'> & { readonly locks: Pick<LockTable, 'blocker'> }

/**
 * A request in progress, in one or more transactions. Its state changes only in the function that a step returns, which is called
 * when the transaction is durable, so a step whose transaction failed can be repeated.
 */
export interface WriteJob {
  /** Undefined while there is work left. */
  readonly outcome: WriteResult | ErrorData | undefined
  step(context: StepContext): (globalStamp: number) => void
  /** Called when the store refused the last step, although it was alone in its transaction. */
  fail(error: ErrorData): void
}

/** A request that ended before its first transaction. */
export const endedJob = (outcome: WriteResult | ErrorData): WriteJob => ({
  outcome,
  step: () => () => {},
  fail: () => {},
})

export class SaveJob implements WriteJob {
  outcome: WriteResult | ErrorData | undefined
  private readonly entities: SavedEntity[] = []
  private globalStamp = 0
  private readonly digest: FailureDigest
  private described = 0
  /** Time of automatic values, once a transaction is durable. */
  private moment: number | undefined
  private readonly encoded: EncodedBody | undefined

  constructor(
    private readonly request: SaveRequest,
    private readonly dataClass: DataClass,
    private readonly body: SaveBody,
    /** View of the caller. */
    private readonly view: View,
    { maxDescribed }: WriteLimits,
  ) {
    this.encoded = request.encoded && new EncodedBody(request.encoded)
    this.moment = request.moment
    this.digest = new FailureDigest(request.trusted ? Number.POSITIVE_INFINITY : maxDescribed)
  }

  step(step: SaveStep): (globalStamp: number) => void {
    const { transaction, timestamp, randomUuid, locks, limits, rules, enqueued } = step
    const { trusted = false, anyStamp = false, ifMatch, owner, mode, uploads, received } = this.request
    const { user = '' } = this.request
    const { moment = Date.parse(timestamp) } = this
    const context: SaveContext = {
      transaction,
      locks,
      owner,
      dataClass: this.dataClass,
      rules: rules.get(this.dataClass)!,
      view: this.view,
      mode,
      trusted,
      anyStamp,
      ifMatch,
      uploads,
      received,
      timestamp,
      moment,
      user,
      randomUuid,
      maxProblems: limits.maxProblems,
      enqueued,
    }
    this.digest.described = this.described
    const slice = this.isOutdated(transaction)
      ? Array.from({ length: this.body.length - this.entities.length }, () => OUTDATED)
      : isOneTransaction(this.request)
        ? this.saveTogether(context)
        : this.saveSlice(context, step)
    const { described } = this.digest
    if (this.request.mark) this.putMark(transaction, slice)
    return globalStamp => {
      for (const entity of slice) this.entities.push(entity)
      this.globalStamp = globalStamp
      this.described = described
      this.moment = moment
      if (this.entities.length >= this.body.length) this.finish()
    }
  }

  fail(error: ErrorData): void {
    // Durable slices stay; the remaining entities are reported with the failure.
    if (this.entities.length === 0) this.outcome = error
    else {
      const failure = { status: { status: 4, statusText: 'Other error' }, error }
      while (this.entities.length < this.body.length) this.entities.push({ failure })
      this.finish()
    }
  }

  /** True if what code has read for the rest of the entities has changed. */
  private isOutdated(transaction: StoreTransaction): boolean {
    const { reads } = this.request
    return reads !== undefined && !transaction.stillHolds(reads)
  }

  private putMark(transaction: StoreTransaction, slice: readonly SavedEntity[]): void {
    const done = [...this.entities, ...slice]
    const left = done.flatMap(({ failure }, index) => (failure ? [index] : []))
    putProgress(transaction, this.request.mark, { next: done.length, left })
  }

  private finish(): void {
    this.outcome = { kind: 'save', many: this.body.many, entities: this.entities, globalStamp: this.globalStamp }
  }

  private saveSlice(context: SaveContext, { sliceSize, endsAt }: SaveStep): SavedEntity[] {
    const start = this.entities.length
    const end = Math.min(start + sliceSize, this.body.length)
    const slice: SavedEntity[] = []
    for (let i = start; i < end; i++) {
      if (slice.length > 0 && performance.now() > endsAt) break
      slice.push(this.save(i, context))
    }
    return slice
  }

  private save(index: number, context: SaveContext): SavedEntity {
    if (this.encoded && context.mode === 'update' && !this.request.hooked) {
      const { rows, index: row } = this.encoded.at(index)
      const saved = saveEncoded(context, rows, row)
      if (saved) return saved
    }
    const saved = saveEntity(context, this.body.element(index), this.request.hooked?.[index])
    return saved.failure ? { ...saved, failure: this.digest.add(saved.failure) } : saved
  }

  /** Saves all entities or none; validations and previews are always rolled back. */
  private saveTogether(context: SaveContext): SavedEntity[] {
    const { transaction, mode } = context
    let entities: SavedEntity[] = []
    const save = (mode: SaveRequest['mode']): SavedEntity[] => {
      const modal = { ...context, mode }
      this.digest.described = this.described
      return Array.from({ length: this.body.length }, (_, i) => this.save(i, modal))
    }
    const kept = transaction.attempt(() => {
      entities = save(mode)
      return mode === 'update' && !entities.some(({ failure, isOutdated }) => failure || isOutdated)
    })
    if (kept || mode !== 'update' || entities.some(({ isOutdated }) => isOutdated)) return entities
    // Entities that did not fail themselves are shown with their new values and the old stamp (protocol notes, 5.5).
    const tried = entities
    transaction.attempt(() => {
      entities = save('refresh')
      return false
    })
    // Stamps do not change in this pass, so a repeated entity is not stale the second time.
    return entities.map((entity, i) => {
      const failure = entity.failure ?? tried[i]!.failure
      return failure ? { ...entity, failure } : entity
    })
  }
}

function putProgress(
  transaction: StoreTransaction,
  mark: LoadMark | undefined,
  { next, left }: Omit<LoadProgress, 'id'>,
): void {
  if (!mark) return
  const value: LoadProgress = { id: mark.id, next, left }
  transaction.putRecord({ key: mark.key, value })
}

/** Inserts encoded entities. */
export class InsertJob implements WriteJob {
  outcome: WriteResult | ErrorData | undefined
  private readonly encoded: EncodedRows
  private readonly mark: LoadMark | undefined

  constructor(
    request: InsertRequest,
    private readonly dataClass: DataClass,
  ) {
    this.encoded = unpackRows(request.encoded)
    this.mark = request.mark
  }

  step({ transaction, timestamp, rules, beat }: StepContext): () => void {
    const { dataClass, encoded } = this
    const context = { transaction, timestamp, dataClass, rules: rules.get(dataClass)! }
    const left: number[] = []
    for (let i = 0; i < encoded.ends.length; i++) {
      beat()
      if (!saveEncoded(context, encoded, i)) left.push(i)
    }
    putProgress(transaction, this.mark, { next: encoded.ends.length, left })
    return () => {
      this.outcome = { kind: 'insert', left: Uint32Array.from(left) }
    }
  }

  fail(error: ErrorData): void {
    this.outcome = error
  }
}

/** Writes new values of stored calculated attributes. */
export class CalculatedJob implements WriteJob {
  outcome: WriteResult | ErrorData | undefined

  constructor(
    private readonly request: CalculatedRequest,
    private readonly dataClass: DataClass,
  ) {}

  step({ transaction }: StepContext): () => void {
    const { rows, fingerprints } = this.request
    for (const row of rows) putCalculated(transaction, this.dataClass, row)
    if (fingerprints) transaction.putFingerprints(this.dataClass, fingerprints)
    return () => {
      this.outcome = { kind: 'calculated' }
    }
  }

  fail(error: ErrorData): void {
    this.outcome = error
  }
}

/** Locks and unlocks entities; nothing is stored. */
export class LockJob implements WriteJob {
  outcome: WriteResult | ErrorData | undefined

  constructor(
    private readonly request: LockRequest,
    private readonly dataClass: DataClass,
  ) {}

  step({ transaction, locks }: StepContext): () => void {
    const outcome = this.run(transaction, locks)
    return () => {
      this.outcome = outcome
    }
  }

  fail(error: ErrorData): void {
    this.outcome = error
  }

  private run(transaction: StoreTransaction, locks: LockTable): LockResult | ErrorData {
    const { rowId, lock, holder } = this.request
    const { dataClass } = this
    const row = { dataClass, rowId }
    if (!transaction.row(dataClass, rowId)) return WriteErrors.ENTITY_NOT_FOUND('', dataClass.name).toData()
    const blocker = locks.blocker(dataClass, rowId, holder.owner)
    if (blocker) return { kind: 'lock', result: false, blocker: blocker.info }
    if (lock) return locks.take(row, holder) ? { kind: 'lock', result: true } : WriteErrors.TOO_MANY_LOCKS().toData()
    return { kind: 'lock', result: true, ...(!locks.free(row, holder.owner) && { wasNotLocked: true }) }
  }
}

export class FreeLocksJob implements WriteJob {
  outcome: WriteResult | ErrorData | undefined

  constructor(private readonly request: FreeLocksRequest) {}

  step({ locks }: StepContext): () => void {
    locks.freeAll(this.request.owner)
    return () => {
      this.outcome = { kind: 'freeLocks' }
    }
  }

  fail(error: ErrorData): void {
    this.outcome = error
  }
}

/** Lists locks; nothing changes. Deleted entities are left out. */
export class ListLocksJob implements WriteJob {
  outcome: WriteResult | ErrorData | undefined

  constructor(
    private readonly request: ListLocksRequest,
    private readonly dataClasses: readonly DataClass[],
  ) {}

  step({ transaction, locks }: StepContext): () => void {
    const found: HeldLock[] = []
    let count = 0
    for (const { row, owner, info, expires } of locks.list()) {
      if (++count > this.request.limit) continue
      const { tableNumber, rowId } = identified(row)
      const dataClass = this.dataClasses.find(each => each.tableNumber === tableNumber)!
      const entity = transaction.row(dataClass, rowId)
      if (!entity) continue
      const key = keyText(transaction.layout(dataClass), entity.value(dataClass.key) as Value)
      const lock = { dataClass: dataClass.name, key, owner, info }
      found.push(Number.isFinite(expires) ? { ...lock, expires } : lock)
    }
    return () => {
      this.outcome = { kind: 'listLocks', count, locks: found }
    }
  }

  fail(error: ErrorData): void {
    this.outcome = error
  }
}

/** Puts jobs into the queue. */
export class EnqueueJob implements WriteJob {
  outcome: WriteResult | ErrorData | undefined

  constructor(private readonly request: EnqueueRequest) {}

  step(context: StepContext): () => void {
    const ids = enqueueJobs(context, this.request.jobs, Date.parse(context.timestamp))
    return () => {
      this.outcome = { kind: 'enqueue', ids }
    }
  }

  fail(error: ErrorData): void {
    this.outcome = error
  }
}

/** Changes other than to entities, all in one step. */
export class SideJob implements WriteJob {
  outcome: WriteResult | ErrorData | undefined

  constructor(private readonly request: EntitySetsRequest | RecordsRequest | UploadsRequest) {}

  step({ transaction }: StepContext): () => void {
    const { request } = this
    if (request.kind === 'entitySets') for (const change of request.changes) transaction.putEntitySet(change)
    else if (request.kind === 'records') for (const change of request.changes) transaction.putRecord(change)
    else for (const change of request.changes) transaction.putUpload(change)
    return () => {
      this.outcome = { kind: request.kind }
    }
  }

  fail(error: ErrorData): void {
    this.outcome = error
  }
}
