import { defineErrors, type ProtocolError } from '../../engine/index.ts'
import { JSON_HEADERS } from './content-headers.ts'
import type { TransportResponse } from './transport.ts'

/** Errors that the edge itself answers with, before or instead of a handler. Source: design, section 7; protocol notes, 5.9. */
export const EdgeErrors = defineErrors('EDGE', {
  /** Framing or a request line that two servers could interpret differently. The connection is closed. */
  MALFORMED_REQUEST: {
    errCode: 1806,
    http: 400,
    message: (reason: string) => `malformed request: ${reason}`,
  },
  UNKNOWN_VERSION: {
    errCode: 1806,
    http: 505,
    message: (version: string) => `HTTP/${version} is not supported; use HTTP/1.1`,
  },
  BODY_TOO_LARGE: {
    errCode: 1806,
    http: 413,
    message: (limitBytes: number) => `the request body is larger than the limit of ${limitBytes} bytes`,
  },
  HEAD_TOO_LARGE: {
    errCode: 1806,
    http: 431,
    message: (limitBytes: number) =>
      `request line and headers are larger than the limit of ${limitBytes} bytes (server.headerBytes); a long query can be sent in a POST body`,
  },
  REQUEST_TIMEOUT: {
    errCode: 1806,
    http: 408,
    message: (timeoutMs: number) => `the request did not arrive whole within ${timeoutMs} ms`,
  },
  LENGTH_REQUIRED: {
    errCode: 1806,
    http: 411,
    message: () => 'this server takes no chunked requests; send the body with a Content-Length',
  },
  CODED_BODY: {
    errCode: 1806,
    http: 415,
    message: (coding: string) =>
      `the request body has the Content-Encoding "${coding}", which this server does not decode; send it as it is`,
  },
  TINY_PIECES: {
    errCode: 1806,
    http: 400,
    message: (minimum: number) =>
      `the request body comes in pieces of less than ${minimum} bytes on average; send larger chunks, or a Content-Length`,
  },
  /** A fault of the server. Its error is logged, never sent to the client. */
  INTERNAL_ERROR: {
    errCode: 1585,
    http: 500,
    message: () => 'the server failed to answer this request; its log tells why',
  },
})

/** The client disconnected before its request was complete, and cannot be answered. */
export class RequestAborted extends Error {
  constructor() {
    super('the client closed the connection')
    this.name = 'RequestAborted'
  }
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
