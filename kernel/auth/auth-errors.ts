import { defineErrors } from '../../engine/index.ts'

/** Refusals of logins whose password is not checked. Source: protocol notes, 5.9 and 8.3. */
export const AuthErrors = defineErrors('AUTH', {
  NAME_TOO_LONG: {
    errCode: 1806,
    http: 400,
    message: (length: number, limit: number) =>
      `the user name has ${length} characters; at most ${limit} are accepted (auth.login.maxNameLength)`,
  },
  PASSWORD_TOO_LONG: {
    errCode: 1806,
    http: 400,
    message: (bytes: number, limit: number) =>
      `the password has ${bytes} bytes in UTF-8; at most ${limit} are accepted (auth.login.maxPasswordBytes)`,
  },
  TOO_MANY_FAILURES: {
    errCode: 1561,
    http: 429,
    message: (seconds: number) => `too many logins have failed; try again in ${seconds} s`,
  },
  TOO_MANY_LOGINS: {
    errCode: 1561,
    http: 503,
    message: (waiting: number) =>
      `${waiting} logins wait for their turn, which is the limit (auth.login.queueLimit); try again in a moment`,
  },
})
