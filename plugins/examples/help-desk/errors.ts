import { Session } from 'tesser/classes'

/** Ends a function with an answer that its client understands. */
export function refuse(httpStatus: number, errCode: number, message: string): never {
  throw { errCode, componentSignature: 'desk', message, httpStatus }
}

/** An error that stops a save when an event returns it. */
export const invalid = (attribute: string, message: string) => ({
  errCode: 4301,
  componentSignature: 'desk',
  message,
  attribute,
  seriousError: true,
})

/** True for agents and managers, and for the server itself: the plugin for the mail gateway, jobs, and imports. */
export const isStaff = (): boolean => Session.isServer() || Session.hasPrivilege('serve')
