import { number, path, text } from '../option.ts'

/** Backups that a server makes. */
export const backupOptions = {
  'backup.folder': path('Folder of the backups that the server makes, by `POST /rest/$backup` and on a schedule.'),
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
