import { STATUS_CODES } from 'node:http'
import type { BodySource, TransportResponse } from './transport.ts'

/** Header names and values we send: visible ASCII, space and tab. Anything else could end the line or be misread. */
const UNSAFE_IN_HEADER = /[^\t\x20-\x7e]/
/** These belong to the transport. */
const OWN_HEADERS = new Set(['content-length', 'connection', 'date', 'transfer-encoding'])

/** Of headers that never change, which most answers have. */
const knownLines = new WeakMap<object, readonly string[]>()

/** An answer ready for the socket. */
export interface Answer {
  status: number
  /** `Not Found` for 404; never empty. */
  reason: string
  /** Name and value by turns, as `node:http` wants them; a name may repeat. */
  headerLines: readonly string[]
  body: Uint8Array | BodySource
  /** Of the body. */
  size: number
  /** 204 and 304 have neither a body nor a Content-Length. */
  bodiless: boolean
}

/**
 * Makes an answer ready, or says why it cannot be sent.
 * @throws {Error} for a status outside 200–599 and for a header that is not visible ASCII or not the handler's to set
 */
export function prepareAnswer({ status, headers, cookie, body }: TransportResponse): Answer {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new Error(`a handler answered with status ${status}; from 200 to 599 would do`)
  }
  const lines = headers ? linesOf(headers) : []
  const prepared = typeof body === 'string' ? Buffer.from(body) : body
  return {
    status,
    reason: STATUS_CODES[status] ?? 'Unknown',
    headerLines: cookie === undefined ? lines : withHeader([...lines], 'Set-Cookie', cookie),
    body: prepared,
    size: isSource(prepared) ? prepared.size : prepared.byteLength,
    bodiless: status === 204 || status === 304,
  }
}

export const isSource = (body: TransportResponse['body']): body is BodySource =>
  typeof body === 'object' && !(body instanceof Uint8Array)

function linesOf(headers: NonNullable<TransportResponse['headers']>): readonly string[] {
  const known = knownLines.get(headers)
  if (known) return known
  const lines: string[] = []
  for (const name in headers) {
    const value = headers[name]!
    if (typeof value === 'string') withHeader(lines, name, value)
    else for (const line of value) withHeader(lines, name, line)
  }
  if (Object.isFrozen(headers)) knownLines.set(headers, lines)
  return lines
}

function withHeader(lines: string[], name: string, value: string): string[] {
  if (UNSAFE_IN_HEADER.test(name) || UNSAFE_IN_HEADER.test(value) || OWN_HEADERS.has(name.toLowerCase())) {
    throw new Error(
      `a handler set the header ${JSON.stringify(name)} to ${JSON.stringify(value)}; visible ASCII would do, ` +
        `and ${[...OWN_HEADERS].join(', ')} belong to the transport`,
    )
  }
  lines.push(name, value)
  return lines
}
