import { defineErrors } from '../../kernel/api.ts'

export const BackupErrors = defineErrors('BACKUP', {
  NO_FOLDER: {
    errCode: 1806,
    http: 404,
    message: () => 'the server has no folder for backups; backup.folder of its configuration names one',
  },
  UNKNOWN_PART: {
    errCode: 1806,
    http: 404,
    message: (received: string) => `$backup has no parts; ${received} is one`,
  },
})
