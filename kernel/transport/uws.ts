import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { type Answer, isSource } from './answer.ts'
import type { Receiving } from './body-receiver.ts'
import { Edge, Exchange } from './exchange.ts'
import { addressText } from './remote-address.ts'
import type { BodySource, StartTransport, TransportOptions } from './transport.ts'
import type { UwsModule, UwsName } from './uws-module.ts'

/** From here on a body is sent as far as the socket takes it and kept only for the rest. */
const LARGE_BODY_BYTES = 64 * 1024
const RETRY_MS = 500
/** How long Linux keeps the end of a connection that it has closed, and a little more. */
const TIME_WAIT_MS = 65_000
/** Built in; the packages were measured to take 12 and 32 s. */
const IDLE_TIMEOUT_MS = { uws: 32_000, 'uws-node20': 12_000 }

/** The transport of a loaded uWebSockets.js build, current or older. */
export function startUws(name: UwsName, uws: UwsModule): StartTransport {
  // Takes the build's name out of every answer.
  uws._cfg?.('silent')
  return async (options, handler) => {
    const app = createApp(uws, options)
    const edge = new Edge(options, handler)
    app.any('/*', (res, req) => new UwsExchange(edge, res, req).serve(visit => req.forEach(visit)))
    const listenSocket = await listen(uws, app, options)
    let closed: Promise<void> | undefined
    return {
      name,
      port: uws.us_socket_local_port(listenSocket),
      warnings: warnings(name, options),
      close(graceMs) {
        // Once only: closing a listening socket twice crashes the process.
        closed ??= close(uws, app, listenSocket, edge, graceMs)
        return closed
      },
    }
  }
}

async function close(uws: UwsModule, app: TemplatedApp, socket: us_listen_socket, edge: Edge, graceMs: number) {
  uws.us_listen_socket_close(socket)
  await edge.inFlight.drained(graceMs)
  // The last answer may be written but not yet sent: that happens when the current turn ends.
  await new Promise(resolve => setImmediate(resolve))
  app.close()
}

function createApp(uws: UwsModule, { tls }: TransportOptions): TemplatedApp {
  if (!tls) return uws.App()
  const { keyFile, certFile, passphrase } = tls
  try {
    // The build only says that something failed, if at all; Node says what.
    createSecureContext({ key: readFileSync(keyFile), cert: readFileSync(certFile), passphrase })
  } catch (cause) {
    throw new Error(`TLS cannot use key ${keyFile} and certificate ${certFile}: ${(cause as Error).message}`, { cause })
  }
  return uws.SSLApp({ key_file_name: keyFile, cert_file_name: certFile, ...(passphrase && { passphrase }) })
}

/**
 * Neither build reuses an address (SO_REUSEADDR): after a server has closed connections, the system keeps their ends, and
 * with them the port, for another minute (TIME_WAIT). Then, and only when nobody answers there, the port is waited for.
 */
async function listen(uws: UwsModule, app: TemplatedApp, options: TransportOptions): Promise<us_listen_socket> {
  const { host, port, onWaiting } = options
  for (let waited = 0; ; waited += RETRY_MS) {
    const socket = await tryToListen(uws, app, options)
    if (socket) return socket
    if (port === 0 || waited >= TIME_WAIT_MS || !(await isDeserted(host, port))) {
      throw new Error(`cannot listen on ${host}:${port}: it is in use, not allowed or not an address of this machine`)
    }
    if (waited === 0) {
      onWaiting?.(`connections to port ${port} of a server before are not over yet; waiting for it, a minute at most`)
    }
    await setTimeout(RETRY_MS)
  }
}

function tryToListen(
  uws: UwsModule,
  app: TemplatedApp,
  { host, port }: TransportOptions,
): Promise<us_listen_socket | false> {
  return new Promise(resolve => {
    // Exclusive: the default shares a port in silence with whoever listens on it. The types lack this form of the call.
    type Listen = (host: string, port: number, options: number, callback: typeof resolve) => void
    const exclusively: Listen = app.listen.bind(app) as never
    exclusively(host, port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve)
  })
}

/** Nobody listens there, so it is only the past that keeps the port. */
async function isDeserted(host: string, port: number): Promise<boolean> {
  // The builds tell nothing of the reason; Node does.
  const server = createServer().listen(port, host)
  const code = await once(server, 'listening').then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  )
  server.close()
  if (code !== 'EADDRINUSE') return code === undefined
  const socket = connect(port, host === '0.0.0.0' || host === '::' ? 'localhost' : host)
  const isAnswered = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return !isAnswered
}

function warnings(name: UwsName, { limits }: TransportOptions): string[] {
  const found: string[] = []
  if (name === 'uws-node20') {
    found.push(
      'uws-node20 closes the connection without an answer when a request head of more than 4 KB arrives in pieces; ' +
        'send long queries in a POST body, or install a transport without this limit',
    )
  }
  if (limits.idleTimeoutMs < IDLE_TIMEOUT_MS[name]) {
    found.push(
      `${name} closes idle connections after about ${IDLE_TIMEOUT_MS[name]} ms, not ${limits.idleTimeoutMs} ms`,
    )
  }
  return found
}

