import { defineErrors, errorsWith } from '../../engine/index.ts'

/** Reasons why a client is refused. Source: protocol notes, 5.9 and 8. */
export const SessionErrors = defineErrors('SESSION', {
  ...errorsWith({ errCode: 1561, http: 401 })({
    /** The same message for all reasons, so that the reason is not disclosed. */
    WRONG_CREDENTIALS: () => 'the key or token is invalid or has expired; request another one',
  }),
  ...errorsWith({ errCode: 1200, http: 429 })({
    TOO_MANY_REQUESTS: (limit: string, seconds: number) => `${limit} is used up; try again in ${seconds} s`,
  }),
  ...errorsWith({ errCode: 1046, http: 503 })({
    /** Several servers change the session at a time. */
    CHANGING: () => 'other requests change this session all the time; try again in a moment',
  }),
})
