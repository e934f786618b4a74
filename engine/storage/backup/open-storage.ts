import { join } from 'node:path'
import { UPLOAD_FOLDER } from '../store-folder.ts'
import type { BackupStorage } from './backup-storage.ts'
import { FolderStorage } from './folder-storage.ts'
import { BackupError } from './manifest.ts'
import { isS3Address } from './s3/s3-bucket.ts'
import { S3Storage } from './s3/s3-storage.ts'

/** A place for backups, as plain data. */
export interface BackupPlace {
  /** Path, or `s3://bucket/prefix`. */
  readonly folder: string
  /** Address of the server that has the bucket. By default, it comes from a variable of the environment, or is that of Amazon. */
  readonly endpoint?: string | undefined
}

/**
 * Opens a place for backups. The key of a bucket comes from the environment of the process.
 * @param store folder of the store that is backed up, where temporary files are created. Not needed for a place that is only read
 * @throws {BackupError} the address cannot be used
 */
export function openStorage({ folder, endpoint }: BackupPlace, store?: string): BackupStorage {
  if (isS3Address(folder))
    return new S3Storage({ address: folder, endpoint, temp: store && join(store, UPLOAD_FOLDER), env: process.env })
  // The message does not repeat the address, which may contain a password.
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(folder))
    throw new BackupError('an address of backups begins with s3://; any other place is the path of a folder')
  return new FolderStorage(folder)
}
