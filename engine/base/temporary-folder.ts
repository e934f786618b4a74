import { existsSync, lstatSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FileLock, hasFileLocks, tryFileLock } from './file-lock.ts'

/** Locked by the process of the folder until it ends. */
const LOCK_FILE = 'owner.lock'

/** A folder that only this user can read. */
export interface TemporaryFolder {
  readonly path: string
  /** Removes the folder. */
  close(): void
}

/**
 * Creates a folder for temporary files, and removes those with the same prefix that killed processes have left.
 * @param parent the folder of the system for temporary files by default
 */
export function openTemporaryFolder(prefix: string, parent = tmpdir()): TemporaryFolder {
  removeAbandoned(prefix, parent)
  const path = mkdtempSync(join(parent, prefix))
  const lock = hasFileLocks() ? lockFolder(path) : undefined
  return {
    path,
    close() {
      lock?.release()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

/** The lock has its name only once it is held, so that no other process takes a new folder for an abandoned one. */
function lockFolder(path: string): FileLock | undefined {
  const file = join(path, LOCK_FILE)
  const lock = tryFileLock(`${file}.new`)
  renameSync(`${file}.new`, file)
  return lock
}

function removeAbandoned(prefix: string, parent: string): void {
  if (!hasFileLocks()) return
  for (const name of readdirSync(parent)) {
    const path = join(parent, name)
    try {
      if (name.startsWith(prefix) && isAbandoned(path)) rmSync(path, { recursive: true, force: true })
    } catch {
      // Another process has removed it, or a later start tries again.
    }
  }
}

/** True for a folder of this user whose process has ended: the kernel releases the lock then, whatever ended it. */
function isAbandoned(path: string): boolean {
  const stats = lstatSync(path)
  const isOwn = stats.isDirectory() && (process.getuid === undefined || stats.uid === process.getuid())
  const lock = isOwn && existsSync(join(path, LOCK_FILE)) ? tryFileLock(join(path, LOCK_FILE)) : undefined
  lock?.release()
  return lock !== undefined
}
