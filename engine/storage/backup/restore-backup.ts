import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncFolder } from '../../base/sync-folder.ts'
import { quantity } from '../../base/counted.ts'
import type { Note, StoreLocation } from '../../data/store-options.ts'
import type { LogEntry } from '../../log/commit-log.ts'
import { readRecordHead } from '../../log/record.ts'
import { DATA_FILE } from '../data-file.ts'
import { type Environment, openEnvironment } from '../environment.ts'
import { applyRecords } from '../recover-store.ts'
import { LOG_FOLDER } from '../store-folder.ts'
import { type Backup, Backups } from './backups.ts'
import type { BackupStorage } from './backup-storage.ts'
import { recordsBetween } from './copy-log.ts'
import { forEach } from './for-each.ts'
import { describeStore, filesOf, isSamePlace, type StoreDescription } from './describe-store.ts'
import type { BackupStep } from './make-backup.ts'
import { BackupError } from './manifest.ts'
import { syncFile } from '../sync-file.ts'

/** A moment in the past: a time in milliseconds since 1970, or a `__GlobalStamp`. */
export type Moment = { readonly time: number } | { readonly stamp: number }

interface RestoreOptions extends StoreLocation {
  readonly storage: BackupStorage
  /** Name of the backup; the newest one by default. */
  readonly backup?: string | undefined
  /** Restores the last state that is not later than this moment. */
  readonly at?: Moment | undefined
  /** Continues without images and blobs of that moment that no backup has. */
  readonly allowLoss?: boolean
  readonly onNote?: Note
  readonly onProgress?: (step: BackupStep) => void
}

/** A store that was restored. */
export interface Restored extends Pick<StoreDescription, 'stamp' | 'entities'> {
  /** Name of the backup whose state the store has, or of which it has an earlier state. */
  readonly backup: string
  /** Time of the last commit if that is known, or else of the backup; in milliseconds since 1970. */
  readonly time: number
}

/**
 * Restores a store from backups, into a folder that does not exist or is empty. The folder appears when it is complete.
 * @throws {BackupError} a backup is damaged or missing, or no backup has that moment
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { storage } = options
  const path = existsSync(options.path) ? realpathSync(options.path) : options.path
  if (existsSync(path) && readdirSync(path).length > 0)
    throw new BackupError(`${path} is not empty; name another folder, or move what is in it`)
  const backups = new Backups(storage)
  const damagedNames: string[] = []
  const list = await backups.list((problem, name) => {
    damagedNames.push(name)
    options.onNote?.(problem, 'warn')
  })
  for (const name of await backups.incomplete())
    options.onNote?.(`${name} in ${storage.place} has no manifest, so it is not a whole backup`, 'warn')
  const chain = backups.chainOf(
    options.at
      ? backupAt(list, options.at, storage.place, options.onNote ?? (() => {}))
      : nameOf(list, damagedNames, options),
    list,
  )
  const folder = `${path}.restoring`
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'files'), { recursive: true, mode: 0o700 })
  let restoration: Restored
  try {
    await fetchAll(backups, chain, folder, options)
    restoration = await bringUp(folder, chain, options)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
  rmSync(join(folder, FETCHED_LOG), { recursive: true, force: true })
  await syncFile(join(folder, DATA_FILE))
  for (const each of [join(folder, 'files'), folder]) syncFolder(each)
  if (existsSync(path)) rmdirSync(path)
  renameSync(folder, path)
  syncFolder(dirname(path))
  return restoration
}

/** Folder inside the folder of the store for the records of increments, while the store is restored. */
const FETCHED_LOG = 'fetched-log'

function nameOf(list: readonly Backup[], damagedNames: readonly string[], { backup, storage }: RestoreOptions): string {
  const name = backup ?? list.at(-1)?.name
  const [newest] = damagedNames.slice(-1)
  if (backup === undefined && newest !== undefined && (name === undefined || newest > name))
    throw new BackupError(`the newest backup in ${storage.place}, ${newest}, is damaged; name another one`)
  if (name === undefined) throw new BackupError(`there are no backups in ${storage.place}`)
  return name
}

const momentOf = ({ manifest }: Backup, at: Moment): number => ('time' in at ? manifest.time : manifest.stamp)
const valueAt = (at: Moment): number => ('time' in at ? at.time : at.stamp)
const describe = (value: number, at: Moment): string =>
  'time' in at ? new Date(value).toISOString() : `stamp ${value}`

