import { defineErrors } from '../../base/errors.ts'

/** Errors of plugin code. Source: protocol notes, 5.9. */
export const LanguageErrors = defineErrors('LANGUAGE', {
  NO_CALL: {
    errCode: 1562,
    http: 500,
    message: () =>
      'data can be reached only while a call runs; this code belongs to none, or to one that has been answered: a function has to await everything that it starts',
  },
  ASYNC_TRANSACTION: {
    errCode: 1562,
    http: 500,
    message: () =>
      'a transaction cannot wait, because other writes wait for it: its function returned a promise, and nothing was kept; await first, then begin it',
  },
  ASYNC_UPDATE: {
    errCode: 1562,
    http: 500,
    message: () =>
      'the function of update cannot wait: it returned a promise, and nothing was saved; await first, then update',
  },
  REMOTE_IN_TRANSACTION: {
    errCode: 1562,
    http: 500,
    message: (dataClass: string) =>
      `entities of ${dataClass} are in a database, which knows nothing of this transaction; save or drop them before it begins or after it has ended`,
  },
  REMOTE_IN_EVENT: {
    errCode: 1562,
    http: 500,
    message: (dataClass: string) =>
      `entities of ${dataClass} are in a database, so an event cannot save or drop them as part of what it belongs to; do it in afterSave or afterDrop, or in a job`,
  },
  REMOTE_EVENT: {
    errCode: 1562,
    http: 500,
    message: (dataClass: string) =>
      `the entity of ${dataClass} is saved or dropped in a database, so its event cannot save or drop others as part of that; do it in afterSave or afterDrop, or in a job`,
  },
  NO_SESSION: {
    errCode: 1562,
    http: 500,
    message: (what: string) =>
      `there is no session for ${what}: this code does not run for a request; Session.isServer() is true where the server itself runs it`,
  },
  STORAGE_TOO_LARGE: {
    errCode: 1562,
    http: 500,
    message: (bytes: number, limit: number) =>
      `Session.storage has ${bytes} bytes as JSON; ${limit} are kept; large data belongs in an entity`,
  },
  NO_IDLE_TIMEOUT: {
    errCode: 1562,
    http: 500,
    message: (received: string) => `Session.idleTimeout cannot be ${received}; a number of minutes above 0 is expected`,
  },
  NO_TOKEN_TIME: {
    errCode: 1562,
    http: 500,
    message: (received: string) => `Session.createOTP(${received}): a number of seconds above 0 is expected`,
  },
  NO_QUOTA: {
    errCode: 1562,
    http: 500,
    message: (received: string) => `a quota cannot be ${received}; a number above 0, or undefined for the default`,
  },
  NO_JOB: {
    errCode: 1562,
    http: 500,
    message: () =>
      'the first argument of ds.enqueue is a function with @job, such as ds.Ticket.embed, of a class of the datastore, of a dataclass or of a singleton; a class that is imported from another module is a copy, of which no function is known',
  },
  BAD_JOB: {
    errCode: 1562,
    http: 500,
    message: (name: string, problem: string) => `the job ${name} cannot be enqueued: ${problem}`,
  },
  BAD_PROGRESS: {
    errCode: 1562,
    http: 500,
    message: (limit: number, length: number) =>
      `the progress of a job may have ${limit} characters as JSON; received ${length}`,
  },
  READ_ONLY: {
    errCode: 1828,
    http: 500,
    message: () => 'nothing can be saved or dropped here: this code runs in the middle of a read',
  },
  NOT_CONSTRUCTIBLE: {
    errCode: 1562,
    http: 500,
    message: (name: string) => `${name} is made by the server, not by new; use ds.{dataClass}.new() or .newSelection()`,
  },
  ENTITY_GONE: {
    errCode: 1543,
    http: 404,
    save: { status: 5, statusText: 'Entity does not exist anymore' },
    message: (dataClass: string) => `cannot load the entity of ${dataClass}: it has been deleted`,
  },
  WRONG_BASE: {
    errCode: 1800,
    http: 500,
    message: (className: string, dataClass: string, hint: string) =>
      `the class ${className} is about "${dataClass}", which the model does not have${hint}`,
  },
  TWO_CLASSES: {
    errCode: 1800,
    http: 500,
    message: (first: string, second: string, subject: string) =>
      `the classes ${first} and ${second} are both the ${subject}; there can be one`,
  },
})
