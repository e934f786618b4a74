import { defineErrors, errorsWith } from '../../engine/index.ts'

/** Refusals of logins whose password is not checked. Source: protocol notes, 5.9 and 8.3. */
export const AuthErrors = defineErrors('AUTH', {
  ...errorsWith({ errCode: 1806, http: 400 })({
    NAME_TOO_LONG: (length: number, limit: number) =>
      `the user name has ${length} characters; at most ${limit} are accepted (auth.login.maxNameLength)`,
    PASSWORD_TOO_LONG: (bytes: number, limit: number) =>
      `the password has ${bytes} bytes in UTF-8; at most ${limit} are accepted (auth.login.maxPasswordBytes)`,
  }),
  ...errorsWith({ errCode: 1561, http: 429 })({
    TOO_MANY_FAILURES: (seconds: number) => `too many logins have failed; try again in ${seconds} s`,
  }),
  ...errorsWith({ errCode: 1561, http: 503 })({
    TOO_MANY_LOGINS: (waiting: number) =>
      `${waiting} logins wait for their turn, which is the limit (auth.login.queueLimit); try again in a moment`,
  }),
})
