import type { DataClass } from '../catalog/dataclass.ts'
import type { View } from '../catalog/view.ts'
import type { ErrorData } from '../errors.ts'
import { type Deletion, deleteRows } from './delete-entities.ts'
import type { LockTable } from './lock-table.ts'
import type { SaveBody } from './parse-body.ts'
import { putCalculated } from './put-calculated.ts'
import type {
  CalculatedRequest,
  DeleteRequest,
  EntitySetsRequest,
  FreeLocksRequest,
  LockRequest,
  LockResult,
  RecordsRequest,
  SavedEntity,
  SaveRequest,
  UploadsRequest,
  WriteResult,
} from './requests.ts'
import type { SaveContext } from './entity-change.ts'
import { saveEntity } from './save-entity.ts'
import { WriteErrors } from './write-errors.ts'
import type { WriteTransaction } from './write-transaction.ts'

/** What a step runs in. */
export interface StepContext {
  readonly transaction: WriteTransaction
  readonly timestamp: string
  readonly randomUuid: () => string
  /** Entities of a step, so that others get in between. */
  readonly sliceSize: number
  readonly locks: LockTable
}

/**
 * A request on its way through one or more transactions. Its state changes in the function that a step returns, which
 * is called once the transaction is durable: a step that was not can be repeated.
 */
export interface WriteJob {
  /** Undefined while there is work left. */
  readonly outcome: WriteResult | ErrorData | undefined
  step(context: StepContext): (globalStamp: number) => void
  /** The store refused the last step, alone in its transaction. */
  fail(error: ErrorData): void
}

/** A request that is over before it came to a transaction. */
export const endedJob = (outcome: WriteResult | ErrorData): WriteJob => ({
  outcome,
  step: () => () => {},
  fail: () => {},
})

export class SaveJob implements WriteJob {
  outcome: WriteResult | ErrorData | undefined
  private readonly entities: SavedEntity[] = []
  private globalStamp = 0

  constructor(
    private readonly request: SaveRequest,
    private readonly dataClass: DataClass,
    private readonly body: SaveBody,
    /** What exists for the one who saves. */
    private readonly view: View,
  ) {}

  step({ transaction, timestamp, randomUuid, sliceSize, locks }: StepContext): (globalStamp: number) => void {
    const { mode, atomic, trusted = false, owner, anyStamp = false, uploads, received } = this.request
    const context: SaveContext = {
      transaction,
      locks,
      owner,
      dataClass: this.dataClass,
      view: this.view,
      mode,
      trusted,
      anyStamp,
      uploads,
      received,
      timestamp,
      randomUuid,
    }
    const slice = atomic || mode !== 'update' ? this.saveTogether(context) : this.saveSlice(context, sliceSize)
    return globalStamp => {
      for (const entity of slice) this.entities.push(entity)
      this.globalStamp = globalStamp
      if (this.entities.length >= this.body.elements.length) this.finish()
    }
  }

  fail(error: ErrorData): void {
    // Slices that are durable stay; what is left is reported with the failure.
    if (this.entities.length === 0) this.outcome = error
    else {
      const failure = { status: { status: 4, statusText: 'Other error' }, error }
      while (this.entities.length < this.body.elements.length) this.entities.push({ failure })
      this.finish()
    }
  }

  private finish(): void {
    this.outcome = { kind: 'save', many: this.body.many, entities: this.entities, globalStamp: this.globalStamp }
  }

  private saveSlice(context: SaveContext, size: number): SavedEntity[] {
    const start = this.entities.length
    const end = Math.min(start + size, this.body.elements.length)
    return Array.from({ length: end - start }, (_, i) => this.save(start + i, context))
  }

  private save(index: number, context: SaveContext): SavedEntity {
    return saveEntity(context, this.body.elements[index], this.request.hooked?.[index])
  }

