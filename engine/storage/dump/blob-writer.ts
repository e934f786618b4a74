import { createHash } from 'node:crypto'
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { BinaryFile, BinaryValue } from '../../catalog/value.ts'
import { digestsOf, isDigestOf, PIECE_BYTES } from '../../files/binary-digest.ts'
import type { BinaryFiles } from '../../files/binary-files.ts'
import { BLOB_FOLDER, type BlobReference, blobPath, DumpError } from './dump-form.ts'

/** Writes images and blobs as files of a dump, each content once, a piece at a time. */
export class BlobWriter {
  count = 0
  bytes = 0
  private readonly draft: string

  constructor(
    private readonly folder: string,
    private readonly files: BinaryFiles,
  ) {
    this.draft = join(folder, BLOB_FOLDER, 'draft')
    mkdirSync(join(folder, BLOB_FOLDER))
  }

  /** @throws {DumpError} when the bytes differ from those that were written to the store */
  put({ mediaType, content }: BinaryValue): BlobReference {
    const sha256 =
      content instanceof Uint8Array
        ? this.putPieces(() => [content])
        : this.putPieces(() => pieces(this.files, content))
    return { sha256, type: mediaType }
  }

  private putPieces(read: () => Iterable<Uint8Array>): string {
    const hash = createHash('sha256')
    let size = 0
    const file = openSync(this.draft, 'w', 0o600)
    try {
      for (const piece of read()) {
        hash.update(piece)
        for (let at = 0; at < piece.length; ) at += writeSync(file, piece, at)
        size += piece.length
      }
    } finally {
      closeSync(file)
    }
    const sha256 = hash.digest('hex')
    const path = join(this.folder, blobPath(sha256))
    if (existsSync(path)) rmSync(this.draft)
    else {
      mkdirSync(dirname(path), { recursive: true })
      renameSync(this.draft, path)
      this.count++
      this.bytes += size
    }
    return sha256
  }
}

function* pieces(files: BinaryFiles, { id, size, digests }: BinaryFile): Generator<Uint8Array> {
  const damagedFile = (): DumpError => new DumpError(`the file ${id} of the store is not what was written to it`)
  let file: number
  try {
    file = files.open(id)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new DumpError(`the file ${id} of an image or a blob is missing in the store`)
  }
  try {
    if (fstatSync(file).size !== size) throw damagedFile()
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, size))
    for (let position = 0, number = 0; position < size; number++) {
      const length = Math.min(PIECE_BYTES, size - position)
      for (let at = 0; at < length; ) {
        const read = readSync(file, piece, at, length - at, position + at)
        if (read === 0) throw damagedFile()
        at += read
      }
      const bytes = piece.subarray(0, length)
      if (digests && !isDigestOf(digestsOf(bytes), digests, number)) throw damagedFile()
      yield bytes
      position += length
    }
  } finally {
    closeSync(file)
  }
}
