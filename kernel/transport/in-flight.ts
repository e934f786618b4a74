import { setTimeout as delay } from 'node:timers/promises'

/** Counts the unanswered requests, so that a server can stop without cutting one off. */
export class InFlight {
  #count = 0
  /** Number of requests so far. */
  #entered = 0
  #draining = false
  #onIdle: (() => void) | undefined

  get count(): number {
    return this.#count
  }

  /** The server is stopping: answers close their connections. */
  get draining(): boolean {
    return this.#draining
  }

  enter(): void {
    this.#count++
    this.#entered++
  }

  leave(): void {
    this.#count--
    if (this.#count === 0) this.#onIdle?.()
  }

  /**
   * Resolves when no request has been in flight for `quietMs`, or after `graceMs` at the latest. Closing idle connections immediately could
   * cut off a request in transit, which its client must not repeat if it changes something (RFC 9110, 9.2.2).
   */
  async drained(graceMs: number, quietMs: number): Promise<void> {
    this.#draining = true
    const endsAt = performance.now() + graceMs
    const timeLeft = (): number => Math.max(0, endsAt - performance.now())
    for (;;) {
      await this.#idle(timeLeft())
      const enteredCount = this.#entered
      if (quietMs > 0 && timeLeft() > 0) await delay(Math.min(quietMs, timeLeft()))
      if (timeLeft() === 0 || this.#entered === enteredCount) return
    }
  }

  /** Resolves when nothing is in flight, at the latest after `timeoutMs`. */
  async #idle(timeoutMs: number): Promise<void> {
    if (this.#count === 0) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, timeoutMs)
      this.#onIdle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
