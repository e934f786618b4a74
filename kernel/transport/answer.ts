import { STATUS_CODES } from 'node:http'
import type { ProtocolError } from '../../engine/index.ts'
import { JSON_HEADERS } from './content-headers.ts'
import type { BodySource, BodyStream, TransportResponse } from './transport.ts'

/**
 * Matches characters that must not be sent in headers. Names and values are visible ASCII, space and tab; others could end the line or be
 * misread.
 */
const UNSAFE_IN_HEADER = /[^\t\x20-\x7e]/
/** Headers that only the transport sets. */
const OWN_HEADERS = new Set(['content-length', 'connection', 'date', 'transfer-encoding'])

/** Lines of frozen headers, which most answers share. */
const knownLines = new WeakMap<object, readonly string[]>()

/** An answer ready for the socket. */
export interface PreparedAnswer {
  status: number
  /** Reason phrase, such as `Not Found` for 404; never empty. */
  reason: string
  /** Names and values alternately, as `node:http` expects; a name may repeat. Frozen if answers share them. */
  headerLines: readonly string[]
  /** Value of `Set-Cookie`. */
  cookie: string | undefined
  /** Value of `ETag`. */
  tag: string | undefined
  body: Uint8Array | BodySource | BodyStream
  /** Size of the body; undefined for a stream. */
  size: number | undefined
  /** True for 204 and 304, which have neither a body nor a Content-Length. */
  bodiless: boolean
}

/** Answer that reports `error`: `{"__ERROR":[{message, componentSignature, errCode}]}`. */
export function errorResponse(error: ProtocolError): TransportResponse {
  return {
    status: error.httpStatus,
    headers: {
      ...JSON_HEADERS,
      ...(error.retryAfterSeconds !== undefined && { 'Retry-After': String(error.retryAfterSeconds) }),
    },
    body: JSON.stringify({ __ERROR: error.entries }),
  }
}

/**
 * Prepares an answer for the socket.
 * @throws {Error} for a status outside 200–599 and for a header that is not visible ASCII or that only the transport may set
 */
export function prepareAnswer({ status, headers, cookie, tag, body }: TransportResponse): PreparedAnswer {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new Error(`a handler answered with status ${status}; use 200 to 599`)
  }
  const headerLines = headers ? linesOf(headers) : []
  if (cookie !== undefined && UNSAFE_IN_HEADER.test(cookie)) throw unsafe('Set-Cookie', cookie)
  if (tag !== undefined && UNSAFE_IN_HEADER.test(tag)) throw unsafe('ETag', tag)
  const preparedBody = typeof body === 'string' ? Buffer.from(body) : body
  return {
    status,
    reason: STATUS_CODES[status] ?? 'Unknown',
    headerLines,
    cookie,
    tag,
    body: preparedBody,
    size: sizeOf(preparedBody),
    bodiless: status === 204 || status === 304,
  }
}

export const isStream = (body: TransportResponse['body']): body is BodyStream =>
  typeof body === 'object' && !(body instanceof Uint8Array) && Symbol.asyncIterator in body

export const isSource = (body: TransportResponse['body']): body is BodySource =>
  typeof body === 'object' && !(body instanceof Uint8Array) && !isStream(body)

/** Size of a body in bytes; undefined if it is not known. */
function sizeOf(body: PreparedAnswer['body']): number | undefined {
  if (body instanceof Uint8Array) return body.byteLength
  return isStream(body) ? undefined : body.size
}

/** Releases the resources of a body that is not going to be sent. */
export function discard(body: TransportResponse['body']): void {
  if (isStream(body)) endStream(body[Symbol.asyncIterator]())
  else if (isSource(body)) body.close()
}

/** Ends a stream prematurely. An error that it throws then concerns no answer. */
export function endStream(pieces: AsyncIterator<unknown>): void {
  Promise.resolve(pieces.return?.()).catch(() => {})
}

function linesOf(headers: NonNullable<TransportResponse['headers']>): readonly string[] {
  const cachedLines = knownLines.get(headers)
  if (cachedLines) return cachedLines
  const lines: string[] = []
  for (const name in headers) {
    const value = headers[name]!
    for (const line of typeof value === 'string' ? [value] : value) {
      demandSafe(name, line)
      lines.push(name, line)
    }
  }
  if (Object.isFrozen(headers)) knownLines.set(headers, Object.freeze(lines))
  return lines
}

function demandSafe(name: string, value: string): void {
  const isUnsafe = UNSAFE_IN_HEADER.test(name) || UNSAFE_IN_HEADER.test(value) || OWN_HEADERS.has(name.toLowerCase())
  if (isUnsafe) throw unsafe(name, value)
}

const unsafe = (name: string, value: string): Error =>
  new Error(
    `a handler set the header ${JSON.stringify(name)} to ${JSON.stringify(value)}; use visible ASCII, ` +
      `and ${[...OWN_HEADERS].join(', ')} belong to the transport`,
  )
