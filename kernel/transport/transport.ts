/**
 * The HTTP edge behind one small interface, with three implementations: the current uWebSockets.js, its older build
 * for Node 20, and `node:http`. Nothing outside this folder knows which one runs.
 */
import type { X509Certificate } from 'node:crypto'
import type { ByteBudget, CallerSession, Coding, ReadRequest, WorkElsewhere } from '../../engine/index.ts'
import type { Client } from './client.ts'
import type { SlowReaderLimits } from './slow-readers.ts'
import type { TlsFiles } from './tls-files.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

export type TransportName = 'uws' | 'uws-node20' | 'node-http'

/** A request as it arrived: the head is read from the socket's buffers before the handler is called. */
export interface TransportRequest {
  /** Upper case, one of the methods of `node:http`: `GET`, `POST`, … */
  readonly method: string
  /**
   * Raw path, percent-encoding untouched, bytes read as UTF-8: `/rest/Person(1)`. Always starts with `/`. The kernel
   * removes `server.basePath`.
   */
  path: string
  /** Raw query string without `?`, like the path; empty when there is none. */
  query: string
  /** Sender: the peer, or the client behind trusted proxies. Read it before answering. */
  readonly client: Client
  /** `client.host` and `client.isSecure`, without the cost of reading the address of the peer. */
  readonly host: string
  readonly isSecure: boolean
  /**
   * A single header by its lower-case name, or an empty string. Only valid until the handler returns or first awaits, unless {@link keep}
   * has been called before.
   */
  header(name: string): string
  /**
   * Keeps the head readable, and the body available, after an `await`. Until the body is requested, the socket is not read. Call it
   * before the first `await`.
   */
  keep(): void
  /**
   * Receives the whole body. Resolves to an empty array when there is none. Call it at most once, before the first `await` or after
   * {@link keep}.
   * @param maxBytes limit below the default, `TransportLimits.bodyBytes`
   * @throws {EdgeErrors.BODY_TOO_LARGE} beyond the limit (413); the connection is closed after the answer
   * @throws {EdgeErrors.REQUEST_TIMEOUT} when it does not arrive in time (408); the connection is closed after the answer
   * @throws {AnswerErrors.NO_MEMORY} when bodies and answers under way take all their memory (503)
   * @throws {RequestAborted} when the client disconnected
   */
  body(maxBytes?: number): Promise<Uint8Array>
  /**
   * Passes the body to `take` piece by piece as it arrives, for bodies that must not be held in memory. Resolves when the last piece has
   * been taken. Call it or {@link body}, under the same conditions.
   * @throws the error of `take`, after the rest of the body has been read and discarded, or after too much of it has arrived, in which case
   * the connection is closed with the answer; and the errors of `body`
   */
  streamBody(take: TakePiece, limits: StreamLimits): Promise<void>
  /** True once the client has disconnected. Work for it can stop. */
  readonly aborted: boolean
  /** Calls back once if the client disconnects before the answer is complete. */
  onAborted(callback: () => void): void
  /** Called with the number of rows that a query for this request has examined. */
  examined(rows: number): void
  /** Called with the number of rows of a page for this request. */
  sent(rows: number): void
  /** Called after each piece of work that another thread did for this request. */
  ran(work: WorkElsewhere): void
  /** Work that other threads did for this request, in order. */
  readonly work: readonly WorkElsewhere[]
  /** `traceparent` of the W3C; empty when the client sent none, or an invalid one. */
  readonly traceparent: string
  /** Kernel request created from this one, with its read if it addresses a dataclass. Set by the kernel. */
  subject?: { readonly read: ReadRequest | undefined } | undefined
  /** Called with each number of rows examined; set by a quota. */
  onExamined?: ((rows: number) => void) | undefined
  /** Plugin that answers, or was tried last; undefined for the kernel itself. Set by the router. */
  plugin?: string | undefined
  /** Session of the caller, for code that runs for the request. Set by the kernel's request. */
  session?: (() => CallerSession) | undefined
  /** Coding that the answer may have. Set by the kernel. */
  coding?: Coding | undefined
}

/**
 * Takes a piece of a body, whose memory is valid only during the call. While the returned promise is pending, the socket is not read;
 * bytes read before still arrive: at most 512 KB, with the current uWebSockets.js build everything that the system has received.
 */
export type TakePiece = (piece: Uint8Array) => undefined | Promise<void>

export interface StreamLimits {
  bodyBytes: number
  /** Time limit for the arrival of the whole body. Each piece has `TransportLimits.requestTimeoutMs`. */
  totalTimeoutMs: number
}

/** A body that is read while it is sent, as fast as the client takes it. */
export interface BodySource {
  /** Total number of bytes. */
  readonly size: number
  /** Bytes of memory that the source holds until it is closed. */
  readonly bufferBytes?: number
  /** Returns at least one of the bytes from `start` on. They are valid until the next call. */
  read(start: number): Uint8Array | Promise<Uint8Array>
  /** Called once: when everything has been sent, when nothing needs to be sent, or when the client has disconnected. */
  close(): void
}

/**
 * A body whose length is not known at its beginning, such as an async generator: bytes and texts (UTF-8), each sent when it arrives,
 * as fast as the client takes them. The head is sent with the first piece. A piece must not change until the next one is requested.
 * When the client disconnects, the iterator is ended by `return`; an iterator that waits for something else is notified by
 * `onAborted`. When it fails the connection is closed, which shows the client that the rest is missing.
 */
export type BodyStream = AsyncIterable<Uint8Array | string>

