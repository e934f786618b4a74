import type { SaveFailure } from '../contract/requests.ts'

/**
 * Bounds the memory of one save's failures: the first failures are described in full, the others share one object per kind, so that a
 * hundred thousand of them cost only an answer of a few megabytes.
 */
export class FailureDigest {
  /** Number of failures that were described. Reset when a step is repeated. */
  describedCount = 0
  private readonly kinds = new Map<string, SaveFailure>()

  constructor(private readonly maxDescribed: number) {}

  add(failure: SaveFailure): SaveFailure {
    if (this.describedCount < this.maxDescribed) {
      this.describedCount++
      return failure
    }
    const { status, error } = failure
    const { errCode, componentSignature } = error.entries[0]!
    const key = `${status.status} ${error.httpStatus} ${errCode}`
    let kind = this.kinds.get(key)
    if (!kind) {
      const message = `not saved; this request has more than ${this.maxDescribed} such entities, of which the first are described`
      kind = {
        status: { status: status.status, statusText: status.statusText },
        error: { ...error, entries: [{ message, componentSignature, errCode }] },
      }
      this.kinds.set(key, kind)
    }
    return kind
  }
}
