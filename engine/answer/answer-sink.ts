import type { PieceSink } from './byte-writer.ts'
import { noMemory } from './answer-errors.ts'
import type { ByteBudget } from './byte-budget.ts'
import { type Coding, compress, Encoder, MIN_CODED_BYTES } from './coding.ts'
import type { SpoolWriter } from './spool-writer.ts'

/** An answer as passed on by the thread that made it: plain data. */
export interface PackedAnswer {
  /** Undefined if the answer is not compressed. */
  readonly coding: Coding | undefined
  /** Size in bytes, as sent. */
  readonly size: number
  /** Bytes to be transferred; undefined if the answer is in the file that came with the task. */
  readonly bytes: Uint8Array | undefined
}

/** Resources of a thread that makes answers. */
interface AnswerSinkOptions {
  /** Coding that the client accepts. */
  readonly coding: Coding | undefined
  readonly spool: SpoolWriter
  /** Budget of all request bodies and answers. */
  readonly memory: ByteBudget
  /** Words in shared memory with the KiB of the budget that each thread holds, so that they can be released when it ends. */
  readonly holdings: Int32Array
  readonly slot: number
}

/** Maximum size of an answer that is held in memory; a larger one is in a file. */
const MEMORY_BYTES = 1024 * 1024
/** Minimum size of pieces that are written to the file directly. */
const DIRECT_BYTES = 256 * 1024
const BATCH_ROWS = 1024

/** Takes an answer piece by piece, compresses it, and writes it to a file when it is large. */
export class AnswerSink implements PieceSink {
  readonly pieceBytes = MEMORY_BYTES
  readonly batchRows = BATCH_ROWS
  private encoder: Encoder | undefined
  private isEmpty = true
  /** Bytes that are not in the file yet. */
  private staged = Buffer.alloc(0)
  private length = 0
  private heldBytes = 0

  constructor(private readonly options: AnswerSinkOptions) {}

  write(piece: Uint8Array): void {
    const { coding } = this.options
    this.isEmpty = false
    if (coding) {
      this.encoder ??= new Encoder(coding, bytes => this.stage(bytes))
      this.encoder.write(piece)
    } else this.stage(piece)
  }

  hold(bytes: number): void {
    const { memory, holdings, slot } = this.options
    if (!memory.tryGrow(this.heldBytes, bytes)) throw noMemory(memory)
    this.heldBytes = bytes
    Atomics.store(holdings, slot, Math.ceil(bytes / 1024))
  }

  restart(): void {
    this.encoder?.close()
    this.encoder = undefined
    this.isEmpty = true
    this.length = 0
    this.options.spool.discard()
  }

  /** @param remainder remaining bytes of the answer, valid during the call */
  end(remainder: Uint8Array): PackedAnswer {
    const { coding, spool } = this.options
    if (this.isEmpty) return packAnswer(remainder, coding)
    this.write(remainder)
    this.encoder?.end()
    if (spool.size === 0) return { coding, size: this.length, bytes: this.staged.subarray(0, this.length) }
    spool.write(this.staged.subarray(0, this.length))
    return { coding, size: spool.size, bytes: undefined }
  }

  /** Drops an answer that has failed. */
  discard(): void {
    this.options.spool.discard()
  }

  /** Called after {@link end} or {@link discard}. */
  close(): void {
    const { memory, holdings, slot } = this.options
    this.encoder?.close()
    if (this.heldBytes === 0) return
    Atomics.store(holdings, slot, 0)
    memory.release(this.heldBytes)
  }

  private stage(bytes: Uint8Array): void {
    const { spool } = this.options
    if (this.length + bytes.length > MEMORY_BYTES) {
      if (this.length > 0) spool.write(this.staged.subarray(0, this.length))
      this.length = 0
      if (bytes.length >= DIRECT_BYTES) {
        spool.write(bytes)
        return
      }
    }
    if (this.staged.length === 0) this.staged = Buffer.allocUnsafeSlow(MEMORY_BYTES)
    this.staged.set(bytes, this.length)
    this.length += bytes.length
  }
}

/** Packs a small answer into a separate buffer, compressed if that is smaller. */
function packAnswer(bytes: Uint8Array, coding: Coding | undefined): PackedAnswer {
  if (coding && bytes.length >= MIN_CODED_BYTES) {
    const codedBytes = compress(bytes, coding)
    if (codedBytes.length < bytes.length) return { coding, size: codedBytes.length, bytes: new Uint8Array(codedBytes) }
  }
  return { coding: undefined, size: bytes.length, bytes: new Uint8Array(bytes) }
}
