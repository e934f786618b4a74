import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { quantity } from '../../base/counted.ts'
import type { BackupStorage, Stored } from './backup-storage.ts'
import { forEach } from './for-each.ts'
import {
  BackupError,
  type BackupFile,
  type BlobEntry,
  decodeManifest,
  encodeManifest,
  isBackupName,
  type Manifest,
} from './manifest.ts'

const FOLDER = 'backups/'
const BLOB_FOLDER = 'blobs/'
const MANIFEST = 'manifest.json'
/** List of the images and blobs that a backup adds, a {@link BlobEntry} in each line. */
const BLOBS = 'blobs.ndjson'

/** A complete backup. */
export interface Backup {
  /** The time at which it began, see `backupName`. */
  readonly name: string
  readonly manifest: Manifest
}

/**
 * The backups of a place. Each one has a folder; images and blobs, which never change, are shared by all that need them:
 *
 *     backups/20261127T021500000Z/manifest.json   description, with the digests of the other files; written last
 *     backups/20261127T021500000Z/data.mdb        the data file; in an increment log/…, the commits that follow
 *     backups/20261127T021500000Z/blobs.ndjson    images and blobs that it adds
 *     backups/20261127T021500000Z/config/…        configuration, model, roles and users
 *     blobs/A9/A924246CC49D2BEDC0C11F46F2CA6E42
 */
export class Backups {
  constructor(readonly storage: BackupStorage) {}

  /** Complete backups, the oldest first. @param onDamaged called with a text and the name of each backup whose manifest is damaged */
  async list(onDamaged: (problem: string, name: string) => void): Promise<Backup[]> {
    const names = [...(await this.folders())].filter(([, isComplete]) => isComplete).map(([name]) => name)
    const texts: (Buffer | undefined)[] = []
    await forEach(names, async (name, i) => {
      texts[i] = await this.storage.read(fileName(name, MANIFEST))
    })
    return names.flatMap((name, i) => {
      try {
        const text = texts[i]?.toString()
        return text === undefined ? [] : [{ name, manifest: decodeManifest(text, this.describe(name, MANIFEST)) }]
      } catch (error) {
        if (!(error instanceof BackupError)) throw error
        onDamaged(error.message, name)
        return []
      }
    })
  }

  /**
   * The backups from which a backup is restored: a full one, and the increments up to it. @throws {BackupError} when one of them is missing
   */
  chainOf(name: string, backups: readonly Backup[]): Backup[] {
    const chain: Backup[] = []
    for (let next: string | undefined = name; next !== undefined; next = chain[0]!.manifest.after) {
      const match = backups.find(backup => backup.name === next)
      const [follower] = chain
      if (!match && follower) throw new BackupError(`backup ${follower.name} continues ${next}, which is missing`)
      if (!match) throw new BackupError(`there is no backup ${name} in ${this.storage.place}`)
      chain.unshift(match)
    }
    return chain
  }

  /** Stores a file of a backup. @param write fills the file at the path that it receives */
  async put(backup: string, name: string, write: (path: string) => Promise<void> | void): Promise<BackupFile> {
    return { name, ...(await this.storage.put(fileName(backup, name), write)) }
  }

  /** Copies a file of a backup to a new local one. @throws {BackupError} when it has changed since it was stored */
  async fetch(backup: string, file: BackupFile, path: string): Promise<void> {
    const content = await this.storage.fetch(fileName(backup, file.name), path)
    verify(content, file, this.describe(backup, file.name))
  }

  /** Stores an image or a blob, unless an earlier backup has stored it. @param earlierBlobs entries of earlier backups, by id */
  async putBlob(
    id: string,
    earlierBlobs: ReadonlyMap<string, BlobEntry>,
    write: (path: string) => Promise<void>,
  ): Promise<BlobEntry> {
    const name = blobName(id)
    const before = earlierBlobs.get(id)
    if (before && (await this.storage.has(name))) return before
    return { id, ...(await this.storage.put(name, write)) }
  }

  async fetchBlob(blob: BlobEntry, path: string): Promise<void> {
    const name = blobName(blob.id)
    verify(await this.storage.fetch(name, path), blob, this.describeName(name))
  }

