import { BinaryValue } from '../catalog/value.ts'
import { decodeBinary, encodeBinary } from '../storage/encode-binary.ts'
import { type Environment, getBytes } from '../storage/environment.ts'
import { expiryKey, uploadKey } from '../storage/keys.ts'
import { readUpload, type UploadChange, writeUpload } from './upload-table.ts'

/** Values up to this size are in LMDB. Beyond it a commit would hold others up, and a read copy more than it sends. */
export const INLINE_BYTES = 64 * 1024

const NOTHING = Buffer.alloc(0)

/**
 * Binaries and uploads inside the open write transaction, with the number of references to each file. A file of which the
 * last one has gone is removed after the commit; a file that a transaction made in vain, after it.
 */
export class BinaryTable {
  /** Files that this transaction made, or took a reference from. */
  private readonly touched = new Set<string>()

  constructor(private readonly environment: Environment) {}

  /** @param key of `binaryKey` */
  put(key: Buffer, value: BinaryValue | null): void {
    const { binaries, files } = this.environment
    const old = getBytes(binaries, key)
    if (old) this.release(decodeBinary(old, files))
    if (value === null) {
      binaries.removeSync(key)
      return
    }
    const stored = this.retain(value)
    binaries.putSync(key, encodeBinary(stored) as Buffer)
  }

  /** Keeps an upload, or ends it. */
  putUpload({ id, upload }: UploadChange): void {
    const { uploads, files } = this.environment
    const old = readUpload(this.environment, id)
    if (old) {
      this.release(old.value)
      uploads.removeSync(expiryKey(old.expires, id))
    }
    if (!upload) {
      uploads.removeSync(uploadKey(id))
      return
    }
    const value = decodeBinary(upload.value, files)
    if (value) this.retain(value)
    uploads.putSync(uploadKey(id), writeUpload(upload))
    uploads.putSync(expiryKey(upload.expires, id), NOTHING)
  }

  /** Files that nothing refers to any more. After the transaction, however it ended. */
  takeUnused(): string[] {
    if (this.touched.size === 0) return []
    this.environment.root.resetReadTxn()
    const unused = [...this.touched].filter(id => references(this.environment, id) === 0)
    this.touched.clear()
    return unused
  }

  /** Counts a reference to the file of a value, which it gets when it is too large for LMDB. */
  private retain(value: BinaryValue): BinaryValue {
    const { content, mediaType } = value
    if (content instanceof Uint8Array) {
      if (content.byteLength <= INLINE_BYTES) return value
      const file = this.environment.files.create(content)
      this.touched.add(file.id)
      return this.retain(new BinaryValue(mediaType, file))
    }
    this.count(content.id, references(this.environment, content.id) + 1)
    return value
  }

  private release(value: BinaryValue | undefined): void {
    if (!value || value.content instanceof Uint8Array) return
    const { id } = value.content
    this.touched.add(id)
    this.count(id, references(this.environment, id) - 1)
  }

  private count(id: string, count: number): void {
    const key = Buffer.from(id, 'hex')
    const { fileReferences } = this.environment
    if (count <= 0) fileReferences.removeSync(key)
    else {
      const value = Buffer.allocUnsafe(4)
      value.writeUInt32BE(count)
      fileReferences.putSync(key, value)
    }
  }
}

/** How often a file is referred to. */
function references({ fileReferences }: Environment, id: string): number {
  const stored = getBytes(fileReferences, Buffer.from(id, 'hex'))
  return stored ? Buffer.from(stored).readUInt32BE() : 0
}

/** Removes the files that nothing refers to: left by a crash. Only while nobody uploads. @returns how many */
export async function sweepFiles(environment: Environment): Promise<number> {
  environment.files.prepare()
  environment.root.resetReadTxn()
  const orphans = environment.files.list().filter(id => references(environment, id) === 0)
  for (const id of orphans) await environment.files.remove(id)
  return orphans.length
}
