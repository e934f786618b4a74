import { defineErrors } from '../base/errors.ts'

/** Errors of the data that several servers share. */
export const SharedErrors = defineErrors('SHARED', {
  /** The tables were created by a newer version of the server. */
  NEWER: {
    errCode: 1200,
    http: 503,
    message: (connection: string) =>
      `the tables of the schema "tesser" in the database "${connection}" were made by a newer server; update this one`,
  },
  SET_TOO_LARGE: {
    errCode: 1200,
    http: 413,
    message: (bytes: number, limit: number) =>
      `this entity set takes ${bytes} bytes, and one that several servers share may take ${limit}; select fewer entities`,
  },
})
