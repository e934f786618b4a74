import { defineErrors, ProtocolError } from '../engine/index.ts'
import { EdgeErrors } from './transport/edge-errors.ts'
import { json, type Reply } from './reply.ts'

export const KernelErrors = defineErrors('KERNEL', {
  /** Neither `/rest` nor a route of a plugin. */
  NO_SUCH_PATH: {
    errCode: 1806,
    http: 404,
    /** @param basePath prefix of all paths as clients see them */
    message: (path: string, hint: string, basePath: string) =>
      path === '/'
        ? `this is a Tesser server; its data is below ${basePath}/rest: GET ${basePath}/rest/$catalog lists the dataclasses${hint}`
        : `nothing is served at ${basePath}${path}${hint}; the data is below ${basePath}/rest, for example ${basePath}/rest/$catalog`,
  },
  UNKNOWN_METHOD: {
    errCode: 1812,
    http: 400,
    message: (method: string, known: string) => `$method=${method} is not known; it is one of ${known}`,
  },
  UNKNOWN_PARAMETER: {
    errCode: 1811,
    http: 400,
    message: (name: string, hint: string) => `"${name}" is not a known parameter${hint}`,
  },
  NOT_A_FLAG: {
    errCode: 1806,
    http: 400,
    message: (name: string, received: string) => `${name}=${received} is neither true nor false; send true or false`,
  },
  ADMINISTRATORS_ONLY: {
    errCode: 1611,
    http: 401,
    message: (service: string, isGuest: boolean) =>
      isGuest
        ? `${service} is for administrators: log in, or send a key or a token`
        : `${service} is for administrators: the session lacks the privilege WebAdmin`,
  },
  METHOD_NOT_APPLICABLE: {
    errCode: 1813,
    http: 405,
    message: (what: string, verb: string, verbs: string) => `${what} does not work with ${verb}; use ${verbs}`,
  },
})

/** The one place where an error becomes an answer. */
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