/** Name of the backup that contains a moment: the increment that spans it, or else the last one before it. */
function backupAt(list: readonly Backup[], at: Moment, place: string, onNote: Note): string {
  const value = valueAt(at)
  const [oldest, newest] = [list[0], list.at(-1)]
  if (!oldest || !newest) throw new BackupError(`there are no backups in ${place}`)
  if (value > momentOf(newest, at))
    throw new BackupError(`the newest backup in ${place} is of ${describe(momentOf(newest, at), at)}`)
  const before = list.findLast(backup => momentOf(backup, at) <= value)
  if (!before) throw new BackupError(`the oldest backup in ${place} is of ${describe(momentOf(oldest, at), at)}`)
  const across = list.find(({ manifest }) => manifest.after === before.name)
  const choice = across ?? before
  // A store that was restored to an earlier state has used these stamps twice.
  if ('stamp' in at && list.some(({ name, manifest }) => name > choice.name && manifest.stamp < choice.manifest.stamp))
    onNote(
      `the store was put back to an earlier state after ${choice.name}; the stamp is of the history before`,
      'warn',
    )
  return choice.name
}

async function fetchAll(
  backups: Backups,
  chain: readonly Backup[],
  folder: string,
  { onProgress }: RestoreOptions,
): Promise<void> {
  mkdirSync(join(folder, FETCHED_LOG))
  for (const [i, { name, manifest }] of chain.entries()) {
    onProgress?.({ what: 'fetching the data', done: i, total: chain.length })
    for (const file of manifest.files) {
      if (file.name === DATA_FILE) await backups.fetch(name, file, join(folder, DATA_FILE))
      else if (file.name.startsWith(`${LOG_FOLDER}/`))
        await backups.fetch(name, file, join(folder, FETCHED_LOG, file.name.slice(LOG_FOLDER.length + 1)))
    }
  }
  const blobs = await backups.blobsOf(chain)
  let done = 0
  await forEach(blobs.values(), async blob => {
    onProgress?.({ what: 'fetching images and blobs', done: done++, total: blobs.size })
    const path = join(folder, 'files', blob.id)
    await backups.fetchBlob(blob, path)
    await syncFile(path)
  })
}

/** Applies the records of the increments, and compares the result with the manifest. */
async function bringUp(folder: string, chain: readonly Backup[], options: RestoreOptions): Promise<Restored> {
  const { at, allowLoss = false, onNote = () => {}, onProgress } = options
  const { name, manifest } = chain.at(-1)!
  const environment = openEnvironment({ ...options, path: folder, isLogged: true })
  try {
    const base = describeStore(environment)
    onProgress?.({ what: 'applying commits', done: 0, total: 1 })
    let time = chain[0]!.manifest.time
    applyRecords(
      environment,
      upTo(recordsBetween(join(folder, FETCHED_LOG), base.to), at, reachedTime => {
        time = reachedTime
      }),
    )
    const state = describeStore(environment)
    if (!at && (!isSamePlace(state.to, manifest.to) || !hasSameContent(state, manifest)))
      throw new BackupError(`backup ${name} does not lead to the state that its manifest describes`)
    await removeUnused(environment)
    const missingIds = filesOf(environment).filter(id => environment.files.size(id) === undefined)
    if (missingIds.length > 0) {
      const what = `${quantity(missingIds.length, 'image or blob', 'images or blobs')} of that moment`
      const why = 'not in the backups: they were removed before the next one, or were missing in the store'
      if (!allowLoss) throw new BackupError(`${what} are ${why}; choose another moment, or allow the loss`)
      onNote(`${what} are ${why}`, 'warn')
    }
    // The restored store has no server yet.
    environment.root.transactionSync(() => environment.meta.removeSync('holder'))
    return { backup: name, time: at ? time : manifest.time, stamp: state.stamp, entities: state.entities }
  } finally {
    await environment.close()
    for (const name of ['lock.mdb', 'readers.lock']) rmSync(join(folder, name), { force: true })
  }
}

const hasSameContent = (one: StoreDescription, other: StoreDescription): boolean =>
  one.stamp === other.stamp && JSON.stringify(one.entities) === JSON.stringify(other.entities)

/** Records up to a moment. */
function* upTo(
  records: Iterable<LogEntry>,
  at: Moment | undefined,
  onRecord: (time: number) => void,
): Generator<LogEntry> {
  for (const entry of records) {
    const { time, globalStamp } = readRecordHead(entry.record)
    if (at && ('time' in at ? time > at.time : globalStamp > at.stamp)) return
    onRecord(time)
    yield entry
  }
}

/** Removes files of images and blobs that later commits would have added. */
async function removeUnused(environment: Environment): Promise<void> {
  await environment.files.awaitRemovals()
  const usedIds = new Set(filesOf(environment))
  for (const id of environment.files.list('settled')) if (!usedIds.has(id)) await environment.files.remove(id)
}
