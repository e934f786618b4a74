import { defineErrors } from '../base/errors.ts'

const PERMISSION_ERROR = { status: 1, statusText: 'Permission Error' }

/**
 * Errors for missing privileges. Unreadable resources have none here: they are treated as missing.
 * Source: protocol notes, 5.9, 5.10 and 8.4.
 */
export const PermissionErrors = defineErrors('PERMISSION', {
  /** For plugin code. The resource is not named, because the client that receives the message may not know of it. */
  READ: {
    errCode: 1557,
    http: 401,
    message: () => 'the function reads data that the session may not read; let the function promote a privilege',
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
    namesAttribute: 0,
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
