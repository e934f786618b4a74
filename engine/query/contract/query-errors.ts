import { defineErrors, errorsWith } from '../../base/errors.ts'
import { excerpt } from '../../base/text/excerpt.ts'

/** Errors of a query whose text was readable. Source: protocol notes, 5.9; statuses by the design decisions. */
export const QueryErrors = defineErrors('QUERY', {
  ...errorsWith({ errCode: 1500, http: 404, namesAttribute: 0 })({
    /** Also reported for private attributes, as if they did not exist. */
    UNKNOWN_ATTRIBUTE: (name: string, dataClass: string, hint: string) =>
      `attribute "${excerpt(name)}" not found in class "${dataClass}"${hint}`,
  }),
  ...errorsWith({ errCode: 1543, http: 404 })({
    UNKNOWN_ENTITY: (key: string, dataClass: string) =>
      `cannot load entity# ${excerpt(key)} in the "${dataClass}" datastore class`,
  }),
  ...errorsWith({ errCode: 1813, http: 409 })({
    /** Error of an address of one entity that matches several entities, none of them exactly. */
    SEVERAL_ENTITIES: (address: string, dataClass: string) =>
      `several entities of ${dataClass} have a value like ${excerpt(address)}, and no single one has this very value; address one by its key`,
  }),
  ...errorsWith({ errCode: 1813, http: 400, namesAttribute: 0 })({
    /** Error of operations on one entity. */
    NOT_UNIQUE: (attribute: string, dataClass: string) =>
      `several entities of ${dataClass} may have one value of ${attribute}; address one by its key, or select them with $filter`,
  }),
  ...errorsWith({ errCode: 1810, http: 404, namesAttribute: 0 })({
    /** Follows 1500 or 1594. */
    CANNOT_ORDER: (path: string, dataClass: string) => `cannot order by "${excerpt(path)}" for "${dataClass}"`,
  }),
  ...errorsWith({ errCode: 1594, http: 404, namesAttribute: 0 })({
    NOT_SORTABLE: (path: string, what: string) =>
      `"${path}" cannot be sorted: it is ${what}; order by a scalar attribute or an object property, own or through N→1 relations`,
  }),
  ...errorsWith({ errCode: 1112, http: 400, namesAttribute: 1 })({
    COMPARATOR: (comparator: string, path: string, what: string, expected: string) =>
      `the comparator ${comparator} does not apply to "${path}", which is ${what}; use ${expected}`,
  }),
  ...errorsWith({ errCode: 1201, http: 400, namesAttribute: 0 })({
    /** A path with an element or a further step where none is possible. */
    PATH: (path: string, problem: string) => `cannot follow the path "${path}": ${problem}`,
  }),
  ...errorsWith({ errCode: 1162, http: 400, namesAttribute: 0 })({
    NOT_SEARCHABLE: (path: string, what: string) => `"${path}" cannot be searched: it is ${what}`,
  }),
  ...errorsWith({ errCode: 1508, http: 400, namesAttribute: 1 })({
    VALUE: (received: string, path: string, expected: string) =>
      `cannot compare "${path}" with ${received}; it takes ${expected}`,
  }),
  ...errorsWith({ errCode: 1508, http: 400, namesAttribute: 0 })({
    /** A value with wildcards, or the words of a keyword search. */
    PATTERN: (path: string, problem: string) => `cannot search "${path}" for such a pattern: ${problem}`,
  }),
  ...errorsWith({ errCode: 1279, http: 400 })({
    PLACEHOLDER_MISSING: (name: string, problem: string) => `the placeholder ${name} ${problem}`,
  }),
  ...errorsWith({ errCode: 1280, http: 400 })({
    PLACEHOLDER_TYPE: (name: string, received: string, expected: string) =>
      `the placeholder ${name} holds ${received}; it takes ${expected}`,
  }),
  ...errorsWith({ errCode: 1602, http: 500 })({
    /** Failure of a restrict event. Its intended result is unknown, so nothing is shown. */
    BAD_RESTRICTION: (dataClass: string) => `the restrict event of ${dataClass} gives no selection of ${dataClass}`,
  }),
  ...errorsWith({ errCode: 1201, http: 400 })({
    TOO_DEEP: (limit: number) =>
      `the query changes more than ${limit} times between and, or and except; use in :1 for a list of values, or several queries`,
  }),
  ...errorsWith({ errCode: 1200, http: 503 })({
    TIMEOUT: (milliseconds: number) =>
      `the query was stopped after ${milliseconds} ms, the time that the server allows; narrow it by an indexed attribute`,
  }),
  ...errorsWith({ errCode: 1200, http: 499 })({
    /** The client has disconnected. 499 is the status that proxies log for it. */
    CANCELLED: () => 'the query was stopped because its client has gone',
  }),
  ...errorsWith({ errCode: 1200, http: 413 })({
    TOO_MANY_ROWS: (limit: number) =>
      `the query was stopped after it examined ${limit} rows, as many as the server allows (query.maxRowsExamined); narrow it by an indexed attribute`,
  }),
})
