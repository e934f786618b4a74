import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import type { ProtocolError } from '../../engine/index.ts'
import { errorResponse, isSource, isStream, prepareAnswer, type PreparedAnswer } from './answer.ts'
import { OwnedBytes, PIECE_BYTES } from './owned-bytes.ts'
import type { Receiving } from './body-receiver.ts'
import { cannotListen } from './cannot-listen.ts'
import { ConnectionLimit } from './connection-limit.ts'
import { EdgeErrors } from './edge-errors.ts'
import { EncodedConnection, type ParserError } from './encoded-connection.ts'
import { Edge } from './edge.ts'
import { Exchange } from './exchange.ts'
import { NodeHttpConnection } from './node-http-connection.ts'
import { unmapAddress } from './remote-address.ts'
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
    server.on('drop', () => limit.countRefusal())
  }
  await listen(server, options)
  return {
    name: 'node-http',
    port: (server.address() as AddressInfo).port,
    load: async () => ({
      inFlight: edge.inFlight.count,
      connections: await promisify(server.getConnections.bind(server))(),
      refusals: limit.refusals,
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
      const drain = edge.inFlight.drained(graceMs, quietMs)
      // Waiting connections are accepted first.
      await new Promise(resolve => setImmediate(resolve))
      // `close` of the HTTP server would also close idle connections, on which requests may be in transit.
      const closing = new Promise<unknown>(resolve => NetServer.prototype.close.call(server, resolve))
      await drain
      await new Promise(resolve => setImmediate(resolve))
      server.close()
      server.closeAllConnections()
      await closing
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
    // The guard requires the header, and answers with an explanation.
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
  readonly #connections = new WeakMap<Duplex, NodeHttpConnection>()

  constructor(edge: Edge, server: Server) {
    this.edge = edge
    this.server = server
  }

  readonly onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    const connection = this.#connectionOf(req.socket)
    connection.take(req, () => this.#serve(connection, req, res))
  }

  #connectionOf(socket: Duplex): NodeHttpConnection {
    const knownConnection = this.#connections.get(socket)
    if (knownConnection) return knownConnection
    const connection = new NodeHttpConnection(socket)
    this.#connections.set(socket, connection)
    return connection
  }

  #serve(connection: NodeHttpConnection, req: IncomingMessage, res: ServerResponse): NodeHttpExchange {
    const { socket, rawHeaders } = req
    const exchange = new NodeHttpExchange(this.edge, req, res, connection)
    if ((socket as Duplex) instanceof EncodedConnection || offersUpgrade(req)) exchange.endConnection()
    // The parser also accepts 0.9, whose answers have no head, and 2.0, which is another protocol.
    if (req.httpVersionMajor !== 1) exchange.refuse(EdgeErrors.UNKNOWN_VERSION(req.httpVersion))
    else {
      exchange.serve(visit => {
        for (let i = 0; i < rawHeaders.length; i += 2) visit(rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!)
      })
    }
    return exchange
  }

  /** Called when the parser gave up on a connection, or a request did not arrive in time. */
  readonly onClientError = (error: ParserError, socket: Duplex): void => {
    const connection = this.#connectionOf(socket)
    if (connection.encodedConnection) {
      // The failed parser reports every packet as unreadable; the second one enforces timeouts.
      if (error.code?.startsWith('HPE_')) connection.encodedConnection.feed(error.rawPacket)
      else if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') connection.encodedConnection.destroy()
      return
    }
    // `HPE_INVALID_EOF_STATE`: the client closed its side within a request.
    if (!socket.writable || error.code === 'ECONNRESET' || error.code === 'HPE_INVALID_EOF_STATE') {
      socket.destroy()
      return
    }
    if (!connection.isBusy && !(socket instanceof EncodedConnection) && EncodedConnection.takes(error)) {
      const encodedConnection = new EncodedConnection(socket as Socket)
      connection.encodedConnection = encodedConnection
      this.server.emit(this.edge.options.tls ? 'secureConnection' : 'connection', encodedConnection)
      encodedConnection.feed(error.rawPacket)
      return
    }
    const { limits, meter } = this.edge.options
    const refusal = parserError(error, limits)
    const refuse = (): void => {
      const answer = prepareAnswer(errorResponse(refusal))
      meter?.unreadable(answer.status)
      socket.end(rawAnswer(answer, isHead(error)), () => socket.destroy())
    }
    const end = (): void => connection.breakOff(refusal, refuse)
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && connection.isBusy) connection.wait(limits.requestTimeoutMs, end)
    else end()
  }
}

