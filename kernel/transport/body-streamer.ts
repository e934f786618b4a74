import { BodyReceiver, type ReceiveLimits } from './body-receiver.ts'
import type { StreamLimits, TakePiece } from './transport.ts'

/** What stops a socket from being read, and lets it go on. */
export interface Flow {
  pause(): unknown
  resume(): unknown
}

/**
 * Hands a body on piece by piece. While the taker asks to wait, the socket is not read; what has been read already still
 * comes. Each piece has `limits.timeoutMs` to arrive, the whole body `limits.totalTimeoutMs`.
 */
export class BodyStreamer extends BodyReceiver<void> {
  readonly #take: TakePiece
  readonly #endsAt: number
  readonly #flow: Flow
  #waiting = 0
  #isLast = false

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
    try {
      const waiting = this.#take(chunk)
      if (waiting) this.#wait(waiting)
      else if (isLast && this.#waiting === 0) this.succeed()
    } catch (error) {
      // The rest of the body has nowhere to go: it is not read any more.
      this.refuse(error)
    }
  }

  protected drop(): void {}

  protected override timedOut(): void {
    // It is not the client who is slow.
    if (this.#waiting > 0 && performance.now() <= this.#endsAt) this.timer.refresh()
    else super.timedOut()
  }

  #wait(waiting: Promise<void>): void {
    if (this.#waiting++ === 0 && !this.#isLast) this.#flow.pause()
    waiting.then(
      () => {
        if (--this.#waiting > 0 || this.settled) return
        this.timer.refresh()
        if (this.#isLast) this.succeed()
        else this.#flow.resume()
      },
      error => this.refuse(error),
    )
  }
}
