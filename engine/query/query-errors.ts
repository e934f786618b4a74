import { defineErrors } from '../errors.ts'

const EXCERPT_LENGTH = 80

/** The start of what a client sent: it decides how long a name or a value is, a message has to stay readable. */
export const excerpt = (text: string): string =>
  text.length <= EXCERPT_LENGTH ? text : `${text.slice(0, EXCERPT_LENGTH).toWellFormed()}…`

/** What can be wrong with a query whose text was readable. Source: protocol notes, 5.9; statuses by the design decisions. */
export const QueryErrors = defineErrors('QUERY', {
  /** Also for what is there but private: what is not exposed answers as what does not exist. */
  UNKNOWN_ATTRIBUTE: {
    errCode: 1500,
    http: 404,
    message: (name: string, dataClass: string, hint: string) =>
      `attribute "${excerpt(name)}" not found in class "${dataClass}"${hint}`,
  },
  UNKNOWN_ENTITY: {
    errCode: 1543,
    http: 404,
    message: (key: string, dataClass: string) =>
      `cannot load entity# ${excerpt(key)} in the "${dataClass}" datastore class`,
  },
  /** Follows 1500 or 1594. */
  CANNOT_ORDER: {
    errCode: 1810,
    http: 404,
    message: (path: string, dataClass: string) => `cannot order by "${excerpt(path)}" for "${dataClass}"`,
  },
  NOT_SORTABLE: {
    errCode: 1594,
    http: 404,
    message: (path: string, what: string) =>
      `"${path}" cannot be sorted: it is ${what}; order by a scalar attribute or an object property, own or through N→1 relations`,
  },
  COMPARATOR: {
    errCode: 1112,
    http: 400,
    message: (comparator: string, path: string, what: string, expected: string) =>
      `the comparator ${comparator} does not apply to "${path}", which is ${what}; use ${expected}`,
  },
  /** A path with an element or a further step where there are none. */
  PATH: {
    errCode: 1201,
    http: 400,
    message: (path: string, problem: string) => `cannot follow the path "${path}": ${problem}`,
  },
  NOT_SEARCHABLE: {
    errCode: 1162,
    http: 400,
    message: (path: string, what: string) => `"${path}" cannot be searched: it is ${what}`,
  },
  VALUE: {
    errCode: 1508,
    http: 400,
    message: (received: string, path: string, expected: string) =>
      `cannot compare "${path}" with ${received}; it takes ${expected}`,
  },
  PLACEHOLDER_MISSING: {
    errCode: 1279,
    http: 400,
    message: (name: string, problem: string) => `the placeholder ${name} ${problem}`,
  },
  PLACEHOLDER_TYPE: {
    errCode: 1280,
    http: 400,
    message: (name: string, received: string, expected: string) =>
      `the placeholder ${name} holds ${received}; it takes ${expected}`,
  },
  /** Of a restrict event. What it should have been is not known, so nothing is shown. */
  BAD_RESTRICTION: {
    errCode: 1602,
    http: 500,
    message: (dataClass: string) => `the restrict event of ${dataClass} gives no selection of ${dataClass}`,
  },
  /** What a query or order handler gave is no query, or there is no end to it. */
  HANDLER: {
    errCode: 1562,
    http: 500,
    message: (attribute: string, problem: string) => `the code of "${attribute}" ${problem}`,
  },
  TOO_DEEP: {
    errCode: 1201,
    http: 400,
    message: (limit: number) =>
      `the query changes more than ${limit} times between and, or and except; use in :1 for a list of values, or several queries`,
  },
  TIMEOUT: {
    errCode: 1200,
    http: 503,
    message: (milliseconds: number) =>
      `the query was stopped after ${milliseconds} ms, the time that the server allows; narrow it by an indexed attribute`,
  },
  /** The client has gone. 499 is what proxies log for it. */
  CANCELLED: {
    errCode: 1200,
    http: 499,
    message: () => 'the query was stopped because nobody waits for its answer any more',
  },
  TOO_MANY_ROWS: {
    errCode: 1200,
    http: 413,
    message: (limit: number) =>
      `the query was stopped after it had examined ${limit} rows, as many as the server allows; narrow it by an indexed attribute`,
  },
})
