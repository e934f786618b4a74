import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { isSource, isStream, type PreparedAnswer } from './answer.ts'
import type { Receiving } from './body-receiver.ts'
import { ConnectionLimit } from './connection-limit.ts'
import { Edge } from './edge.ts'
import { COUNTED_BYTES, Exchange } from './exchange.ts'
import { PipeliningHint } from './pipelining-hint.ts'
import { addressText } from './remote-address.ts'
import { readTls } from './tls-files.ts'
import type { BodySource, StartTransport, TransportOptions } from './transport.ts'
import { listen, SHARED, tryToListen } from './uws-listen.ts'
import type { UwsModule, UwsName } from './uws-module.ts'

/** Built-in timeouts; measured as 12 and 32 s. */
const IDLE_TIMEOUT_MS = { uws: 32_000, 'uws-node20': 12_000 }

/** Transport of a loaded uWebSockets.js build, current or older. */
export function startUws(name: UwsName, uws: UwsModule): StartTransport {
  // Removes the name of the build from every answer.
  uws._cfg?.('silent')
  return async (options, handler) => {
    const edge = new Edge(options, handler)
    const limit = connectionLimit(name, options)
    const hint = new PipeliningHint(name, options.onWarning)
    /** Apps, each of which serves the connections that it has accepted. There are several after a renewal of the certificate. */
    const apps: TemplatedApp[] = []
    const addApp = (): TemplatedApp => {
      const app = createApp(uws, options)
      if (limit) limitConnections(app, limit)
      app.any('/*', (res, req) => new UwsExchange(edge, hint, res, req).serve(visit => req.forEach(visit)))
      apps.push(app)
      return app
    }
    // Checked first, because the build reports only that something failed, if anything.
    let certificate = options.tls && (await readTls(options.tls)).certificate
    let listenSocket = await listen(uws, addApp(), options)
    const port = uws.us_socket_local_port(listenSocket)
    let closing: Promise<void> | undefined
    return {
      name,
      port,
      load: async () => ({
        inFlight: edge.inFlight.count,
        connections: limit?.open,
        refusals: limit?.refusals ?? 0,
      }),
      warnings: warnings(name, options),
      get certificate() {
        return certificate
      },
      async renewCertificate() {
        const newCertificate = (await readTls(options.tls!)).certificate
        const app = addApp()
        const socket = await tryToListen(app, { ...options, port }, SHARED)
        if (!socket) throw new Error(`the system does not let port ${port} be listened to a second time`)
        // In the next turn, connections waiting at the old socket are accepted; a connection that arrives during that turn is
        // reset before a handshake.
        await new Promise(resolve => setImmediate(resolve))
        if (closing) app.close()
        else {
          uws.us_listen_socket_close(listenSocket)
          listenSocket = socket
        }
        certificate = newCertificate
        return newCertificate
      },
      close(graceMs, quietMs = 0) {
        // Once only: closing a listening socket twice crashes the process.
        closing ??= close(uws, apps, listenSocket, edge.inFlight.drained(graceMs, quietMs))
        return closing
      },
    }
  }
}

async function close(
  uws: UwsModule,
  apps: readonly TemplatedApp[],
  socket: us_listen_socket,
  drain: Promise<void>,
): Promise<void> {
  // Waiting connections are accepted first.
  await new Promise(resolve => setImmediate(resolve))
  uws.us_listen_socket_close(socket)
  await drain
  // The last answer may be written but not yet sent, which happens at the end of the current turn.
  await new Promise(resolve => setImmediate(resolve))
  for (const app of apps) app.close()
}

function createApp(uws: UwsModule, { tls }: TransportOptions): TemplatedApp {
  if (!tls) return uws.App()
  const { keyFile, certFile, passphrase } = tls
  return uws.SSLApp({ key_file_name: keyFile, cert_file_name: certFile, ...(passphrase && { passphrase }) })
}

