/**
 * The HTTP edge behind one small interface. Three implementations serve it: the current uWebSockets.js, its older build
 * for Node 20, and `node:http`. Nothing outside this folder knows which one runs.
 */
import type { X509Certificate } from 'node:crypto'
import type { ByteBudget, CallerSession, Coding, ReadRequest, WorkElsewhere } from '../../engine/index.ts'
import type { Client } from './client.ts'
import type { SlowReaderLimits } from './slow-readers.ts'
import type { TlsFiles } from './tls-files.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

export type TransportName = 'uws' | 'uws-node20' | 'node-http'

/** A request as it arrived: everything is read from the socket's buffers before the handler is called. */
export interface TransportRequest {
  /** Upper case, one that `node:http` knows: `GET`, `POST`, … */
  readonly method: string
  /**
   * The raw path, percent-encoding untouched, bytes read as UTF-8: `/rest/Person(1)`. Always starts with `/`. The kernel
   * takes `server.basePath` off it.
   */
  path: string
  /** The raw query string without `?`, like the path; empty when there is none. */
  query: string
  /** Sender: the peer, or the client behind trusted proxies. Read it before answering. */
  readonly client: Client
  /** `client.host` and `client.isSecure`, at no cost: the address of a peer takes time to find out. */
  readonly host: string
  readonly isSecure: boolean
  /**
   * A single header by its lower-case name, or an empty text. Only valid until the handler returns or first awaits, unless
   * {@link keep} was called before.
   */
  header(name: string): string
  /**
   * Lets the head be read, and the body be asked for, after an `await`. The socket is not read until it is. Call it before the
   * first `await`.
   */
  keep(): void
  /**
   * The body, whole. Resolves to an empty array when there is none. Call it at most once, before the first `await` or after
   * {@link keep}.
   * @param maxBytes less than `TransportLimits.bodyBytes`, which is the limit otherwise
   * @throws {EdgeErrors.BODY_TOO_LARGE} past the limit (413); the connection is closed after the answer
   * @throws {EdgeErrors.REQUEST_TIMEOUT} when it does not arrive in time (408); the connection is closed after the answer
   * @throws {AnswerErrors.NO_MEMORY} when bodies and answers under way take all memory for them (503)
   * @throws {RequestAborted} when the client went away
   */
  body(maxBytes?: number): Promise<Uint8Array>
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
  /** Called with the number of rows that a query for it has examined. */
  examined(rows: number): void
  /** Called with the number of rows that a page for it has. */
  sent(rows: number): void
  /** Called after each piece of work that another thread did for it. */
  ran(work: WorkElsewhere): void
  /** Work that other threads did for it, in the order in which it was done. */
  readonly work: readonly WorkElsewhere[]
  /** `traceparent` of the W3C; empty when the client sent none, or one that is not valid. */
  readonly traceparent: string
  /** The request that this has become, on a dataclass with what it reads. Set by the kernel. */
  subject?: { readonly read: ReadRequest | undefined } | undefined
  /** Called with each number of rows examined; set by a quota. */
  onExamined?: ((rows: number) => void) | undefined
  /** Plugin that answers it, or was asked last; undefined: the kernel itself. Set by the router. */
  plugin?: string | undefined
  /** Caller, for code that runs for the request. Set by the request that this has become. */
  session?: (() => CallerSession) | undefined
  /** How the answer may be compressed. Set by the kernel. */
  coding?: Coding | undefined
}

/**
 * Takes a piece of a body, whose memory is only lent. While the promise that it returns is pending, the socket is not read;
 * what was read before still comes: at most 512 KB, with the current uWebSockets.js build all that the system has received.
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
  /** Memory that it keeps until it is closed. */
  readonly bufferBytes?: number
  /** Some of the bytes from `start` on, at least one. They stay as they are until the next call. */
  read(start: number): Uint8Array | Promise<Uint8Array>
  /** Called once: everything is sent, nothing has to be, or the client has gone. */
  close(): void
}

/**
 * A body whose end is not known when it begins, such as an async generator: bytes and texts (UTF-8), each sent when it comes,
 * as fast as the client takes them. The head goes out with the first. Once a piece has been given it stays as it is until the
 * next one is asked for. When the client goes away the iterator is ended by `return`; one that waits for something of its own
 * learns it from `onAborted`. When it fails the connection is closed, which is how the client sees that the rest is missing.
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
  /** Value of a `Set-Cookie` line beside the headers: the server's own. */
  cookie?: string | undefined
  /** Value of an `ETag` line beside the headers, which many answers share. */
  tag?: string | undefined
  /** Bytes are not kept after the handler's turn: a transport that sends later takes its own copy. */
  body: Uint8Array | string | BodySource | BodyStream
}

