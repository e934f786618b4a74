import { closeSync, read } from 'node:fs'
import { promisify } from 'node:util'
import type { BinaryFile, BinaryValue } from '../catalog/value.ts'
import { digestOf, isDigestOf, PIECE_BYTES } from './binary-digest.ts'
import { type BinaryFiles, DamagedFileError } from './binary-files.ts'
import { ByteCache } from './byte-cache.ts'

const readFile = promisify(read)

/** Bytes for a transport that reads while it sends: a part of an image or a blob, or a large answer. */
export interface ByteSource {
  readonly size: number
  /** Separate memory that the source takes until it is closed, in bytes. */
  readonly bufferBytes?: number
  read(start: number): Uint8Array | Promise<Uint8Array>
  close(): void
}

/** Reads all bytes of a source and closes it. */
export async function readWhole(source: ByteSource): Promise<Uint8Array> {
  try {
    const bytes = new Uint8Array(source.size)
    for (let at = 0; at < bytes.length; ) {
      const piece = await source.read(at)
      bytes.set(piece, at)
      at += piece.length
    }
    return bytes
  } finally {
    source.close()
  }
}

/**
 * Reads the bytes of images and blobs. Recently used pieces of files stay in memory, shared by all readers: a file never changes,
 * so cached pieces stay valid.
 */
export class BinaryReader {
  readonly pieces: ByteCache

  constructor(
    private readonly files: BinaryFiles,
    cacheBytes: number,
  ) {
    this.pieces = new ByteCache(cacheBytes)
  }

  /**
   * Opens the bytes from `start` to before `end`. The source must be closed, even when nothing was read.
   * @throws {Error} with the code `ENOENT` when the value has been replaced meanwhile and its file is gone
   */
  open({ content }: BinaryValue, start: number, end: number): ByteSource {
    if (content instanceof Uint8Array) {
      return { size: end - start, read: at => content.subarray(start + at, end), close() {} }
    }
    // The descriptor stays readable even if the file is removed. Opening takes some microseconds, less than a round trip through
    // the thread pool.
    const file = this.files.open(content.id)
    let reading = 0
    let isClosed = false
    const release = () => {
      if (isClosed && reading === 0) closeSync(file)
    }
    const part = (piece: Uint8Array, at: number): Uint8Array =>
      piece.subarray(at % PIECE_BYTES, Math.min(PIECE_BYTES, end - (at - (at % PIECE_BYTES))))
    return {
      size: end - start,
      read: offset => {
        const at = start + offset
        const piece = this.piece(content, Math.floor(at / PIECE_BYTES), file)
        if (!(piece instanceof Promise)) return part(piece, at)
        reading++
        return piece
          .then(bytes => part(bytes, at))
          .finally(() => {
            reading--
            release()
          })
      },
      close() {
        isClosed = true
        release()
      },
    }
  }

  private piece(binary: BinaryFile, number: number, file: number): Uint8Array | Promise<Uint8Array> {
    return this.pieces.get(`${binary.id}:${number}`, () => load(binary, number, file))
  }
}

/** @throws {DamagedFileError} when the piece is not what was written */
async function load({ id, size, digests }: BinaryFile, number: number, file: number): Promise<Uint8Array> {
  const position = number * PIECE_BYTES
  const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, size - position))
  for (let at = 0; at < piece.length; ) {
    const { bytesRead } = await readFile(file, piece, at, piece.length - at, position + at)
    if (bytesRead === 0) throw new DamagedFileError(`the file ${id} of the store is shorter than it was written`)
    at += bytesRead
  }
  if (digests && !isDigestOf(await digestOf(piece), digests, number)) {
    throw new DamagedFileError(`the file ${id} of the store has other bytes than were written, from ${position} on`)
  }
  return piece
}
