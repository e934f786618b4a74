import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import type { ErrorData } from '../../base/errors.ts'
import { type Deletion, deleteRows, SeenRows } from '../entity/delete-entities.ts'
import type { StepContext, WriteSteps } from './step.ts'
import type { DeleteRequest, WriteResult } from '../contract/requests.ts'
import { WriteErrors } from '../contract/write-errors.ts'

/** Rows between two checks of the clock: some 15 ms. */
const ROWS_PER_LOOK = 500

/**
 * Deletes in slices: first all rows of the selection, then repeatedly rows whose blockers are now deleted. The remaining rows may
 * refer to one another in cycles, and are tried together.
 */
export class DeleteSteps implements WriteSteps {
  outcome: WriteResult | ErrorData | undefined
  /** Rows to be tried, first the selection; {@link next} is the number of rows already tried. */
  private readonly queue: number[]
  private next = 0
  private readonly blocked = new Set<number>()
  private deleted = 0
  private error: ErrorData | undefined
  private isLast = false
  private readonly stamps: ReadonlyMap<number, number> | undefined
  private readonly hooked: SeenRows | undefined

  constructor(
    private readonly request: DeleteRequest,
    private readonly dataClass: DataClass,
    private readonly view: View,
  ) {
    const { rowIds, stamps, hooked } = request
    this.queue = [...rowIds]
    this.stamps = stamps && new Map(Array.from(rowIds, (rowId, i) => [rowId, stamps[i]!]))
    this.hooked = hooked && new SeenRows(hooked)
  }

  step(context: StepContext): () => void {
    if (this.request.atomic) return this.deleteTogether(context)
    return this.isLast ? this.deleteRest(context) : this.deleteSlice(context)
  }

  fail(error: ErrorData): void {
    this.error = error
    this.finish()
  }

  private finish(changed = false): void {
    const { deleted, error } = this
    this.outcome = changed ? { kind: 'delete', deleted, changed } : { kind: 'delete', deleted, ...(error && { error }) }
  }

  private deleteSlice(context: StepContext): () => void {
    const { sliceSize, endsAt } = context
    const { queue, next, blocked } = this
    const size = Math.min(sliceSize, ROWS_PER_LOOK)
    // Changes of the state are collected here until the slice is durable.
    const again: number[] = []
    const blockedNow = new Set<number>()
    const freedNow = new Set<number>()
    const isBlocked = (rowId: number) => blockedNow.has(rowId) || (blocked.has(rowId) && !freedNow.has(rowId))
    let offset = 0
    let deletedCount = 0
    let error: ErrorData | undefined
    let changed = false
    do {
      const start = next + offset
      const rowIds = [
        ...queue.slice(start, start + size),
        ...again.slice(Math.max(0, start - queue.length), Math.max(0, start + size - queue.length)),
      ]
      const part = this.delete(rowIds, size, context)
      offset += part.examinedCount
      deletedCount += part.deleted
      error ??= part.error
      changed = part.changed === true
      for (const rowId of part.blocked) blockedNow.add(rowId)
      for (const rowId of part.unblocked) {
        if (!isBlocked(rowId)) continue
        blockedNow.delete(rowId)
        freedNow.add(rowId)
        again.push(rowId)
      }
    } while (
      !changed &&
      next + offset < queue.length + again.length &&
      offset < sliceSize &&
      performance.now() < endsAt
    )
    // All remaining rows were tried in one slice: another attempt would unblock nothing.
    const isWhole = next === 0 && offset <= size && offset >= queue.length
    return () => {
      this.next += offset
      this.deleted += deletedCount
      for (const rowId of again) queue.push(rowId)
      for (const rowId of freedNow) blocked.delete(rowId)
      for (const rowId of blockedNow) blocked.add(rowId)
      if (isWhole && error) this.error = error
      if (changed) this.finish(changed)
      else if (this.next >= queue.length) {
        if (blocked.size === 0 || isWhole) this.finish()
        else this.isLast = true
      }
    }
  }

  /** Deletes as many of the remaining rows as fit into one transaction. */
  private deleteRest(context: StepContext): () => void {
    const { maxTransactionEntities } = context.limits
    const remainder = this.delete([...this.blocked].slice(0, maxTransactionEntities), maxTransactionEntities, context)
    return () => {
      this.deleted += remainder.deleted
      this.error = remainder.error
      this.finish(remainder.changed)
    }
  }

  /** Deletes all rows or none. */
  private deleteTogether(context: StepContext): () => void {
    const { maxTransactionEntities } = context.limits
    const { queue } = this
    let all: Deletion | undefined
    const kept = context.transaction.attempt(() => {
      all = this.delete(queue, maxTransactionEntities, context)
      return all.examinedCount === queue.length && all.blocked.length === 0
    })
    return () => {
      const { deleted, changed, examinedCount, error } = all!
      if (kept) this.deleted = deleted
      this.error =
        kept || changed || error || examinedCount === queue.length
          ? error
          : WriteErrors.TOO_MANY_AT_ONCE('a deletion with $atomic', maxTransactionEntities).toData()
      this.finish(changed)
    }
  }

  private delete(
    rowIds: readonly number[],
    budget: number,
    { transaction, timestamp, locks, limits, enqueued }: StepContext,
  ): Deletion {
    const { request, view, stamps, hooked } = this
    const maxCascade = limits.maxTransactionEntities
    const context = { transaction, locks, owner: request.owner, timestamp, view, maxCascade, enqueued }
    const { ifMatch } = request
    return deleteRows(context, this.dataClass, rowIds, { stamps, ifMatch, hooked, budget })
  }
}
