import { type ByteBudget, noMemory } from '../../engine/index.ts'
import { choppedBody, type Receiving } from './body-receiver.ts'
import type { Flow } from './body-streamer.ts'

/**
 * A body that no handler has requested yet: the socket is not read, and what has been read already is kept for the handler that
 * requests it.
 */
export class HeldBody implements Receiving {
  #pieces: { readonly bytes: Buffer; readonly isLast: boolean }[] = []
  #bytes = 0
  #failure: { readonly error: unknown } | undefined
  #taker: Receiving | undefined
  #isReleased = false
  #isPaused = false

  constructor(
    private readonly flow: Flow,
    private readonly memory: ByteBudget,
  ) {}

  get isTaken(): boolean {
    return this.#taker !== undefined
  }

  get refused(): boolean {
    return this.#taker?.refused ?? false
  }

  push(chunk: Uint8Array, isLast: boolean): void {
    if (this.#taker) this.#taker.push(chunk, isLast)
    else if (!this.#failure && !this.#isReleased) this.#keep(chunk, isLast)
  }

  fail(error: unknown): void {
    if (this.#taker) this.#taker.fail(error)
    else this.#failure ??= { error }
  }

  release(): void {
    if (this.#taker) this.#taker.release()
    else if (!this.#isReleased) {
      this.#isReleased = true
      this.#forget()
      this.#resume()
    }
  }

  /** Passes the kept bytes, and those still to arrive, to `taker`. */
  handTo(taker: Receiving): void {
    // Called first, because the taker may pause at a piece, and that pause must remain in effect. Further bytes arrive in a later
    // turn.
    this.#resume()
    this.#taker = taker
    const pieces = this.#pieces
    for (const { bytes, isLast } of pieces) taker.push(bytes, isLast)
    this.#forget()
    if (this.#failure) taker.fail(this.#failure.error)
  }

  /** Resumes even if the whole body has arrived: the next request of the connection must be read. */
  #resume(): void {
    if (this.#isPaused) this.flow.resume()
    this.#isPaused = false
  }

  #keep(chunk: Uint8Array, isLast: boolean): void {
    const bytes = this.#bytes + chunk.byteLength
    const error = choppedBody(this.#pieces.length + 1, bytes)
    if (error || !this.memory.tryGrow(this.#bytes, bytes)) {
      this.#forget()
      this.fail(error ?? noMemory(this.memory))
      return
    }
    this.#bytes = bytes
    this.#pieces.push({ bytes: Buffer.from(chunk), isLast })
    if (isLast || this.#isPaused) return
    this.flow.pause()
    this.#isPaused = true
  }

  #forget(): void {
    if (this.#bytes > 0) this.memory.release(this.#bytes)
    this.#bytes = 0
    this.#pieces = []
  }
}
