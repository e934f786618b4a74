/** Makes a backup in a bucket. Its parent kills it. */
import { makeBackup } from '../../engine/storage/backup/make-backup.ts'
import { S3Storage } from '../../engine/storage/backup/s3/s3-storage.ts'

const [path, options] = process.argv.slice(2) as [string, string]
const storage = new S3Storage({ ...JSON.parse(options), env: process.env })
await makeBackup({ path, mapSizeBytes: 2 ** 30, storage, full: true })
