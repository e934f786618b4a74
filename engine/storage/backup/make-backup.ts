import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Note, StoreLocation } from '../../data/store-options.ts'
import { DATA_FILE } from '../data-file.ts'
import { type Environment, openEnvironment } from '../environment.ts'
import { damagedPages } from '../inspect/inspect-store.ts'
import { openBeside } from '../open-beside.ts'
import { type Backup, Backups } from './backups.ts'
import type { BackupStorage } from './backup-storage.ts'
import { copyLog } from './copy-log.ts'
import { describeStore, filesOf, isLogged, type StoreDescription } from './describe-store.ts'
import { forEach } from './for-each.ts'
import { BackupError, backupName, timeOfName, type BackupFile, type BlobEntry, type Manifest } from './manifest.ts'

const DAY_MS = 86_400_000
const FULL_DAYS = 7
/** Increments whose total size is at most this are never too large, however small the data file. */
const SMALL_BYTES = 64 * 2 ** 20

/** How backups are made and kept. Plain data. */
export interface BackupPolicy {
  /** Copies the data file even if an increment would be enough. */
  readonly full?: boolean
  /** Age in days after which the data file is copied again. */
  readonly fullDays?: number | undefined
  /** Age in days after which a backup is removed, unless a younger one needs it. If undefined, no backup is removed. */
  readonly keepDays?: number | undefined
  /** Paths of files besides the store that belong to a backup, by their names in the backup. */
  readonly besides?: Readonly<Record<string, string>>
}

interface MakeOptions extends StoreLocation, BackupPolicy {
  readonly storage: BackupStorage
  readonly onNote?: Note
  readonly onProgress?: (step: BackupStep) => void
}

/** Progress of a backup or a restore. */
export interface BackupStep {
  readonly what: string
  readonly done: number
  readonly total: number
}

/** A backup that was made. */
export interface MadeBackup {
  readonly name: string
  readonly kind: Manifest['kind']
  readonly time: number
  readonly stamp: number
  /** Bytes that the backup adds, including images and blobs. */
  readonly bytes: number
  /** Names of the backups that were removed as too old. */
  readonly removed: readonly string[]
}

/**
 * Makes a backup of a store, which a server may be using: a copy of its data file, or the commits since the last backup if the log still
 * has them. Image and blob files are not removed meanwhile.
 * @throws {BackupError} {@link DamagedStoreError}
 */
export async function makeBackup(options: MakeOptions): Promise<MadeBackup> {
  const { storage, onNote = () => {} } = options
  const backups = new Backups(storage)
  const { environment, close } = await openBeside(options, onNote)
  try {
    const lock = await storage.lock()
    try {
      return await new BackupMaker(options, backups, environment).make()
    } catch (error) {
      // Files of the failed backup would fill the disk.
      await backups.clear().catch(() => {})
      throw error
    } finally {
      await lock.release()
    }
  } finally {
    await close()
  }
}

/** Files of a backup, and the images and blobs that the state needs. */
interface Copied {
  readonly kind: Manifest['kind']
  readonly files: readonly BackupFile[]
  readonly blobs: Iterable<string>
  readonly state: StoreDescription
  readonly time: number
  readonly after?: Backup
}

class BackupMaker {
  private name = backupName(Date.now())

  constructor(
    private readonly options: MakeOptions,
    private readonly backups: Backups,
    private readonly environment: Environment,
  ) {}

  async make(): Promise<MadeBackup> {
    const { backups, options } = this
    const problems: string[] = []
    const earlier = await backups.list(problem => problems.push(problem))
    this.refuseOtherStore(earlier)
    await backups.clear()
    const chain = this.chainOfLast(earlier, problems)
    for (const problem of problems) options.onNote?.(`${problem}; it is left alone, and no backup is removed`, 'warn')
    // The clock may have been put back.
    const last = earlier.at(-1)
    if (last && last.name >= this.name) this.name = backupName(timeOfName(last.name) + 1)
    const { name } = this
    const backupCopy = (chain && (await this.increment(chain))) ?? (await this.copy())
    const earlierBlobs = await this.knownBlobs(chain ?? [])
    const blobs = await this.copyBlobs(backupCopy, earlierBlobs)
    const files = [...backupCopy.files, await backups.putBlobList(name, blobs), ...(await this.copyBesides())]
    const blobBytes = blobs.reduce((sum, { bytes }) => sum + bytes, 0)
    const { kind, time, state, after } = backupCopy
    await backups.finish(name, {
      kind,
      ...(after && { after: after.name, from: after.manifest.to }),
      time,
      ...state,
      files,
      blobs: { count: blobs.length, bytes: blobBytes },
    })
    const removedNames =
      problems.length > 0 || options.keepDays === undefined ? [] : await this.removeOld(options.keepDays)
    const bytes = files.reduce((sum, file) => sum + file.bytes, blobBytes)
    return { name, kind, time, stamp: state.stamp, bytes, removed: removedNames }
  }

  /** Refuses a place with backups of another store, since retention and restoring apply to one store. */
  private refuseOtherStore(earlier: readonly Backup[]): void {
    const store = describeStore(this.environment).store
    const other = earlier.find(({ manifest }) => manifest.store !== store)
    if (other)
      throw new BackupError(
        `${this.options.storage.place} has backups of another store, such as ${other.name}; name another place for those of ${this.options.path}`,
      )
  }

