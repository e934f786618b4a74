import type { Database, Key } from 'lmdb'
import type { Progress } from '../../../base/progress.ts'
import type { Note, StoreLocation, StoreLockOptions } from '../../../data/store-options.ts'
import { encodeBinary } from '../../../files/encode-binary.ts'
import { BinaryTable, removeUnreferenced } from '../../binary-table.ts'
import { DamagedStoreError } from '../../data-file.ts'
import { type Environment, openEnvironment } from '../../environment.ts'
import { keepFingerprints, readFingerprints, writeFingerprints } from '../../fingerprints.ts'
import { IMAGE } from '../../lmdb-writable.ts'
import { examineFolder } from '../../store-folder.ts'
import { excludeReaders, LOCK, StoreLock } from '../../store-lock.ts'
import { loadSchema } from '../../stored-schema.ts'
import { UploadTable } from '../../upload-table.ts'
import { planMigration } from '../plan-migration.ts'
import { checkedChange, planChange, prepareStore } from '../prepare-store.ts'
import { catchUp, relink } from './catch-up.ts'
import { CopyFolder, type CopyTarget } from './copy-folder.ts'

interface TakeOptions extends StoreLocation, CopyTarget {
  readonly allowLoss: boolean
  readonly lock?: Partial<StoreLockOptions> | undefined
  readonly onNote: Note
  readonly onProgress: Progress
}

/**
 * Replaces the store by its copy that has been brought to the model, after the copy has taken over later changes. The caller has exclusive
 * use of the store, which is complete without its log. An interruption costs only time.
 * @throws {MigrationError} the model does not fit the data; the copy stays
 * @throws {Error} a process without the lock of the store still reads the data file
 */
export async function takeCopy(options: TakeOptions): Promise<void> {
  const { path, lock, onNote } = options
  const folder = new CopyFolder(path)
  if (!folder.exists) return
  const readers = excludeReaders(path, { ...LOCK, ...lock }, onNote)
  try {
    await takeAlone(folder, options)
  } finally {
    readers.release()
  }
}

async function takeAlone(folder: CopyFolder, options: TakeOptions): Promise<void> {
  const { path, mapSizeBytes, onNote } = options
  const source = openEnvironment({ path, mapSizeBytes })
  let isTaken = false
  try {
    if (!planChange(source, options)) {
      // A server with the old model goes on with its copy.
      if (!folder.description || folder.isFor(options)) folder.clear()
      return
    }
    // Checked before the copy is removed, so that a mistake in the model does not cost the copy.
    checkedChange(source, options)
    const reason = reasonAgainst(folder, options)
    if (reason !== undefined) {
      onNote(`the copy of the store that was being brought to a changed model is not used, and removed: ${reason}`)
      folder.clear()
      return
    }
    onNote('the copy of the store that has been brought to the model takes over the last changes')
    await complete(folder, source, options)
    isTaken = true
  } finally {
    await source.close()
    if (isTaken) folder.moveIntoPlace()
  }
}

/** @returns the reason why the copy cannot be used; undefined if it can be used */
function reasonAgainst(folder: CopyFolder, target: CopyTarget): string | undefined {
  if (!folder.isFor(target)) return 'the model is another one now'
  if (!folder.isCopied) return 'the data file was not copied yet'
  try {
    examineFolder(folder.path)
    return undefined
  } catch (error) {
    if (error instanceof DamagedStoreError) return error.message
    throw error
  }
}

async function complete(folder: CopyFolder, source: Environment, options: TakeOptions): Promise<void> {
  const { model, wire, mapSizeBytes, onProgress } = options
  const lock = StoreLock.take(folder.path, LOCK)
  try {
    const copy = folder.open({ mapSizeBytes })
    try {
      prepareStore({ environment: copy, model, wire, allowLoss: true, onProgress })
      const comparison = { source, copy, hasChanges: false, onProgress }
      catchUp(comparison)
      relink(comparison)
      takeOverRest(source, copy)
    } finally {
      await copy.close()
    }
  } finally {
    lock.release()
  }
}

/**
 * Takes over everything except entities: counters, uploads, entity sets, records of the server, and the fingerprints of the code that has
 * calculated values.
 */
function takeOverRest(source: Environment, copy: Environment): void {
  const { changes } = planMigration(loadSchema(source), loadSchema(copy))
  const binaries = new BinaryTable(copy)
  const earlier = [...new UploadTable(copy).all()]
  copy.root.transactionSync(() => {
    for (const [id] of earlier) binaries.putUpload({ id, upload: undefined })
    for (const [id, { value, ...upload }] of new UploadTable(source).all())
      binaries.putUpload({ id, upload: { ...upload, value: encodeBinary(value) } })
    replace(copy.state, source.state)
    // The copy lacks what the change of the model has removed.
    removeUnreferenced(copy, source)
    replace(copy.entitySets, source.entitySets)
    replace(copy.records, source.records)
    for (const { before, after, keptPairs } of changes) {
      const fingerprints = readFingerprints(source, before.tableNumber)
      if (Object.keys(fingerprints).length === 0) continue
      writeFingerprints(copy, after.tableNumber, fingerprints)
      keepFingerprints(copy, after, new Set(keptPairs.map(({ after: { name } }) => name)))
    }
    // Readers that need earlier changes have ended, and the memory does not match any stored image.
    copy.changes.clearSync()
    for (const name of ['holder', IMAGE]) copy.meta.removeSync(name)
  })
  binaries.settle()
}

function replace<V, K extends Key>(table: Database<V, K>, by: Database<V, K>): void {
  table.clearSync()
  for (const { key, value } of by.getRange({})) table.putSync(key, value)
}
