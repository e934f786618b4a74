import { defineErrors, errorsWith } from '../../engine/index.ts'

export const BackupErrors = defineErrors('BACKUP', {
  ...errorsWith({ errCode: 1806, http: 404 })({
    NO_FOLDER: () => 'the server has no folder for backups; backup.folder of its configuration names one',
    UNKNOWN_PART: (received: string) => `$backup has no parts; ${received} is one`,
  }),
})
