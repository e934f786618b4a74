import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { type FileLock, hasFileLocks, tryFileLock } from '../base/file-lock.ts'
import type { LockKind, Note as Report, StoreLockOptions } from '../data/store-options.ts'

const LOCK_FILE = 'server.lock'
const READERS_FILE = 'readers.lock'
const POLL_MS = 50
/** Time for which another process may try a lock. */
const TRIED_MS = 500
/** Time before a note is logged: an old process that is still ending is usually gone by then. */
const SILENT_MS = 300

/** Default of the `lock` option. */
export const LOCK: StoreLockOptions = { kind: 'file', waitMs: 10_000, renewMs: 5_000 }

/** Content of the lock file: the process that has the store. */
interface Note {
  pid: number
  host: string
  since: string
  /** True while the store is being made: a missing data file does not mean a loss then. */
  isNew?: boolean
}

/** The right to write to the store of a folder, which one thread of one process has at a time. */
export class StoreLock {
  /** True if the previous process was ended while it made the store. */
  readonly wasMaking: boolean

  private constructor(
    private readonly folder: string,
    readonly kind: LockKind,
    private readonly lock: FileLock | undefined,
    before: Partial<Note>,
  ) {
    this.wasMaking = before.isNew === true
  }

  /** @throws {Error} when another process has the store, and keeps it for longer than `waitMs` */
  static take(folder: string, { kind, waitMs, onWait }: StoreLockOptions): StoreLock {
    if (kind === 'lease' || !hasFileLocks()) return new StoreLock(folder, 'lease', undefined, readNote(folder))
    const lock = waitFor(
      () => tryFileLock(join(folder, LOCK_FILE)),
      waitMs,
      () => onWait?.(`the store in ${folder} is in use by ${describeHolder(folder)}; waiting for it to end`),
    )
    if (!lock) throw inUse(folder, describeHolder(folder))
    return new StoreLock(folder, 'file', lock, readNote(folder))
  }

  /** Records which process has the store. @param isNew true until the store has been made */
  note(isNew: boolean): void {
    const note: Note = { pid: process.pid, host: hostname(), since: new Date().toISOString(), ...(isNew && { isNew }) }
    const descriptor = this.lock?.descriptor ?? openSync(join(this.folder, LOCK_FILE), 'a', 0o600)
    try {
      ftruncateSync(descriptor)
      writeSync(descriptor, JSON.stringify(note))
      // The note of a new store must not reappear once there is data.
      fsyncSync(descriptor)
    } finally {
      if (!this.lock) closeSync(descriptor)
    }
  }

  release(): void {
    this.lock?.release()
  }
}

export const inUse = (folder: string, holder: string): Error =>
  new Error(`the store in ${folder} is in use by ${holder}; stop it first, two servers cannot write to one store`)

/** True if a process holds the file lock of the store. */
export function isLocked(folder: string): boolean {
  const file = join(folder, LOCK_FILE)
  if (!hasFileLocks() || !existsSync(file)) return false
  const lock = tryFileLock(file, { shared: true })
  lock?.release()
  return lock === undefined
}

/**
 * Locks the data file against replacement: shared for processes that read it without the store's lock, exclusive for the one that
 * replaces it.
 * @returns undefined when that is not possible now
 */
export function lockDataFile(folder: string, options: { shared: boolean }): FileLock | undefined {
  return hasFileLocks() ? tryFileLock(join(folder, READERS_FILE), options) : { descriptor: -1, release() {} }
}

/** Locks the data file for a reader. @returns undefined while it is being replaced */
export const lockForReading = (folder: string): FileLock | undefined =>
  // A server that removes a file briefly tries the lock.
  waitFor(
    () => lockDataFile(folder, { shared: true }),
    TRIED_MS,
    () => {},
  )

/**
 * Locks the data file before it is replaced or changed as a whole. A process that has the old file open while another one opens the new
 * file would share its table of readers.
 * @throws {Error} a process goes on reading
 */
export function excludeReaders(folder: string, { waitMs }: Pick<StoreLockOptions, 'waitMs'>, onNote: Report): FileLock {
  const readers = 'a check, a backup or the preparation of a changed model'
  const lock = waitFor(
    () => lockDataFile(folder, { shared: false }),
    waitMs,
    () => onNote(`the store in ${folder} is read by ${readers}; waiting for it to end`),
  )
  if (lock) return lock
  throw new Error(`the store in ${folder} is read by ${readers}; start when that is done`)
}

/**
 * True while a process reads the store without its lock: a check or a backup, which needs the files of its commit. Some 4 µs. Hard links to
 * these files would need the same volume.
 */
export function isReadByOthers(folder: string): boolean {
  try {
    const lock = lockDataFile(folder, { shared: false })
    lock?.release()
    return lock === undefined
  } catch {
    // The folder cannot be used, which the next write reports.
    return false
  }
}

/** Calls `attempt` until it returns a value, for at most `waitMs`. The thread sleeps in between. */
export function waitFor<T>(attempt: () => T | undefined, waitMs: number, onWait: () => void): T | undefined {
  const start = performance.now()
  let isTold = false
  for (;;) {
    const result = attempt()
    const waitedMs = performance.now() - start
    if (result !== undefined || waitedMs >= waitMs) return result
    if (!isTold && waitedMs >= SILENT_MS) {
      isTold = true
      onWait()
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.min(POLL_MS, waitMs - waitedMs))
  }
}

function describeHolder(folder: string): string {
  const { pid, host, since } = readNote(folder)
  if (pid === undefined) return 'another process'
  return `process ${pid}${host === hostname() ? '' : ` of ${host}`}, since ${since}`
}

function readNote(folder: string): Partial<Note> {
  try {
    return JSON.parse(readFileSync(join(folder, LOCK_FILE), 'utf8')) as Note
  } catch {
    // There is no note, or its writer was killed before it was complete.
    return {}
  }
}
