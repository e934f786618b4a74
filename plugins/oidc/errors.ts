import { defineErrors, errorsWith } from '../../engine/index.ts'

export const OidcErrors = defineErrors('OIDC', {
  ...errorsWith({ errCode: 1806, http: 400 })({
    /** One message for all reasons, so that it does not reveal which part of a forged answer was right. */
    NOT_BEGUN: (address: string) =>
      `this login was not begun in this browser, has been used, or took longer than 10 minutes; begin again at ${address}`,
    RETURN_TO: (base: string, limit: number) =>
      `returnTo has to be a path of this server such as ${base}explorer/, sent once, with at most ${limit} characters`,
    TOO_LONG: (received: number, limit: number) =>
      `the query has ${received} characters; at most ${limit} are accepted from a provider`,
  }),
  ...errorsWith({ errCode: 1561, http: 401 })({
    /** @param reason error code of OAuth; other texts of a provider are not repeated */
    PROVIDER_REFUSED: (provider: string, reason: string) => `${provider} did not log you in (${reason})`,
    LOGIN_FAILED: (provider: string) => `the answer of ${provider} is not valid; the log of the server has the reason`,
  }),
  ...errorsWith({ errCode: 1561, http: 403 })({
    NOT_ALLOWED: (provider: string) =>
      `this account of ${provider} may not log in here; the log of the server has the reason`,
  }),
  ...errorsWith({ errCode: 1561, http: 503 })({
    UNAVAILABLE: (provider: string) =>
      `${provider} cannot be used for logins now, and the log of the server has the reason; try again in a moment`,
    /** Without a time limit: the answers of the provider, or its options, have to change. */
    UNUSABLE: (provider: string) =>
      `${provider} cannot be used for logins until its operator or that of this server has changed something; the log of the server has the reason`,
    TOO_MANY_LOGINS: (limit: number, provider: string) =>
      `${limit} logins wait for ${provider}, which is the limit; try again in a moment`,
  }),
})
