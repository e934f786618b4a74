import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../base/sync-folder.ts'
import type { BinaryFile } from '../catalog/value.ts'
import { digestsOf } from './binary-digest.ts'

const ID = /^[0-9A-F]{32}$/

export const newFileId = (): string => randomBytes(16).toString('hex').toUpperCase()

/** A file is missing, or its content is not what was written. */
export class DamagedFileError extends Error {
  override readonly name = 'DamagedFileError'
}

/**
 * The folder of the large images and blobs of a store. A file is written once, is on the disk before anything refers to it, and
 * never changes; its name is random and chosen here. LMDB knows which files are in use (`binary-table.ts`).
 *
 * A file is written in the folder `incoming`, and moved when the transaction that refers to it has been committed. So only files
 * that a crash leaves there may be removed without LMDB having known them.
 */
export class BinaryFiles {
  private readonly incoming: string
  private isMade = false
  private readonly removals = new Set<Promise<void>>()
  private removedIds: string[] = []
  /** Ids of files to be removed as soon as removal is allowed again. */
  private heldIds: string[] = []

  /** @param mayRemove false while another process reads files that commits no longer refer to */
  constructor(
    private readonly folder: string,
    private readonly mayRemove: () => boolean = () => true,
  ) {
    this.incoming = join(folder, 'incoming')
  }

  /** Path of a new file while it is written. */
  incomingPath(id: string): string {
    return join(this.incoming, id)
  }

  private path(id: string): string {
    return join(this.folder, id)
  }

  /** Creates the folders if they are missing. */
  prepare(): void {
    if (this.isMade) return
    mkdirSync(this.incoming, { recursive: true, mode: 0o700 })
    syncFolder(this.folder)
    this.isMade = true
  }

  /** An existing file. */
  file(id: string, size: number, digests: Uint8Array | undefined): BinaryFile {
    return { id, size, digests, read: () => this.readWhole(id, size, digests) }
  }

  /** Writes a whole file and syncs it to the disk. */
  create(bytes: Uint8Array): BinaryFile {
    this.prepare()
    const id = newFileId()
    const file = openSync(this.incomingPath(id), 'wx', 0o600)
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
      fsyncSync(file)
    } catch (error) {
      rmSync(this.incomingPath(id))
      throw error
    } finally {
      closeSync(file)
    }
    syncFolder(this.incoming)
    return this.file(id, bytes.length, digestsOf(bytes))
  }

  /** Syncs the names of new files to the disk. */
  async sync(): Promise<void> {
    const folder = await open(this.incoming, 'r')
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  }

  /** Moves a file that a commit refers to out of `incoming`. If this fails, the next start retries it. */
  settle(id: string): void {
    try {
      renameSync(this.incomingPath(id), this.path(id))
    } catch {
      // The file has already been moved, or is found in `incoming`.
    }
  }

  /** @throws {Error} with the code `ENOENT` when there is no such file */
  open(id: string): number {
    return this.find(id, path => openSync(path, 'r'))
  }

  /** Ids of the existing files. @param where `incoming`: files that no commit referred to when they were written */
  list(where: 'settled' | 'incoming'): string[] {
    try {
      return readdirSync(where === 'settled' ? this.folder : this.incoming).filter(name => ID.test(name))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
  }

  /** Size in bytes; undefined when there is no such file. */
  size(id: string): number | undefined {
    // The file may be moved between two attempts.
    for (const path of [this.path(id), this.incomingPath(id), this.path(id)]) {
      const stats = statSync(path, { throwIfNoEntry: false })
      if (stats) return stats.size
    }
    return undefined
  }

  /**
   * Removes a file in the background; while {@link isHeld} is true, it is removed together with a later file. If this fails, the next start
   * retries it.
   */
  removeSoon(id: string): void {
    this.heldIds.push(id)
    if (this.isHeld) return
    for (const each of this.heldIds.splice(0)) this.removeInBackground(each)
  }

  /** True while files must not be removed. */
  get isHeld(): boolean {
    return !this.mayRemove()
  }

  private removeInBackground(id: string): void {
    const removal = this.remove(id)
      .then(
        () => void this.removedIds.push(id),
        () => {},
      )
      .finally(() => this.removals.delete(removal))
    this.removals.add(removal)
  }

  /** Ids that {@link removeSoon} has removed since the last call. */
  takeRemoved(): string[] {
    const { removedIds } = this
    if (removedIds.length > 0) this.removedIds = []
    return removedIds
  }

  /** Resolves when no removal is under way. */
  async awaitRemovals(): Promise<void> {
    await Promise.all(this.removals)
  }

  /** Copies a file to a new one. @throws {Error} with the code `ENOENT` when there is no such file */
  copyTo(id: string, target: string): void {
    this.find(id, path => copyFileSync(path, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE))
  }

  async remove(id: string): Promise<void> {
    for (const path of [this.incomingPath(id), this.path(id)]) {
      await unlink(path).catch(error => {
        if (error.code !== 'ENOENT') throw error
      })
    }
  }

  private readWhole(id: string, size: number, digests: Uint8Array | undefined): Uint8Array {
    const bytes = this.find(id, path => readFileSync(path))
    const isRight = bytes.length === size && (!digests || Buffer.from(digests).equals(digestsOf(bytes)))
    if (!isRight) throw new DamagedFileError(`the file ${this.path(id)} is not what was written to it`)
    return bytes
  }

  private find<T>(id: string, use: (path: string) => T): T {
    // The file may be moved between the two attempts.
    for (const path of [this.path(id), this.incomingPath(id)]) {
      try {
        return use(path)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
    return use(this.path(id))
  }
}
