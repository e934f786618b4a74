import { type ErrorData, errorText, ProtocolError } from './errors.ts'

/**
 * Converts an error that plugin code throws for its client: an object that has an `errCode`, also an `Error`. It may choose its
 * `httpStatus`, from 400 to 599; 422 without one.
 * @returns undefined for anything else, which is a fault
 * Source: protocol notes, 7.4; the status by our decision.
 */
export function errorOfThrown(exception: unknown): ErrorData | undefined {
  if (exception instanceof ProtocolError) return undefined
  const { errCode, componentSignature, message, httpStatus } = (exception ?? {}) as Record<string, unknown>
  if (typeof errCode !== 'number') return undefined
  const entry = {
    message: typeof message === 'string' ? errorText(message) : '',
    componentSignature: typeof componentSignature === 'string' ? errorText(componentSignature) : '',
    errCode,
  }
  return { name: 'FUNCTIONS.THROWN', httpStatus: isErrorStatus(httpStatus) ? httpStatus : 422, entries: [entry] }
}

const isErrorStatus = (status: unknown): status is number =>
  typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600
