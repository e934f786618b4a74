import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { quantity } from '../base/counted.ts'
import type { Note, StoreLocation, StoreLockOptions } from '../data/store-options.ts'
import { type CommitLog, DamagedLogError, type LogEntry, type LogPosition } from '../log/commit-log.ts'
import { LocalLog } from '../log/local-log.ts'
import { readBehind, segmentsOf } from '../log/read-segments.ts'
import { decodeRecord } from '../log/record.ts'
import { readCheckpoint, removeCheckpoint, restoreCheckpoint } from './checkpoint.ts'
import { DamagedStoreError, DATA_FILE } from './data-file.ts'
import { type Environment, openEnvironment } from './environment.ts'
import { LOG_FOLDER } from './store-folder.ts'
import { LmdbTransaction } from './lmdb-transaction.ts'
import { excludeReaders, LOCK, StoreLock } from './store-lock.ts'
import { pin, writePosition } from './store-log.ts'
import { loadSchema } from './stored-schema.ts'
import { syncFile } from './sync-file.ts'

/** Approximate number of bytes of the records that are applied in one transaction. */
const APPLIED_BYTES = 8 * 2 ** 20

/** A store to be recovered. */
interface Recovery extends StoreLocation {
  readonly lock?: Partial<StoreLockOptions> | undefined
  /** Continues without the changes that exist only in a damaged part of the log. */
  readonly allowLoss?: boolean
}

/**
 * Brings a store whose server was ended before it could close it to the state after the last record of its log, and makes that durable: the
 * data file is then the complete store. Does nothing for a store that was closed. The caller has exclusive use of the store and of its data
 * file. An interruption is safe: the next call begins again.
 * @throws {DamagedStoreError}
 * @throws {DamagedLogError}
 */
export async function recoverStore(recovery: Recovery, onNote: Note): Promise<void> {
  const { path } = recovery
  const checkpoint = readCheckpoint(path)
  if (!checkpoint) return
  const file = join(path, DATA_FILE)
  if (!existsSync(file)) {
    throw new DamagedStoreError(
      `${path} has no ${DATA_FILE}: put the whole folder back from a backup, or name another one`,
    )
  }
  restoreCheckpoint(path, checkpoint)
  const { log, damage } = openLog(join(path, LOG_FOLDER), checkpoint.log, recovery)
  const environment = openEnvironment({ ...recovery, isLogged: true })
  try {
    // An interrupted recovery begins again at the checkpoint, so its pages must stay.
    const unpin = pin(environment)
    const count = applyRecords(environment, log.read(checkpoint.log.sequence))
    unpin()
    onNote(`the server was ended while it had the store open: ${quantity(count, 'commit')} applied from the log`)
  } finally {
    await log.close?.()
    await environment.close()
  }
  await syncFile(file)
  removeCheckpoint(path)
  if (!damage) return
  const folder = join(path, LOG_FOLDER)
  const aside = existsSync(folder) ? `; the damaged log was moved to ${putAside(folder)}` : ''
  onNote(`later changes, if there were any, are lost, as storage.allowLoss permits${aside}. ${damage.message}`, 'warn')
}

/** Renames a damaged log to keep it, so that a new one begins. @returns its new path */
export function putAside(folder: string): string {
  const aside = `${folder}-damaged-${Date.now()}`
  renameSync(folder, aside)
  return aside
}

/** Opens the log after a checkpoint; a damaged log up to the damage. */
function openLog(
  folder: string,
  from: LogPosition,
  { allowLoss = false }: Recovery,
): { log: Pick<CommitLog, 'read'> & Partial<Pick<CommitLog, 'close'>>; damage?: DamagedLogError } {
  try {
    return { log: new LocalLog({ folder, from, mustContinue: true }) }
  } catch (error) {
    if (!allowLoss || !(error instanceof DamagedLogError)) throw error
    return { log: { read: () => readBehind(segmentsOf(folder), from) }, damage: error }
  }
}

/** Recovers a store that no process uses. A store in use is not changed, since its server keeps it complete. */
export async function recoverIfUnused(location: StoreLocation, onNote: Note): Promise<void> {
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
export async function recoverExclusively(recovery: Recovery, onNote: Note): Promise<void> {
  const { path, lock } = recovery
  if (!readCheckpoint(path)) return
  const readers = excludeReaders(path, { ...LOCK, ...lock }, onNote)
  try {
    await recoverStore(recovery, onNote)
  } finally {
    readers.release()
  }
}

/** Applies records that follow those of the store. @returns their number */
export function applyRecords(environment: Environment, records: Iterable<LogEntry>): number {
  let transaction: LmdbTransaction | undefined
  let count = 0
  let batch: LogEntry[] = []
  let bytes = 0
  const apply = (): void => {
    const last = batch.at(-1)
    if (!last) return
    // A new store has no schema until its first record.
    transaction ??= new LmdbTransaction(environment, loadSchema(environment).layouts, undefined, {})
    transaction.apply(
      batch.map(({ record }) => decodeRecord(record)),
      () => writePosition(environment, last),
    )
    count += batch.length
    batch = []
    bytes = 0
  }
  for (const entry of records) {
    batch.push(entry)
    bytes += entry.record.length
    if (bytes >= APPLIED_BYTES) apply()
  }
  apply()
  return count
}
