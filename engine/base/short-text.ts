import { isAscii } from 'node:buffer'

/** Maximum number of bytes that are sent as text; a thread would have to convert longer ones. */
const MAX_TEXT_BYTES = 2048

/** Bytes for a message between threads: short ASCII is sent as text, because a message with a buffer costs twice as much. */
export function shortText(bytes: Uint8Array): Uint8Array | string {
  if (bytes.byteLength > MAX_TEXT_BYTES || !isAscii(bytes)) return bytes
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

/** The bytes that {@link shortText} was given. */
export const bytesOfShortText = (content: Uint8Array | string): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content, 'latin1') : content
