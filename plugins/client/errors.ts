import { defineErrors } from '../../kernel/api.ts'

export const ClientErrors = defineErrors('CLIENT', {
  UNKNOWN_FILE: {
    errCode: 1806,
    http: 404,
    message: (received: string) => `$client has no ${received}; it has client.ts and client.js`,
  },
  DATES: {
    errCode: 1806,
    http: 400,
    message: (received: string) => `$dates=${received} is not a form of dates; use date or text`,
  },
})
