import { defineErrors } from '../../engine/index.ts'

/** Reasons why a client is refused. Source: protocol notes, 5.9 and 8. */
export const SessionErrors = defineErrors('SESSION', {
  /** The same for every reason, which is not disclosed. */
  WRONG_CREDENTIALS: {
    errCode: 1561,
    http: 401,
    message: () => 'the key or token is invalid or has expired; request another one',
  },
  TOO_MANY_REQUESTS: {
    errCode: 1200,
    http: 429,
    message: (limit: string, seconds: number) => `${limit} is used up; go on in ${seconds} s`,
  },
})
