import { defineErrors } from '../../engine/index.ts'

/** Reasons why a client is refused. Source: protocol notes, 5.9 and 8. */
export const SessionErrors = defineErrors('SESSION', {
  /** One text for all reasons, so that the reason is not disclosed. */
  WRONG_CREDENTIALS: {
    errCode: 1561,
    http: 401,
    message: () => 'the key or token is invalid or has expired; request another one',
  },
  TOO_MANY_REQUESTS: {
    errCode: 1200,
    http: 429,
    message: (limit: string, seconds: number) => `${limit} is used up; try again in ${seconds} s`,
  },
  /** Several servers change the session at a time. */
  CHANGING: {
    errCode: 1046,
    http: 503,
    message: () => 'other requests change this session all the time; try again in a moment',
  },
})
