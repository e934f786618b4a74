import { type Environment, openEnvironment } from './environment.ts'
import { DamagedStoreError } from './data-file.ts'
import { clearCompacted, clearUnmade, describedError, examineFolder, makeFolder, refuseIfLost } from './store-folder.ts'
import { LOCK, StoreLock } from './store-lock.ts'
import type { OwnStoreOptions } from '../data/store-options.ts'
import { StoreOwner } from './store-owner.ts'

/** A store that only this thread may write to. */
export interface OwnStore {
  readonly environment: Environment
  readonly owner: StoreOwner
  /** Called when a new store has been made. */
  made(): void
  /** Renews a lease, if the store is held by one. @param onLost called when another process has taken the store */
  keep(onLost: (error: unknown) => void): void
  close(): Promise<void>
}

/**
 * Takes the store of a folder and opens it. Makes the folder if missing, since its lock is a file in it.
 * @throws {Error} when another process has it, or permissions on the folder are missing
 * @throws {DamagedStoreError} when its data is missing or unreadable
 */
export async function openOwnStore(
  options: OwnStoreOptions,
  onNote: (text: string) => void = () => {},
): Promise<OwnStore> {
  try {
    return await openOwn(options, onNote)
  } catch (error) {
    throw describedError(options.path, error)
  }
}

async function openOwn(options: OwnStoreOptions, onNote: (text: string) => void): Promise<OwnStore> {
  const { path, token } = options
  const lockOptions = { ...LOCK, ...options.lock, onWait: onNote }
  makeFolder(path)
  const lock = StoreLock.take(path, lockOptions)
  let environment: Environment | undefined
  try {
    const isNew = isEmpty(path, lock.wasMaking)
    lock.note(isNew)
    // A lease is taken only after the environment has been opened.
    if (lock.kind === 'file') clearCompacted(path)
    environment = openEnvironment(options)
    if (!isNew && !lock.wasMaking && environment.meta.get('format') === undefined) refuseIfLost(path, 'holds no store')
    const owner = new StoreOwner(environment, token)
    owner.take(lock.kind, lockOptions)
    let renewal: NodeJS.Timeout | undefined
    const opened = environment
    return {
      environment: opened,
      owner,
      made: () => lock.note(false),
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
        await opened.close()
        lock.release()
      },
    }
  } catch (error) {
    await environment?.close()
    lock.release()
    throw error
  }
}

function isEmpty(path: string, wasMaking: boolean): boolean {
  try {
    return examineFolder(path, { wasMaking }) !== 'store'
  } catch (error) {
    if (!wasMaking || !(error instanceof DamagedStoreError)) throw error
    // The process that made the store was ended; there was no data yet.
    clearUnmade(path)
    return true
  }
}
