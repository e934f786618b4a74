import { number, pathOrAddress, text } from '../option.ts'

/** Options for backups that a server makes. */
export const backupOptions = {
  'backup.folder': pathOrAddress(
    'Folder for the backups that the server makes on a schedule and on `POST /rest/$backup`; or `s3://bucket/prefix`, with the key in the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`.',
  ),
  'backup.endpoint': text<string | undefined>({
    default: undefined,
    doc: 'Address of the server that has the bucket, such as `https://minio.example:9000`, or `https://{bucket}.example` for a server with a host name for each bucket. The default is `AWS_ENDPOINT_URL_S3`, then `AWS_ENDPOINT_URL`, then Amazon.',
  }),
  'backup.schedule': text({
    default: '',
    mayBeEmpty: true,
    doc: 'Times of backups, as in cron: minute, hour, day of the month, month, day of the week; `0 * * * *` is every hour. Without a schedule, backups are made only on request.',
    examples: ['0 * * * *'],
  }),
  'backup.fullDays': number({
    default: 7,
    min: 0,
    max: 100_000,
    doc: 'Age in days of the last copy of the data file after which a backup copies it again. Until then, a backup holds the commits since the previous backup, if the commit log still has them.',
  }),
  'backup.keepDays': number({
    default: 30,
    min: 0,
    max: 100_000,
    doc: 'Age in days after which a backup that the server made is removed, unless a newer backup needs it.',
  }),
} as const
