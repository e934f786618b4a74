import { bytesOfShortText, shortText } from '../../base/short-text.ts'
import type { SaveRequest } from './requests.ts'

/** A save in a message to another thread. */
export interface SentSave extends Omit<SaveRequest, 'body'> {
  body: Uint8Array | string
}

export const sentSave = (request: SaveRequest): SentSave => ({ ...request, body: shortText(request.body) })

export const receivedSave = (save: SentSave): SaveRequest => ({ ...save, body: bytesOfShortText(save.body) })