  /** All or none; what is only validated or previewed is taken back in any case. */
  private saveTogether(context: SaveContext): SavedEntity[] {
    const { transaction, mode } = context
    let entities: SavedEntity[] = []
    const save = (mode: SaveRequest['mode']): SavedEntity[] =>
      this.body.elements.map((_, i) => this.save(i, { ...context, mode }))
    const kept = transaction.attempt(() => {
      entities = save(mode)
      return mode === 'update' && !entities.some(entity => entity.failure)
    })
    if (kept || mode !== 'update') return entities
    // Those without a fault of their own are shown with their new values and the old stamp (protocol notes, 5.5).
    transaction.attempt(() => {
      entities = save('refresh')
      return false
    })
    return entities
  }
}

export class DeleteJob implements WriteJob {
  outcome: WriteResult | ErrorData | undefined
  private next = 0
  private deleted = 0
  /** Stopped in their slice; perhaps only by others of a later one. */
  private blocked: number[] = []
  private error: ErrorData | undefined
  private readonly stamps: ReadonlyMap<number, number> | undefined

  constructor(
    private readonly request: DeleteRequest,
    private readonly dataClass: DataClass,
    private readonly view: View,
  ) {
    const { rowIds, stamps } = request
    this.stamps = stamps && new Map(Array.from(rowIds, (rowId, i) => [rowId, stamps[i]!]))
  }

  step({ transaction, timestamp, sliceSize, locks }: StepContext): () => void {
    const { rowIds, atomic, owner } = this.request
    const size = atomic ? rowIds.length : sliceSize
    const isRetry = this.next >= rowIds.length
    const slice = isRetry ? this.blocked : rowIds.subarray(this.next, this.next + size)
    let deletion: Deletion = { deleted: 0, blocked: [] }
    const run = () => {
      const stale = this.stamps && staleRows(transaction, this.dataClass, slice, this.stamps)
      const fresh = stale ? slice.filter(rowId => !stale.rowIds.has(rowId)) : slice
      const context = { transaction, locks, owner, timestamp, view: this.view }
      deletion = deleteRows(context, this.dataClass, fresh, this.request.hooked)
      if (!stale || stale.rowIds.size === 0) return
      deletion.blocked.push(...stale.rowIds)
      deletion.error ??= stale.error
    }
    if (!atomic) run()
    else {
      const kept = transaction.attempt(() => {
        run()
        return deletion.blocked.length === 0 && !deletion.changed
      })
      if (!kept) deletion.deleted = 0
    }
    return () => {
      if (deletion.changed) {
        this.outcome = { kind: 'delete', deleted: this.deleted, changed: true }
        return
      }
      this.deleted += deletion.deleted
      this.blocked = isRetry ? deletion.blocked : [...this.blocked, ...deletion.blocked]
      this.error = isRetry ? deletion.error : (this.error ?? deletion.error)
      this.next += size
      const wasWhole = isRetry || size >= rowIds.length
      if (this.next >= rowIds.length && (wasWhole || this.blocked.length === 0)) this.finish()
    }
  }

  fail(error: ErrorData): void {
    this.error = error
    this.finish()
  }

  private finish(): void {
    const { deleted, error } = this
    this.outcome = { kind: 'delete', deleted, ...(error && { error }) }
  }
}

/** Rows whose stored calculated attributes get the values that their code makes now. */
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

/** Rows that somebody else has saved since they were seen with these stamps, and what is wrong with the first. */
function staleRows(
  transaction: WriteTransaction,
  dataClass: DataClass,
  rowIds: Iterable<number>,
  stamps: ReadonlyMap<number, number>,
): { rowIds: Set<number>; error: ErrorData | undefined } {
  const stale = new Set<number>()
  let error: ErrorData | undefined
  for (const rowId of rowIds) {
    const row = transaction.row(dataClass, rowId)
    if (!row || row.stamp === stamps.get(rowId)) continue
    stale.add(rowId)
    const { name } = dataClass
    error ??= WriteErrors.STALE_STAMP(row.key, name, String(stamps.get(rowId)), row.stamp)
      .followedBy(WriteErrors.ENTITY_NOT_DELETED(row.key, name))
      .toData()
  }
  return { rowIds: stale, error }
}

/** Locks and unlocks; beside the store. */
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

  private run(transaction: WriteTransaction, locks: LockTable): LockResult | ErrorData {
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

/** Changes beside the entities, all in one step. */
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
