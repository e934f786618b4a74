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
  RELEASE_VERB: {
    errCode: 1806,
    http: 405,
    allow: ['POST'],
    message: (verb: string) => `sessions are ended by POST, not by ${verb}`,
  },
})
