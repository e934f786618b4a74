import { BodyReceiver, type ReceiveLimits } from './body-receiver.ts'
import type { StreamLimits, TakePiece } from './transport.ts'

/** What stops a socket from being read, and lets it go on. */
export interface Flow {
  pause(): unknown
  resume(): unknown
}

/** What is still read behind a failure, so that the client, which writes on, gets to read the answer. */
const DROPPED_BYTES = 16 * 2 ** 20

/**
 * Hands a body on piece by piece. While the taker asks to wait, the socket is not read; what has been read already still
 * comes. Each piece has `limits.timeoutMs` to arrive, the whole body `limits.totalTimeoutMs`. When the taker fails, the rest of
 * the body is dropped, and the connection ends with the answer if there is too much of it.
 */
export class BodyStreamer extends BodyReceiver<void> {
  readonly #take: TakePiece
  readonly #endsAt: number
  readonly #flow: Flow
  #waiting = 0
  #isLast = false
  /** What the taker failed with. */
  #failure: { error: unknown } | undefined
  #droppedBytes = 0

  constructor(take: TakePiece, limits: StreamLimits & ReceiveLimits, declaredLength: number | undefined, flow: Flow) {
    super(limits, declaredLength)
    this.#take = take
    this.#flow = flow
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
      const waiting = this.#take(chunk)
      if (waiting) this.#wait(waiting)
      else if (isLast && this.#waiting === 0) this.succeed()
    } catch (error) {
      this.#failed(error)
    }
  }

  protected drop(): void {}

  protected override timedOut(): void {
    // It is not the client who is slow.
    if (this.#waiting > 0 && performance.now() <= this.#endsAt) this.timer.refresh()
    else if (this.#failure) this.refuse(this.#failure.error)
    else super.timedOut()
  }

  #wait(waiting: Promise<void>): void {
    if (this.#waiting++ === 0 && !this.#isLast) this.#flow.pause()
    waiting
      .catch(error => this.#failed(error))
      .then(() => {
        if (--this.#waiting > 0 || this.settled) return
        this.timer.refresh()
        if (this.#isLast) this.succeed()
        else this.#flow.resume()
      })
  }

  #failed(error: unknown): void {
    this.#failure ??= { error }
    if (this.#isLast) this.fail(error)
  }
}
