import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import type { ProtocolError } from '../../engine/index.ts'
import { isSource, isStream, prepareAnswer, type PreparedAnswer } from './answer.ts'
import { OwnedBytes, PIECE_BYTES } from './owned-bytes.ts'
import type { Receiving } from './body-receiver.ts'
import { cannotListen } from './cannot-listen.ts'
import { ConnectionLimit } from './connection-limit.ts'
import { EdgeErrors, errorResponse } from './edge-errors.ts'
import { EncodedConnection, type ParserError } from './encoded-connection.ts'
import { Edge, Exchange } from './exchange.ts'
import { unmapped } from './remote-address.ts'
import { readTls, type TlsIdentity } from './tls-files.ts'
import type { BodySource, StartTransport, TransportLimits, TransportOptions } from './transport.ts'

/** Starts the transport that runs wherever Node does. */
export const startNodeHttp: StartTransport = async (options, handler) => {
  const { tls } = options
  let identity = tls && (await readTls(tls))
  const server = createHttpServer(options.limits, identity)
  const edge = new Edge(options, handler, false)
  const connections = new NodeHttpConnections(edge, server)
  server.keepAliveTimeout = options.limits.idleTimeoutMs
  // Node would silently drop headers beyond its default; the head is limited in bytes instead.
  server.maxHeadersCount = 0
  server.on('request', connections.onRequest)
  // By default Node answers with an empty 417.
  server.on('checkExpectation', connections.onRequest)
  server.on('clientError', connections.onClientError)
  const { maxConnections } = options.limits
  const limit = new ConnectionLimit(maxConnections ?? Number.POSITIVE_INFINITY, options.onWarning)
  if (maxConnections !== undefined) {
    server.maxConnections = maxConnections
    server.on('drop', () => limit.refused())
  }
  await listen(server, options)
  return {
    name: 'node-http',
    port: (server.address() as AddressInfo).port,
    load: async () => ({
      inFlight: edge.inFlight.count,
      connections: await promisify(server.getConnections.bind(server))(),
      refused: limit.refusals,
    }),
    warnings: [],
    get certificate() {
      return identity?.certificate
    },
    async renewCertificate() {
      identity = await readTls(tls!)
      ;(server as TlsServer).setSecureContext(identity)
      return identity.certificate
    },
    async close(graceMs, quietMs = 0) {
      const drained = edge.inFlight.drained(graceMs, quietMs)
      // Waiting connections are accepted first.
      await new Promise(resolve => setImmediate(resolve))
      // `close` of the HTTP server would also close idle connections, on which requests may be in transit.
      const closed = new Promise<unknown>(resolve => NetServer.prototype.close.call(server, resolve))
      await drained
      await new Promise(resolve => setImmediate(resolve))
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function createHttpServer(limits: TransportOptions['limits'], identity: TlsIdentity | undefined): Server {
  const settings: ServerOptions = {
    maxHeaderSize: limits.headerBytes,
    // Bodies have their own timeouts, which depend on their consumer.
    requestTimeout: 0,
    headersTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, limits.requestTimeoutMs),
    // The guard demands it, with an explanatory answer.
    requireHostHeader: false,
  }
  return identity ? createTlsServer({ ...settings, ...identity }) : createServer(settings)
}

function listen(server: Server, { host, port }: TransportOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', cause => reject(cannotListen({ host, port }, cause)))
    server.listen({ host, port }, resolve)
  })
}

/** Handles requests and parser errors, connection by connection. */
class NodeHttpConnections {
  readonly edge: Edge
  readonly server: Server
  /** By the underlying socket. */
  readonly #encoded = new WeakMap<Duplex, EncodedConnection>()
  /** Connections that end with the answer under way. The parser still emits requests that it read after it; they must not run. */
  readonly #ending = new WeakSet<Duplex>()
  /** Latest exchange of each connection. */
  readonly #exchanges = new WeakMap<Duplex, NodeHttpExchange>()
  /** Exchanges under way. Node emits no `close` on a response that waits behind others when its connection ends. */
  readonly #open = new WeakMap<Duplex, Set<NodeHttpExchange>>()

  constructor(edge: Edge, server: Server) {
    this.edge = edge
    this.server = server
  }

