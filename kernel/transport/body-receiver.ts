import { EdgeErrors } from './edge-errors.ts'

export interface ReceiveLimits {
  bodyBytes: number
  /** Until the next piece, when each piece gets time of its own; otherwise until the last one. */
  timeoutMs: number
}

/** What a transport sees of it. */
export type Receiving = Pick<BodyReceiver<unknown>, 'refused' | 'push' | 'fail'>

/**
 * A request body on its way in, of at most `limits.bodyBytes`.
 *
 * One that is too large is still read, and dropped, up to twice the limit: a client that writes on while the connection is
 * closed mostly sees a reset instead of the answer that says why. Beyond that, or when its declared length is already
 * beyond, it is refused at once.
 */
export abstract class BodyReceiver<T> {
  readonly promise: Promise<T>
  protected readonly limits: ReceiveLimits
  protected readonly timer: NodeJS.Timeout
  protected received = 0
  #resolve!: (result: T) => void
  #reject!: (error: unknown) => void
  protected settled = false
  #refused = false

  /** @param declaredLength Content-Length in bytes, `undefined` for a chunked body or none */
  constructor(limits: ReceiveLimits, declaredLength: number | undefined) {
    this.limits = limits
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // A handler may have answered and gone before this is decided; an error that nobody awaits is no fault then.
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
    if (this.settled) return
    const { bodyBytes } = this.limits
    this.received += chunk.byteLength
    if (this.received <= bodyBytes) this.take(chunk, isLast)
    else {
      this.drop()
      if (isLast || this.received > 2 * bodyBytes) this.refuse(EdgeErrors.BODY_TOO_LARGE(bodyBytes))
    }
  }

  /** Ends the wait without a body. */
  fail(error: unknown): void {
    if (this.settled) return
    this.#settle()
    this.#reject(error)
  }

  /** Keeps a piece that is within the limit. */
  protected abstract take(chunk: Uint8Array, isLast: boolean): void

  /** The body is too large: what there is of it is of no use. */
  protected abstract drop(): void

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
    const { bodyBytes, timeoutMs } = this.limits
    this.refuse(
      this.received > bodyBytes ? EdgeErrors.BODY_TOO_LARGE(bodyBytes) : EdgeErrors.REQUEST_TIMEOUT(timeoutMs),
    )
  }

  #settle(): void {
    this.settled = true
    clearTimeout(this.timer)
  }
}
