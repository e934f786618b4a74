import { defineErrors, errorsWith } from '../base/errors.ts'

/** State of a database of which nothing else is known: see `REMOTE.AWAY`. */
export const SILENT = 'does not answer now'

/** Errors of dataclasses whose entities are in a database. */
export const RemoteErrors = defineErrors('REMOTE', {
  ...errorsWith({ errCode: 1200, http: 503 })({
    /** The log has the reason. */
    AWAY: (connection: string, state: string) => `the database "${connection}" ${state}; try again in a moment`,
    /** Tables, functions or types of a statement are missing, or have changed since they were read. The log has the reason. */
    OUTDATED: (connection: string) =>
      `tables of the database "${connection}" have changed, or do not fit the model; try again in a moment, the operator finds the reason in the log`,
    BUSY: (connection: string, seconds: number) =>
      `all connections to the database "${connection}" have been in use for ${seconds} s; try again in a moment`,
    /** The table is missing or differs from the model. The log has the reason. */
    UNUSABLE: (dataClass: string) =>
      `the table of ${dataClass} does not fit its model; the operator finds the reason in the log`,
  }),
  ...errorsWith({ errCode: 1200, http: 500 })({
    /** The database has refused or failed a statement. The log has its reason. */
    REFUSED: (connection: string, reason: string) =>
      `the database "${connection}" has refused a statement: ${reason}; the operator finds the details in the log`,
    /** A value does not fit its attribute. The log contains the reason, which may show data that the client may not see. */
    VALUE: (dataClass: string) =>
      `a value of an entity of ${dataClass} does not fit its attribute; the operator finds the reason in the log`,
  }),
  ...errorsWith({ errCode: 1200, http: 413 })({
    TOO_MANY_ROWS: (dataClass: string, limit: number) =>
      `more than ${limit} entities of ${dataClass}, which are in a database, would have to be fetched at once; ask for smaller pages, or narrow the query`,
  }),
  ...errorsWith({ errCode: 1200, http: 422 })({
    /** The entity violates a rule of the table or of a trigger. */
    REFUSED_ENTITY: (dataClass: string, reason: string) => `the database refuses the entity of ${dataClass}: ${reason}`,
    /** A key composed of several columns has the wrong form. */
    KEY_PARTS: (received: string, dataClass: string, count: number) =>
      `${received} is not a key of ${dataClass}, which has ${count} parts with ~ between them; a ~ or a backslash within one has a backslash before it, and nothing else has`,
  }),
  ...errorsWith({ errCode: 1200, http: 422, namesAttribute: 0 })({
    /** The value violates a check of the table or of the type of its column. */
    REFUSED_VALUE: (attribute: string, received: string, dataClass: string, reason: string) =>
      `${attribute} of ${dataClass} cannot be ${received}: ${reason} of the database refuses it`,
  }),
  ...errorsWith({ errCode: 1200, http: 409 })({
    /** The entity conflicts with other rows, and no attribute can be named. */
    CONFLICTING_ENTITY: (dataClass: string, reason: string) =>
      `the database refuses the entity of ${dataClass}: ${reason}`,
  }),
  ...errorsWith({ errCode: 1115, http: 409, namesAttribute: 0 })({
    /** A unique index compares expressions, or some of the rows, and another row has an equal value in it. */
    TAKEN: (_: string, values: string, index: string) =>
      `${values} is taken: another entity has it in ${index} of the database`,
  }),
  ...errorsWith({ errCode: 1155, http: 409, namesAttribute: 0 })({
    /** A foreign key of several columns, or without a relation, leads to no row. */
    DANGLING: (_: string, place: string, values: string) => `there is no ${place} for ${values}`,
  }),
  ...errorsWith({ errCode: 1046, http: 500 })({
    /** The connection was lost while the database executed a statement. */
    OUTCOME_UNKNOWN: (connection: string) =>
      `the connection to the database "${connection}" was lost before it answered, so this may have been written or not; read the entity before you repeat the request`,
  }),
  ...errorsWith({ errCode: 1046, http: 503 })({
    CHANGING: (dataClass: string) => `entities of ${dataClass} change all the time; try again in a moment`,
  }),
  ...errorsWith({ errCode: 1200, http: 413 })({
    /** A list of numbers, texts or days is sent as one value; other lists take two values for each element. */
    TOO_MANY_VALUES: (values: number, limit: number) =>
      `the query compares with ${values} values one by one, a database takes at most ${limit}; ask for some of them at a time`,
    TOO_MANY_BYTES: (dataClass: string, bytes: number, limit: number) =>
      `${bytes} bytes of images and blobs for ${dataClass}, whose entities are in a database; one save may have ${limit}`,
  }),
  ...errorsWith({ errCode: 1516, http: 422 })({
    READ_ONLY: (dataClass: string) => `entities of ${dataClass} are in a database and cannot be changed here`,
  }),
  ...errorsWith({ errCode: 1200, http: 400 })({
    NOT_HERE: (what: string, dataClass: string) =>
      `${what} is not possible with ${dataClass}, whose entities are not in the store`,
  }),
})