/** Limit of connections; undefined for the older build, which does not report connections, whatever the types say. */
function connectionLimit(
  name: UwsName,
  { limits: { maxConnections = Number.POSITIVE_INFINITY }, onWarning }: TransportOptions,
): ConnectionLimit | undefined {
  return name === 'uws' ? new ConnectionLimit(maxConnections, onWarning) : undefined
}

function limitConnections(app: TemplatedApp, limit: ConnectionLimit): void {
  const onChange: Parameters<TemplatedApp['filter']>[0] = (res, change) => {
    if (Number(change) < 0) limit.leave()
    else if (!limit.enter()) res.close()
  }
  app.filter(onChange)
}

function warnings(name: UwsName, { limits }: TransportOptions): string[] {
  if (limits.idleTimeoutMs >= IDLE_TIMEOUT_MS[name]) return []
  const text = `${name} closes idle connections after about ${IDLE_TIMEOUT_MS[name]} ms, not ${limits.idleTimeoutMs} ms (server.idleTimeoutMs); set server.transport to node-http for another time`
  return [text]
}

const sharedTexts = new WeakMap<readonly string[], string>()

/**
 * Value of the first header followed by all other headers, for a single call of native code. Header lines contain nothing that could
 * end them (`prepareAnswer`).
 */
function allBehind(headerLines: readonly string[]): string {
  const cachedText = sharedTexts.get(headerLines)
  if (cachedText !== undefined) return cachedText
  let value = headerLines[1]!
  for (let i = 2; i < headerLines.length; i += 2) value += `\r\n${headerLines[i]}: ${headerLines[i + 1]}`
  if (Object.isFrozen(headerLines)) sharedTexts.set(headerLines, value)
  return value
}

/** One request; owns `res`, which must not be touched once the answer is complete or the client has disconnected. */
class UwsExchange extends Exchange {
  readonly method: string
  path: string
  query: string
  readonly #hint: PipeliningHint
  readonly #res: HttpResponse
  #isDropped = false
  /** Called when the socket has taken all pieces. */
  #drained: (() => void) | undefined

  constructor(edge: Edge, hint: PipeliningHint, res: HttpResponse, req: HttpRequest) {
    super(edge)
    this.#hint = hint
    this.#res = res
    this.method = req.getCaseSensitiveMethod()
    this.path = req.getUrl()
    // Undefined without a query, whatever the types say.
    this.query = req.getQuery() ?? ''
  }

  override serve(eachHeader: Parameters<Exchange['serve']>[0]): void {
    super.serve(eachHeader)
    // The connection may have been dropped before this listener was added.
    if (this.#isDropped && !this.finished) this.abort()
    // Without this listener an unanswered request ends the process. Most requests have been answered by now.
    if (!this.finished) this.#res.onAborted(() => this.abort())
  }

  protected override abort(): void {
    if (!this.finished && !this.refused && !this.#isDropped) this.#hint.aborted(this.startedAt)
    super.abort()
  }

  protected get peerAddress(): string {
    return this.finished ? '' : addressText(this.#res.getRemoteAddress())
  }

  protected receive(body: Receiving): void {
    // The bytes are valid only during the call; the receiver copies them.
    this.#res.onData((chunk, isLast) => {
      this.receivedBytes += chunk.byteLength
      body.push(new Uint8Array(chunk), isLast)
    })
  }

  protected pause(): void {
    this.#res.pause()
  }

  protected resume(): void {
    this.#res.resume()
  }

  /**
   * Answers a refused request in a later turn. The parser may hold more bytes from this connection, and processes them when this turn ends.
   * If they contain another request, the parser closes the connection while the first request is unanswered; after an answer, it would run
   * the other request, even if the answer said `Connection: close`.
   */
  protected send(answer: PreparedAnswer): void {
    if (!this.refused) {
      this.#write(answer)
      return
    }
    setImmediate(() => {
      if (!this.aborted) this.#write(answer)
    })
  }

  /** Writes an answer as one packet. In the handler's own turn that happens automatically. */
  #write(answer: PreparedAnswer): void {
    if (this.isFirstTurn) this.#writeCorked(answer)
    else this.#res.cork(() => this.#writeCorked(answer))
  }

