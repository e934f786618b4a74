import { inspect } from 'node:util'
import { noMemory, ProtocolError, type WorkElsewhere } from '../../engine/index.ts'
import { discard, endStream, errorResponse, isSource, isStream, prepareAnswer, type PreparedAnswer } from './answer.ts'
import { BodyCollector } from './body-collector.ts'
import type { BodyReceiver, Receiving } from './body-receiver.ts'
import { BodyStreamer, type Flow } from './body-streamer.ts'
import type { Edge } from './edge.ts'
import { EdgeErrors, RequestAborted } from './edge-errors.ts'
import { HeldBody } from './held-body.ts'
import { PIECE_BYTES } from './owned-bytes.ts'
import type { Pending } from './slow-readers.ts'
import { Client } from './client.ts'
import type {
  BodySource,
  BodyStream,
  FinishedRequest,
  StreamLimits,
  TakePiece,
  TransportRequest,
  TransportResponse,
} from './transport.ts'

/** Minimum size of an answer that is always counted. Smaller answers usually fit into the socket, and are counted only if they do not. */
export const COUNTED_BYTES = 64 * 1024
const NO_WORK: readonly WorkElsewhere[] = []

/**
 * The part of a request and its answer that is common to all transports. A transport constructs it, calls `serve` in the same turn, then
 * `abort` when the client disconnects, or `done` when the answer has been passed to the socket.
 */
export abstract class Exchange implements FinishedRequest, Pending {
  abstract readonly method: string
  abstract path: string
  abstract query: string
  aborted = false
  onExamined: TransportRequest['onExamined']
  plugin: string | undefined
  startedAt = 0
  readonly beat: number
  status = 0
  receivedBytes = 0
  answerBytes = 0
  rowsExamined = 0
  rowsSent = 0
  traceparent = ''
  subject: TransportRequest['subject']
  work: readonly WorkElsewhere[] = NO_WORK
  session: TransportRequest['session']
  coding: TransportRequest['coding']
  protected readonly edge: Edge
  /** The answer is complete as far as this process is concerned. */
  protected finished = false
  /** True during the turn in which the request arrived: until the handler returns or first awaits. */
  protected isFirstTurn = true
  /** Framing, size or timing of this request was wrong: the connection ends with the answer. */
  protected refused = false
  protected receiver: Receiving | undefined
  /** Body that is being sent. */
  protected source: BodySource | undefined
  #pieces: AsyncIterator<Uint8Array | string> | undefined
  #answered = false
  /** Share of this answer in the common memory budget. */
  #heldBytes = 0
  #isWatched = false
  #keptHeader: ((name: string) => string) | undefined
  #heldBody: HeldBody | undefined
  #declaredLength: number | undefined
  #host = ''
  #client: Client | undefined
  #abortCallbacks: (() => void)[] | undefined

  constructor(edge: Edge) {
    this.edge = edge
    this.beat = edge.beats[0]!
    edge.inFlight.enter()
  }

  /** Address of the other end of the connection; empty when the connection has ended. */
  protected abstract get peerAddress(): string

  /** Starts passing the body to the receiver. */
  protected abstract receive(body: Receiving): void

  /** Stops reading the socket; {@link resume} continues. Neither is called when the exchange is over. */
  protected abstract pause(): void
  protected abstract resume(): void

  /** Writes the answer; the connection ends with it if `closing`. */
  protected abstract send(answer: PreparedAnswer): void

  /** Sends a piece of a stream. @returns undefined if the socket has taken it, otherwise a promise that resolves when it has */
  protected abstract sendPiece(piece: Uint8Array): undefined | Promise<void>
  /** Ends the answer after the pieces of a stream. */
  protected abstract sendEnd(): void

  abstract get sentBytes(): number
  abstract drop(): void

  keepOpen(): void {}

  /** Checks the head, then lets the handler answer. @param eachHeader calls back with every header line, name lower-case */
  serve(eachHeader: (visit: (name: string, value: string) => void) => void): void {
    const { edge } = this
    const { guard } = edge
    if (edge.isTimed(this.method)) this.startedAt = performance.now()
    guard.begin()
    eachHeader(guard.header)
    this.receivedBytes = guard.headBytes
    this.traceparent = guard.traceparent
    const refusal = guard.verdict(this.method, this.path, this.query) ?? this.#identify()
    if (refusal) this.refuse(refusal)
    else {
      this.#declaredLength = guard.declaredLength
      this.#handle()
    }
    this.isFirstTurn = false
    const { meter } = edge.options
    if (meter && this.startedAt === 0 && !this.finished) this.startedAt = meter.turnBegan()
  }

