import { closeSync, fchownSync, fstatSync, openSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'

const require = createRequire(import.meta.url)

/** Offset of the lock, beyond any content: on Windows a locked part of a file cannot be read. */
const LOCKED_AT = 2 ** 20

export interface FileLock {
  /** Descriptor of the locked file, open for reading, and for writing when the lock is exclusive. */
  readonly descriptor: number
  release(): void
}

type TryLock = typeof import('fs-native-extensions').tryLock

let lockFunction: TryLock | false | undefined

/**
 * Lock function of the system, whose locks belong to an open file and end with its process; undefined where there is no build of
 * the addon.
 */
function systemLocks(): TryLock | undefined {
  if (lockFunction === undefined) {
    try {
      lockFunction = (require('fs-native-extensions') as typeof import('fs-native-extensions')).tryLock
    } catch {
      lockFunction = false
    }
  }
  return lockFunction || undefined
}

export const hasFileLocks = (): boolean => systemLocks() !== undefined

/**
 * Locks a file, which is created if missing. The kernel holds the lock: it applies to all processes of the machine in any
 * namespace, also to other descriptors of this process, and ends with the process.
 * @returns undefined when another holder's lock excludes this one
 */
export function tryFileLock(path: string, { shared = false } = {}): FileLock | undefined {
  const descriptor = openSync(path, 'a+', 0o600)
  try {
    giveToOwner(path, descriptor)
    if (systemLocks()!(descriptor, LOCKED_AT, 1, { shared })) {
      return { descriptor, release: () => closeSync(descriptor) }
    }
    closeSync(descriptor)
    return undefined
  } catch (error) {
    closeSync(descriptor)
    throw new Error(`${path} cannot be locked: ${(error as Error).message}`, { cause: error })
  }
}

/** Gives a file to the owner of its folder: otherwise, a file that the superuser creates would lock out the user of the server. */
function giveToOwner(path: string, descriptor: number): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(path))
  if (fstatSync(descriptor).uid !== uid) fchownSync(descriptor, uid, gid)
}
