import { defineErrors, errorsWith } from '../base/errors.ts'

/** Errors of selections of changes. */
export const FollowErrors = defineErrors('FOLLOW', {
  ...errorsWith({ errCode: 1806, http: 400 })({
    REMOTE: (dataClass: string) =>
      `entities of ${dataClass} are in a database, whose changes are not in the log of this server`,
    CALCULATED: (dataClass: string) =>
      `a calculated attribute of ${dataClass} is named; changes are read without plugin code, so that filters and lists of attributes can only have stored ones`,
  }),
})