  /** Answers with an error instead of calling the handler, and ends the connection. */
  refuse(error: ProtocolError): void {
    this.refused = true
    this.#answer(errorResponse(error))
  }

  /** Reads forwarding headers before they are gone. The address of a peer is read on demand, because it is seldom needed. */
  #identify(): ProtocolError | undefined {
    const { guard, options } = this.edge
    this.#host = guard.host
    const { trustedProxies } = options
    if (!trustedProxies || trustedProxies.isEmpty) return undefined
    try {
      this.#client = trustedProxies.clientOf(this.client, name => guard.joinLines(name))
    } catch (error) {
      if (error instanceof ProtocolError) return error
      throw error
    }
    return undefined
  }

  get host(): string {
    return this.#client ? this.#client.host : this.#host
  }

  get isSecure(): boolean {
    return this.#client ? this.#client.isSecure : this.edge.options.tls !== undefined
  }

  get client(): Client {
    this.#client ??= new Client(this.peerAddress, this.isSecure, this.#host, false)
    return this.#client
  }

  #handle(): void {
    try {
      const response = this.edge.handler(this)
      if (response instanceof Promise) {
        response.then(
          settledResponse => this.#answer(settledResponse),
          error => this.#fail(error),
        )
      } else this.#answer(response)
    } catch (error) {
      this.#fail(error)
    }
  }

  header(name: string): string {
    if (this.#keptHeader) return this.#keptHeader(name)
    if (!this.isFirstTurn)
      throw new Error(
        `the header ${name} was read after an await; headers are only available before the first await, or after keep()`,
      )
    return this.edge.guard.value(name)
  }

  keep(): void {
    if (this.#keptHeader) return
    this.#keptHeader = this.edge.guard.keep()
    if (this.receiver) return
    this.#heldBody = new HeldBody(this.#flow(), this.edge.memory)
    this.receiver = this.#heldBody
    this.receive(this.#heldBody)
  }

  body(maxBytes = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
    const { requestTimeoutMs: timeoutMs, ...limits } = this.edge.options.limits
    const bodyBytes = Math.min(maxBytes, limits.bodyBytes)
    const { memory } = this.edge
    return this.#receive(new BodyCollector({ bodyBytes, timeoutMs, memory }, this.#declaredLength))
  }

  streamBody(take: TakePiece, streamLimits: StreamLimits): Promise<void> {
    const { memory, options } = this.edge
    const limits = { ...streamLimits, timeoutMs: options.limits.requestTimeoutMs, memory }
    return this.#receive(new BodyStreamer(take, limits, this.#declaredLength, this.#flow()))
  }

  #receive<T>(receiver: BodyReceiver<T>): Promise<T> {
    if (this.#heldBody) this.#heldBody.handTo(receiver)
    else {
      this.receiver = receiver
      this.receive(receiver)
    }
    return receiver.promise
  }

  #flow(): Flow {
    return {
      pause: () => this.finished || this.pause(),
      resume: () => this.finished || this.resume(),
    }
  }

  examined(rows: number): void {
    this.rowsExamined += rows
    this.onExamined?.(rows)
  }

  sent(rows: number): void {
    this.rowsSent += rows
  }

  ran(work: WorkElsewhere): void {
    this.work = [...this.work, work]
  }

  onAborted(callback: () => void): void {
    if (this.aborted) callback()
    else if (this.#abortCallbacks) this.#abortCallbacks.push(callback)
    else this.#abortCallbacks = [callback]
  }

  /** Called when the parser cannot continue: the receiver of the body gets `error`, and the answer ends the connection. */
  breakOff(error: ProtocolError): void {
    this.refused = true
    this.receiver?.fail(error)
  }

  protected get closing(): boolean {
    return this.refused || this.edge.inFlight.draining
  }

  /** True if the body is unused and longer than any accepted body, so that the rest of it is not awaited. */
  get #leavesTooMuch(): boolean {
    return this.#declaredLength !== undefined && this.#declaredLength > this.edge.options.limits.bodyBytes
  }

  protected conclude(): void {
    const { memory, inFlight, slowReaders, options } = this.edge
    this.finished = true
    this.source?.close()
    if (this.#pieces) endStream(this.#pieces)
    if (this.#heldBytes > 0) memory.release(this.#heldBytes)
    if (this.#isWatched) slowReaders.delete(this)
    options.meter?.finished(this, this.isFirstTurn)
    inFlight.leave()
  }

  /** Sends the pieces of a stream as they arrive. A reader is considered slow only while the socket is full. */
  protected async sendStream(stream: BodyStream): Promise<void> {
    const pieces = stream[Symbol.asyncIterator]()
    this.#pieces = pieces
    try {
      for (;;) {
        const { value, done } = await pieces.next()
        if (this.finished) return
        if (done) break
        const bytes = typeof value === 'string' ? Buffer.from(value) : value
        if (!(bytes instanceof Uint8Array)) throw new TypeError(`a stream gave ${inspect(value)}; give texts or bytes`)
        for (let start = 0; start < bytes.byteLength && !this.finished; start += PIECE_BYTES) {
          const promise = this.sendPiece(bytes.subarray(start, start + PIECE_BYTES))
          if (promise) await this.#whileWatched(promise)
        }
        this.answerBytes += bytes.byteLength
      }
      if (!this.finished) this.sendEnd()
    } catch (error) {
      // A stream may fail because it was ended when the client disconnected.
      if (!this.finished) this.breakDown(error)
    }
  }

  async #whileWatched(delivery: Promise<void>): Promise<void> {
    this.watch()
    await delivery
    this.edge.slowReaders.delete(this)
    this.#isWatched = false
  }

  /** Breaks off a partly sent answer: only the end of the connection shows the client that the rest is missing. */
  protected breakDown(error: unknown): void {
    // A source that was closed when the client disconnected cannot be read further.
    if (this.finished) return
    this.edge.options.onHandlerError?.(error, this.plugin)
    this.drop()
  }

  /** Reserves memory for the part of a small answer that the socket has not taken. @returns false when there is not enough */
  protected holdRest(bytes: number): boolean {
    if (this.#heldBytes > 0) return true
    if (!this.edge.memory.tryReserve(bytes)) return false
    this.#heldBytes = bytes
    return true
  }

  /** Watches the reader; to be called when part of the answer has not been sent. */
  protected watch(): void {
    if (this.finished || this.#isWatched) return
    this.#isWatched = true
    // The log of slow requests shows the address, which cannot be read when the answer is complete.
    void this.client
    this.edge.slowReaders.add(this)
  }

  protected abort(): void {
    // The older uWebSockets.js also reports the end of a connection after a complete answer.
    if (this.finished) return
    this.aborted = true
    this.conclude()
    this.receiver?.fail(new RequestAborted())
    for (const callback of this.#abortCallbacks ?? []) {
      try {
        callback()
      } catch (error) {
        this.edge.options.onHandlerError?.(error, this.plugin)
      }
    }
  }

  #answer(response: TransportResponse): void {
    this.#endBody()
    if (this.aborted || this.#answered) {
      discard(response.body)
      return
    }
    let answer: PreparedAnswer
    try {
      answer = this.#withMemory(prepareAnswer(response))
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#answered = true
    this.status = answer.status
    if (!answer.bodiless && this.method !== 'HEAD') this.answerBytes = answer.size ?? 0
    if (isSource(answer.body)) this.source = answer.body
    if (isStream(answer.body) && (answer.bodiless || this.method === 'HEAD')) discard(answer.body)
    if (!this.isFirstTurn && this.edge.options.meter?.isSlow(this.startedAt)) void this.client
    this.send(answer)
  }

  /** Drops the rest of the body: the handler is done with it or has not requested it. */
  #endBody(): void {
    const { receiver } = this
    receiver?.release()
    if (receiver?.isTaken ? receiver.refused : this.#leavesTooMuch) this.refused = true
  }

  /** Reserves memory. Answers to methods other than GET may take twice as much: a completed change must not look like a failure. */
  #withMemory(answer: PreparedAnswer): PreparedAnswer {
    const { memory } = this.edge
    const { body, size } = answer
    const bytes = isSource(body) ? (body.bufferBytes ?? 0) : (size ?? 0)
    if (bytes < COUNTED_BYTES || this.method === 'HEAD') return answer
    if (this.method === 'GET' ? memory.tryReserve(bytes) : memory.tryReserveUrgently(bytes)) {
      this.#heldBytes = bytes
      return answer
    }
    discard(body)
    return prepareAnswer(errorResponse(noMemory(memory)))
  }

  #fail(error: unknown): void {
    this.#endBody()
    if (this.aborted && error instanceof RequestAborted) return
    this.edge.options.onHandlerError?.(error, this.plugin)
    this.#answer(errorResponse(EdgeErrors.INTERNAL_ERROR()))
  }
}
