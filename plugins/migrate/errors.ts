import { defineErrors } from '../../kernel/api.ts'

export const MigrateErrors = defineErrors('MIGRATE', {
  UNKNOWN_PART: {
    errCode: 1806,
    http: 404,
    message: (received: string) => `$migrate has no parts; ${received} is one`,
  },
})