  #writeCorked({ status, reason, headerLines, cookie, tag, body, size, bodiless }: PreparedAnswer): void {
    const res = this.#res
    const { closing } = this
    // The default status is 200 OK.
    if (status !== 200) res.writeStatus(`${status} ${reason}`)
    if (headerLines.length > 0) {
      // Each call of native code costs more than building one combined text.
      let value = allBehind(headerLines)
      if (cookie !== undefined) value += `\r\nSet-Cookie: ${cookie}`
      if (tag !== undefined) value += `\r\nETag: ${tag}`
      res.writeHeader(headerLines[0]!, value)
    } else {
      if (cookie !== undefined) res.writeHeader('Set-Cookie', cookie)
      if (tag !== undefined) res.writeHeader('ETag', tag)
    }
    if ((bodiless || this.method === 'HEAD') && !this.refused) {
      // Without arguments: with any, the older build considers the request unanswered, and the current one adds a length.
      if (!bodiless && size !== undefined) res.writeHeader('Content-Length', String(size))
      if (closing) res.writeHeader('Connection', 'close')
      res.endWithoutBody()
      this.conclude()
    } else if (this.method === 'HEAD' || size === 0) {
      res.end('', closing)
      this.conclude()
    } else if (isStream(body)) {
      if (closing) res.writeHeader('Connection', 'close')
      res.onWritable(() => {
        this.#drained?.()
        return true
      })
      void this.sendStream(body)
    } else if (closing && !isSource(body) && body.byteLength < COUNTED_BYTES) {
      res.end(body, true)
      this.conclude()
    } else {
      if (closing) res.writeHeader('Connection', 'close')
      if (isSource(body)) this.#writeSource(body)
      else this.#writeBytes(body)
      this.watch()
    }
  }

  protected sendPiece(piece: Uint8Array): undefined | Promise<void> {
    let isTaken = true
    this.#res.cork(() => {
      isTaken = this.#res.write(piece)
    })
    if (isTaken) return undefined
    return new Promise(resolve => {
      this.#drained = resolve
    })
  }

  protected sendEnd(): void {
    this.#res.cork(() => this.#res.end('', this.closing))
    this.conclude()
  }

  protected override conclude(): void {
    super.conclude()
    this.#drained?.()
  }

  get sentBytes(): number {
    return this.finished ? 0 : this.#res.getWriteOffset()
  }

  drop(): void {
    if (this.finished || this.#isDropped) return
    this.#isDropped = true
    this.#res.close()
  }

  /** Restarts the timeout of the builds, of 10 to 32 s, as `resume` does; they have no other call for it. */
  override keepOpen(): void {
    if (this.finished || this.#isDropped) return
    this.#res.pause()
    this.#res.resume()
  }

  /** Reads and sends alternately; bytes that the socket does not take wait until it drains. */
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
              error => this.breakDown(error),
            )
            return true
          }
          piece = read
          start = offset
        }
        const [drained, complete] = res.tryEnd(piece.subarray(offset - start), source.size)
        if (complete) this.conclude()
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

  /**
   * Sends as much as the socket takes now and the rest as it drains, from a copy, since the handler owns `bytes`. Does not use `end`, which
   * buffers an unlimited rest: a client that sends requests and reads nothing would fill the memory.
   */
  #writeBytes(bytes: Uint8Array): void {
    const res = this.#res
    const total = bytes.byteLength
    // By index: destructuring an array from native code costs more.
    if (res.tryEnd(bytes, total)[1]) {
      this.conclude()
      return
    }
    const start = res.getWriteOffset()
    if (!this.holdRest(total - start)) {
      // The connection must not be dropped in the turn that writes.
      setImmediate(() => this.drop())
      return
    }
    const remainingBytes = new Uint8Array(bytes.subarray(start))
    res.onWritable(offset => {
      const [drained, complete] = res.tryEnd(remainingBytes.subarray(offset - start), total)
      if (complete) this.conclude()
      return drained
    })
  }
}
