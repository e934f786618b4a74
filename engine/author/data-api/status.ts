import { type ErrorData, ProtocolError } from '../../base/errors.ts'
import type { Status } from '../declare/author-types.ts'

/** One of its own for each: authors may put something into it. */
export const success = (): Status => ({ success: true })

/** As a status object of the language. Source: protocol notes, 5.10. */
export function statusOf(error: ErrorData): Status {
  const { status, statusText } = new ProtocolError(error).saveStatus ?? { status: 4, statusText: 'Other error' }
  return { success: false, status, statusText, errors: error.entries }
}