/** One request; owns `res`, which may not be touched once the answer is complete or the client gone. */
class UwsExchange extends Exchange {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly #res: HttpResponse
  #remoteAddress: string | undefined

  constructor(edge: Edge, res: HttpResponse, req: HttpRequest) {
    super(edge)
    this.#res = res
    this.method = req.getCaseSensitiveMethod()
    this.path = req.getUrl()
    // Not a text where there is no query, whatever the types say.
    this.query = req.getQuery() ?? ''
  }

  override serve(eachHeader: Parameters<Exchange['serve']>[0]): void {
    super.serve(eachHeader)
    // A request that is left without an answer and without it ends the process. Most are answered by now.
    if (!this.finished) this.#res.onAborted(() => this.abort())
  }

  get remoteAddress(): string {
    if (this.#remoteAddress === undefined && !this.finished) {
      this.#remoteAddress = addressText(this.#res.getRemoteAddress())
    }
    return this.#remoteAddress ?? ''
  }

  protected receive(body: Receiving): void {
    // The bytes are only lent; the receiver copies them.
    this.#res.onData((chunk, isLast) => body.push(new Uint8Array(chunk), isLast))
  }

  protected pause(): void {
    this.#res.pause()
  }

  protected resume(): void {
    this.#res.resume()
  }

  /**
   * A refused request is answered in a later turn. The parser may hold more bytes from this connection, and it goes on
   * with them when this turn ends. While a request is unanswered it closes the connection at the next one; once it is
   * answered it would run it, even if the answer said `Connection: close`.
   */
  protected send(answer: Answer): void {
    if (!this.refused) {
      this.#write(answer)
      return
    }
    setImmediate(() => {
      if (!this.aborted) this.#write(answer)
    })
  }

  /** In the handler's own turn all goes into one packet by itself. */
  #write(answer: Answer): void {
    if (this.isFirstTurn) this.#writeCorked(answer)
    else this.#res.cork(() => this.#writeCorked(answer))
  }

  #writeCorked({ status, reason, headerLines, body, size, bodiless }: Answer): void {
    const res = this.#res
    const { closing } = this
    // Without it the status is 200 OK.
    if (status !== 200) res.writeStatus(`${status} ${reason}`)
    for (let i = 0; i < headerLines.length; i += 2) res.writeHeader(headerLines[i]!, headerLines[i + 1]!)
    if ((bodiless || this.method === 'HEAD') && !this.refused) {
      // Without arguments: with any, the older build holds the request for unanswered, the current one adds a length.
      if (!bodiless) res.writeHeader('Content-Length', String(size))
      if (closing) res.writeHeader('Connection', 'close')
      res.endWithoutBody()
      this.done()
    } else if (this.method === 'HEAD' || size === 0) {
      res.end('', closing)
      this.done()
    } else if (!isSource(body) && size < LARGE_BODY_BYTES) {
      res.end(body, closing)
      this.done()
    } else {
      if (closing) res.writeHeader('Connection', 'close')
      if (isSource(body)) this.#writeSource(body)
      else this.#writeLarge(body)
    }
  }

  /** Reads and sends by turns; what the socket does not take waits until it drains. */
  #writeSource(source: BodySource): void {
    const res = this.#res
    let piece: Uint8Array = new Uint8Array(0)
    let start = 0
    let isReading = false
    /** Sends from `offset` on. @returns false when the socket is full */
    const write = (offset: number): boolean => {
      for (;;) {
        if (offset === start + piece.byteLength) {
          const read = source.read(offset)
          if (read instanceof Promise) {
            isReading = true
            read.then(
              next => goOn(next, offset),
              error => this.#breakDown(error),
            )
            return true
          }
          piece = read
          start = offset
        }
        const [drained, complete] = res.tryEnd(piece.subarray(offset - start), source.size)
        if (complete) this.done()
        if (complete || !drained) return drained
        offset = start + piece.byteLength
      }
    }
    const goOn = (next: Uint8Array, offset: number): void => {
      isReading = false
      if (this.finished) return
      piece = next
      start = offset
      res.cork(() => write(offset))
    }
    res.onWritable(offset => isReading || write(offset))
    write(0)
  }

  /** Half an answer has been sent: the client learns only by the end of the connection that the rest is missing. */
  #breakDown(error: unknown): void {
    this.edge.options.onHandlerError?.(error)
    if (!this.finished) this.#res.close()
  }

  /** Sends what the socket takes now and the rest as it drains, from a copy, since `bytes` are the handler's. */
  #writeLarge(bytes: Uint8Array): void {
    const res = this.#res
    const total = bytes.byteLength
    const [, complete] = res.tryEnd(bytes, total)
    if (complete) {
      this.done()
      return
    }
    const start = res.getWriteOffset()
    const rest = new Uint8Array(bytes.subarray(start))
    res.onWritable(offset => {
      const [drained, complete] = res.tryEnd(rest.subarray(offset - start), total)
      if (complete) this.done()
      return drained
    })
  }
}
