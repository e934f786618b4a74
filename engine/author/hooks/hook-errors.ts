import { errorText, ProtocolError, type SaveStatus, errorWithoutKnownSecrets } from '../../base/errors.ts'
import type { SaveFailure } from '../../write/contract/requests.ts'
import { OTHER_STATUS } from '../../write/contract/save-failure.ts'
import { WriteErrors } from '../../write/contract/write-errors.ts'
import type { EventError } from '../declare/event-types.ts'

const MILD: SaveStatus = { status: 7, statusText: 'Mild Validation Error' }
const SERIOUS: SaveStatus = { status: 8, statusText: 'Serious Validation Error' }

/**
 * Failure for an error object of an event.
 * @param isValidation true for a validate event: the error is mild unless it says otherwise
 * @param consequence error that follows it, unless it is mild
 * @param attribute attribute whose code returned it, if the caller may see it
 * Source: protocol notes, 9; base specification, 7.
 */
export function eventFailure(
  error: EventError,
  isValidation: boolean,
  consequence: ProtocolError,
  attribute?: string,
): SaveFailure {
  const { errCode, message, extraDescription } = error
  const isMild = isValidation && error.seriousError !== true
  const status = isMild ? MILD : isValidation ? SERIOUS : OTHER_STATUS
  const ownError = new ProtocolError({
    name: 'HOOKS.EVENT',
    httpStatus: 422,
    entries: [
      {
        message: errorText(String(message ?? '')),
        componentSignature: 'DBEV',
        errCode,
        ...(attribute !== undefined && { attribute }),
        ...(extraDescription !== undefined && { extraDescription: plainCopy(extraDescription) }),
      },
    ],
    saveStatus: status,
  })
  return { status, error: (isMild ? ownError : ownError.followedBy(consequence)).toData() }
}

/**
 * Failure for an entity that code of its own events tries to save or drop.
 * @param chain the entities whose events led to it
 */
export function busyFailure(action: 'save' | 'drop', dataClass: string, chain?: string): SaveFailure {
  const error = WriteErrors.IN_EVENT(action, dataClass, chain)
  return { status: OTHER_STATUS, error: error.toData() }
}

/** Failure for a thrown value that is not an error object: a protocol error, such as that of a query, or a fault, which is logged. */
export function thrownFailure(exception: unknown, dataClass: string, consequence: ProtocolError): SaveFailure {
  const name = exception instanceof Error ? errorText(exception.name) : `a thrown ${typeof exception}`
  const error = exception instanceof ProtocolError ? exception : WriteErrors.EVENT_FAILED(dataClass, name)
  return { status: OTHER_STATUS, error: errorWithoutKnownSecrets(error.followedBy(consequence).toData()) }
}

/** Copy through JSON, because plugin code may have put anything into the value. If the JSON is too long, a string with its beginning. */
function plainCopy(value: unknown): unknown {
  try {
    const json = JSON.stringify(value) ?? 'null'
    const short = errorText(json)
    return short === json ? JSON.parse(json) : short
  } catch {
    return errorText(String(value))
  }
}
