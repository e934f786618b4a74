import { defineErrors, ProtocolError } from '../engine/errors.ts'
import { EdgeErrors } from './transport/edge-errors.ts'
import { JSON_HEADERS, type Reply } from './reply.ts'

export const KernelErrors = defineErrors('KERNEL', {
  /** Neither `/rest` nor a route of a plugin. */
  NO_SUCH_PATH: {
    errCode: 1806,
    http: 404,
    message: (path: string) => `nothing is served at ${path}; the data is below /rest, for example /rest/$catalog`,
  },
  UNKNOWN_METHOD: {
    errCode: 1812,
    http: 400,
    message: (method: string, known: string) => `$method=${method} is not known; it is one of ${known}`,
  },
  METHOD_NOT_APPLICABLE: {
    errCode: 1813,
    http: 405,
    message: (what: string, verb: string, verbs: string) => `${what} does not work with ${verb}; use ${verbs}`,
  },
})

/** The one place where an error becomes an answer. */
export function errorReply(error: unknown, onInternal: (error: unknown) => void): Reply {
  let shown: ProtocolError
  if (error instanceof ProtocolError) shown = error
  else {
    onInternal(error)
    shown = EdgeErrors.INTERNAL_ERROR()
  }
  const headers: Record<string, string> = { ...JSON_HEADERS }
  if (shown.retryAfterSeconds !== undefined) headers['Retry-After'] = String(shown.retryAfterSeconds)
  // Source: RFC 9110, 15.5.6.
  if (shown.allow) headers.Allow = shown.allow.join(', ')
  return { status: shown.httpStatus, headers, body: JSON.stringify({ __ERROR: shown.entries }) }
}

/** 405 with the verbs that would do. */
export function methodNotApplicable(what: string, verb: string, verbs: readonly string[]): Reply {
  const error = KernelErrors.METHOD_NOT_APPLICABLE(what, verb, verbs.join(' or '))
  return errorReply(new ProtocolError({ ...error.toData(), allow: verbs }), () => {})
}
