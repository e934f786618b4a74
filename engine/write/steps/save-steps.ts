import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import type { ErrorData } from '../../base/errors.ts'
import type { StoreTransaction } from '../../data/store-transaction.ts'
import type { LockTable } from '../entity/lock-table.ts'
import { FailureDigest } from '../entity/failure-digest.ts'
import type { SaveBody } from '../body/parse-body.ts'
import { EncodedBody } from '../contract/encoded-rows.ts'
import type { LoadMark, LoadProgress, SavedEntity, SaveRequest, WriteResult } from '../contract/requests.ts'
import { OTHER_STATUS } from '../contract/save-failure.ts'
import type { SaveContext } from '../entity/entity-change.ts'
import { EncodedInsertion } from '../entity/insert-encoded.ts'
import { OUTDATED, saveEntity } from '../entity/save-entity.ts'
import { isOneTransaction, type WriteLimits } from '../contract/write-limits.ts'
import type { StepContext, WriteSteps } from './step.ts'

/** Environment of a step of a save, which only checks locks. */
type SaveStep = Omit<StepContext, 'locks'> & { readonly locks: Pick<LockTable, 'blocker'> }

/** An entity that was saved, for a request that needs no rows. */
const SAVED: SavedEntity = {}

/** A save, in slices unless it has to be one transaction. */
export class SaveSteps implements WriteSteps {
  outcome: WriteResult | ErrorData | undefined
  private readonly entities: SavedEntity[] = []
  private globalStamp = 0
  private readonly digest: FailureDigest
  private describedCount = 0
  /** Time of automatic values, once a transaction is durable. */
  private moment: number | undefined
  /** Undefined until the first step. */
  private encodedBody: EncodedBody | undefined

  constructor(
    private readonly request: SaveRequest,
    private readonly dataClass: DataClass,
    private readonly body: SaveBody,
    /** View of the caller. */
    private readonly view: View,
    { maxDescribed }: WriteLimits,
  ) {
    this.moment = request.moment
    this.digest = new FailureDigest(request.trusted ? Number.POSITIVE_INFINITY : maxDescribed)
  }

  /** @returns see {@link WriteSteps.step}; its second parameter completes the result of each entity */
  step(step: SaveStep): (globalStamp: number, complete?: (entity: SavedEntity) => SavedEntity) => void {
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
    this.digest.describedCount = this.describedCount
    const slice = this.isOutdated(transaction)
      ? Array.from({ length: this.body.length - this.entities.length }, () => OUTDATED)
      : isOneTransaction(this.request)
        ? this.saveTogether(context)
        : this.saveSlice(context, step)
    const { describedCount } = this.digest
    if (this.request.mark) this.putMark(this.request.mark, transaction, slice)
    return (globalStamp, complete) => {
      for (const entity of slice) this.entities.push(complete ? complete(entity) : entity)
      this.globalStamp = globalStamp
      this.describedCount = describedCount
      this.moment = moment
      if (this.entities.length >= this.body.length) this.finish()
    }
  }

  /** Number of entities with results. */
  get count(): number {
    return this.entities.length
  }

  /** Replaces results that were accepted before they were complete, from the entity `start` on. */
  complete(start: number, end: number, entityOf: (entity: SavedEntity) => SavedEntity): void {
    for (let i = start; i < end; i++) this.entities[i] = entityOf(this.entities[i]!)
  }

  /** @returns a function that takes back all results from now on, because their transaction was not kept */
  checkpoint(): () => void {
    const { count, describedCount, moment } = this
    return () => {
      this.entities.length = count
      this.describedCount = describedCount
      this.moment = moment
      this.outcome = undefined
    }
  }

  fail(error: ErrorData): void {
    // Durable slices stay; the remaining entities are reported with the failure.
    if (this.entities.length === 0) this.outcome = error
    else {
      const failure = { status: OTHER_STATUS, error }
      while (this.entities.length < this.body.length) this.entities.push({ failure })
      this.finish()
    }
  }

  /** True if anything that code has read for the remaining entities has changed. */
  private isOutdated(transaction: StoreTransaction): boolean {
    const { reads } = this.request
    return reads !== undefined && !transaction.stillHolds(reads)
  }

  private putMark({ key, id }: LoadMark, transaction: StoreTransaction, slice: readonly SavedEntity[]): void {
    const allEntities = [...this.entities, ...slice]
    const failedIndexes = allEntities.flatMap(({ failure }, index) => (failure ? [index] : []))
    transaction.putRecord({ key, value: { id, next: allEntities.length, left: failedIndexes } satisfies LoadProgress })
  }

  private finish(): void {
    this.outcome = { kind: 'save', many: this.body.many, entities: this.entities, globalStamp: this.globalStamp }
  }

  private saveSlice(context: SaveContext, { sliceSize, endsAt }: SaveStep): SavedEntity[] {
    const start = this.entities.length
    const end = Math.min(start + sliceSize, this.body.length)
    const slice: SavedEntity[] = []
    const insertion = this.insertionFor(context)
    for (let i = start; i < end; i++) {
      if (slice.length > 0 && performance.now() > endsAt) break
      slice.push(this.save(i, context, insertion))
    }
    insertion?.put()
    return slice
  }

  /** Encoded entities can be inserted as they are if no hook changes them. */
  private insertionFor(context: SaveContext): EncodedInsertion | undefined {
    const { encoded, hooked } = this.request
    if (!encoded || hooked || context.mode !== 'update') return undefined
    this.encodedBody ??= new EncodedBody(encoded, context.rules.indexes.length)
    return new EncodedInsertion(context)
  }

  private save(index: number, context: SaveContext, insertion: EncodedInsertion | undefined): SavedEntity {
    if (insertion) {
      const { rows, index: element } = this.encodedBody!.at(index)
      const insertedEntity = insertion.add(rows, element)
      if (insertedEntity) return this.request.returning ? SAVED : insertedEntity
      // Entities are saved in their order.
      insertion.put()
    }
    const savedEntity = saveEntity(context, this.body.element(index), this.request.hooked?.[index])
    if (savedEntity.failure) return { ...savedEntity, failure: this.digest.add(savedEntity.failure) }
    return this.request.returning && !savedEntity.isOutdated ? SAVED : savedEntity
  }

  /** Saves all entities or none; validations and previews are always rolled back. */
  private saveTogether(context: SaveContext): SavedEntity[] {
    const { transaction, mode } = context
    let entities: SavedEntity[] = []
    const save = (mode: SaveRequest['mode']): SavedEntity[] => {
      const modal = { ...context, mode }
      this.digest.describedCount = this.describedCount
      const insertion = this.insertionFor(modal)
      const entities = Array.from({ length: this.body.length }, (_, i) => this.save(i, modal, insertion))
      insertion?.put()
      return entities
    }
    const kept = transaction.attempt(() => {
      entities = save(mode)
      return mode === 'update' && !entities.some(({ failure, isOutdated }) => failure || isOutdated)
    })
    if (kept || mode !== 'update' || entities.some(({ isOutdated }) => isOutdated)) return entities
    // Entities that did not fail themselves are shown with their new values and the old stamp (protocol notes, 5.5).
    const attemptedEntities = entities
    transaction.attempt(() => {
      entities = save('refresh')
      return false
    })
    // Stamps do not change in this pass, so a repeated entity is not stale the second time.
    return entities.map((entity, i) => {
      const failure = entity.failure ?? attemptedEntities[i]!.failure
      return failure ? { ...entity, failure } : entity
    })
  }
}