/** True for a request after which the parser of Node.js discards the rest of the packet: the next bytes may be in the middle of a body. */
const offersUpgrade = ({ headers: { upgrade, connection = '' } }: IncomingMessage): boolean =>
  upgrade !== undefined && /\bupgrade\b/i.test(connection)

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

/** True if the unreadable request is a HEAD request, whose answer has no body. Detected only if its method is in the same packet. */
function isHead({ rawPacket, bytesParsed = 0 }: ParserError): boolean {
  const head = rawPacket?.toString('latin1', 0, bytesParsed) ?? ''
  const lastHead = head.lastIndexOf('\r\n\r\n')
  return head.startsWith('HEAD ', lastHead < 0 ? 0 : lastHead + 4)
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
  readonly #connection: NodeHttpConnection
  #isLast = false
  #sentBytes = 0

  constructor(edge: Edge, req: IncomingMessage, res: ServerResponse, connection: NodeHttpConnection) {
    super(edge)
    this.#req = req
    this.#res = res
    this.#connection = connection
    res.on('close', () => (res.writableFinished ? this.conclude() : this.abort()))
    const target = req.url ?? ''
    const question = target.indexOf('?')
    this.path = question < 0 ? target : target.slice(0, question)
    this.query = question < 0 ? '' : target.slice(question + 1)
  }

  get method(): string {
    return this.#req.method ?? ''
  }

  protected get peerAddress(): string {
    return unmapAddress(this.#req.socket.remoteAddress ?? '')
  }

  get isOver(): boolean {
    return this.finished
  }

  protected override conclude(): void {
    super.conclude()
    this.#connection.served()
  }

  /** Makes this request the last of its connection. */
  endConnection(): void {
    this.#isLast = true
    this.#connection.end()
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
    if (this.refused) this.#connection.end()
    const lines = [...headerLines]
    if (cookie !== undefined) lines.push('Set-Cookie', cookie)
    if (tag !== undefined) lines.push('ETag', tag)
    if (this.closing) lines.push('Connection', 'close')
    if (!bodiless && size !== undefined) lines.push('Content-Length', String(size))
    res.writeHead(status, reason, lines)
    if (bodiless || this.method === 'HEAD' || size === 0) res.end()
    else if (isStream(body)) void this.sendStream(body)
    else if (isSource(body)) void this.#writeSource(body)
    // Copied, because Node keeps the bytes that the socket does not accept immediately, and the handler owns the original.
    else if (body.byteLength > PIECE_BYTES) void this.#writeSource(new OwnedBytes(Buffer.from(body)))
    else res.end(Buffer.from(body))
    res.once('finish', () => this.#boundRest())
    // A later turn shows whether the client reads.
    if (size !== undefined) setImmediate(() => this.finished || res.writableFinished || this.#holdOrDrop(size))
  }

  protected async sendPiece(piece: Uint8Array): Promise<void> {
    await this.#write(piece)
    this.#sentBytes += piece.byteLength
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

  /**
   * Writes bytes that stay as they are until the socket has accepted them. Ends the exchange if the connection is broken: Node.js 26 fails
   * every further write without a turn of the event loop, so that an endless stream would never learn of it.
   */
  #write(bytes: Uint8Array): Promise<void> {
    return new Promise(resolve =>
      this.#res.write(bytes, error => {
        if (error) this.abort()
        resolve()
      }),
    )
  }

  async #writeSource(source: BodySource): Promise<void> {
    this.watch()
    try {
      for (let offset = 0; offset < source.size && !this.finished; ) {
        const piece = await source.read(offset)
        await this.#write(piece)
        offset += piece.byteLength
        this.#sentBytes = offset
      }
      if (!this.finished) this.#res.end()
    } catch (error) {
      this.breakDown(error)
    }
  }

  /** Limits the time for the rest of a body that no handler is waiting for. */
  #boundRest(): void {
    const req = this.#req
    if (req.complete) return
    const timer = setTimeout(() => req.socket.destroy(), this.edge.options.limits.requestTimeoutMs).unref()
    req.once('close', () => clearTimeout(timer))
  }
}
