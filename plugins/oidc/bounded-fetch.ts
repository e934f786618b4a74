import type { CustomFetch } from 'openid-client'

/** Maximum size of an answer. Tokens of users with thousands of groups have several hundred kilobytes. */
const MAX_BYTES = 512 * 1024

/** Fetches an answer of a provider, of limited size. @throws {Error} the answer is larger; the rest is not read */
export const boundedFetch: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit)
  const { status, headers } = response
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.byteLength
    if (size > MAX_BYTES) throw new Error(`an answer of the provider has more than ${MAX_BYTES} bytes`)
    pieces.push(piece)
  }
  return new Response(size > 0 ? Buffer.concat(pieces) : null, { status, headers })
}
