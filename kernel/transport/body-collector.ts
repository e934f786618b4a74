import type { ProtocolError } from '../../engine/errors.ts'
import { EdgeErrors } from './edge-errors.ts'
import type { TransportLimits } from './transport.ts'

const FIRST_CAPACITY = 16 * 1024

/**
 * Gathers a request body of at most `limits.bodyBytes` while it arrives, within `limits.requestTimeoutMs`.
 *
 * A body that is too large is still read, and dropped, up to twice the limit: a client that writes on while the
 * connection is closed mostly sees a reset instead of the answer that says why. Beyond that, or when its declared length
 * is already beyond, it is refused at once.
 */
export class BodyCollector {
  readonly promise: Promise<Uint8Array>
  readonly #limits: TransportLimits
  readonly #timer: NodeJS.Timeout
  #resolve!: (body: Uint8Array) => void
  #reject!: (error: Error) => void
  #settled = false
  #refused = false
  #received = 0
  // One buffer that doubles. A list of chunks would let a client that sends single bytes cost a hundred times as much.
  #buffer = Buffer.alloc(0)

  /** @param declaredLength Content-Length in bytes, `undefined` for a chunked body or none */
  constructor(limits: TransportLimits, declaredLength: number | undefined) {
    this.#limits = limits
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // A handler may have answered and gone before this is decided; an error that nobody awaits is no fault then.
    this.promise.catch(() => {})
    this.#timer = setTimeout(() => this.#giveUp(), limits.requestTimeoutMs)
    if (declaredLength !== undefined && declaredLength > 2 * limits.bodyBytes) {
      this.#refuse(EdgeErrors.BODY_TOO_LARGE(limits.bodyBytes))
    }
  }

  /** The error was the request's fault: what follows on the connection must not be read as a request. */
  get refused(): boolean {
    return this.#refused
  }

  /** Takes a piece of the body; its bytes are copied. */
  push(chunk: Uint8Array, isLast: boolean): void {
    if (this.#settled) return
    const { bodyBytes } = this.#limits
    const start = this.#received
    this.#received += chunk.byteLength
    if (this.#received > bodyBytes) {
      this.#buffer = Buffer.alloc(0)
      if (isLast || this.#received > 2 * bodyBytes) this.#refuse(EdgeErrors.BODY_TOO_LARGE(bodyBytes))
      return
    }
    if (this.#received > this.#buffer.byteLength) this.#grow(isLast)
    this.#buffer.set(chunk, start)
    if (isLast) {
      this.#settle()
      this.#resolve(this.#buffer.subarray(0, this.#received))
    }
  }

  /** Ends the wait without a body. */
  fail(error: Error): void {
    if (this.#settled) return
    this.#settle()
    this.#reject(error)
  }

  #grow(isLast: boolean): void {
    const capacity = isLast ? this.#received : Math.max(FIRST_CAPACITY, 2 * this.#received)
    const grown = Buffer.allocUnsafeSlow(Math.min(capacity, this.#limits.bodyBytes))
    this.#buffer.copy(grown)
    this.#buffer = grown
  }

  #giveUp(): void {
    const { bodyBytes, requestTimeoutMs } = this.#limits
    this.#refuse(
      this.#received > bodyBytes ? EdgeErrors.BODY_TOO_LARGE(bodyBytes) : EdgeErrors.REQUEST_TIMEOUT(requestTimeoutMs),
    )
  }

  #refuse(error: ProtocolError): void {
    this.#refused = true
    this.fail(error)
  }

  #settle(): void {
    this.#settled = true
    clearTimeout(this.#timer)
  }
}
