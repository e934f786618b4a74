import { type ByteBudget, noMemory, type ProtocolError } from '../../engine/index.ts'
import { EdgeErrors } from './edge-errors.ts'

export interface ReceiveLimits {
  bodyBytes: number
  /** Time limit for the next piece if each piece has its own limit, otherwise for the whole body. */
  timeoutMs: number
  /** Memory budget of all bodies and answers in progress. */
  memory: ByteBudget
}

/** The transport's view of a body that is being received. */
export interface Receiving {
  /** A handler has requested the body. */
  readonly isTaken: boolean
  readonly refused: boolean
  push(chunk: Uint8Array, isLast: boolean): void
  fail(error: unknown): void
  /** Drops the rest of the body, which is no longer needed. */
  release(): void
}

/** Number of pieces after which their average size is checked, and the minimum average: each piece costs 1 to 2 µs, whatever its size. */
const COUNTED_PIECES = 10_000
const MIN_PIECE_BYTES = 32

/** @returns the error for a body that arrives in tiny pieces */
export const choppedBody = (pieces: number, bytes: number): ProtocolError | undefined =>
  pieces > COUNTED_PIECES && bytes < pieces * MIN_PIECE_BYTES ? EdgeErrors.TINY_PIECES(MIN_PIECE_BYTES) : undefined

/**
 * A request body that is being received, of at most `limits.bodyBytes`.
 *
 * A body that is too large, or for which there is not enough memory, is still read and dropped, up to twice the limit: a client that is
 * still writing when the connection is closed usually sees a reset instead of the answer with the reason. Beyond that, or when the declared
 * length is already beyond, it is refused immediately.
 */
export abstract class BodyReceiver<T> implements Receiving {
  readonly promise: Promise<T>
  readonly isTaken = true
  protected readonly limits: ReceiveLimits
  protected readonly timer: NodeJS.Timeout
  protected receivedBytes = 0
  #pieces = 0
  #resolve!: (result: T) => void
  #reject!: (error: unknown) => void
  protected settled = false
  #refused = false
  /** Reason why the body is dropped. */
  #reason: unknown
  #reservedBytes = 0
  #isReleased = false

  /** @param declaredLength Content-Length in bytes; undefined for a chunked body or none */
  constructor(
    limits: ReceiveLimits,
    protected readonly declaredLength: number | undefined,
  ) {
    this.limits = limits
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // A handler may have answered before the promise is settled; an unhandled rejection is then not an error.
    this.promise.catch(() => {})
    this.timer = setTimeout(() => this.timedOut(), limits.timeoutMs)
    if (declaredLength !== undefined && declaredLength > 2 * limits.bodyBytes) {
      this.refuse(EdgeErrors.BODY_TOO_LARGE(limits.bodyBytes))
    }
  }

  /** The request was at fault: the following bytes on the connection must not be read as a request. */
  get refused(): boolean {
    return this.#refused
  }

  /** Takes a piece of the body, whose memory is valid only during the call. */
  push(chunk: Uint8Array, isLast: boolean): void {
    if (this.settled || this.#isReleased) return
    const { bodyBytes } = this.limits
    this.receivedBytes += chunk.byteLength
    const error = choppedBody(++this.#pieces, this.receivedBytes)
    if (error) {
      this.drop()
      this.refuse(error)
      return
    }
    if (this.#reason === undefined) {
      if (this.receivedBytes <= bodyBytes) this.#takeOrGiveUp(chunk, isLast)
      else this.#giveUp(EdgeErrors.BODY_TOO_LARGE(bodyBytes))
    }
    if (this.#reason !== undefined && (isLast || this.receivedBytes > 2 * bodyBytes)) this.refuse(this.#reason)
  }

  /** Ends the wait with an error. */
  fail(error: unknown): void {
    if (this.settled) return
    this.#settle()
    this.#reject(error)
  }

  release(): void {
    this.#isReleased = true
    // The rest is dropped, so its end is not noticed here.
    clearTimeout(this.timer)
    this.#unreserve()
  }

  /** Takes a piece that is within the limit. @throws an error for which the body is dropped */
  protected abstract take(chunk: Uint8Array, isLast: boolean): void

  /** Frees the part of a dropped body that was kept. */
  protected abstract drop(): void

  /**
   * Changes the memory reserved for this body to `bytes`, before they are allocated.
   * @throws {AnswerErrors.NO_MEMORY}
   */
  protected reserve(bytes: number): void {
    const { memory } = this.limits
    if (!memory.tryGrow(this.#reservedBytes, bytes)) throw noMemory(memory)
    this.#reservedBytes = bytes
  }

  protected succeed(result: T): void {
    if (this.settled) return
    this.#settle()
    this.#resolve(result)
  }

  protected refuse(error: unknown): void {
    this.#refused = true
    this.fail(error)
  }

  protected timedOut(): void {
    this.refuse(this.#reason ?? EdgeErrors.REQUEST_TIMEOUT(this.limits.timeoutMs))
  }

  #takeOrGiveUp(chunk: Uint8Array, isLast: boolean): void {
    try {
      this.take(chunk, isLast)
    } catch (error) {
      this.#giveUp(error)
    }
  }

  #giveUp(reason: unknown): void {
    this.#reason = reason
    this.drop()
    this.#unreserve()
  }

  #unreserve(): void {
    if (this.#reservedBytes > 0) this.limits.memory.release(this.#reservedBytes)
    this.#reservedBytes = 0
  }

  #settle(): void {
    this.settled = true
    clearTimeout(this.timer)
  }
}
