import { defineErrors } from '../../kernel/api.ts'

export const BackupErrors = defineErrors('BACKUP', {
  ADMINISTRATORS_ONLY: {
    errCode: 1611,
    http: 401,
    message: (isGuest: boolean) =>
      isGuest
        ? '$backup is for administrators: log in, or send a key or a token'
        : '$backup is for administrators: the session lacks the privilege WebAdmin',
  },
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
