import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ProtocolError } from '../../engine/errors.ts'
import { type Answer, isSource, prepareAnswer } from './answer.ts'
import type { Receiving } from './body-receiver.ts'
import { EdgeErrors, errorResponse } from './edge-errors.ts'
import { Edge, Exchange } from './exchange.ts'
import { unmapped } from './remote-address.ts'
import type { BodySource, StartTransport, TransportLimits, TransportOptions } from './transport.ts'

/** A client that takes nothing of its answer for this long is dropped, as uWebSockets.js does. */
const WRITE_TIMEOUT_MS = 10_000

/** The transport that runs wherever Node does. */
export const startNodeHttp: StartTransport = async (options, handler) => {
  const server = await createHttpServer(options)
  const edge = new Edge(options, handler)
  const connections = new NodeHttpConnections(edge)
  server.keepAliveTimeout = options.limits.idleTimeoutMs
  // Node would silently leave out what is beyond; the head is bounded in bytes.
  server.maxHeadersCount = 0
  server.on('request', connections.onRequest)
  // Otherwise answered with an empty 417.
  server.on('checkExpectation', connections.onRequest)
  server.on('clientError', connections.onClientError)
  await listen(server, options)
  return {
    name: 'node-http',
    port: (server.address() as AddressInfo).port,
    warnings: [],
    async close(graceMs) {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeIdleConnections()
      await edge.inFlight.drained(graceMs)
      await new Promise(resolve => setImmediate(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function createHttpServer({ tls, limits }: TransportOptions): Promise<Server> {
  const settings: ServerOptions = {
    maxHeaderSize: limits.headerBytes,
    // Bodies have times of their own, which depend on who takes them.
    requestTimeout: 0,
    headersTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, limits.requestTimeoutMs),
    // The guard asks for it, with an answer that says so.
    requireHostHeader: false,
  }
  if (!tls) return createServer(settings)
  const { keyFile, certFile, passphrase } = tls
  try {
    const [key, cert] = await Promise.all([readFile(keyFile), readFile(certFile)])
    return createTlsServer({ ...settings, key, cert, passphrase })
  } catch (cause) {
    throw new Error(`TLS cannot use key ${keyFile} and certificate ${certFile}: ${(cause as Error).message}`, { cause })
  }
}

function listen(server: Server, { host, port }: TransportOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', cause => reject(new Error(`cannot listen on ${host}:${port}: ${cause.message}`, { cause })))
    server.listen({ host, port }, resolve)
  })
}

/** Requests and parser errors, connection by connection. */
class NodeHttpConnections {
  readonly edge: Edge
  /** Connections that end with the answer under way. The parser hands on what it has read behind it; that must not run. */
  readonly #ending = new WeakSet<Duplex>()
  /** The newest exchange of each connection. */
  readonly #exchanges = new WeakMap<Duplex, NodeHttpExchange>()

  constructor(edge: Edge) {
    this.edge = edge
  }

  readonly onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    const { socket, rawHeaders } = req
    if (this.#ending.has(socket)) return
    const exchange = new NodeHttpExchange(this.edge, req, res, () => this.#ending.add(socket))
    this.#exchanges.set(socket, exchange)
    exchange.serve(visit => {
      for (let i = 0; i < rawHeaders.length; i += 2) visit(rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!)
    })
  }

  /** The parser gave up on a connection, or a request did not arrive in time. */
  readonly onClientError = (error: Error & { code?: string }, socket: Duplex): void => {
    // The last is a client that closed its side within a request.
    if (!socket.writable || error.code === 'ECONNRESET' || error.code === 'HPE_INVALID_EOF_STATE') {
      socket.destroy()
      return
    }
    this.#ending.add(socket)
    const refusal = parserError(error, this.edge.options.limits)
    const exchange = this.#exchanges.get(socket)
    // While an answer is owed or under way, bytes of ours would be taken for part of it.
    if (exchange && !exchange.closed) exchange.breakOff(refusal)
    else socket.end(rawAnswer(prepareAnswer(errorResponse(refusal))), () => socket.destroy())
  }
}

/** What a parser's error means in the protocol. */
function parserError({ code, message }: Error & { code?: string }, limits: TransportLimits): ProtocolError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return EdgeErrors.HEAD_TOO_LARGE(limits.headerBytes)
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return EdgeErrors.REQUEST_TIMEOUT(limits.requestTimeoutMs)
    default:
      return EdgeErrors.MALFORMED_REQUEST(message.replace(/^Parse Error: /, ''))
  }
}

/** An answer as it goes over the wire, where there is no `ServerResponse` to write it. */
function rawAnswer({ status, reason, headerLines, body, size }: Answer): Buffer {
  let head = `HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nDate: ${new Date().toUTCString()}\r\n`
  for (let i = 0; i < headerLines.length; i += 2) head += `${headerLines[i]}: ${headerLines[i + 1]}\r\n`
  return Buffer.concat([Buffer.from(`${head}Content-Length: ${size}\r\n\r\n`), body as Uint8Array])
}

class NodeHttpExchange extends Exchange {
  readonly path: string
  readonly query: string
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  readonly #endConnection: () => void

  /** @param endConnection is told that no further request of the connection may run */
  constructor(edge: Edge, req: IncomingMessage, res: ServerResponse, endConnection: () => void) {
    super(edge)
    this.#req = req
    this.#res = res
    this.#endConnection = endConnection
    res.on('close', () => (res.writableFinished ? this.done() : this.abort()))
    const target = req.url ?? ''
    const question = target.indexOf('?')
    this.path = question < 0 ? target : target.slice(0, question)
    this.query = question < 0 ? '' : target.slice(question + 1)
  }

  get method(): string {
    return this.#req.method ?? ''
  }

  get remoteAddress(): string {
    return unmapped(this.#req.socket.remoteAddress ?? '')
  }

  get closed(): boolean {
    return this.#res.closed
  }

  protected receive(body: Receiving): void {
    this.#req.on('data', (chunk: Uint8Array) => body.push(chunk, false))
    this.#req.on('end', () => body.push(Buffer.alloc(0), true))
  }

  protected pause(): void {
    this.#req.pause()
  }

  protected resume(): void {
    this.#req.resume()
  }

  override breakOff(error: ProtocolError): void {
    super.breakOff(error)
    if (this.#res.headersSent) this.#res.once('finish', () => this.#req.socket.destroy())
  }

  protected send({ status, reason, headerLines, body, size, bodiless }: Answer): void {
    const res = this.#res
    const { socket } = this.#req
    if (this.refused) this.#endConnection()
    const lines = [...headerLines]
    if (this.closing) lines.push('Connection', 'close')
    if (!bodiless) lines.push('Content-Length', String(size))
    res.writeHead(status, reason, lines)
    if (bodiless || this.method === 'HEAD' || size === 0) res.end()
    else if (isSource(body)) this.#writeSource(body)
    // A copy: Node keeps what the socket does not take at once, and the bytes are the handler's.
    else res.end(Buffer.from(body))
    if (socket.writableLength > 0) res.setTimeout(WRITE_TIMEOUT_MS, () => socket.destroy())
    res.once('finish', () => this.#boundRest())
  }

  async #writeSource(source: BodySource): Promise<void> {
    const res = this.#res
    res.setTimeout(WRITE_TIMEOUT_MS, () => this.#req.socket.destroy())
    try {
      for (let offset = 0; offset < source.size && !this.finished; ) {
        const piece = await source.read(offset)
        // Node keeps what the socket does not take at once, and the next piece may take this one's place.
        await new Promise<unknown>(resolve => res.write(piece, resolve))
        offset += piece.byteLength
      }
      res.end()
    } catch (error) {
      // Half an answer has been sent: the client learns only by the end of the connection that the rest is missing.
      this.edge.options.onHandlerError?.(error)
      this.#req.socket.destroy()
    }
  }

  /** Nobody waits for the rest of the body any more, so nobody else sees to it that it comes. */
  #boundRest(): void {
    const req = this.#req
    if (req.complete) return
    const timer = setTimeout(() => req.socket.destroy(), this.edge.options.limits.requestTimeoutMs).unref()
    req.once('close', () => clearTimeout(timer))
  }
}
