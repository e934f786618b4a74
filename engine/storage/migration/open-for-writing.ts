import type { Progress } from '../../base/progress.ts'
import type { Note, WritingOptions } from '../../data/store-options.ts'
import type { WritableStore } from '../../data/writable-store.ts'
import { finishRemovals } from '../binary-table.ts'
import { LmdbWritable } from '../lmdb-writable.ts'
import { openOwnStore } from '../own-store.ts'
import { takeCopy } from './beside/take-copy.ts'
import { prepareStore } from './prepare-store.ts'

interface WritingEvents {
  /** Receives texts for the log. */
  readonly onNote: Note
  onProgress: Progress
  /** Called when another process has taken the store. Nothing is written from then on. */
  onLost(error: unknown): void
}

/** A store that only this thread writes to, until it is closed. */
export interface OpenedForWriting {
  readonly store: WritableStore
  /** True if this call created the store. */
  readonly created: boolean
  close(): Promise<void>
}

/**
 * Takes the store of a folder, creates it if missing, and brings it to the model.
 * @throws {Error} when another process has it
 * @throws {DamagedStoreError} when its data is missing or unreadable
 * @throws {MigrationError} when the model does not fit the data
 */
export async function openForWriting(options: WritingOptions, events: WritingEvents): Promise<OpenedForWriting> {
  const { onNote, onProgress, onLost } = events
  const ownStore = await openOwnStore(options, onNote, () => takeCopy({ ...options, onNote, onProgress }))
  const { environment, owner, log } = ownStore
  try {
    const { created, ...schema } = prepareStore({ ...options, environment, owner, onProgress, onNote })
    await finishRemovals(environment, owner)
    // The log does not contain the changes made so far.
    await log?.checkpoint()
    ownStore.markMade()
    ownStore.keep(onLost)
    return { store: new LmdbWritable(environment, schema, owner, log), created, close: ownStore.close }
  } catch (error) {
    await ownStore.close()
    throw error
  }
}
