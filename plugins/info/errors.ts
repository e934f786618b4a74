import { defineErrors } from '../../kernel/api.ts'

export const InfoErrors = defineErrors('INFO', {
  UNKNOWN_PART: {
    errCode: 1806,
    http: 404,
    message: (received: string, known: readonly string[]) =>
      `$info has no ${received}; it has ${known.join(', ')} and sessionInfo/release`,
  },
  ADMINISTRATORS_ONLY: {
    errCode: 1611,
    http: 401,
    message: () => '$info is for administrators: the session lacks the privilege WebAdmin',
  },
  RELEASE_VERB: {
    errCode: 1806,
    http: 405,
    allow: ['POST'],
    message: (verb: string) => `sessions are ended by POST, not by ${verb}`,
  },
})
