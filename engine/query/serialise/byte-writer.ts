import { SerialiseErrors } from './serialise-errors.ts'

const INITIAL_BYTES = 64 * 1024
/** A buffer that one large answer has made larger than this is let go before the next answer. */
const RETAINED_BYTES = 4 * 1024 * 1024
/** Below this a loop is faster than `set`, which needs a view of the source. */
const LOOP_BYTES = 40
/** Longer ones are encoded by Node, which takes some 100 ns before it begins. */
const MAX_SHORT_TEXT = 100

/**
 * A growing buffer of bytes that is used again for every answer. What has been written is found by its offset, which
 * stays right when the buffer grows.
 */
export class ByteWriter {
  private bytes = new Uint8Array(INITIAL_BYTES)
  /** Bytes that may be used now: the size of the buffer or the limit, whichever is less. */
  private capacity = 0
  private limit = 0
  /** Bytes written since {@link begin}. */
  length = 0

  /** Starts anew: what {@link since} returned before is overwritten from now on. */
  begin(limitBytes: number): void {
    if (this.bytes.length > RETAINED_BYTES) this.bytes = new Uint8Array(INITIAL_BYTES)
    this.length = 0
    this.limit = limitBytes
    this.capacity = Math.min(this.bytes.length, limitBytes)
  }

  /** What has been written from `start` on: a view, valid until the next {@link begin}. */
  since(start: number): Uint8Array {
    return this.bytes.subarray(start, this.length)
  }

  byte(value: number): void {
    const at = this.reserve(1)
    this.bytes[at] = value
  }

  /** Bytes `start` … `end - 1` of `source`. */
  copy(source: Uint8Array, start = 0, end = source.length): void {
    const size = end - start
    const at = this.reserve(size)
    const target = this.bytes
    if (size < LOOP_BYTES) for (let i = 0; i < size; i++) target[at + i] = source[start + i]!
    else target.set(source.subarray(start, end), at)
  }

  /** Once more the bytes that were written at `start` … `end - 1`. */
  repeat(start: number, end: number): void {
    const at = this.reserve(end - start)
    this.bytes.copyWithin(at, start, end)
  }

  text(value: string): void {
    if (value.length > MAX_SHORT_TEXT || !this.tryAscii(value)) this.copy(Buffer.from(value, 'utf8'))
  }

  private tryAscii(value: string): boolean {
    const at = this.reserve(value.length)
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i)
      if (unit > 0x7f) {
        this.length = at
        return false
      }
      this.bytes[at + i] = unit
    }
    return true
  }

  /** Text of which every character is ASCII: a number, for example. */
  ascii(value: string): void {
    const at = this.reserve(value.length)
    for (let i = 0; i < value.length; i++) this.bytes[at + i] = value.charCodeAt(i)
  }

  /** @returns where the `size` bytes start that may be written now */
  private reserve(size: number): number {
    const at = this.length
    if (at + size > this.capacity) this.grow(at + size)
    this.length = at + size
    return at
  }

  private grow(needed: number): void {
    if (needed > this.limit) throw SerialiseErrors.ANSWER_TOO_LARGE(this.limit)
    const grown = new Uint8Array(Math.max(needed, 2 * this.bytes.length))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
    this.capacity = Math.min(grown.length, this.limit)
  }
}