/** Answer of a handler. A text body is sent as UTF-8. */
export interface TransportResponse {
  status: number
  /**
   * Header names in any case, values of visible ASCII, several lines of one name as an array (`Set-Cookie`).
   * `Content-Length`, `Date` and `Connection` belong to the transport.
   */
  headers?: Readonly<Record<string, string | readonly string[]>> | undefined
  /** Value of an additional `Set-Cookie` line, for the server's own cookie. */
  cookie?: string | undefined
  /** Value of an additional `ETag` line, since many answers share their headers. */
  tag?: string | undefined
  /** Bytes are valid only during the handler's turn: a transport that sends later makes a copy. */
  body: Uint8Array | string | BodySource | BodyStream
}

/**
 * Answers a request. Returning a value (no promise) is the fast way and keeps everything in one turn.
 * A handler never throws and never rejects: errors are answers (see `kernel/server.ts`). If one does nevertheless,
 * the answer is 500 and the error is reported to `TransportOptions.onHandlerError`.
 */
export type TransportHandler = (request: TransportRequest) => TransportResponse | Promise<TransportResponse>

/** A request that is over. */
export interface FinishedRequest extends TransportRequest {
  /**
   * Time by `performance.now` at which the head had been read, for timed requests ({@link RequestMeter.timedEvery}). For other requests,
   * the end of the turn in which the head was read, or its beginning if it was a long turn; 0 if the answer was given within it.
   */
  readonly startedAt: number
  /** Value of {@link RequestMeter.beats} at its arrival. */
  readonly beat: number
  /** Status of the answer; 0 if the client had disconnected before. */
  readonly status: number
  /** Bytes of the head and of the part of the body that was read. */
  readonly receivedBytes: number
  /** Bytes of the body of the answer. */
  readonly answerBytes: number
  readonly rowsExamined: number
  /** Rows of the page that was sent, if known. */
  readonly rowsSent: number
}

/** Called once for each request when it is over. */
export interface RequestMeter {
  /** One request in this many is timed from its beginning. */
  readonly timedEvery: number
  /** One cell, which other threads change some ten times a second. If it is unchanged after a turn, the turn was short; no clock is read. */
  readonly beats: Int32Array
  /** Returns the time at which the current turn began. Called at the end of the turn; returns the current time unless the turn was long. */
  turnBegan(): number
  /** True if a request that began at `startedAt` is logged as slow when it is over. */
  isSlow(startedAt: number): boolean
  /**
   * Called when a request is answered, or its client has disconnected (`aborted`).
   * @param isSameTurn true if the request ended in the turn of the event loop in which its head was read
   */
  finished(request: FinishedRequest, isSameTurn: boolean): void
  /** Called for a request that the parser could not read and has answered itself. */
  unreadable(status: number): void
}

export interface TransportLimits extends SlowReaderLimits {
  /** Size of request line and headers together. */
  headerBytes: number
  bodyBytes: number
  /** Time for a request's head and body to arrive. */
  requestTimeoutMs: number
  /** Connections without a request are closed after this time. The uWebSockets.js builds have their own timeouts. */
  idleTimeoutMs: number
  /** Refuse `Transfer-Encoding: chunked` with 411. */
  refuseChunked: boolean
  /** Maximum number of simultaneous connections; further ones are closed immediately. No limit when absent. */
  maxConnections?: number
}

export interface TransportOptions {
  host: string
  /** 0 picks a free port. */
  port: number
  tls?: TlsFiles | undefined
  limits: TransportLimits
  /** Memory of all request bodies and answers under way; no limit when absent. */
  memory?: ByteBudget | undefined
  /** None when absent. */
  trustedProxies?: TrustedProxies | undefined
  /** Requests are not measured when absent. */
  meter?: RequestMeter | undefined
  /**
   * Called with an error that a handler threw, or the reason why its answer could not be sent, and the plugin that answered. The client
   * gets 500 without details.
   */
  onHandlerError?: ((error: unknown, plugin: string | undefined) => void) | undefined
  /** Called with the reason why the port does not open immediately. */
  onWaiting?: ((text: string) => void) | undefined
  /** Called with warnings for the operator while the server runs. */
  onWarning?: ((text: string) => void) | undefined
}

interface TransportLoad {
  /** Number of unanswered requests. */
  readonly inFlight: number
  /** Number of open connections; undefined if the transport does not know it. */
  readonly connections: number | undefined
  /** Number of connections closed because there were too many, since the start. */
  readonly refusals: number
}

export interface Transport {
  readonly name: TransportName
  /** Warnings for the operator, for the log at start (for example the header limit of the older build). */
  readonly warnings: readonly string[]
  /** Port on which it listens. */
  readonly port: number
  /** Current state of its sockets. */
  readonly load: () => Promise<TransportLoad>
  /** Certificate of new connections; undefined without TLS. */
  readonly certificate: X509Certificate | undefined
  /**
   * Reads the TLS files again. New connections use their content; open ones are not affected.
   * @returns the certificate
   * @throws {Error} naming the files, if they are unusable; the certificate stays as it was
   */
  renewCertificate(): Promise<X509Certificate>
  /**
   * Stops accepting connections, lets requests in flight finish for at most `graceMs`, then closes every connection. Each answer sent after
   * this call ends its connection.
   * @param quietMs connections are closed when there has been no request for this time, so that requests in transit are answered, which a
   * client could not repeat otherwise; none by default
   */
  close(graceMs: number, quietMs?: number): Promise<void>
}

/** Starts listening. @throws {Error} naming the address or the TLS files, if they are unusable */
export type StartTransport = (options: TransportOptions, handler: TransportHandler) => Promise<Transport>
