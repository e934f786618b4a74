import { BinaryValue } from '../catalog/value.ts'
import type { UploadChange } from '../data/stored-uploads.ts'
import { decodeBinary, encodeBinary, INLINE_BYTES } from '../files/encode-binary.ts'
import { type Environment, getBytes } from './environment.ts'
import { expiryKey, prefixEnd, uploadKey } from './keys.ts'
import type { StoreOwner } from './store-owner.ts'
import { UploadTable, writeUpload } from './upload-table.ts'

const NOTHING = Buffer.alloc(0)

/**
 * Binaries and uploads inside the open write transaction, with the number of references to each file. After the transaction, files that
 * have lost their last reference are removed, and so are files that a failed transaction created.
 */
export class BinaryTable {
  /** Files that this transaction created, or took a reference from. */
  private readonly touchedIds = new Set<string>()
  /** Files that this transaction was the first to refer to. */
  private readonly addedIds = new Set<string>()
  private readonly uploads: UploadTable

  constructor(private readonly environment: Environment) {
    this.uploads = new UploadTable(environment)
  }

  /** @param key from `binaryKey` @returns the bytes that were stored, null for none */
  put(key: Buffer, value: BinaryValue | null): Uint8Array | null {
    const { binaries, files } = this.environment
    const old = getBytes(binaries, key)
    if (old) this.release(decodeBinary(old, files))
    if (value === null) {
      binaries.removeSync(key)
      return null
    }
    const bytes = encodeBinary(this.retain(value))
    binaries.putSync(key, bytes as Buffer)
    return bytes
  }

  /** Stores an upload, or removes it. */
  putUpload({ id, upload }: UploadChange): void {
    const { uploads, files } = this.environment
    const old = this.uploads.get(id)
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

  /** Deletes the entries of files that have been removed from the disk. The last step inside the transaction. */
  forgetRemoved(): void {
    for (const id of this.environment.files.takeRemoved()) this.environment.state.removeSync(removalKey(id))
  }

  /** Settles or removes files by their references. Called after the transaction, whether or not it succeeded. */
  settle(): void {
    const { environment, touchedIds, addedIds } = this
    if (touchedIds.size + addedIds.size === 0) return
    environment.root.resetReadTxn()
    for (const id of addedIds) if (references(environment, id) > 0) environment.files.settle(id)
    for (const id of touchedIds) if (references(environment, id) === 0) environment.files.removeSoon(id)
    touchedIds.clear()
    addedIds.clear()
  }

  /** Counts a reference to the file of a value. The file is created first if the value is too large for LMDB. */
  private retain(value: BinaryValue): BinaryValue {
    const { content, mediaType } = value
    if (content instanceof Uint8Array) {
      if (content.byteLength <= INLINE_BYTES) return value
      const file = this.environment.files.create(content)
      this.touchedIds.add(file.id)
      return this.retain(new BinaryValue(mediaType, file))
    }
    const { id } = content
    const before = references(this.environment, id)
    if (before === 0) {
      this.addedIds.add(id)
      this.environment.state.removeSync(removalKey(id))
    }
    this.count(id, before + 1)
    return value
  }

  private release(value: BinaryValue | undefined): void {
    if (!value || value.content instanceof Uint8Array) return
    const { id } = value.content
    this.touchedIds.add(id)
    this.count(id, references(this.environment, id) - 1)
  }

  private count(id: string, count: number): void {
    const key = Buffer.from(id, 'hex')
    const { fileReferences, state } = this.environment
    if (count <= 0) {
      fileReferences.removeSync(key)
      // Its file is removed after the commit; after a crash in between, the next start removes it.
      state.putSync(removalKey(id), NOTHING)
    } else {
      const value = Buffer.allocUnsafe(4)
      value.writeUInt32BE(count)
      fileReferences.putSync(key, value)
    }
  }
}

const REMOVALS = Buffer.from('remove ')

/** Key of the entry of an unreferenced file that is still to be removed. */
const removalKey = (id: string): Buffer => Buffer.concat([REMOVALS, Buffer.from(id, 'hex')])

/** Marks the files that another state of the store refers to and this one does not, inside the open write transaction. */
export function removeUnreferenced({ fileReferences, state }: Environment, other: Environment): void {
  for (const key of other.fileReferences.getKeys({}))
    if (!fileReferences.doesExist(key)) state.putSync(removalKey(key.toString('hex')), NOTHING)
}

/** Number of references to a file. */
function references({ fileReferences }: Environment, id: string): number {
  const bytes = getBytes(fileReferences, Buffer.from(id, 'hex'))
  return bytes ? Buffer.from(bytes).readUInt32BE() : 0
}

/**
 * Removes files whose removal a crash has prevented. Runs in the writer thread.
 * @param owner compared in the transaction
 */
export async function finishRemovals(environment: Environment, owner: Pick<StoreOwner, 'verify'>): Promise<void> {
  const ids = pendingRemovals(environment)
  if (ids.length === 0 || environment.files.isHeld) return
  for (const id of ids) if (references(environment, id) === 0) await environment.files.remove(id)
  environment.root.transactionSync(() => {
    owner.verify()
    for (const id of ids) environment.state.removeSync(removalKey(id))
  })
}

/** Ids of the files that are still to be removed. */
export const pendingRemovals = ({ state }: Environment): string[] =>
  [...state.getKeys({ start: REMOVALS, end: prefixEnd(REMOVALS) })].map(key =>
    key.toString('hex', REMOVALS.length).toUpperCase(),
  )

/**
 * Settles the files that a crash has left in `incoming`, and removes those that no commit refers to. Must not run during uploads. Any other
 * file is removed only if the store has referred to it: when an older data file is restored, files of a newer state of the store stay.
 */
export async function sweepIncoming(environment: Environment): Promise<void> {
  environment.root.resetReadTxn()
  for (const id of environment.files.list('incoming')) {
    if (references(environment, id) > 0) environment.files.settle(id)
    else await environment.files.remove(id)
  }
}