  /** Stores the list of the images and blobs that a backup adds. */
  putBlobList(backup: string, blobs: readonly BlobEntry[]): Promise<BackupFile> {
    return this.put(backup, BLOBS, path => writeFile(path, blobs.map(blob => `${JSON.stringify(blob)}\n`).join('')))
  }

  /** Images and blobs that backups add, by id. @throws {BackupError} when a list has changed since it was stored */
  async blobsOf(backups: readonly Backup[]): Promise<Map<string, BlobEntry>> {
    const blobs = new Map<string, BlobEntry>()
    for (const { name, manifest } of backups) {
      const file = manifest.files.find(other => other.name === BLOBS)
      const path = this.describe(name, BLOBS)
      const bytes = await this.storage.read(fileName(name, BLOBS))
      if (!file || !bytes) throw new BackupError(`${path} is missing`)
      verify(digestOf(bytes), file, path)
      for (const line of bytes.toString().split('\n').filter(Boolean)) {
        const blob = JSON.parse(line) as BlobEntry
        blobs.set(blob.id, blob)
      }
    }
    return blobs
  }

  /** Completes a backup. */
  async finish(backup: string, manifest: Omit<Manifest, 'format'>): Promise<void> {
    await this.put(backup, MANIFEST, path => writeFile(path, encodeManifest(manifest)))
  }

  /** Names of backups without a manifest: they are in progress, were interrupted, or have lost it. */
  async incomplete(): Promise<string[]> {
    return [...(await this.folders())].filter(([, isComplete]) => !isComplete).map(([name]) => name)
  }

  /** Removes the remains of backups that were not completed. A backup that others continue has only lost its manifest, and stays. */
  async clear(): Promise<void> {
    const neededNames = new Set((await this.list(() => {})).map(({ manifest }) => manifest.after))
    for (const name of await this.incomplete()) if (!neededNames.has(name)) await this.removeFiles(fileName(name, ''))
  }

  /** Removes backups, and the images and blobs that no other one needs. */
  async remove(names: ReadonlySet<string>): Promise<void> {
    for (const name of names) {
      // The manifest is removed first: without it the folder is not a backup, even if the removal is interrupted.
      await this.storage.remove(fileName(name, MANIFEST))
      await this.removeFiles(fileName(name, ''))
    }
    const usedBlobs = await this.blobsOf(await this.list(() => {}))
    const blobs = await this.storage.names(BLOB_FOLDER)
    const unusedNames = blobs.filter(name => !usedBlobs.has(name.slice(name.lastIndexOf('/') + 1)))
    await forEach(unusedNames, name => this.storage.remove(name))
  }

  private async removeFiles(prefix: string): Promise<void> {
    await forEach(await this.storage.names(prefix), name => this.storage.remove(name))
  }

  /** Names of backups, in order, with true for those that have a manifest. */
  private async folders(): Promise<Map<string, boolean>> {
    const folders = new Map<string, boolean>()
    for (const file of await this.storage.names(FOLDER)) {
      const [, name = '', first] = file.split('/')
      if (isBackupName(name)) folders.set(name, folders.get(name) || first === MANIFEST)
    }
    return folders
  }

  private describe(backup: string, name: string): string {
    return this.describeName(fileName(backup, name))
  }

  private describeName(name: string): string {
    return `${this.storage.place}/${name}`
  }
}

const fileName = (backup: string, name: string): string => `${FOLDER}${backup}/${name}`
const blobName = (id: string): string => `${BLOB_FOLDER}${id.slice(0, 2)}/${id}`

const digestOf = (bytes: Buffer): Stored => ({
  bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
})

function verify(content: Stored, expected: Stored, path: string): void {
  if (content.bytes !== expected.bytes)
    throw new BackupError(`${path} is damaged: it has ${quantity(content.bytes, 'byte')}, not ${expected.bytes}`)
  if (content.sha256 !== expected.sha256)
    throw new BackupError(`${path} is damaged: its content does not have the digest that the manifest says`)
}
