import { BodyReceiver } from './body-receiver.ts'

const FIRST_CAPACITY = 16 * 1024
/**
 * Maximum size of a body that shares a buffer of Node.js with other small ones: a buffer of its own costs more than the body. Messages to
 * other threads carry such short bodies as text (`shortText`), or copy at most 8 KiB with them.
 */
const POOLED_BYTES = 1024
const EMPTY = Buffer.alloc(0)
/** Growth factor of the buffer: the last step to a body of 32 MiB copies 4 MiB; more would block the thread too long. */
const GROWTH = 8

/** Collects a body in memory, within `limits.timeoutMs` from its start. */
export class BodyCollector extends BodyReceiver<Uint8Array> {
  // One buffer that grows. A list of chunks would cost a hundred times as much for a client that sends single bytes.
  #buffer = EMPTY
  #reserved = 0

  protected take(chunk: Uint8Array, isLast: boolean): void {
    if (this.receivedBytes > this.#reserved) this.#reserve(isLast)
    if (this.receivedBytes > this.#buffer.byteLength) this.#grow(isLast)
    this.#buffer.set(chunk, this.receivedBytes - chunk.byteLength)
    if (isLast) this.succeed(this.#gathered)
  }

  /** The received bytes. A message to another thread copies the whole buffer, so little of it may be unused. */
  get #gathered(): Uint8Array {
    if (this.#buffer.byteLength === this.receivedBytes) return this.#buffer
    const bytes = this.#buffer.subarray(0, this.receivedBytes)
    return this.#buffer.byteLength > 2 * this.receivedBytes ? Buffer.from(bytes) : bytes
  }

  protected drop(): void {
    this.#buffer = EMPTY
  }

  /** Reserves twice the received bytes: the rest of the buffer takes no memory until bytes are written there. */
  #reserve(isLast: boolean): void {
    this.#reserved = this.#capacity(2, isLast)
    this.reserve(this.#reserved)
  }

  #grow(isLast: boolean): void {
    const capacity = this.#capacity(GROWTH, isLast)
    const grown = capacity <= POOLED_BYTES ? Buffer.allocUnsafe(capacity) : Buffer.allocUnsafeSlow(capacity)
    this.#buffer.copy(grown)
    this.#buffer = grown
  }

  #capacity(factor: number, isLast: boolean): number {
    const capacity = isLast ? this.receivedBytes : Math.max(FIRST_CAPACITY, factor * this.receivedBytes)
    return Math.min(capacity, this.limits.bodyBytes, this.declaredLength ?? capacity)
  }
}