  readonly onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    const { socket, rawHeaders } = req
    if (this.#ending.has(socket) || socket.destroyed) return
    const open = this.#openOf(socket)
    const exchange = new NodeHttpExchange(this.edge, req, res, open, () => this.#ending.add(socket))
    open.add(exchange)
    this.#exchanges.set(socket, exchange)
    if ((socket as Duplex) instanceof EncodedConnection) exchange.endConnection()
    // The parser also accepts 0.9, whose answers have no head, and 2.0, which is another protocol.
    if (req.httpVersionMajor !== 1) {
      exchange.refuse(EdgeErrors.UNKNOWN_VERSION(req.httpVersion))
      return
    }
    exchange.serve(visit => {
      for (let i = 0; i < rawHeaders.length; i += 2) visit(rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!)
    })
  }

  #openOf(socket: Duplex): Set<NodeHttpExchange> {
    const known = this.#open.get(socket)
    if (known) return known
    const open = new Set<NodeHttpExchange>()
    this.#open.set(socket, open)
    socket.once('close', () => {
      for (const exchange of open) exchange.connectionClosed()
    })
    return open
  }

  /** Called when the parser gave up on a connection, or a request did not arrive in time. */
  readonly onClientError = (error: ParserError, socket: Duplex): void => {
    const encoded = this.#encoded.get(socket)
    if (encoded) {
      // The failed parser reports every packet as unreadable; the second one enforces timeouts.
      if (error.code?.startsWith('HPE_')) encoded.feed(error.rawPacket)
      else if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') encoded.destroy()
      return
    }
    // `HPE_INVALID_EOF_STATE`: the client closed its side within a request.
    if (!socket.writable || error.code === 'ECONNRESET' || error.code === 'HPE_INVALID_EOF_STATE') {
      socket.destroy()
      return
    }
    const exchange = this.#exchanges.get(socket)
    const isAnswering = exchange !== undefined && !exchange.closed
    if (!isAnswering && !(socket instanceof EncodedConnection) && EncodedConnection.takes(error)) {
      this.#readAgain(socket as Socket, error.rawPacket!)
      return
    }
    this.#ending.add(socket)
    const refusal = parserError(error, this.edge.options.limits)
    // While an answer is owed or under way, bytes from here would be taken for part of it.
    if (isAnswering) exchange.breakOff(refusal)
    else {
      const answer = prepareAnswer(errorResponse(refusal))
      this.edge.options.meter?.unreadable(answer.status)
      socket.end(rawAnswer(answer, isHead(error)), () => socket.destroy())
    }
  }

  #readAgain(socket: Socket, packet: Buffer): void {
    const encoded = new EncodedConnection(socket)
    this.#encoded.set(socket, encoded)
    this.server.emit(this.edge.options.tls ? 'secureConnection' : 'connection', encoded)
    encoded.feed(packet)
  }
}

/** Protocol error for an error of the parser. */
function parserError({ code, message }: ParserError, limits: TransportLimits): ProtocolError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return EdgeErrors.HEAD_TOO_LARGE(limits.headerBytes)
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return EdgeErrors.REQUEST_TIMEOUT(limits.requestTimeoutMs)
    default:
      return EdgeErrors.MALFORMED_REQUEST(message.replace(/^Parse Error: /, ''))
  }
}

/** True if the unreadable request is a HEAD, whose answer has no body, as far as its method is in the same packet. */
function isHead({ rawPacket, bytesParsed = 0 }: ParserError): boolean {
  const parsed = rawPacket?.toString('latin1', 0, bytesParsed) ?? ''
  const lastHead = parsed.lastIndexOf('\r\n\r\n')
  return parsed.startsWith('HEAD ', lastHead < 0 ? 0 : lastHead + 4)
}

/** Bytes of an answer on the wire, when there is no `ServerResponse` to write it. */
function rawAnswer({ status, reason, headerLines, cookie, body, size }: PreparedAnswer, isHead: boolean): Buffer {
  let head = `HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nDate: ${new Date().toUTCString()}\r\n`
  for (let i = 0; i < headerLines.length; i += 2) head += `${headerLines[i]}: ${headerLines[i + 1]}\r\n`
  if (cookie !== undefined) head += `Set-Cookie: ${cookie}\r\n`
  const lines = Buffer.from(`${head}Content-Length: ${size}\r\n\r\n`)
  return isHead ? lines : Buffer.concat([lines, body as Uint8Array])
}

