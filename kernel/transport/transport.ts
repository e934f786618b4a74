/**
 * The HTTP edge behind one small interface. Three implementations serve it: the current uWebSockets.js, its older build
 * for Node 20, and `node:http`. Nothing outside this folder knows which one runs.
 */
import type { CallerSession } from '../../engine/index.ts'

export type TransportName = 'uws' | 'uws-node20' | 'node-http'

/** A request as it arrived: everything is read from the socket's buffers before the handler is called. */
export interface TransportRequest {
  /** Upper case, one that `node:http` knows: `GET`, `POST`, … */
  readonly method: string
  /** The raw path, percent-encoding untouched, bytes read as UTF-8: `/rest/Person(1)`. Always starts with `/`. */
  readonly path: string
  /** The raw query string without `?`, like the path; empty when there is none. */
  readonly query: string
  /** Address of the peer as text; IPv4 as dotted quad. Read it before answering. */
  readonly remoteAddress: string
  /** A single header by its lower-case name, or an empty text. Only valid until the handler returns or first awaits. */
  header(name: string): string
  /**
   * The body, whole. Resolves to an empty array when there is none. Call it at most once, before the first `await`.
   * @throws {EdgeErrors.BODY_TOO_LARGE} past the limit (413); the connection is closed after the answer
   * @throws {EdgeErrors.REQUEST_TIMEOUT} when it does not arrive in time (408); the connection is closed after the answer
   * @throws {RequestAborted} when the client went away
   */
  body(): Promise<Uint8Array>
  /**
   * The body, handed to `take` piece by piece as it arrives, for what must not be held in memory. Resolves when the last
   * piece has been taken. Call it or {@link body}, under the same conditions.
   * @throws what `take` throws or rejects with, when the rest of the body has been read and dropped, or too much of it; the
   * connection is closed after the answer then; and as `body` does
   */
  streamBody(take: TakePiece, limits: StreamLimits): Promise<void>
  /** True once the client has gone. Work for it can stop. */
  readonly aborted: boolean
  /** Calls back once when the client goes away before the answer is complete. */
  onAborted(callback: () => void): void
  /** Set by whoever wants to know how many rows the queries for it look at. */
  examined?: ((rows: number) => void) | undefined
  /** Set by the request that it has become: who asks, for code that runs for it. */
  session?: (() => CallerSession) | undefined
}

/**
 * Takes a piece of a body, whose memory is only lent. While the promise that it returns is pending, the socket is not read;
 * what was read before (at most 512 KB) still comes.
 */
export type TakePiece = (piece: Uint8Array) => undefined | Promise<void>

export interface StreamLimits {
  bodyBytes: number
  /** Until the last piece. Each has `TransportLimits.requestTimeoutMs`. */
  totalTimeoutMs: number
}

/** A body that is read while it is sent, as fast as the client takes it. */
export interface BodySource {
  /** Bytes in all. */
  readonly size: number
  /** Some of the bytes from `start` on, at least one. They stay as they are until the next call. */
  read(start: number): Uint8Array | Promise<Uint8Array>
  /** Called once: everything is sent, nothing has to be, or the client has gone. */
  close(): void
}

/** What a handler answers. A text body is sent as UTF-8. */
export interface TransportResponse {
  status: number
  /**
   * Header names in any case, values of visible ASCII, several lines of one name as an array (`Set-Cookie`).
   * `Content-Length`, `Date` and `Connection` belong to the transport.
   */
  headers?: Readonly<Record<string, string | readonly string[]>> | undefined
  /** Value of a `Set-Cookie` line beside the headers: the server's own. */
  cookie?: string | undefined
  /** Bytes are not kept after the handler's turn: a transport that sends later takes its own copy. */
  body: Uint8Array | string | BodySource
}

/**
 * Answers a request. Returning a value at once (no promise) is the fast way and keeps everything in one turn.
 * A handler never throws and never rejects: errors are answers (see `kernel/server.ts`). One that does nevertheless
 * is answered with 500 and reported to `TransportOptions.onHandlerError`.
 */
export type TransportHandler = (request: TransportRequest) => TransportResponse | Promise<TransportResponse>

export interface TransportLimits {
  /** Request line and headers together. */
  headerBytes: number
  bodyBytes: number
  /** Time for a request's head and body to arrive. */
  requestTimeoutMs: number
  /** Connections without a request are closed after this time. The uWebSockets.js builds have times of their own. */
  idleTimeoutMs: number
  /** Refuse `Transfer-Encoding: chunked` with 411. */
  refuseChunked: boolean
}

export interface TransportOptions {
  host: string
  /** 0 picks a free port. */
  port: number
  tls?: { keyFile: string; certFile: string; passphrase?: string } | undefined
  limits: TransportLimits
  /** Told what a handler threw, or why its answer could not be sent. The client gets 500 without details. */
  onHandlerError?: ((error: unknown) => void) | undefined
  /** Told why the port does not open at once. */
  onWaiting?: ((text: string) => void) | undefined
}

export interface Transport {
  readonly name: TransportName
  /** Things the operator should know, for the log at start (for example the header limit of the older build). */
  readonly warnings: readonly string[]
  /** The port that is listened on. */
  readonly port: number
  /** Stops accepting, lets what is in flight finish for at most `graceMs`, then closes every connection. */
  close(graceMs: number): Promise<void>
}

/** Starts listening. @throws {Error} when the address or the TLS files cannot be used, with their names in the message */
export type StartTransport = (options: TransportOptions, handler: TransportHandler) => Promise<Transport>
