import { createHash } from 'node:crypto'

const FORMAT = 1
const NAME = /^\d{8}T\d{9}Z$/

/** Position in the log of a store. */
export interface LogPlace {
  readonly sequence: number
  /** As hexadecimal digits. */
  readonly hash: string
}

/** A file of a backup, by its path in the folder of the backup. */
export interface BackupFile {
  readonly name: string
  readonly bytes: number
  /** As hexadecimal digits. */
  readonly sha256: string
}

/** An image or a blob, as its file. */
export interface BlobEntry {
  readonly id: string
  readonly bytes: number
  readonly sha256: string
}

/** Description of a backup. */
export interface Manifest {
  readonly format: number
  /** `full`: a copy of the data file. `increment`: commits of the log that follow the state of another backup. */
  readonly kind: 'full' | 'increment'
  /** Name of the backup that an increment follows. */
  readonly after?: string
  /** Position after which an increment begins. */
  readonly from?: LogPlace
  /** Position of the state that the backup restores. */
  readonly to: LogPlace
  /** Time of the restored state, in milliseconds since 1970. */
  readonly time: number
  /** `__GlobalStamp` of the restored state. */
  readonly stamp: number
  /** Number of entities by dataclass. */
  readonly entities: Readonly<Record<string, number>>
  /** Identity of the store. */
  readonly store: string
  /** Identity of the schema: increments do not continue a backup with a different one. */
  readonly schema: string
  readonly files: readonly BackupFile[]
  /** Number and bytes of the images and blobs that this backup adds to the earlier ones. */
  readonly blobs: { readonly count: number; readonly bytes: number }
}

/** Thrown for a backup that is damaged or cannot be used. The message says why. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
}

const digestOf = (manifest: Manifest): string => createHash('sha256').update(JSON.stringify(manifest)).digest('hex')

/** The manifest as text, with a digest of itself. */
export const encodeManifest = (manifest: Omit<Manifest, 'format'>): string => {
  const content = { format: FORMAT, ...manifest }
  return `${JSON.stringify({ ...content, digest: digestOf(content) }, undefined, 2)}\n`
}

/** @throws {BackupError} when it is damaged, or of a newer version */
export function decodeManifest(text: string, path: string): Manifest {
  let manifest: Manifest
  let digest: string
  try {
    ;({ digest, ...manifest } = JSON.parse(text) as Manifest & { digest: string })
  } catch {
    throw new BackupError(`${path} is damaged: it is not JSON`)
  }
  if (digest !== digestOf(manifest)) throw new BackupError(`${path} is damaged: its content does not have its digest`)
  if (manifest.format !== FORMAT) {
    throw new BackupError(`${path} has format ${manifest.format}; this version of Tesser reads format ${FORMAT}`)
  }
  return manifest
}

/** Name of a backup that begins at a time, in milliseconds since 1970. Names sort by time. */
export const backupName = (time: number): string => new Date(time).toISOString().replaceAll(/[-:.]/g, '')

/** @returns milliseconds since 1970 */
export const timeOfName = (name: string): number =>
  Date.parse(name.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/, '$1-$2-$3T$4:$5:$6.$7Z'))

export const isBackupName = (name: string): boolean => NAME.test(name)
