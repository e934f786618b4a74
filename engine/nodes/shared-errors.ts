import { defineErrors } from '../base/errors.ts'

/** Errors of what several servers share. */
export const SharedErrors = defineErrors('SHARED', {
  /** The tables were made by a newer version of the server. */
  NEWER: {
    errCode: 1200,
    http: 503,
    message: (connection: string) =>
      `the tables of the schema "tesser" in the database "${connection}" were made by a newer server; update this one`,
  },
})
