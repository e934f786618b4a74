import { SerialiseErrors } from './serialise-errors.ts'

const INITIAL_BYTES = 64 * 1024
/** A buffer that one large answer has made larger than this is let go before the next answer. */
const RETAINED_BYTES = 4 * 1024 * 1024
/** Below this a loop is faster than `set`, which needs a view of the source. */
const LOOP_BYTES = 40
/** Longer ones are encoded by Node, which takes some 100 ns before it begins. */
const MAX_SHORT_TEXT = 100

/** Takes the pieces of an answer in their order. */
export interface PieceSink {
  /** An answer of up to this size is one piece. */
  readonly pieceBytes: number
  /** Entities of which all that is related is held at a time. */
  readonly batchRows: number
  /** @param piece is lent: it is valid until this returns */
  write(piece: Uint8Array): void
  /** Called before a buffer grows to `bytes`, when that is much. @throws {ProtocolError} there is no memory for it */
  hold(bytes: number): void
  /** Drops what has been written: the answer is written again from its beginning. */
  restart(): void
}

/**
 * A growing buffer of bytes that is used again for every answer. What has been written is found by its offset, which
 * stays right when the buffer grows.
 *
 * With a sink, a large answer is not held whole: what is written behind {@link open} goes to the sink piece by piece, and
 * only what stands before it stays in the buffer.
 */
export class ByteWriter {
  private bytes = new Uint8Array(INITIAL_BYTES)
  /** Up to here bytes are written without a look at anything else. */
  private capacity = 0
  private limit = 0
  private sink: PieceSink | undefined
  /** Start of the bytes that may go to the sink. */
  private opening = Number.POSITIVE_INFINITY
  /** Bytes that have gone there. */
  private flushed = 0
  /** Bytes in the buffer. */
  length = 0

  /** Starts again: bytes that {@link since} returned before are overwritten from now on. */
  begin(limitBytes: number, sink?: PieceSink): void {
    this.shrink()
    this.length = 0
    this.flushed = 0
    this.limit = limitBytes
    this.sink = sink
    this.close()
  }

  /** Lets a large buffer go. What {@link since} returned stays valid. */
  shrink(): void {
    if (this.bytes.length > RETAINED_BYTES) this.bytes = new Uint8Array(INITIAL_BYTES)
  }

  /** Begins the answer: later bytes are part of it. */
  open(): void {
    this.opening = this.length
    this.setCapacity()
  }

  /** Keeps all later bytes in memory. @returns their start */
  close(): number {
    if (this.length > this.opening) this.flush(this.length)
    this.opening = Number.POSITIVE_INFINITY
    this.setCapacity()
    return this.length
  }

  /** The same, and forgets what was to stay behind `start`. */
  closeAt(start: number): void {
    this.close()
    this.length = start
  }

  /** Bytes written since `start`: a view, valid until the next {@link begin}. */
  since(start: number): Uint8Array {
    return this.bytes.subarray(start, this.length)
  }

  /** Bytes of the answer that have not gone to the sink: a view, valid until the next {@link begin}. */
  rest(): Uint8Array {
    return this.since(this.opening)
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

  /** Once more the bytes that were written at `start` … `end - 1`, before {@link open}. */
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
    if (this.length + size > this.capacity) this.makeRoom(size)
    const at = this.length
    this.length = at + size
    return at
  }

  private makeRoom(size: number): void {
    const { sink, opening } = this
    if (sink && this.length + size - opening > sink.pieceBytes) {
      // The position keeps its alignment, which copies from shared memory depend on.
      this.flush(this.length - ((this.length - opening) & 7))
    }
    const needed = this.length + size
    if (this.flushed + needed > this.limit) throw SerialiseErrors.ANSWER_TOO_LARGE(this.limit)
    if (needed > this.bytes.length) {
      const length = Math.max(needed, 2 * this.bytes.length)
      if (length > RETAINED_BYTES) sink?.hold(length)
      const grown = new Uint8Array(length)
      grown.set(this.bytes.subarray(0, this.length))
      this.bytes = grown
    }
    this.setCapacity()
    this.capacity = Math.max(this.capacity, needed)
  }

  private flush(end: number): void {
    const { sink, opening } = this
    if (!sink || end <= opening) return
    sink.write(this.bytes.subarray(opening, end))
    this.bytes.copyWithin(opening, end, this.length)
    this.flushed += end - opening
    this.length -= end - opening
  }

  private setCapacity(): void {
    const { bytes, limit, flushed, sink, opening } = this
    const room = Math.min(bytes.length, limit - flushed)
    this.capacity = sink ? Math.min(room, opening + sink.pieceBytes) : room
  }
}
