import { defineErrors, errorsWith } from '../base/errors.ts'

const PERMISSION_ERROR = { status: 1, statusText: 'Permission Error' }

/**
 * Errors for missing privileges. Unreadable resources do not have errors here: they are treated as missing. Source: protocol notes, 5.9,
 * 5.10 and 8.4.
 */
export const PermissionErrors = defineErrors('PERMISSION', {
  ...errorsWith({ errCode: 1557, http: 401 })({
    /** Error for plugin code. The resource is not named, because the client that receives the message may not know of it. */
    READ: () => 'the function reads data that the session may not read; let the function promote a privilege',
  }),
  ...errorsWith({ errCode: 1558, http: 401, save: PERMISSION_ERROR })({
    UPDATE: (dataClass: string) => `the session has no privilege to change entities of ${dataClass}`,
  }),
  ...errorsWith({ errCode: 1559, http: 401, save: PERMISSION_ERROR })({
    CREATE: (dataClass: string) => `the session has no privilege to create entities of ${dataClass}`,
  }),
  ...errorsWith({ errCode: 1560, http: 401, save: PERMISSION_ERROR })({
    DROP: (dataClass: string) => `the session has no privilege to delete entities of ${dataClass}`,
    /** Deleting an entity deletes its values. */
    DROP_ATTRIBUTE: (key: string, dataClass: string) =>
      `the session has no privilege to delete a value that entity ${key} of ${dataClass} has`,
  }),
  ...errorsWith({ errCode: 1561, http: 401 })({
    EXECUTE: (name: string) => `the session has no privilege to call the function ${name}`,
  }),
  ...errorsWith({ errCode: 1608, http: 401, save: PERMISSION_ERROR, namesAttribute: 0 })({
    UPDATE_ATTRIBUTE: (attribute: string, dataClass: string) =>
      `the session has no privilege to give ${attribute} of ${dataClass} a value`,
  }),
  ...errorsWith({ errCode: 1608, http: 401, save: PERMISSION_ERROR })({
    /** Code, or an alias, gives a value to an attribute that the caller may not know of. */
    UPDATE_HIDDEN: (dataClass: string) =>
      `the session has no privilege to give a value of ${dataClass} that it may not read`,
  }),
  ...errorsWith({ errCode: 1822, http: 401 })({
    LOGIN_NEEDED: () => 'log in first: without privileges only the catalog can be read',
  }),
})
