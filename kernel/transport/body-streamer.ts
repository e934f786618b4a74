import { BodyReceiver, type ReceiveLimits } from './body-receiver.ts'
import type { StreamLimits, TakePiece } from './transport.ts'

/** Pauses and resumes the reading of a socket. */
export interface Flow {
  pause(): unknown
  resume(): unknown
}

/** Bytes that are still read after a failure, so that a client that is still writing can read the answer. */
const DROPPED_BYTES = 16 * 2 ** 20
/** Memory reserved for a consumer, for example for the next piece of a file. */
const HELD_BYTES = 256 * 1024

/**
 * Passes on a body piece by piece. While the consumer waits, the socket is not read; pieces that have been read already are still
 * passed on. Each piece has `limits.timeoutMs` to arrive, the whole body `limits.totalTimeoutMs`. When the consumer fails, the rest
 * of the body is dropped; if there is too much of it, the connection ends with the answer.
 */
export class BodyStreamer extends BodyReceiver<void> {
  readonly #take: TakePiece
  readonly #endsAt: number
  readonly #flow: Flow
  readonly #heldBytes: number
  #waiting = 0
  /** Bytes of the pieces that the consumer has not finished. */
  #waitingBytes = 0
  #isLast = false
  #isPaused = false
  /** Error of the consumer. */
  #failure: { error: unknown } | undefined
  #droppedBytes = 0

  constructor(take: TakePiece, limits: StreamLimits & ReceiveLimits, declaredLength: number | undefined, flow: Flow) {
    super(limits, declaredLength)
    this.#take = take
    this.#flow = flow
    this.#heldBytes = Math.min(declaredLength ?? HELD_BYTES, HELD_BYTES)
    this.#endsAt = performance.now() + limits.totalTimeoutMs
  }

  protected take(chunk: Uint8Array, isLast: boolean): void {
    this.timer.refresh()
    this.#isLast = isLast
    if (performance.now() > this.#endsAt) {
      this.timedOut()
      return
    }
    if (this.#failure) {
      this.#droppedBytes += chunk.byteLength
      if (isLast) this.fail(this.#failure.error)
      else if (this.#droppedBytes > DROPPED_BYTES) this.refuse(this.#failure.error)
      return
    }
    try {
      this.reserve(this.#heldBytes + this.#waitingBytes + chunk.byteLength)
      const promise = this.#take(chunk)
      if (promise) this.#wait(promise, chunk.byteLength)
      else if (isLast && this.#waiting === 0) this.succeed()
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Resumes, because the next request of the connection must be read, even if the last piece had been read before the pause. */
  override release(): void {
    super.release()
    this.#resume()
  }

  protected drop(): void {}

  protected override timedOut(): void {
    // The consumer is slow, not the client.
    if (this.#waiting > 0 && performance.now() <= this.#endsAt) this.timer.refresh()
    else if (this.#failure) this.refuse(this.#failure.error)
    else super.timedOut()
  }

  #wait(piecePromise: Promise<void>, bytes: number): void {
    this.#waitingBytes += bytes
    if (this.#waiting++ === 0 && !this.#isLast) this.#pause()
    piecePromise
      .catch(error => this.#failed(error))
      .then(() => {
        this.#waitingBytes -= bytes
        if (--this.#waiting > 0 || this.settled) return
        this.timer.refresh()
        if (this.#isLast) this.succeed()
        else this.#resume()
      })
  }

  #pause(): void {
    this.#isPaused = true
    this.#flow.pause()
  }

  #resume(): void {
    if (this.#isPaused) this.#flow.resume()
    this.#isPaused = false
  }

  #failed(error: unknown): void {
    this.#failure ??= { error }
    if (this.#isLast) this.fail(error)
  }
}
