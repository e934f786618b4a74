import { lstatSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Progress } from '../../../base/progress.ts'
import type { Note, StoreLocation } from '../../../data/store-options.ts'
import { DATA_FILE } from '../../data-file.ts'
import { openBeside } from '../../open-beside.ts'
import { LOCK, StoreLock } from '../../store-lock.ts'
import { checkedChange, prepareStore } from '../prepare-store.ts'
import { catchUp } from './catch-up.ts'
import { CopyFolder, type CopyTarget } from './copy-folder.ts'

/** A copy is ready when a comparison finds at most this many entities to be taken over. */
const FEW = 5_000
/** Maximum number of comparisons: where writes are faster, the start takes over more. */
const PASSES = 20

export interface BesideOptions extends StoreLocation, CopyTarget {
  /** Lets the changed model remove or break data that it does not allow. */
  readonly allowLoss: boolean
}

interface BesideEvents {
  readonly onNote: Note
  readonly onProgress: Progress
}

/**
 * Brings a copy of a store to another model while a server uses the store. The next start with that model uses the copy, see
 * `take-copy.ts`. The next call continues an interrupted one.
 * @returns false if the store already has the model
 * @throws {MigrationError} the model does not fit the data
 * @throws {Error} the disk has no room for a copy
 */
export async function migrateBeside(options: BesideOptions, { onNote, onProgress }: BesideEvents): Promise<boolean> {
  const { path, model, wire, allowLoss, mapSizeBytes } = options
  if (!lstatSync(join(path, DATA_FILE)).isFile())
    throw new Error(`${join(path, DATA_FILE)} is a symbolic link, which a copy would replace by a file`)
  const folder = new CopyFolder(path)
  const { environment: source, close } = await openBeside(options, onNote)
  try {
    if (!checkedChange(source, { model, wire, allowLoss, onProgress, onNote })) return false
    if (!folder.isFor(options)) folder.begin(options)
    const lock = StoreLock.take(folder.path, LOCK)
    try {
      if (!folder.isCopied) {
        demandRoom(path)
        await folder.copy(source)
      }
      const copy = folder.open({ mapSizeBytes })
      try {
        // Checked above.
        prepareStore({ environment: copy, model, wire, allowLoss: true, onProgress })
        for (let pass = 1; catchUp({ source, copy, hasChanges: pass > 1, onProgress }) > FEW && pass < PASSES; pass++);
      } finally {
        await copy.close()
      }
    } finally {
      lock.release()
    }
    return true
  } finally {
    await close()
  }
}

/** Requires room for the copy, and for the rows that are rewritten and new indexes. @throws {Error} */
function demandRoom(path: string): void {
  const size = 2 * statSync(join(path, DATA_FILE)).size
  const { bavail, bsize } = statfsSync(path)
  const mib = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`
  if (bavail * bsize < size)
    throw new Error(
      `a copy of the data file that is rewritten needs up to ${mib(size)}, and the disk of ${path} has ${mib(bavail * bsize)}: free some, or restart with the changed model, which changes the file itself`,
    )
}
