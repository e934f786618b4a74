import { defineErrors } from '../errors.ts'

const PERMISSION_ERROR = { status: 1, statusText: 'Permission Error' }

/**
 * What a session lacks a privilege for. What it may not read is not among it: that answers as what does not exist.
 * Source: protocol notes, 5.9, 5.10 and 8.4.
 */
export const PermissionErrors = defineErrors('PERMISSION', {
  /** Of function code. What it is about is not said: the message goes to somebody who may not know of it. */
  READ: {
    errCode: 1557,
    http: 401,
    message: () => 'the function reads what the session may not read; a privilege that it promotes would help',
  },
  UPDATE: {
    errCode: 1558,
    http: 401,
    save: PERMISSION_ERROR,
    message: (dataClass: string) => `the session has no privilege to change entities of ${dataClass}`,
  },
  CREATE: {
    errCode: 1559,
    http: 401,
    save: PERMISSION_ERROR,
    message: (dataClass: string) => `the session has no privilege to create entities of ${dataClass}`,
  },
  DROP: {
    errCode: 1560,
    http: 401,
    save: PERMISSION_ERROR,
    message: (dataClass: string) => `the session has no privilege to delete entities of ${dataClass}`,
  },
  EXECUTE: {
    errCode: 1561,
    http: 401,
    message: (name: string) => `the session has no privilege to call the function ${name}`,
  },
  UPDATE_ATTRIBUTE: {
    errCode: 1608,
    http: 401,
    save: PERMISSION_ERROR,
    message: (attribute: string, dataClass: string) =>
      `the session has no privilege to give ${attribute} of ${dataClass} a value`,
  },
  /** Deleting an entity deletes its values. */
  DROP_ATTRIBUTE: {
    errCode: 1560,
    http: 401,
    save: PERMISSION_ERROR,
    message: (key: string, dataClass: string) =>
      `the session has no privilege to delete a value that entity ${key} of ${dataClass} has`,
  },
  LOGIN_NEEDED: {
    errCode: 1822,
    http: 401,
    message: () => 'log in first: without privileges only the catalog can be read',
  },
})
