import { type ByteBudget, noMemory, type ProtocolError } from '../../engine/index.ts'
import { EdgeErrors } from './edge-errors.ts'

export interface ReceiveLimits {
  bodyBytes: number
  /** Until the next piece, when each piece gets time of its own; otherwise until the last one. */
  timeoutMs: number
  /** Memory of all bodies and answers under way. */
  memory: ByteBudget
}

/** The transport's view of a body on its way in. */
export interface Receiving {
  /** A handler has asked for the body. */
  readonly isTaken: boolean
  readonly refused: boolean
  push(chunk: Uint8Array, isLast: boolean): void
  fail(error: unknown): void
  /** The body is not needed from here on. */
  release(): void
}

/** Pieces after which their average counts, and what it may be at least: each costs a microsecond or two, whatever its size. */
const COUNTED_PIECES = 10_000
const MIN_PIECE_BYTES = 32

/** @returns the error of a body that comes in tiny pieces */
export const choppedBody = (pieces: number, bytes: number): ProtocolError | undefined =>
  pieces > COUNTED_PIECES && bytes < pieces * MIN_PIECE_BYTES ? EdgeErrors.TINY_PIECES(MIN_PIECE_BYTES) : undefined

/**
 * A request body on its way in, of at most `limits.bodyBytes`.
 *
 * One that is too large, or for which there is no memory, is still read, and dropped, up to twice the limit: a client that
 * writes on while the connection is closed mostly sees a reset instead of the answer that says why. Beyond that, or when its
 * declared length is already beyond, it is refused at once.
 */
export abstract class BodyReceiver<T> implements Receiving {
  readonly promise: Promise<T>
  readonly isTaken = true
  protected readonly limits: ReceiveLimits
  protected readonly timer: NodeJS.Timeout
  protected received = 0
  #pieces = 0
  #resolve!: (result: T) => void
  #reject!: (error: unknown) => void
  protected settled = false
  #refused = false
  /** Why the body is dropped. */
  #reason: unknown
  #reservedBytes = 0
  #isReleased = false

  /** @param declaredLength Content-Length in bytes, `undefined` for a chunked body or none */
  constructor(
    limits: ReceiveLimits,
    protected readonly declaredLength: number | undefined,
  ) {
    this.limits = limits
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // A handler may have answered and gone before this is decided; an error without a listener is not a fault then.
    this.promise.catch(() => {})
    this.timer = setTimeout(() => this.timedOut(), limits.timeoutMs)
    if (declaredLength !== undefined && declaredLength > 2 * limits.bodyBytes) {
      this.refuse(EdgeErrors.BODY_TOO_LARGE(limits.bodyBytes))
    }
  }

  /** The error was the request's fault: what follows on the connection must not be read as a request. */
  get refused(): boolean {
    return this.#refused
  }

  /** Takes a piece of the body, whose memory is only lent. */
  push(chunk: Uint8Array, isLast: boolean): void {
    if (this.settled || this.#isReleased) return
    const { bodyBytes } = this.limits
    this.received += chunk.byteLength
    const chopped = choppedBody(++this.#pieces, this.received)
    if (chopped) {
      this.drop()
      this.refuse(chopped)
      return
    }
    if (this.#reason === undefined) {
      if (this.received <= bodyBytes) this.#takeOrGiveUp(chunk, isLast)
      else this.#giveUp(EdgeErrors.BODY_TOO_LARGE(bodyBytes))
    }
    if (this.#reason !== undefined && (isLast || this.received > 2 * bodyBytes)) this.refuse(this.#reason)
  }

  /** Ends the wait without a body. */
  fail(error: unknown): void {
    if (this.settled) return
    this.#settle()
    this.#reject(error)
  }

  release(): void {
    this.#isReleased = true
    // The rest of it is dropped, so that its end is not seen here.
    clearTimeout(this.timer)
    this.#unreserve()
  }

  /** Keeps a piece that is within the limit. @throws to have the body dropped */
  protected abstract take(chunk: Uint8Array, isLast: boolean): void

  /** Frees the part of a dropped body that was kept. */
  protected abstract drop(): void

  /**
   * Makes `bytes` what this body has of the memory, before they are allocated.
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
