import { defineErrors } from '../../engine/errors.ts'

/** Why somebody is not let in. Source: protocol notes, 5.9 and 8. */
export const SessionErrors = defineErrors('SESSION', {
  /** The same for every reason: what was wrong is nobody's business. */
  WRONG_CREDENTIALS: {
    errCode: 1561,
    http: 401,
    message: () => 'the key or token is not valid (any more); ask for another one',
  },
  OTHER_ORIGIN: {
    errCode: 1561,
    http: 403,
    message: (origin: string) =>
      `a page of ${origin} sent this with the cookie of a session; server.cors.origins names the origins that may`,
  },
  TOO_MANY_REQUESTS: {
    errCode: 1200,
    http: 429,
    message: (limit: string, seconds: number) => `${limit} is used up; go on in ${seconds} s`,
  },
})
