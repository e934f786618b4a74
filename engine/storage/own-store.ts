import { join } from 'node:path'
import { DamagedLogError } from '../log/commit-log.ts'
import { LocalLog, type LocalLogOptions } from '../log/local-log.ts'
import { type Checkpoint, readCheckpoint } from './checkpoint.ts'
import { type Environment, openEnvironment } from './environment.ts'
import { canReadDataFile, DamagedStoreError } from './data-file.ts'
import { applyRecords, putAside, recoverExclusively } from './recover-store.ts'
import { leaveLog, readPosition, StoreLog } from './store-log.ts'
import {
  clearCompacted,
  clearUnmade,
  describedError,
  examineFolder,
  LOG_FOLDER,
  makeFolder,
  refuseIfLost,
  unfinishedReason,
} from './store-folder.ts'
import { LOCK, StoreLock } from './store-lock.ts'
import type { Note, OwnStoreOptions } from '../data/store-options.ts'
import { StoreOwner } from './store-owner.ts'

/** A store that only this thread may write to. */
export interface OwnStore {
  readonly environment: Environment
  readonly owner: StoreOwner
  /** The log; undefined if LMDB makes commits durable. */
  readonly log: StoreLog | undefined
  /** Called when a new store has been created. */
  markMade(): void
  /** Renews a lease, if the store is held by one. @param onLost called when another process has taken the store */
  keep(onLost: (error: unknown) => void): void
  close(): Promise<void>
}

/**
 * Takes the store of a folder and opens it. Creates the folder if missing, since its lock is a file in it.
 * @param replace called before opening a store that is complete without its log; may replace its data file
 * @throws {Error} when another process has it, or permissions on the folder are missing
 * @throws {DamagedStoreError} when its data is missing or unreadable
 */
export async function openOwnStore(
  options: OwnStoreOptions,
  onNote: Note = () => {},
  replace: () => Promise<void> = async () => {},
): Promise<OwnStore> {
  try {
    return await openOwn(options, onNote, replace)
  } catch (error) {
    throw describedError(options.path, error)
  }
}

async function openOwn(options: OwnStoreOptions, onNote: Note, replace: () => Promise<void>): Promise<OwnStore> {
  const { path, token } = options
  const lockOptions = { ...LOCK, ...options.lock, onWait: onNote }
  const reason = unfinishedReason(options)
  if (reason !== undefined) throw new Error(reason)
  makeFolder(path)
  const lock = StoreLock.take(path, lockOptions)
  let environment: Environment | undefined
  let log: StoreLog | undefined
  try {
    const isLogged = options.log !== undefined && lock.kind === 'file' && canReadDataFile
    // A different token means that a process was killed. With this process's token, only a thread was ended, and the file is in
    // the state that the thread left.
    const checkpoint = readCheckpoint(path)
    const continuedCheckpoint = checkpoint?.token === token ? checkpoint : undefined
    if (!continuedCheckpoint) await recoverExclusively(options, onNote)
    const isNew = isEmpty(path, lock.wasMaking)
    lock.note(isNew)
    // A lease is taken only after the environment has been opened.
    if (lock.kind === 'file') clearCompacted(path)
    // Another process that waits for a lease has the data file open.
    if (lock.kind === 'file' && !isNew && !continuedCheckpoint) await replace()
    environment = openEnvironment({ ...options, isLogged })
    if (isLogged) log = openStoreLog(environment, options, continuedCheckpoint, onNote)
    if (!isNew && !lock.wasMaking && environment.meta.get('format') === undefined) refuseIfLost(path, 'holds no store')
    const owner = new StoreOwner(environment, token)
    owner.take(lock.kind, lockOptions)
    if (!isLogged) leaveLog(environment)
    let renewal: NodeJS.Timeout | undefined
    const lmdb = environment
    return {
      environment: lmdb,
      owner,
      log,
      markMade: () => lock.note(false),
      keep(onLost) {
        if (lock.kind === 'file') return
        renewal = setInterval(() => {
          try {
            owner.renew()
          } catch (error) {
            onLost(error)
          }
        }, lockOptions.renewMs).unref()
      },
      async close() {
        clearInterval(renewal)
        owner.release()
        await log?.close()
        await lmdb.close()
        lock.release()
      },
    }
  } catch (error) {
    await log?.close()
    await environment?.close()
    lock.release()
    throw error
  }
}

/** Opens the log after the state that LMDB has, and writes the first checkpoint. */
function openStoreLog(
  environment: Environment,
  { path, token, log: { followers = {}, ...retention } = {} }: OwnStoreOptions,
  continuedCheckpoint: Checkpoint | undefined,
  onNote: Note,
): StoreLog {
  const folder = join(path, LOG_FOLDER)
  const storedPosition = readPosition(environment)
  // Before its first commit, the store still has the position of another log, or of none.
  const from =
    continuedCheckpoint && continuedCheckpoint.log.sequence > storedPosition.sequence
      ? continuedCheckpoint.log
      : storedPosition
  const followedBytes = Math.max(0, ...Object.values(followers))
  const options: LocalLogOptions = {
    ...retention,
    followedBytes,
    folder,
    from,
    mustContinue: continuedCheckpoint !== undefined,
  }
  let log: LocalLog
  try {
    log = new LocalLog(options)
  } catch (error) {
    if (continuedCheckpoint || !(error instanceof DamagedLogError)) throw error
    // The store was closed properly, so it is complete without its log.
    const aside = putAside(folder)
    onNote(`the log was moved to ${aside}, and a new one begun; the data are complete. ${error.message}`, 'warn')
    log = new LocalLog(options)
  }
  const logsDeletedRows = Object.keys(followers).length > 0
  if (!continuedCheckpoint) return new StoreLog({ environment, log, token, onNote, from: log.last, logsDeletedRows })
  const storeLog = new StoreLog({ environment, log, token, onNote, from, logsDeletedRows })
  applyRecords(environment, log.read(from.sequence))
  storeLog.applied(log.last)
  return storeLog
}

function isEmpty(path: string, wasMaking: boolean): boolean {
  try {
    return examineFolder(path, { wasMaking }) !== 'store'
  } catch (error) {
    if (!wasMaking || !(error instanceof DamagedStoreError)) throw error
    // The process that created the store was killed; there was no data yet.
    clearUnmade(path)
    return true
  }
}
