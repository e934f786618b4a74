import { defineErrors, errorsWith, ProtocolError } from '../engine/index.ts'
import { EdgeErrors } from './transport/edge-errors.ts'
import { json, type Reply } from './reply.ts'

export const KernelErrors = defineErrors('KERNEL', {
  ...errorsWith({ errCode: 1806, http: 404 })({
    /** Neither `/rest` nor a route of a plugin. */
    /** @param basePath prefix of all paths as clients see them */
    NO_SUCH_PATH: (path: string, hint: string, basePath: string) =>
      path === '/'
        ? `this is a Tesser server; its data is below ${basePath}/rest: GET ${basePath}/rest/$catalog lists the dataclasses${hint}`
        : `nothing is served at ${basePath}${path}${hint}; the data is below ${basePath}/rest, for example ${basePath}/rest/$catalog`,
  }),
  ...errorsWith({ errCode: 1812, http: 400 })({
    UNKNOWN_METHOD: (method: string, known: string) => `$method=${method} is not known; it is one of ${known}`,
  }),
  ...errorsWith({ errCode: 1811, http: 400 })({
    UNKNOWN_PARAMETER: (name: string, hint: string) => `"${name}" is not a known parameter${hint}`,
  }),
  ...errorsWith({ errCode: 1806, http: 400 })({
    NOT_A_FLAG: (name: string, received: string) => `${name}=${received} is neither true nor false; send true or false`,
    /** Only the last list would have an effect: `/City/1/name` would return the names of all cities. */
    SEVERAL_LISTS: (list: string, next: string) =>
      `the address has two attribute lists, "${list}" and "${next}"; write one, such as name,country.name, and keys in brackets: City(1)/name`,
  }),
  ...errorsWith({ errCode: 1611, http: 401 })({
    ADMINISTRATORS_ONLY: (service: string, isGuest: boolean) =>
      isGuest
        ? `${service} is for administrators: log in, or send a key or a token`
        : `${service} is for administrators: the session lacks the privilege WebAdmin`,
  }),
  ...errorsWith({ errCode: 1813, http: 405 })({
    METHOD_NOT_APPLICABLE: (what: string, verb: string, verbs: string) =>
      `${what} does not work with ${verb}; use ${verbs}`,
  }),
})

/** Converts an error to an answer; all errors pass through here. */
export function errorReply(error: unknown, onInternal: (error: unknown) => void): Reply {
  if (!(error instanceof ProtocolError)) onInternal(error)
  const { entries, httpStatus, retryAfterSeconds, allow } =
    error instanceof ProtocolError ? error : EdgeErrors.INTERNAL_ERROR()
  const more = {
    ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
    // Source: RFC 9110, 15.5.6.
    ...(allow && { Allow: allow.join(', ') }),
  }
  return json({ __ERROR: entries }, httpStatus, more)
}

/** 405 with the allowed verbs. */
export function methodNotApplicable(what: string, verb: string, verbs: readonly string[]): Reply {
  const error = KernelErrors.METHOD_NOT_APPLICABLE(what, verb, verbs.join(' or '))
  return errorReply(new ProtocolError({ ...error.toData(), allow: verbs }), () => {})
}
