/** Counts the requests that are not answered yet, so that a server can stop without cutting one off. */
export class InFlight {
  #count = 0
  #draining = false
  #onDrained: (() => void) | undefined

  /** The server is stopping: answers close their connections. */
  get draining(): boolean {
    return this.#draining
  }

  enter(): void {
    this.#count++
  }

  leave(): void {
    this.#count--
    if (this.#count === 0) this.#onDrained?.()
  }

  /** Resolves when nothing is in flight any more, at the latest after `graceMs`. */
  async drained(graceMs: number): Promise<void> {
    this.#draining = true
    if (this.#count === 0) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, graceMs)
      this.#onDrained = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
