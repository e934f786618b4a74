import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { BinaryFile } from '../catalog/value.ts'

const ID = /^[0-9A-F]{32}$/

export const newFileId = (): string => randomBytes(16).toString('hex').toUpperCase()

/**
 * The folder of the large images and blobs of a store. A file is written once, is on the disk before anything refers to
 * it, and never changes; its name is random and ours. Which of them are in use is in LMDB (`binary-table.ts`).
 */
export class BinaryFiles {
  private isMade = false
  private readonly removals = new Set<Promise<void>>()

  constructor(private readonly folder: string) {}

  path(id: string): string {
    return join(this.folder, id)
  }

  /** Makes the folder when there is none. */
  prepare(): void {
    if (!this.isMade) mkdirSync(this.folder, { recursive: true })
    this.isMade = true
  }

  /** A file that there is. */
  file(id: string, size: number): BinaryFile {
    return { id, size, read: () => readFileSync(this.path(id)) }
  }

  /** Writes a whole file; it is on the disk then. */
  create(bytes: Uint8Array): BinaryFile {
    this.prepare()
    const id = newFileId()
    const file = openSync(this.path(id), 'wx', 0o600)
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
      fsyncSync(file)
    } catch (error) {
      rmSync(this.path(id))
      throw error
    } finally {
      closeSync(file)
    }
    const folder = openSync(this.folder, 'r')
    fsyncSync(folder)
    closeSync(folder)
    return this.file(id, bytes.length)
  }

  /** Brings the names of new files to the disk. */
  async sync(): Promise<void> {
    const folder = await open(this.folder, 'r')
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  }

  /** Ids of the files that there are. */
  list(): string[] {
    try {
      return readdirSync(this.folder).filter(name => ID.test(name))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
  }

  /** In bytes; undefined when there is no such file. */
  size(id: string): number | undefined {
    return statSync(this.path(id), { throwIfNoEntry: false })?.size
  }

  /** What fails is left to the next start. */
  removeSoon(id: string): void {
    const removal = this.remove(id)
      .catch(() => {})
      .finally(() => this.removals.delete(removal))
    this.removals.add(removal)
  }

  /** Resolves when nothing is being removed any more. */
  async settled(): Promise<void> {
    await Promise.all(this.removals)
  }

  async remove(id: string): Promise<void> {
    await unlink(this.path(id)).catch(error => {
      if (error.code !== 'ENOENT') throw error
    })
  }
}
