import { constants, existsSync, mkdirSync } from 'node:fs'
import { chmod, copyFile, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { syncFolder } from '../../base/sync-folder.ts'
import { describeSystemError } from '../../base/system-error.ts'
import { hasFileLocks, tryFileLock } from '../../base/file-lock.ts'
import type { BackupStorage, Stored } from './backup-storage.ts'
import { digestFile } from './digest-file.ts'
import { BackupError } from './manifest.ts'
import { syncFile } from '../sync-file.ts'

const LOCK_FILE = 'backup.lock'
/** End of the name of a file that is being written. */
const UNFINISHED = '.part'
const NO_FILE = 'ENOENT'

/** Backups in a folder of this machine, or of a volume that is mounted. */
export class FolderStorage implements BackupStorage {
  /** Absolute path. */
  readonly place: string

  constructor(folder: string) {
    this.place = resolve(folder)
  }

  async lock(): Promise<{ release(): void }> {
    try {
      mkdirSync(this.place, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw new BackupError(`the folder of backups, ${this.place}, cannot be made: ${describeSystemError(error)}`)
    }
    if (!hasFileLocks()) return { release() {} }
    const lock = tryFileLock(join(this.place, LOCK_FILE))
    if (!lock)
      throw new BackupError(`another process changes the backups in ${this.place}; try again when that is done`)
    return lock
  }

  async names(prefix: string): Promise<string[]> {
    const folder = this.path(prefix)
    if (!existsSync(folder)) return []
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = entries.filter(entry => entry.isFile())
    return files.map(({ parentPath, name }) => relative(this.place, join(parentPath, name)).replaceAll(sep, '/')).sort()
  }

  async read(name: string): Promise<Buffer | undefined> {
    try {
      return await readFile(this.path(name))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === NO_FILE) return undefined
      throw error
    }
  }

  async has(name: string): Promise<boolean> {
    return existsSync(this.path(name))
  }

  async put(name: string, write: (path: string) => Promise<void> | void): Promise<Stored> {
    const path = this.path(name)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const unfinishedPath = path + UNFINISHED
    await rm(unfinishedPath, { recursive: true, force: true })
    await write(unfinishedPath)
    // The file may contain passwords, although hashed.
    await chmod(unfinishedPath, 0o600)
    const content = await digestFile(unfinishedPath)
    await syncFile(unfinishedPath)
    await rename(unfinishedPath, path)
    syncFolder(dirname(path))
    return content
  }

  async fetch(name: string, path: string): Promise<Stored> {
    try {
      // A copy may share its blocks with the original where the file system can do that.
      await copyFile(this.path(name), path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== NO_FILE) throw error
      throw new BackupError(`${this.path(name)} is missing`)
    }
    return digestFile(path)
  }

  async remove(name: string): Promise<void> {
    await rm(this.path(name), { force: true })
    try {
      for (let folder = dirname(this.path(name)); folder !== this.place; folder = dirname(folder)) await rmdir(folder)
    } catch {
      // The folder still contains other files.
    }
  }

  private path(name: string): string {
    return join(this.place, ...name.split('/'))
  }
}