  /** The chain of the last backup; undefined if there is none, or it has a gap. */
  private chainOfLast(earlier: readonly Backup[], problems: string[]): Backup[] | undefined {
    const last = earlier.at(-1)
    try {
      return last && this.backups.chainOf(last.name, earlier)
    } catch (error) {
      problems.push((error as Error).message)
      return undefined
    }
  }

  /** Images and blobs that backups have, except for backups whose list is damaged. */
  private async knownBlobs(chain: readonly Backup[]): Promise<Map<string, BlobEntry>> {
    try {
      return await this.backups.blobsOf(chain)
    } catch (error) {
      if (!(error instanceof BackupError)) throw error
      this.options.onNote?.(error.message, 'warn')
      return new Map()
    }
  }

  /** Copies the commits since the last backup. @returns undefined when an increment is not enough */
  private async increment(chain: readonly Backup[]): Promise<Copied | undefined> {
    const { full, fullDays = FULL_DAYS } = this.options
    const [first, last] = [chain[0]!, chain.at(-1)!]
    if (full || Date.now() - first.manifest.time >= fullDays * DAY_MS) return undefined
    // A restore applies all increments.
    const increments = chain.slice(1).reduce((sum, each) => sum + bytesOf(each), 0)
    if (increments > Math.max(bytesOf(first), SMALL_BYTES)) return undefined
    const time = Date.now()
    const state = describeStore(this.environment)
    const { store, schema, to: from } = last.manifest
    if (state.store !== store || state.schema !== schema || state.to.sequence < from.sequence) return undefined
    if (!isLogged(from) || !isLogged(state.to)) return undefined
    const neededIds = new Set(filesOf(this.environment))
    const log = await copyLog(this.environment, { backups: this.backups, backup: this.name, from, to: state.to })
    if (!log) {
      await this.backups.clear()
      return undefined
    }
    // Later commits in the increment may have removed the other blobs.
    const blobs = [...log.blobs].filter(id => neededIds.has(id))
    return { kind: 'increment', files: log.files, blobs, state, time, after: last }
  }

  private async copy(): Promise<Copied> {
    const { environment, options } = this
    const [damage] = damagedPages(environment, {
      ...options,
      onCheckProgress: step => options.onProgress?.({ ...step, what: 'checking the data file' }),
    })
    if (damage !== undefined) throw new BackupError(`the store in ${options.path} is damaged: ${damage}`)
    let description: { state: StoreDescription; blobs: string[]; time: number } | undefined
    const file = await this.backups.put(this.name, DATA_FILE, async unfinishedPath => {
      mkdirSync(unfinishedPath, { mode: 0o700 })
      options.onProgress?.({ what: 'copying the data file', done: 0, total: 1 })
      const time = Date.now()
      await environment.root.backup(unfinishedPath, true)
      description = { ...(await describeCopy({ ...options, path: unfinishedPath })), time }
      const dataPath = `${unfinishedPath}.mdb`
      renameSync(join(unfinishedPath, DATA_FILE), dataPath)
      rmSync(unfinishedPath, { recursive: true })
      renameSync(dataPath, unfinishedPath)
    })
    return { kind: 'full', files: [file], ...description! }
  }

  private async copyBlobs({ blobs }: Copied, earlierBlobs: Map<string, BlobEntry>): Promise<BlobEntry[]> {
    const { backups, options, environment } = this
    const ids = [...blobs]
    const entries: BlobEntry[] = []
    let done = 0
    await forEach(ids, async id => {
      options.onProgress?.({ what: 'copying images and blobs', done: done++, total: ids.length })
      if (environment.files.size(id) === undefined)
        options.onNote?.(`file ${id} of an image or a blob is missing in the store, and in the backup`, 'warn')
      else entries.push(await backups.putBlob(id, earlierBlobs, async path => environment.files.copyTo(id, path)))
    })
    return entries
  }

  private async copyBesides(): Promise<BackupFile[]> {
    const files: BackupFile[] = []
    for (const [name, path] of Object.entries(this.options.besides ?? {})) {
      if (existsSync(path))
        files.push(
          await this.backups.put(this.name, `config/${name}`, unfinishedPath => copyFile(path, unfinishedPath)),
        )
    }
    return files
  }

  /** Removes backups that are too old, unless younger ones continue them. */
  private async removeOld(keepDays: number): Promise<string[]> {
    if (!(keepDays >= 0)) throw new BackupError(`backups cannot be kept for ${keepDays} days`)
    const backups = await this.backups.list(() => {})
    const oldest = Date.now() - keepDays * DAY_MS
    const keptBackups = backups.filter(({ name, manifest }) => name === this.name || manifest.time >= oldest)
    const neededNames = new Set(
      keptBackups.flatMap(({ name }) => this.backups.chainOf(name, backups).map(other => other.name)),
    )
    const oldNames = backups.map(({ name }) => name).filter(name => !neededNames.has(name))
    try {
      if (oldNames.length > 0) await this.backups.remove(new Set(oldNames))
    } catch (error) {
      // The backup itself is complete.
      if (!(error instanceof BackupError)) throw error
      this.options.onNote?.(`old images and blobs were not removed: ${error.message}`, 'warn')
    }
    return oldNames
  }
}

const bytesOf = ({ manifest }: Backup): number => manifest.files.reduce((sum, { bytes }) => sum + bytes, 0)

async function describeCopy(location: StoreLocation): Promise<{ state: StoreDescription; blobs: string[] }> {
  const copy = openEnvironment(location)
  try {
    return { state: describeStore(copy), blobs: filesOf(copy) }
  } finally {
    await copy.close()
  }
}
