import { createHash } from 'node:crypto'
import { closeSync, lstatSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type BinaryFile, BinaryValue } from '../../catalog/value.ts'
import { digestsOf, PIECE_BYTES } from '../../files/binary-digest.ts'
import { type BinaryFiles, newFileId } from '../../files/binary-files.ts'
import { INLINE_BYTES } from '../../files/encode-binary.ts'
import { type BlobReference, blobPath, DumpError, isSha256 } from './dump-form.ts'

/** Maximum length of a media type in a store. */
const MAX_TYPE = 127

/** Reads images and blobs of a dump into a store. Large ones become files of the store, and each content is stored once. */
export class BlobReader {
  private readonly filesByDigest = new Map<string, BinaryFile>()

  constructor(
    private readonly folder: string,
    private readonly files: BinaryFiles,
  ) {}

  /** @throws {DumpError} when the reference is invalid, or its file is missing or damaged */
  read(json: object): BinaryValue {
    const { sha256, type = 'application/octet-stream', ...others } = json as Partial<BlobReference>
    if (!isSha256(sha256) || typeof type !== 'string' || Object.keys(others).length > 0)
      throw new DumpError('an image or a blob is {"sha256":…,"type":…}, or a data: URL')
    if (type.length > MAX_TYPE || !/^[\x20-\xff]*$/.test(type))
      throw new DumpError(`${JSON.stringify(type.slice(0, 40))} is not a media type`)
    const earlierFile = this.filesByDigest.get(sha256)
    if (earlierFile) return new BinaryValue(type, earlierFile)
    const name = blobPath(sha256)
    const path = join(this.folder, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (!stats?.isFile()) throw new DumpError(`the file ${name} is missing`)
    if (stats.size <= INLINE_BYTES) {
      const bytes = new Uint8Array(readFileSync(path))
      if (createHash('sha256').update(bytes).digest('hex') !== sha256) throw damagedFile(name)
      return new BinaryValue(type, bytes)
    }
    const file = this.copy(path, name, sha256)
    this.filesByDigest.set(sha256, file)
    return new BinaryValue(type, file)
  }

  private copy(path: string, name: string, sha256: string): BinaryFile {
    this.files.prepare()
    const id = newFileId()
    const target = this.files.incomingPath(id)
    const hash = createHash('sha256')
    const digests: Uint8Array[] = []
    let size = 0
    const from = openSync(path, 'r')
    const to = openSync(target, 'wx', 0o600)
    try {
      const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES)
      for (let length = 1; length > 0; size += length) {
        length = fill(from, buffer)
        const piece = buffer.subarray(0, length)
        hash.update(piece)
        if (length > 0) digests.push(digestsOf(piece))
        for (let at = 0; at < length; ) at += writeSync(to, piece, at)
      }
    } finally {
      closeSync(from)
      closeSync(to)
    }
    if (hash.digest('hex') !== sha256) {
      rmSync(target)
      throw damagedFile(name)
    }
    return this.files.file(id, size, Buffer.concat(digests))
  }
}

const damagedFile = (name: string): DumpError => new DumpError(`the file ${name} does not have the SHA-256 of its name`)

/** Reads until the buffer is full, or the file ends. */
function fill(file: number, buffer: Buffer): number {
  let length = 0
  while (length < buffer.length) {
    const read = readSync(file, buffer, length, buffer.length - length, null)
    if (read === 0) break
    length += read
  }
  return length
}
