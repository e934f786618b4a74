import { chmodSync, lstatSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { syncFolder } from '../base/sync-folder.ts'
import { readCheckpoint } from './checkpoint.ts'
import { canReadDataFile, DATA_FILE, DataFile } from './data-file.ts'
import { type Environment, openEnvironment } from './environment.ts'
import { hasFileLocks } from '../base/file-lock.ts'
import { FORMAT_VERSION, OLDEST_FORMAT } from './format-version.ts'
import { recoverStore } from './recover-store.ts'
import { clearCompacted, COMPACTED_FOLDER, describedError, examineFolder, unusable } from './store-folder.ts'
import { LOCK, lockDataFile, StoreLock } from './store-lock.ts'
import type { Note, StoreLocation, StoreLockOptions } from '../data/store-options.ts'
import { isLeased } from './store-owner.ts'
import { syncFile } from './sync-file.ts'
import { walkPages } from './walk-pages.ts'

export interface CompactOptions extends StoreLocation {
  lock?: Partial<StoreLockOptions> | undefined
  onNote?: Note
  onProgress?: (step: CompactStep) => void
}

/** Progress of a compaction, for a progress bar. */
export interface CompactStep {
  what: 'checking' | 'copying' | 'checking the copy' | 'replacing'
  done: number
  total: number
}

/** Sizes of the data file in bytes. */
export interface Compacted {
  before: number
  after: number
}

const COPY_POLL_MS = 500

/**
 * Replaces the data file of a store, which no other process may use meanwhile, by a copy without its free pages. At any moment
 * there is one whole data file: the old one until the copy is on the disk and has been compared, then the copy. A copy that is
 * not smaller is dropped.
 * @throws {Error} when the folder has no store, a process uses it, or the disk has no room for the copy
 * @throws {DamagedStoreError}
 */
export async function compactStore(options: CompactOptions): Promise<Compacted> {
  const { path, lock: chosenLock, onNote } = options
  const lockOptions = { ...LOCK, ...chosenLock, ...(onNote && { onWait: onNote }) }
  if (lockOptions.kind === 'lease' || !hasFileLocks()) {
    throw new Error('a store that is held by a lease cannot be compacted: a server that waits has the old file open')
  }
  try {
    if (!readCheckpoint(path)) refuseUnlessStore(path)
    return await compactOwn(options, StoreLock.take(path, lockOptions))
  } catch (error) {
    throw describedError(path, error)
  }
}

async function compactOwn(options: CompactOptions, lock: StoreLock): Promise<Compacted> {
  const { path } = options
  try {
    const readers = lockDataFile(path, { shared: false })
    if (!readers) throw new Error(`the store in ${path} is being checked; compact it when that is done`)
    try {
      await recoverStore(options, options.onNote ?? (() => {}))
      // Checked again: the folder may have changed before the lock was taken.
      refuseUnlessStore(path)
      return await replaceByCopy(options)
    } finally {
      clearCompacted(path)
      readers.release()
    }
  } finally {
    lock.release()
  }
}

function refuseUnlessStore(path: string): void {
  if (examineFolder(path) !== 'store') throw new Error(`there is no store in ${path}`)
  if (!lstatSync(join(path, DATA_FILE)).isFile()) {
    throw new Error(
      `${join(path, DATA_FILE)} is a symbolic link, which compaction would replace by a file; use the folder that it points to`,
    )
  }
}

async function replaceByCopy(options: CompactOptions): Promise<Compacted> {
  const { path, onProgress = () => {} } = options
  const [file, folder] = [join(path, DATA_FILE), join(path, COMPACTED_FOLDER)]
  const copy = join(folder, DATA_FILE)
  const old = statSync(file)
  clearCompacted(path)
  makeCopyFolder(folder, path, old.uid)
  const tables = checkedTables(path, 'checking', onProgress)
  const environment = openEnvironment(options)
  try {
    refuseUnlessCompactable(environment)
    await copyTo(environment, copy, old.size, onProgress)
  } finally {
    await environment.close()
  }
  chmodSync(copy, old.mode & 0o777)
  await syncFile(copy)
  if (!isDeepStrictEqual(checkedTables(folder, 'checking the copy', onProgress), tables)) {
    throw new Error(`the copy of ${file} does not have the entries of the file, which stays as it was`)
  }
  const { size } = statSync(copy)
  if (size >= old.size) return { before: old.size, after: old.size }
  onProgress({ what: 'replacing', done: 0, total: 1 })
  renameSync(copy, file)
  syncFolder(path)
  onProgress({ what: 'replacing', done: 1, total: 1 })
  return { before: old.size, after: size }
}

function makeCopyFolder(folder: string, path: string, owner: number): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    throw unusable(path, error)
  }
  if (statSync(folder).uid !== owner) {
    throw new Error(
      `${join(path, DATA_FILE)} belongs to another user (${owner}), who could not open a copy: compact it as that user`,
    )
  }
}

/**
 * Checks every page, because LMDB copies without a check and a damaged page ends the process.
 * @returns the number of entries of each table
 */
function checkedTables(folder: string, what: CompactStep['what'], onProgress: (step: CompactStep) => void) {
  const entries = new Map<string, number>()
  if (!canReadDataFile) return entries
  const file = DataFile.in(folder)
  try {
    onProgress({ what, done: 0, total: file.pages })
    const [problem] = walkPages(file, file.meta(), {
      onProgress: ({ checkedPages, total }) => onProgress({ what, done: checkedPages, total }),
      onTable: (name, tree) => entries.set(name, tree.entries),
    })
    if (problem !== undefined) throw file.damaged(`is damaged: ${problem}`)
    // Opening a store of an older format creates the tables that it lacks.
    return new Map([...entries].filter(([, count]) => count > 0))
  } finally {
    file.close()
  }
}

function refuseUnlessCompactable(environment: Environment): void {
  const { meta, path } = environment
  const format = meta.get('format') as number | undefined
  if (format === undefined) throw new Error(`${join(path, DATA_FILE)} holds no store`)
  if (format < OLDEST_FORMAT || format > FORMAT_VERSION) {
    const reads = `this version reads formats ${OLDEST_FORMAT} to ${FORMAT_VERSION}`
    throw new Error(`the store in ${path} has format ${format}, ${reads}`)
  }
  if (isLeased(environment)) {
    throw new Error(
      `the store in ${path} is held by a lease; stop its server, or start it once with storage.lock "file" and stop it`,
    )
  }
}

async function copyTo(
  { root, path }: Environment,
  copy: string,
  total: number,
  onProgress: (step: CompactStep) => void,
): Promise<void> {
  const show = (): void => {
    const copiedBytes = statSync(copy, { throwIfNoEntry: false })?.size ?? 0
    onProgress({ what: 'copying', done: Math.min(copiedBytes, total), total })
  }
  show()
  const timer = setInterval(show, COPY_POLL_MS)
  try {
    await root.backup(join(copy, '..'), true)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`the store in ${path} could not be copied, and stays as it was: ${reason}`, { cause: error })
  } finally {
    clearInterval(timer)
  }
}
