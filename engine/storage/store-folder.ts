import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { quantity } from '../base/counted.ts'
import { describeSystemError } from '../base/system-error.ts'
import type { StoreLocation } from '../data/store-options.ts'
import { canReadDataFile, DATA_FILE, DamagedStoreError, DataFile } from './data-file.ts'
import { walkPages } from './walk-pages.ts'

/** State of a folder. `missing`: it does not exist; `empty`: no data, and none was lost. */
export type FolderState = 'missing' | 'empty' | 'store'

/** Folder of a compacted copy until it replaces the data file. */
export const COMPACTED_FOLDER = 'compacted'

/** Folder of files that a backup sends. */
export const UPLOAD_FOLDER = 'uploading'

/** Folder of the log. */
export const LOG_FOLDER = 'log'

const IMAGE = /^memory-.*\.image$/

/** Makes a folder that only its owner can read. An existing one stays as it is. @throws {Error} naming the folder */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw unusable(folder, error)
  }
}

/** Describes a system error of a folder or its files so that an operator can fix it. */
export const unusable = (folder: string, error: unknown): Error =>
  new Error(`the folder of the store, ${folder}, cannot be used: ${describeSystemError(error)}`, { cause: error })

/** Adds the folder to a system error; other errors already say what they are about. */
export const describedError = (folder: string, error: unknown): unknown =>
  error instanceof Error && 'syscall' in error ? unusable(folder, error) : error

/** @returns why the store in a folder cannot be used; undefined if it can */
export function unfinishedReason({ path, unfinished }: StoreLocation): string | undefined {
  const isFound = unfinished?.names.some(name => existsSync(join(path, name)))
  return isFound ? `${path} ${unfinished!.reason}` : undefined
}

/**
 * Examines the folder of a store before LMDB opens it: LMDB replaces a missing data file by an empty one, and a damaged one ends
 * the process.
 * @param wasMaking true if nothing of a new store was durable yet when its process ended
 * @throws {DamagedStoreError} when data has been lost, or cannot be read
 */
export function examineFolder(folder: string, { wasMaking = false } = {}): FolderState {
  if (!existsSync(folder)) return 'missing'
  const size = statSync(join(folder, DATA_FILE), { throwIfNoEntry: false })?.size
  if (!size) {
    if (!wasMaking) refuseIfLost(folder, size === undefined ? 'is missing' : 'is empty', 'lock.mdb')
    return 'empty'
  }
  if (canReadDataFile) checkDataFile(folder)
  return 'store'
}

/** Removes the files of a process that was ended while it made the store. */
export function clearUnmade(folder: string): void {
  for (const name of [DATA_FILE, 'lock.mdb']) rmSync(join(folder, name), { force: true })
}

/** Removes the copy of a compaction whose process was ended. */
export function clearCompacted(folder: string): void {
  rmSync(join(folder, COMPACTED_FOLDER), { recursive: true, force: true })
}

/** @throws {DamagedStoreError} */
function checkDataFile(folder: string): void {
  const file = DataFile.in(folder)
  try {
    const meta = file.meta()
    // The last pages may be free ones that were never written; only a check of all pages can tell.
    const isShort = file.pages <= meta.lastPage
    const [problem] = walkPages(file, meta, { rootsOnly: !isShort })
    if (problem === undefined) return
    const where = isShort ? `has ${file.size} bytes and was cut off: ${problem}` : `is damaged: ${problem}`
    throw file.damaged(where)
  } finally {
    file.close()
  }
}

/**
 * @param what description of the fault in the data file
 * @param traces further files that prove earlier data
 * @throws {DamagedStoreError} when files in a folder without data prove that there was data
 */
export function refuseIfLost(folder: string, what: string, ...traces: readonly string[]): void {
  const names = readdirSync(folder)
  const files = names.includes('files') ? readdirSync(join(folder, 'files')).filter(name => name !== 'incoming') : []
  const remains = names.filter(name => traces.includes(name) || IMAGE.test(name))
  if (files.length > 0) remains.unshift(`${quantity(files.length, 'file')} of images and blobs`)
  if (remains.length === 0) return
  throw new DamagedStoreError(
    `${folder} has ${remains.join(', ')}, but ${DATA_FILE} ${what}: the data of this store are gone. ` +
      `Put ${DATA_FILE} back from a backup; for a new store name another folder, or remove all of this one.`,
  )
}
