import { defineErrors } from '../../kernel/api.ts'

export const InfoErrors = defineErrors('INFO', {
  UNKNOWN_PART: {
    errCode: 1806,
    http: 404,
    message: (received: string, known: readonly string[]) =>
      `$info has no ${received}; it has ${known.join(', ')} and sessionInfo/release`,
  },
  UNKNOWN_GRANT: {
    errCode: 1806,
    http: 404,
    message: (received: string) =>
      `$info/rights has no "${received}"; it is followed by nothing, or by role/ or privilege/ and a name that $info/roles lists`,
  },
  ADMINISTRATORS_ONLY: {
    errCode: 1611,
    http: 401,
    message: (isGuest: boolean) =>
      isGuest
        ? '$info is for administrators: log in, or send a key or a token'
        : '$info is for administrators: the session lacks the privilege WebAdmin',
  },
  RELEASE_VERB: {
    errCode: 1806,
    http: 405,
    allow: ['POST'],
    message: (verb: string) => `sessions are ended by POST, not by ${verb}`,
  },
})
