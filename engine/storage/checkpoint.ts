import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { syncFolder } from '../base/sync-folder.ts'
import type { LogPosition } from '../log/commit-log.ts'
import { DamagedStoreError, DATA_FILE, DataFile } from './data-file.ts'

const FILE = 'checkpoint.json'
/** Number of the meta pages, which determine the newest state. */
const META_PAGES = 2

/**
 * A state of the data file that is completely on the disk, and of which no later commit overwrites a page. While a store with a log is
 * open, LMDB writes without syncs, so that the newest state may be incomplete after a crash of the system; this state is not.
 */
export interface Checkpoint {
  /** Token of the writer that created the checkpoint. */
  readonly token: string
  /** Last commit that the checkpoint contains. */
  readonly log: LogPosition
  /** Time in milliseconds since 1970. */
  readonly time: number
  readonly pageBytes: number
  /** The meta pages of the data file at the time of the checkpoint. */
  readonly metas: Buffer
  /** Root page of the list of tables, and the digest of its bytes, which show whether the data file belongs to this checkpoint. */
  readonly root: { readonly page: number; readonly digest: string } | undefined
}

/** The checkpoint as JSON. */
type Stored = Omit<Checkpoint, 'log' | 'metas'> & { sequence: number; hash: string; metas: string }

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/**
 * Describes the newest state of the data file. It becomes a checkpoint when the file has been synced and the description has been written.
 */
export function describeState(folder: string, { token, log }: Pick<Checkpoint, 'token' | 'log'>): Checkpoint {
  const file = DataFile.in(folder)
  try {
    const { pageBytes } = file
    const metas = Buffer.alloc(META_PAGES * pageBytes)
    file.read(metas, 0)
    const page = file.meta().main.root
    const root = page === undefined ? undefined : { page, digest: digest(file.page(page)!) }
    return { token, log, time: Date.now(), pageBytes, metas, root }
  } finally {
    file.close()
  }
}

/** Replaces the previous checkpoint durably. */
export function writeCheckpoint(folder: string, { log, metas, ...rest }: Checkpoint): void {
  const content: Stored = {
    ...rest,
    sequence: log.sequence,
    hash: Buffer.from(log.hash).toString('hex'),
    metas: metas.toString('base64'),
  }
  const path = join(folder, FILE)
  const next = `${path}.tmp`
  const file = openSync(next, 'w', 0o600)
  try {
    writeSync(file, JSON.stringify(content))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(next, path)
  syncFolder(folder)
}

/** @returns undefined when the store was closed properly: then its newest state is on the disk */
export function readCheckpoint(folder: string): Checkpoint | undefined {
  const path = join(folder, FILE)
  try {
    const { sequence, hash, metas, ...rest } = JSON.parse(readFileSync(path, 'utf8')) as Stored
    return { ...rest, log: { sequence, hash: Buffer.from(hash, 'hex') }, metas: Buffer.from(metas, 'base64') }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new DamagedStoreError(
      `${path} cannot be read: ${(error as Error).message}. Put the whole folder back from a backup.`,
    )
  }
}

export function removeCheckpoint(folder: string): void {
  rmSync(join(folder, FILE), { force: true })
  syncFolder(folder)
}

/**
 * Makes the state of a checkpoint the newest one of the data file. No process may have the file open.
 * @throws {DamagedStoreError} when the file does not belong to the checkpoint
 */
export function restoreCheckpoint(folder: string, { pageBytes, metas, root }: Checkpoint): void {
  const path = join(folder, DATA_FILE)
  const file = openSync(path, 'r+')
  try {
    const page = Buffer.alloc(pageBytes)
    if (root) readSync(file, page, 0, pageBytes, root.page * pageBytes)
    if (root && digest(page) !== root.digest) {
      throw new DamagedStoreError(
        `${path} does not have the state that ${join(folder, FILE)} describes: the server was ended while it wrote, and the file ` +
          `was replaced or damaged afterwards. Put the whole folder back from a backup. If ${DATA_FILE} alone was put back, remove ` +
          `${FILE}: the store then has the state of the backup.`,
      )
    }
    writeSync(file, metas, 0, metas.length, 0)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
