import { observe } from '../../base/counts/histogram.ts'
import { COUNT, type ThreadCounts } from '../../base/counts/thread-counts.ts'
import { type ErrorData, ProtocolError } from '../../base/errors.ts'
import { Numbered } from '../../base/numbered.ts'
import { bodiesOf, isWriteResult } from '../contract/messages.ts'
import { PackedResult, type PackedSave } from '../contract/packed-result.ts'
import type { SaveResult, WriteRequest, WriteResult, WriteResultOf } from '../contract/requests.ts'
import { WriterErrors } from '../contract/writer-errors.ts'

interface Pending {
  request: WriteRequest
  bytes: number
  isSent: boolean
  /** Time of arrival by `performance.now`. */
  arrivedAt: number
  /** Result of a large save that is durable, and that readers may not see yet. */
  durable: PackedResult | undefined
  readonly onDurable: OnDurable | undefined
  resolve(result: WriteResult): void
  reject(error: Error): void
}

/** Called with the result of a large save when it is durable, before readers see it, to prepare what follows. */
export type OnDurable = (result: SaveResult) => void

interface PendingLimits {
  readonly maxWaiting: number
  /** Maximum bytes of the bodies of waiting requests. */
  readonly maxWaitingBytes: number
}

/** Bytes that a request holds while it waits. */
function bytesOf(request: WriteRequest): number {
  if (request.kind === 'delete') return request.rowIds.byteLength
  // Most requests: no list is made for them.
  if (request.kind === 'save' && !request.encoded) return request.body.length
  return bodiesOf(request).reduce((sum, { length }) => sum + length, 0)
}

/** Requests that the writer thread has not answered. Without a thread, requests stay here until it has been restarted. */
export class PendingWrites {
  /** Bytes of the bodies of these requests. */
  bytes = 0
  private readonly pending = new Numbered<Pending>()
  private unsent: number[] = []
  private nextId = 0

  /** @param onFirst called when there is something to take */
  constructor(
    private readonly limits: PendingLimits,
    private readonly counts: ThreadCounts,
    private readonly onFirst: () => void,
  ) {}

  get size(): number {
    return this.pending.size
  }

  /** Rejects if the queue is full; otherwise settles when the request has been answered. */
  add<Request extends WriteRequest>(request: Request, onDurable?: OnDurable): Promise<WriteResultOf<Request>> {
    const { size } = this.pending
    const bytes = bytesOf(request)
    // A single request is always accepted: its size has separate limits.
    if (size >= this.limits.maxWaiting || (size > 0 && this.bytes + bytes > this.limits.maxWaitingBytes)) {
      this.counts[COUNT.writesRefused]!++
      return Promise.reject(WriterErrors.BUSY(size, this.bytes).retryAfter(1))
    }
    return new Promise((resolve, reject) => {
      const id = this.nextId++
      const arrivedAt = performance.now()
      const settling = { resolve: resolve as Pending['resolve'], reject, onDurable, durable: undefined }
      this.pending.set(id, { request, bytes, isSent: false, arrivedAt, ...settling })
      this.bytes += bytes
      if (this.unsent.push(id) === 1) this.onFirst()
    })
  }

  /** Returns the requests that have not been sent, and marks them as sent. */
  take(): { id: number; request: WriteRequest }[] {
    const ids = this.unsent
    this.unsent = []
    return ids.map(id => {
      const pending = this.pending.get(id)!
      pending.isSent = true
      return { id, request: pending.request }
    })
  }

  /** Receives the result of a large save before readers see it. */
  announce(id: number, result: PackedSave): void {
    const pending = this.pending.get(id)!
    pending.durable = new PackedResult(result)
    pending.onDurable?.(pending.durable)
  }

  /** @param outcome undefined if the result has been announced */
  settle(id: number, outcome?: WriteResult | ErrorData): void {
    const pending = this.remove(id)
    observe(this.counts, COUNT.writeTime, performance.now() - pending.arrivedAt)
    if (!outcome) pending.resolve(pending.durable!)
    else if (isWriteResult(outcome)) pending.resolve(outcome)
    else pending.reject(new ProtocolError(outcome))
  }

  /**
   * Rejects all sent requests, which may have been written or not. They are not removed, because the thread may still answer them,
   * and their bytes are still in memory.
   */
  failSent(): void {
    for (const { isSent, durable, resolve, reject } of this.pending.values()) {
      // Readers see it as soon as the thread has been replaced, if not before.
      if (durable) resolve(durable)
      else if (isSent) reject(WriterErrors.OUTCOME_UNKNOWN())
    }
  }

  /** Removes sent requests, which have failed: their thread is gone. */
  removeSent(): void {
    for (const id of this.pending.ids()) if (this.pending.get(id)!.isSent) this.remove(id)
  }

  rejectUnsent(reason: () => ProtocolError): void {
    for (const id of this.unsent.splice(0)) this.remove(id).reject(reason())
  }

  private remove(id: number): Pending {
    const pending = this.pending.get(id)!
    this.pending.delete(id)
    this.bytes -= pending.bytes
    return pending
  }
}
