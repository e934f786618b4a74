import { defineErrors, errorsWith } from '../../engine/index.ts'

export const InfoErrors = defineErrors('INFO', {
  ...errorsWith({ errCode: 1806, http: 404 })({
    UNKNOWN_PART: (received: string, known: readonly string[]) =>
      `$info has no ${received}; it has ${known.join(', ')} and sessionInfo/release`,
    UNKNOWN_GRANT: (received: string) =>
      `$info/rights has no "${received}"; it is followed by nothing, or by role/ or privilege/ and a name that $info/roles lists`,
  }),
  ...errorsWith({ errCode: 1806, http: 405, allow: ['POST'] })({
    RELEASE_VERB: (verb: string) => `sessions are ended by POST, not by ${verb}`,
  }),
})
