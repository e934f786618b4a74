import type { ErrorData } from '../../base/errors.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { StoreTransaction } from '../../data/store-transaction.ts'
import type { WriteResult } from '../contract/requests.ts'
import type { WriteLimits } from '../contract/write-limits.ts'
import type { LockTable } from '../entity/lock-table.ts'
import type { SaveRules } from '../value/validate.ts'

/** Environment of a step. */
export interface StepContext {
  readonly transaction: StoreTransaction
  readonly timestamp: string
  readonly randomUuid: () => string
  readonly locks: LockTable
  readonly limits: WriteLimits
  /** All dataclasses, with their rules. */
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

/**
 * A request in progress, as steps in one or more transactions. Its state changes only in the function that a step returns, which is
 * called when the transaction is durable, so a step whose transaction failed can be repeated.
 */
export interface WriteSteps {
  /** Undefined while there is work left. */
  readonly outcome: WriteResult | ErrorData | undefined
  step(context: StepContext): (globalStamp: number) => void
  /** Called when the store refused the last step, although no other request shared its transaction. */
  fail(error: ErrorData): void
}

/** A request that ended before its first transaction. */
export const endedSteps = (outcome: WriteResult | ErrorData): WriteSteps => ({
  outcome,
  step: () => () => {},
  fail: () => {},
})
