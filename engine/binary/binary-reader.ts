import { closeSync, openSync, read } from 'node:fs'
import { promisify } from 'node:util'
import type { BinaryValue } from '../catalog/value.ts'
import type { BinaryFiles } from '../storage/binary-files.ts'
import { ByteCache } from './byte-cache.ts'

const readFile = promisify(read)

/** What is read and kept at once. */
const PIECE_BYTES = 256 * 1024

/** A part of an image or a blob, for a transport that reads while it sends. */
export interface ByteSource {
  readonly size: number
  read(start: number): Uint8Array | Promise<Uint8Array>
  close(): void
}

/**
 * Reads the bytes of images and blobs. Pieces of files that were used last stay in memory, where all readers share them:
 * a file never changes, so they are right as long as they are there.
 */
export class BinaryReader {
  private readonly pieces: ByteCache

  constructor(
    private readonly files: BinaryFiles,
    cacheBytes: number,
  ) {
    this.pieces = new ByteCache(cacheBytes)
  }

  /**
   * The bytes from `start` to before `end`. To be closed, also when nothing was read.
   * @throws {Error} with the code `ENOENT` when the value has been replaced meanwhile and its file is gone
   */
  open({ content }: BinaryValue, start: number, end: number): ByteSource {
    if (content instanceof Uint8Array) {
      return { size: end - start, read: at => content.subarray(start + at, end), close() {} }
    }
    const { id } = content
    // It stays readable through this, even if it is removed. Some microseconds, less than a way through the thread pool.
    const file = openSync(this.files.path(id), 'r')
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
        const piece = this.piece(id, Math.floor(at / PIECE_BYTES), content.size, file)
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

  private piece(id: string, number: number, size: number, file: number): Uint8Array | Promise<Uint8Array> {
    const position = number * PIECE_BYTES
    return this.pieces.get(`${id}:${number}`, () => load(file, position, Math.min(PIECE_BYTES, size - position)))
  }
}

async function load(file: number, position: number, length: number): Promise<Uint8Array> {
  const piece = Buffer.allocUnsafeSlow(length)
  for (let at = 0; at < length; ) {
    const { bytesRead } = await readFile(file, piece, at, length - at, position + at)
    if (bytesRead === 0) throw new Error('a file of the store is shorter than it was when it was written')
    at += bytesRead
  }
  return piece
}
