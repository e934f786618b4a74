import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Note, StoreLocation } from '../data/store-options.ts'
import { DATA_FILE } from './data-file.ts'
import { type Environment, openEnvironment } from './environment.ts'
import { recoverIfUnused } from './recover-store.ts'
import { lockForReading } from './store-lock.ts'

/** A store that is read while a server may be writing to it. No file of an image or a blob is removed until it is closed. */
interface OpenedBeside {
  readonly environment: Environment
  close(): Promise<void>
}

/**
 * Opens a store for reading beside its server. A store that was not closed and that no server uses is recovered first.
 * @throws {Error} the store does not exist, or is being compacted
 */
export async function openBeside(location: StoreLocation, onNote: Note): Promise<OpenedBeside> {
  const { path } = location
  await recoverIfUnused(location, onNote)
  if (!existsSync(join(path, DATA_FILE))) throw new Error(`there is no store in ${path}`)
  // Also keeps files of images and blobs from being removed.
  const readers = lockForReading(path)
  if (!readers) throw new Error(`the store in ${path} is being compacted; try again when that is done`)
  try {
    const environment = openEnvironment(location)
    environment.root.readerCheck()
    return {
      environment,
      close: () => environment.close().finally(() => readers.release()),
    }
  } catch (error) {
    readers.release()
    throw error
  }
}
