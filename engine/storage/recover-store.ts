import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { counted } from '../base/counted.ts'
import type { StoreLocation } from '../data/store-options.ts'
import type { CommitLog, LogEntry, LogPosition } from '../log/commit-log.ts'
import { LocalLog } from '../log/local-log.ts'
import { decodeRecord } from '../log/record.ts'
import { readCheckpoint, removeCheckpoint, restoreCheckpoint } from './checkpoint.ts'
import { DamagedStoreError, DATA_FILE } from './data-file.ts'
import { type Environment, openEnvironment } from './environment.ts'
import { LmdbTransaction } from './lmdb-transaction.ts'
import { LOCK, lockDataFile, StoreLock } from './store-lock.ts'
import { pin, writePosition } from './store-log.ts'
import { loadSchema } from './stored-schema.ts'

/** Folder of the log in that of the store. */
export const LOG_FOLDER = 'log'
/** Records are applied in transactions of some this many bytes. */
const APPLIED_BYTES = 8 * 2 ** 20

/**
 * Brings a store whose server was ended before it could close it to the state after the last record of its log, and makes that
 * durable: the data file is then the whole store. Does nothing for a store that was closed. The caller has exclusive use of the
 * store and of its data file. An interruption is safe: the next call begins again.
 * @throws {DamagedStoreError}
 * @throws {DamagedLogError}
 */
export async function recoverStore(location: StoreLocation, onNote: (text: string) => void): Promise<void> {
  const { path } = location
  const checkpoint = readCheckpoint(path)
  if (!checkpoint) return
  const file = join(path, DATA_FILE)
  if (!existsSync(file)) {
    throw new DamagedStoreError(
      `${path} has no ${DATA_FILE}: put the whole folder back from a backup, or name another one`,
    )
  }
  restoreCheckpoint(path, checkpoint)
  const log = new LocalLog({ folder: join(path, LOG_FOLDER), from: checkpoint.log, mustContinue: true })
  const environment = openEnvironment({ ...location, isLogged: true })
  try {
    // An interrupted recovery begins again at the checkpoint, so its pages must stay.
    const unpin = pin(environment)
    const count = applyRecords(environment, log, checkpoint.log)
    unpin()
    onNote(`the server was ended while it had the store open: ${counted(count, 'commit')} applied from the log`)
  } finally {
    await log.close()
    await environment.close()
  }
  const descriptor = openSync(file, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  removeCheckpoint(path)
}

/** Recovers a store that no process uses; leaves it alone otherwise, since the server that uses it keeps it complete. */
export async function recoverIfUnused(location: StoreLocation, onNote: (text: string) => void): Promise<void> {
  const { path } = location
  if (!readCheckpoint(path)) return
  let lock: StoreLock
  try {
    lock = StoreLock.take(path, { ...LOCK, waitMs: 0 })
  } catch {
    return
  }
  try {
    await recoverExclusively(location, onNote)
  } finally {
    lock.release()
  }
}

/** Recovers a store whose lock the caller has. @throws {Error} while a process without the lock reads the data file */
export async function recoverExclusively(location: StoreLocation, onNote: (text: string) => void): Promise<void> {
  if (!readCheckpoint(location.path)) return
  const readers = lockDataFile(location.path, { shared: false })
  if (!readers) throw new Error(`the store in ${location.path} is being checked; start when that is done`)
  try {
    await recoverStore(location, onNote)
  } finally {
    readers.release()
  }
}

/** Applies the records after `from`, the last one that the store has. @returns their number */
export function applyRecords(environment: Environment, log: CommitLog, { sequence }: LogPosition): number {
  if (log.last.sequence === sequence) return 0
  const { layouts } = loadSchema(environment)
  const transaction = new LmdbTransaction(environment, layouts, undefined, {})
  let batch: LogEntry[] = []
  let bytes = 0
  const apply = (): void => {
    const last = batch.at(-1)
    if (!last) return
    transaction.apply(
      batch.map(({ record }) => decodeRecord(record)),
      () => writePosition(environment, last),
    )
    batch = []
    bytes = 0
  }
  for (const entry of log.read(sequence)) {
    batch.push(entry)
    bytes += entry.record.length
    if (bytes >= APPLIED_BYTES) apply()
  }
  apply()
  return log.last.sequence - sequence
}
