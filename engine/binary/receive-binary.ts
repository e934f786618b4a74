import { type FileHandle, open } from 'node:fs/promises'
import { BinaryValue } from '../catalog/value.ts'
import { digestOf, PIECE_BYTES } from '../files/binary-digest.ts'
import { type BinaryFiles, newFileId } from '../files/binary-files.ts'
import { INLINE_BYTES } from '../files/encode-binary.ts'
import { SNIFFED_BYTES, sniffMediaType } from './media-type.ts'

/** A stream of bytes: passes each piece to `take`, and waits while the promise that `take` returned is pending. */
export type ByteStream = (take: (piece: Uint8Array) => undefined | Promise<void>) => Promise<void>

/** Bytes in memory beyond which even small values are written to files: many small uploads must not fill the memory. */
const HELD_BYTES = 32 * 1024 * 1024
/** Bytes of all receivers in memory. */
let heldBytes = 0

/**
 * Receives a stream: small ones in memory, others into a file that is on disk when this resolves. It uses a piece or two of
 * memory, whatever the size. On failure nothing is left behind.
 * @throws what the stream throws; errors of the disk
 */
export async function receiveBinary(files: BinaryFiles, stream: ByteStream): Promise<BinaryValue> {
  const receiver = new Receiver(files)
  try {
    await stream(piece => receiver.take(piece))
    return await receiver.finish()
  } catch (error) {
    await receiver.discard()
    throw error
  }
}

class Receiver {
  /** Bytes that are not in the file yet. */
  private buffer = Buffer.alloc(0)
  private length = 0
  private head = Buffer.alloc(0)
  private readonly id = newFileId()
  private file: FileHandle | undefined
  private size = 0
  /** Bytes that are in the file. */
  private writtenBytes = 0
  private readonly digests: Uint8Array[] = []
  private draining: Promise<void> | undefined

  constructor(private readonly files: BinaryFiles) {}

  take(piece: Uint8Array): undefined | Promise<void> {
    if (this.head.length < SNIFFED_BYTES) {
      this.head = Buffer.concat([this.head, piece.subarray(0, SNIFFED_BYTES - this.head.length)])
    }
    this.size += piece.length
    this.hold(piece)
    const fits = this.file
      ? this.length < PIECE_BYTES && !this.draining
      : this.size <= INLINE_BYTES && heldBytes <= HELD_BYTES
    if (fits) return undefined
    this.draining ??= this.drain().finally(() => {
      this.draining = undefined
    })
    return this.draining
  }

  async finish(): Promise<BinaryValue> {
    const mediaType = await sniffMediaType(this.head)
    if (!this.file) {
      const bytes = new Uint8Array(this.buffer.subarray(0, this.length))
      this.letGo()
      return new BinaryValue(mediaType, bytes)
    }
    await this.draining
    await this.drain(true)
    await this.file.datasync()
    await this.file.close()
    await this.files.sync()
    return new BinaryValue(mediaType, this.files.file(this.id, this.size, Buffer.concat(this.digests)))
  }

  async discard(): Promise<void> {
    await this.draining?.catch(() => {})
    this.letGo()
    if (!this.file) return
    await this.file.close().catch(() => {})
    await this.files.remove(this.id)
  }

  private hold(piece: Uint8Array): void {
    const length = this.length + piece.length
    if (length > this.buffer.length) {
      const grown = Buffer.allocUnsafeSlow(
        this.file ? Math.max(length, PIECE_BYTES) : Math.max(length, 2 * this.length),
      )
      this.buffer.copy(grown, 0, 0, this.length)
      heldBytes += grown.length - this.buffer.length
      this.buffer = grown
    }
    this.buffer.set(piece, this.length)
    this.length = length
  }

  private letGo(): void {
    heldBytes -= this.buffer.length
    this.buffer = Buffer.alloc(0)
    this.length = 0
  }

  /** Writes held bytes in whole pieces. @param isLast writes the rest as well */
  private async drain(isLast = false): Promise<void> {
    this.files.prepare()
    this.file ??= await open(this.files.incomingPath(this.id), 'wx', 0o600)
    while (this.length >= PIECE_BYTES || (isLast && this.length > 0)) {
      const full = this.buffer.subarray(0, isLast ? this.length : this.length - (this.length % PIECE_BYTES))
      const remainder = this.buffer.subarray(full.length, this.length)
      this.letGo()
      if (remainder.length > 0) this.hold(remainder)
      await Promise.all([this.write(this.file, full), this.digest(full)])
    }
  }

  private async write(file: FileHandle, bytes: Uint8Array): Promise<void> {
    const position = this.writtenBytes
    this.writtenBytes += bytes.length
    for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at, undefined, position + at)).bytesWritten
  }

  private async digest(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      this.digests.push(await digestOf(bytes.subarray(at, at + PIECE_BYTES)))
    }
  }
}
