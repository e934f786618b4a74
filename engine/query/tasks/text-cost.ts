import type { ClientText, ReadRequest } from '../contract/request.ts'
import { MICROSECONDS } from '../estimate/costs.ts'

/**
 * Upper bound of the time to parse the texts of a request, in microseconds, known before parsing. Cached texts take less.
 */
export function costOfTexts({ filter, orderBy, params }: Pick<ReadRequest, 'filter' | 'orderBy' | 'params'>): number {
  const unread = params && 'text' in params ? params.text.length : 0
  return (lengthOf(filter) + lengthOf(orderBy)) * MICROSECONDS.character + unread * MICROSECONDS.paramsCharacter
}

const lengthOf = (text: ClientText | undefined): number =>
  text === undefined ? 0 : typeof text === 'string' ? text.length : text.text.length
