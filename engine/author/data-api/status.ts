import { type ErrorData, ProtocolError } from '../../base/errors.ts'
import type { Status } from '../declare/author-types.ts'

/** A new object for each call: plugin code may modify it. */
export const success = (): Status => ({ success: true })

/** Converts an error to a status object of the data API. Source: protocol notes, 5.10. */
export function statusOf(error: ErrorData): Status {
  const { status, statusText } = new ProtocolError(error).saveStatus ?? { status: 4, statusText: 'Other error' }
  return { success: false, status, statusText, errors: error.entries }
}
