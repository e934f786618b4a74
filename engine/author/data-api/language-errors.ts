import { defineErrors, errorsWith } from '../../base/errors.ts'

/** Errors of plugin code. Source: protocol notes, 5.9. */
export const LanguageErrors = defineErrors('LANGUAGE', {
  ...errorsWith({ errCode: 1562, http: 500 })({
    NO_CALL: () =>
      'data can be reached only while a call runs; this code belongs to none, or to one that has been answered: a function has to await everything that it starts',
    ASYNC_TRANSACTION: () =>
      'a transaction cannot wait, because other writes wait for it: its function returned a promise, and nothing was kept; await first, then begin it',
    ASYNC_UPDATE: () =>
      'the function of update cannot wait: it returned a promise, and nothing was saved; await first, then update',
    REMOTE_IN_TRANSACTION: (dataClass: string) =>
      `entities of ${dataClass} are in a database, which knows nothing of this transaction; save or drop them before it begins or after it has ended`,
    REMOTE_IN_EVENT: (dataClass: string) =>
      `entities of ${dataClass} are in a database, so an event cannot save or drop them as part of what it belongs to; do it in afterSave or afterDrop, or in a job`,
    REMOTE_EVENT: (dataClass: string) =>
      `the entity of ${dataClass} is saved or dropped in a database, so its event cannot save or drop others as part of that; do it in afterSave or afterDrop, or in a job`,
    NO_SESSION: (what: string) =>
      `there is no session for ${what}: this code does not run for a request; Session.isServer() is true where the server itself runs it`,
    STORAGE_TOO_LARGE: (bytes: number, limit: number) =>
      `Session.storage has ${bytes} bytes as JSON; ${limit} are kept; large data belongs in an entity`,
    NO_IDLE_TIMEOUT: (received: string) =>
      `Session.idleTimeout cannot be ${received}; a number of minutes above 0 is expected`,
    NO_TOKEN_TIME: (received: string) => `Session.createOTP(${received}): a number of seconds above 0 is expected`,
    NO_QUOTA: (received: string) => `a quota cannot be ${received}; a number above 0, or undefined for the default`,
    NO_JOB: () =>
      'the first argument of ds.enqueue is a function with @job, such as ds.Ticket.embed, of a class of the datastore, of a dataclass or of a singleton; a class that is imported from another module is a copy, of which no function is known',
    BAD_JOB: (name: string, problem: string) => `the job ${name} cannot be enqueued: ${problem}`,
    BAD_PROGRESS: (limit: number, length: number) =>
      `the progress of a job may have ${limit} characters as JSON; received ${length}`,
    NOT_CONSTRUCTIBLE: (name: string) =>
      `${name} is made by the server, not by new; use ds.{dataClass}.new() or .newSelection()`,
  }),
  ...errorsWith({ errCode: 1828, http: 500 })({
    READ_ONLY: () => 'nothing can be saved or dropped here: this code runs in the middle of a read',
  }),
  ...errorsWith({ errCode: 1543, http: 404, save: { status: 5, statusText: 'Entity does not exist anymore' } })({
    ENTITY_GONE: (dataClass: string) => `cannot load the entity of ${dataClass}: it has been deleted`,
  }),
  ...errorsWith({ errCode: 1800, http: 500 })({
    WRONG_BASE: (className: string, dataClass: string, hint: string) =>
      `the class ${className} is about "${dataClass}", which the model does not have${hint}`,
    TWO_CLASSES: (first: string, second: string, subject: string) =>
      `the classes ${first} and ${second} are both the ${subject}; there can be one`,
  }),
})
