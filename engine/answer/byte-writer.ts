import { SerialiseErrors } from './serialise-errors.ts'

const INITIAL_BYTES = 64 * 1024
/** Maximum size of the buffer that is kept between answers. */
const RETAINED_BYTES = 4 * 1024 * 1024
/** Size below which a loop is faster than `set`, which needs a view of the source. */
const LOOP_BYTES = 40
/** Maximum length of texts that are encoded here; Node encodes longer ones, which takes some 100 ns before it begins. */
const MAX_SHORT_TEXT = 100

/** Receives the pieces of an answer in order. */
export interface PieceSink {
  /** Maximum size of an answer that is one piece. */
  readonly pieceBytes: number
  /** Number of entities whose related entities are held at a time. */
  readonly batchRows: number
  /** @param piece valid until this returns */
  write(piece: Uint8Array): void
  /** Called before a buffer grows to a large size. @param bytes new size @throws {ProtocolError} without memory for it */
  hold(bytes: number): void
  /** Drops what has been written: the answer is written again from its beginning. */
  restart(): void
}

/**
 * A growing byte buffer, reused for every answer. Written bytes are found by their offset, which stays valid when the buffer
 * grows.
 *
 * With a sink, a large answer is not held whole: bytes written after {@link open} go to the sink piece by piece, and only those
 * before it stay in the buffer.
 */
export class ByteWriter {
  private bytes = new Uint8Array(INITIAL_BYTES)
  /** Length up to which bytes are written without further checks. */
  private capacity = 0
  private limit = 0
  private sink: PieceSink | undefined
  /** Start of the bytes that may go to the sink. */
  private opening = Number.POSITIVE_INFINITY
  /** Bytes that the sink has received. */
  private flushed = 0
  /** Bytes in the buffer. */
  length = 0

  /** Starts again: bytes that {@link since} returned earlier are overwritten from now on. */
  begin(limitBytes: number, sink?: PieceSink): void {
    this.shrink()
    this.length = 0
    this.flushed = 0
    this.limit = limitBytes
    this.sink = sink
    this.close()
  }

  /** Drops a large buffer. Bytes returned by {@link since} stay valid. */
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

  /** Keeps all later bytes in memory, and drops those after `start`. */
  closeAt(start: number): void {
    this.close()
    this.length = start
  }

  /** Bytes written since `start`: a view, valid until the next {@link begin}. */
  since(start: number): Uint8Array {
    return this.bytes.subarray(start, this.length)
  }

  /** Bytes of the answer that have not gone to the sink: a view, valid until the next {@link begin}. */
  remainder(): Uint8Array {
    return this.since(this.opening)
  }

  byte(value: number): void {
    const at = this.reserve(1)
    this.bytes[at] = value
  }

  /** Writes bytes `start` … `end - 1` of `source`. */
  copy(source: Uint8Array, start = 0, end = source.length): void {
    const size = end - start
    const at = this.reserve(size)
    const target = this.bytes
    if (size < LOOP_BYTES) for (let i = 0; i < size; i++) target[at + i] = source[start + i]!
    else target.set(source.subarray(start, end), at)
  }

  /** Repeats the bytes written at `start` … `end - 1`, before {@link open}. */
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

  /** Writes a text in which every character is ASCII: a number, for example. */
  ascii(value: string): void {
    const at = this.reserve(value.length)
    for (let i = 0; i < value.length; i++) this.bytes[at + i] = value.charCodeAt(i)
  }

  /** Makes room for `size` bytes. @returns their start */
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
    const newLength = this.length + size
    if (this.flushed + newLength > this.limit) throw SerialiseErrors.ANSWER_TOO_LARGE(this.limit)
    if (newLength > this.bytes.length) {
      const length = Math.max(newLength, 2 * this.bytes.length)
      if (length > RETAINED_BYTES) sink?.hold(length)
      const grown = new Uint8Array(length)
      grown.set(this.bytes.subarray(0, this.length))
      this.bytes = grown
    }
    this.setCapacity()
    this.capacity = Math.max(this.capacity, newLength)
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