class NodeHttpExchange extends Exchange {
  path: string
  query: string
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  readonly #endsConnection: () => void
  #isLast = false
  #sentBytes = 0

  readonly #open: Set<NodeHttpExchange>

  /**
   * @param open exchanges of the connection under way
   * @param endsConnection called when no further request of the connection may run
   */
  constructor(
    edge: Edge,
    req: IncomingMessage,
    res: ServerResponse,
    open: Set<NodeHttpExchange>,
    endsConnection: () => void,
  ) {
    super(edge)
    this.#open = open
    this.#req = req
    this.#res = res
    this.#endsConnection = endsConnection
    res.on('close', () => (res.writableFinished ? this.done() : this.abort()))
    const target = req.url ?? ''
    const question = target.indexOf('?')
    this.path = question < 0 ? target : target.slice(0, question)
    this.query = question < 0 ? '' : target.slice(question + 1)
  }

  get method(): string {
    return this.#req.method ?? ''
  }

  protected get peerAddress(): string {
    return unmapped(this.#req.socket.remoteAddress ?? '')
  }

  get closed(): boolean {
    return this.#res.closed
  }

  connectionClosed(): void {
    this.abort()
  }

  protected override done(): void {
    if (this.finished) return
    this.#open.delete(this)
    super.done()
  }

  /** Makes this request the last of its connection. */
  endConnection(): void {
    this.#isLast = true
    this.#endsConnection()
  }

  protected override get closing(): boolean {
    return this.#isLast || super.closing
  }

  protected receive(body: Receiving): void {
    this.#req.on('data', (chunk: Uint8Array) => {
      this.receivedBytes += chunk.byteLength
      body.push(chunk, false)
    })
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

  protected send({ status, reason, headerLines, cookie, tag, body, size, bodiless }: PreparedAnswer): void {
    const res = this.#res
    if (this.refused) this.#endsConnection()
    const lines = [...headerLines]
    if (cookie !== undefined) lines.push('Set-Cookie', cookie)
    if (tag !== undefined) lines.push('ETag', tag)
    if (this.closing) lines.push('Connection', 'close')
    if (!bodiless && size !== undefined) lines.push('Content-Length', String(size))
    res.writeHead(status, reason, lines)
    if (bodiless || this.method === 'HEAD' || size === 0) res.end()
    else if (isStream(body)) void this.sendStream(body)
    else if (isSource(body)) void this.#writeSource(body)
    // A copy: Node keeps the bytes that the socket does not take at once, and the handler owns the original.
    else if (body.byteLength > PIECE_BYTES) void this.#writeSource(new OwnedBytes(Buffer.from(body)))
    else res.end(Buffer.from(body))
    // Without a socket it waits behind other answers; otherwise a later turn shows whether the client reads.
    res.once('finish', () => this.#boundRest())
    if (size === undefined) return
    if (!res.socket) this.#holdOrDrop(size)
    else setImmediate(() => this.finished || res.writableFinished || this.#holdOrDrop(size))
  }

  protected sendPiece(piece: Uint8Array): Promise<void> {
    // Node keeps bytes that the socket does not take at once.
    return new Promise(resolve =>
      this.#res.write(piece, () => {
        this.#sentBytes += piece.byteLength
        resolve()
      }),
    )
  }

  protected sendEnd(): void {
    this.#res.end()
  }

  get sentBytes(): number {
    return this.#sentBytes
  }

  drop(): void {
    this.#req.socket.destroy()
  }

  #holdOrDrop(bytes: number): void {
    if (this.holdRest(bytes)) this.watch()
    else this.drop()
  }

  async #writeSource(source: BodySource): Promise<void> {
    const res = this.#res
    this.watch()
    try {
      for (let offset = 0; offset < source.size && !this.finished; ) {
        const piece = await source.read(offset)
        // Node keeps bytes that the socket does not take at once, and the next piece may overwrite this one.
        await new Promise<unknown>(resolve => res.write(piece, resolve))
        offset += piece.byteLength
        this.#sentBytes = offset
      }
      res.end()
    } catch (error) {
      this.breakDown(error)
    }
  }

  /** Limits the time for the rest of the body, for which no handler waits. */
  #boundRest(): void {
    const req = this.#req
    if (req.complete) return
    const timer = setTimeout(() => req.socket.destroy(), this.edge.options.limits.requestTimeoutMs).unref()
    req.once('close', () => clearTimeout(timer))
  }
}
