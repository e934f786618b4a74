import { BodyReceiver } from './body-receiver.ts'

const FIRST_CAPACITY = 16 * 1024

/** Gathers a body in memory, within `limits.timeoutMs` from its start. */
export class BodyCollector extends BodyReceiver<Uint8Array> {
  // One buffer that doubles. A list of chunks would let a client that sends single bytes cost a hundred times as much.
  #buffer = Buffer.alloc(0)

  protected take(chunk: Uint8Array, isLast: boolean): void {
    if (this.received > this.#buffer.byteLength) this.#grow(isLast)
    this.#buffer.set(chunk, this.received - chunk.byteLength)
    if (isLast) this.succeed(this.#buffer.subarray(0, this.received))
  }

  protected drop(): void {
    this.#buffer = Buffer.alloc(0)
  }

  #grow(isLast: boolean): void {
    const capacity = isLast ? this.received : Math.max(FIRST_CAPACITY, 2 * this.received)
    const grown = Buffer.allocUnsafeSlow(Math.min(capacity, this.limits.bodyBytes))
    this.#buffer.copy(grown)
    this.#buffer = grown
  }
}
