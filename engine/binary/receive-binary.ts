import { type FileHandle, open } from 'node:fs/promises'
import { BinaryValue } from '../catalog/value.ts'
import { BinaryErrors } from './binary-errors.ts'
import { type BinaryFiles, newFileId } from '../storage/binary-files.ts'
import { INLINE_BYTES } from './binary-table.ts'
import { SNIFFED_BYTES, sniffMediaType } from './media-type.ts'

/** Bytes that arrive: hands each piece to `take`, and brings no more while what `take` returned is pending. */
export type ByteStream = (take: (piece: Uint8Array) => undefined | Promise<void>) => Promise<void>

/** Beyond it, what would fit into LMDB goes to files too: many small uploads must not fill the memory. */
const HELD_BYTES = 32 * 1024 * 1024
/** A file is written in pieces of at least this size. */
const WRITE_BYTES = 256 * 1024

const DISK_CODES = new Set<unknown>(['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG', 'EMFILE', 'ENFILE', 'EROFS'])

/** Bytes of all receivers that are not in files yet. */
let heldBytes = 0

/**
 * Takes a stream in: small ones in memory, others into a file that is on the disk when this resolves. Memory is a piece or
 * two, whatever the size. What fails leaves nothing behind.
 * @throws what the stream throws; {@link BinaryErrors.DISK_FULL}
 */
export async function receiveBinary(files: BinaryFiles, stream: ByteStream): Promise<BinaryValue> {
  const receiver = new Receiver(files)
  try {
    await stream(piece => receiver.take(piece))
    return await receiver.finish()
  } catch (error) {
    await receiver.discard()
    throw DISK_CODES.has((error as NodeJS.ErrnoException).code) ? BinaryErrors.DISK_FULL() : error
  }
}

class Receiver {
  /** What is not in the file yet. */
  private held = Buffer.alloc(0)
  private length = 0
  private head = Buffer.alloc(0)
  private readonly id = newFileId()
  private file: FileHandle | undefined
  private size = 0
  private draining: Promise<void> | undefined

  constructor(private readonly files: BinaryFiles) {}

  take(piece: Uint8Array): undefined | Promise<void> {
    if (this.head.length < SNIFFED_BYTES) {
      this.head = Buffer.concat([this.head, piece.subarray(0, SNIFFED_BYTES - this.head.length)])
    }
    this.size += piece.length
    this.hold(piece)
    const fits = this.file
      ? this.length < WRITE_BYTES && !this.draining
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
      const bytes = new Uint8Array(this.held.subarray(0, this.length))
      this.letGo()
      return new BinaryValue(mediaType, bytes)
    }
    await this.drain()
    await this.file.datasync()
    await this.file.close()
    await this.files.sync()
    return new BinaryValue(mediaType, this.files.file(this.id, this.size))
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
    if (length > this.held.length) {
      const grown = Buffer.allocUnsafeSlow(
        this.file ? Math.max(length, WRITE_BYTES) : Math.max(length, 2 * this.length),
      )
      this.held.copy(grown, 0, 0, this.length)
      heldBytes += grown.length - this.held.length
      this.held = grown
    }
    this.held.set(piece, this.length)
    this.length = length
  }

  private letGo(): void {
    heldBytes -= this.held.length
    this.held = Buffer.alloc(0)
    this.length = 0
  }

  private async drain(): Promise<void> {
    this.files.prepare()
    this.file ??= await open(this.files.path(this.id), 'wx', 0o600)
    while (this.length > 0) {
      const full = this.held.subarray(0, this.length)
      this.letGo()
      for (let at = 0; at < full.length; ) at += (await this.file.write(full, at)).bytesWritten
    }
  }
}
