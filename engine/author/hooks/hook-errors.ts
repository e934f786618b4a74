import { errorText, ProtocolError, type SaveStatus } from '../../base/errors.ts'
import type { SaveFailure } from '../../write/contract/requests.ts'
import { WriteErrors } from '../../write/contract/write-errors.ts'
import type { EventError } from '../declare/event-types.ts'

const MILD: SaveStatus = { status: 7, statusText: 'Mild Validation Error' }
const SERIOUS: SaveStatus = { status: 8, statusText: 'Serious Validation Error' }
const OTHER: SaveStatus = { status: 4, statusText: 'Other error' }

/**
 * An error object of an event, as it is reported.
 * @param isValidation of a validate event: mild unless it says otherwise
 * @param consequence follows it, unless it is mild
 * @param attribute whose code has returned it, where the caller may know of it
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
  const status = isMild ? MILD : isValidation ? SERIOUS : OTHER
  const own = new ProtocolError({
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
  return { status, error: (isMild ? own : own.followedBy(consequence)).toData() }
}

/** Why an entity cannot be saved or dropped by code of its own events. */
export function busyFailure(action: 'save' | 'drop', dataClass: string): SaveFailure {
  const error = WriteErrors.IN_EVENT(action, dataClass)
  return { status: OTHER, error: error.toData() }
}

/** Failure for a thrown value that is not an error object: of its own query, or a fault of its own, which is for the log. */
export function thrownFailure(thrown: unknown, dataClass: string, consequence: ProtocolError): SaveFailure {
  const name = thrown instanceof Error ? errorText(thrown.name) : `a thrown ${typeof thrown}`
  const error = thrown instanceof ProtocolError ? thrown : WriteErrors.EVENT_FAILED(dataClass, name)
  return { status: OTHER, error: error.followedBy(consequence).toData() }
}

/** Copy by way of JSON: plugin code may have put anything into it. One that is too long is a text with its beginning. */
function plainCopy(value: unknown): unknown {
  try {
    const json = JSON.stringify(value) ?? 'null'
    const short = errorText(json)
    return short === json ? JSON.parse(json) : short
  } catch {
    return errorText(String(value))
  }
}
