import { type ErrorData, ProtocolError } from '../../base/errors.ts'
import type { SaveFailure } from '../../write/contract/requests.ts'
import { OTHER_STATUS } from '../../write/contract/save-failure.ts'
import type { OrThrowOptions, Status } from '../declare/author-types.ts'

/** A new object for each call: plugin code may modify it. */
export const success = (): Status => ({ success: true })

/** Status of a save. @param failure undefined: it has been saved */
export const saveStatusOf = (failure: SaveFailure | undefined): Status =>
  failure ? { ...statusOf(failure.error), ...failure.status } : success()

/** @throws {ProtocolError} the error, as clients receive it */
export function throwError(error: ErrorData | undefined, { index }: OrThrowOptions = {}): void {
  if (!error) return
  const entries = index === undefined ? error.entries : error.entries.map(entry => ({ ...entry, index }))
  throw new ProtocolError({ ...error, entries })
}

/** Converts an error to a status object of the data API. Source: protocol notes, 5.10. */
export function statusOf(error: ErrorData): Status {
  const { status, statusText } = error.saveStatus ?? OTHER_STATUS
  return { success: false, status, statusText, errors: error.entries }
}
