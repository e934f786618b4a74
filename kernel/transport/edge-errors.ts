import { defineErrors, errorsWith } from '../../engine/index.ts'

/** Errors that the edge itself answers with, before or instead of a handler. Source: design, section 7; protocol notes, 5.9. */
export const EdgeErrors = defineErrors('EDGE', {
  ...errorsWith({ errCode: 1806, http: 400 })({
    /** The framing or the request line could be interpreted differently by two servers. The connection is closed. */
    MALFORMED_REQUEST: (reason: string) => `malformed request: ${reason}`,
  }),
  ...errorsWith({ errCode: 1806, http: 505 })({
    UNKNOWN_VERSION: (version: string) => `HTTP/${version} is not supported; use HTTP/1.1`,
  }),
  ...errorsWith({ errCode: 1806, http: 413 })({
    BODY_TOO_LARGE: (limitBytes: number) => `the request body is larger than the limit of ${limitBytes} bytes`,
  }),
  ...errorsWith({ errCode: 1806, http: 431 })({
    HEAD_TOO_LARGE: (limitBytes: number) =>
      `request line and headers are larger than the limit of ${limitBytes} bytes (server.headerBytes); a long query can be sent in a POST body`,
  }),
  ...errorsWith({ errCode: 1806, http: 408 })({
    REQUEST_TIMEOUT: (timeoutMs: number) => `the request did not arrive whole within ${timeoutMs} ms`,
  }),
  ...errorsWith({ errCode: 1806, http: 411 })({
    LENGTH_REQUIRED: () => 'this server takes no chunked requests; send the body with a Content-Length',
  }),
  ...errorsWith({ errCode: 1806, http: 415 })({
    CODED_BODY: (coding: string) =>
      `the request body has the Content-Encoding "${coding}", which this server does not decode; send it as it is`,
  }),
  ...errorsWith({ errCode: 1806, http: 400 })({
    TINY_PIECES: (minimum: number) =>
      `the request body comes in pieces of less than ${minimum} bytes on average; send larger chunks, or a Content-Length`,
  }),
  ...errorsWith({ errCode: 1585, http: 500 })({
    /** A fault of the server. Its error is logged, never sent to the client. */
    INTERNAL_ERROR: () => 'the server failed to answer this request; its log tells why',
  }),
})

/** The client disconnected before its request was complete, and cannot be answered. */
export class RequestAborted extends Error {
  constructor() {
    super('the client closed the connection')
    this.name = 'RequestAborted'
  }
}
