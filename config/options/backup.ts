import { number, pathOrAddress, text } from '../option.ts'

/** Backups that a server makes. */
export const backupOptions = {
  'backup.folder': pathOrAddress(
    'Folder of the backups that the server makes, by `POST /rest/$backup` and on a schedule; or `s3://bucket/prefix`, with the key in the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`.',
  ),
  'backup.endpoint': text<string | undefined>({
    default: undefined,
    doc: 'Address of the server that has the bucket, such as `https://minio.example:9000`, or `https://{bucket}.example` for one that has a host name for each bucket; by default that of `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, or of Amazon.',
  }),
  'backup.schedule': text({
    default: '',
    mayBeEmpty: true,
    doc: 'Times of backups, as in cron: minute, hour, day of the month, month, day of the week; `0 * * * *` is every hour. Without it, backups are made on request only.',
    examples: ['0 * * * *'],
  }),
  'backup.fullDays': number({
    default: 7,
    min: 0,
    max: 100_000,
    doc: 'Age in days after which the data file is copied again; until then a backup has the commits since the last one, if the log still has them.',
  }),
  'backup.keepDays': number({
    default: 30,
    min: 0,
    max: 100_000,
    doc: 'Age in days after which such a backup is removed, unless a younger one needs it.',
  }),
} as const