/**
 * Answers a request. Returning a value at once (no promise) is the fast way and keeps everything in one turn.
 * A handler never throws and never rejects: errors are answers (see `kernel/server.ts`). One that does nevertheless
 * is answered with 500 and reported to `TransportOptions.onHandlerError`.
 */
export type TransportHandler = (request: TransportRequest) => TransportResponse | Promise<TransportResponse>

/** A request that is over. */
export interface FinishedRequest extends TransportRequest {
  /**
   * By `performance.now`, when its head had been read, of those that are timed ({@link RequestMeter.timedEvery}). Others have the end
   * of that turn, unless it was a long one, or 0 when they were answered in it.
   */
  readonly startedAt: number
  /** {@link RequestMeter.beats} when it arrived. */
  readonly beat: number
  /** Status of the answer; 0: the client had gone before there was one. */
  readonly status: number
  /** Bytes of the head and of the body as far as it was read. */
  readonly receivedBytes: number
  /** Bytes of the body of the answer. */
  readonly answerBytes: number
  readonly rowsExamined: number
  /** Rows of the page that was sent, as far as they are known. */
  readonly rowsSent: number
}

/** Called when requests are over, once for each. */
export interface RequestMeter {
  /** One request in this many is timed from its beginning. */
  readonly timedEvery: number
  /** One cell, which other threads change some ten times a second: a turn in which it stays as it is was short, without a look at the clock. */
  readonly beats: Int32Array
  /** When the turn has begun that is ending now: now, unless it was a long one. */
  turnBegan(): number
  /**
   * It is answered, or its client has gone: `aborted` then.
   * @param isSameTurn in the turn of the event loop in which its head was read
   */
  finished(request: FinishedRequest, isSameTurn: boolean): void
  /** Answered by the parser, which could not read it. */
  unreadable(status: number): void
}

export interface TransportLimits extends SlowReaderLimits {
  /** Request line and headers together. */
  headerBytes: number
  bodyBytes: number
  /** Time for a request's head and body to arrive. */
  requestTimeoutMs: number
  /** Connections without a request are closed after this time. The uWebSockets.js builds have times of their own. */
  idleTimeoutMs: number
  /** Refuse `Transfer-Encoding: chunked` with 411. */
  refuseChunked: boolean
  /** Connections at a time; further ones are closed at once. No limit when absent. */
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
  /** Undefined: requests are not measured. */
  meter?: RequestMeter | undefined
  /**
   * Told what a handler threw, or why its answer could not be sent, and the plugin that answered. The client gets 500 without
   * details.
   */
  onHandlerError?: ((error: unknown, plugin: string | undefined) => void) | undefined
  /** Told why the port does not open at once. */
  onWaiting?: ((text: string) => void) | undefined
  /** Called with what the operator should know while the server runs. */
  onWarning?: ((text: string) => void) | undefined
}

interface TransportLoad {
  /** Requests that are not answered yet. */
  readonly inFlight: number
  /** Open connections; undefined where the transport does not know. */
  readonly connections: number | undefined
  /** Connections closed because there were too many, since the start. */
  readonly refused: number
}

export interface Transport {
  readonly name: TransportName
  /** Things the operator should know, for the log at start (for example the header limit of the older build). */
  readonly warnings: readonly string[]
  /** The port that is listened on. */
  readonly port: number
  /** State of its sockets now. */
  readonly load: () => Promise<TransportLoad>
  /** That of new connections; undefined without TLS. */
  readonly certificate: X509Certificate | undefined
  /**
   * Reads the TLS files again. Connections from then on get what they hold; those that are open go on.
   * @returns the certificate
   * @throws {Error} the files cannot be used, with their names in the message; the certificate stays as it was
   */
  renewCertificate(): Promise<X509Certificate>
  /**
   * Stops accepting, lets what is in flight finish for at most `graceMs`, then closes every connection. Answers from then on end
   * their connections.
   * @param quietMs connections are closed when there has been no request for this time: those that are on their way are
   * answered, which a client could not repeat if they were not; none by default
   */
  close(graceMs: number, quietMs?: number): Promise<void>
}

/** Starts listening. @throws {Error} when the address or the TLS files cannot be used, with their names in the message */
export type StartTransport = (options: TransportOptions, handler: TransportHandler) => Promise<Transport>
