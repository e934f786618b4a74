import type { ProtocolError } from '../../engine/errors.ts'
import { type Answer, isSource, prepareAnswer } from './answer.ts'
import { BodyCollector } from './body-collector.ts'
import type { BodyReceiver, Receiving } from './body-receiver.ts'
import { BodyStreamer } from './body-streamer.ts'
import { EdgeErrors, errorResponse, RequestAborted } from './edge-errors.ts'
import { RequestGuard } from './guard.ts'
import { InFlight } from './in-flight.ts'
import type {
  BodySource,
  StreamLimits,
  TakePiece,
  TransportHandler,
  TransportOptions,
  TransportRequest,
  TransportResponse,
} from './transport.ts'

/** What all requests of one listening server share. */
export class Edge {
  readonly inFlight = new InFlight()
  readonly guard: RequestGuard
  readonly options: TransportOptions
  readonly handler: TransportHandler

  constructor(options: TransportOptions, handler: TransportHandler) {
    this.options = options
    this.handler = handler
    this.guard = new RequestGuard(options.limits)
  }
}

/**
 * One request and its answer, as far as all transports do the same. A transport constructs it, calls `serve` in the same
 * turn, and reports with `abort` when the client goes away and with `done` when the answer is on its way.
 */
export abstract class Exchange implements TransportRequest {
  abstract readonly method: string
  abstract readonly path: string
  abstract readonly query: string
  abstract readonly remoteAddress: string
  aborted = false
  examined: TransportRequest['examined']
  session: TransportRequest['session']
  protected readonly edge: Edge
  /** The answer is complete as far as this process is concerned. */
  protected finished = false
  /** The turn in which the request arrived: until the handler returns or first awaits. */
  protected isFirstTurn = true
  /** Framing, size or timing of this request was wrong: the connection ends with its answer. */
  protected refused = false
  protected receiver: Receiving | undefined
  /** What is being sent. */
  protected source: BodySource | undefined
  #answered = false
  #declaredLength: number | undefined
  #abortCallbacks: (() => void)[] | undefined

  constructor(edge: Edge) {
    this.edge = edge
    edge.inFlight.enter()
  }

  /** Starts to hand the body to the receiver. */
  protected abstract receive(body: Receiving): void

  /** Stops reading the socket, and goes on. Not called when the exchange is over. */
  protected abstract pause(): void
  protected abstract resume(): void

  /** Writes the answer; the connection ends with it if `closing`. */
  protected abstract send(answer: Answer): void

  /** Checks the head, then has the handler answer. @param eachHeader calls back with every header line, name lower-case */
  serve(eachHeader: (visit: (name: string, value: string) => void) => void): void {
    const { guard } = this.edge
    guard.begin()
    eachHeader(guard.header)
    const refusal = guard.verdict(this.method, this.path, this.query)
    if (refusal) {
      this.refused = true
      this.#answer(errorResponse(refusal))
    } else {
      this.#declaredLength = guard.declaredLength
      this.#handle()
    }
    this.isFirstTurn = false
  }

  #handle(): void {
    try {
      const response = this.edge.handler(this)
      if (response instanceof Promise) {
        response.then(
          given => this.#answer(given),
          error => this.#fail(error),
        )
      } else this.#answer(response)
    } catch (error) {
      this.#fail(error)
    }
  }

  header(name: string): string {
    if (!this.isFirstTurn) throw new Error(`the header ${name} was asked for after an await, when it is gone`)
    return this.edge.guard.value(name)
  }

  body(): Promise<Uint8Array> {
    const { bodyBytes, requestTimeoutMs } = this.edge.options.limits
    return this.#receive(new BodyCollector({ bodyBytes, timeoutMs: requestTimeoutMs }, this.#declaredLength))
  }

  streamBody(take: TakePiece, limits: StreamLimits): Promise<void> {
    const flow = {
      pause: () => this.finished || this.pause(),
      resume: () => this.finished || this.resume(),
    }
    const timeoutMs = this.edge.options.limits.requestTimeoutMs
    return this.#receive(new BodyStreamer(take, { ...limits, timeoutMs }, this.#declaredLength, flow))
  }

  #receive<T>(receiver: BodyReceiver<T>): Promise<T> {
    this.receiver = receiver
    this.receive(receiver)
    return receiver.promise
  }

  onAborted(callback: () => void): void {
    if (this.aborted) callback()
    else if (this.#abortCallbacks) this.#abortCallbacks.push(callback)
    else this.#abortCallbacks = [callback]
  }

  /** The parser can read no further: what waits for the body gets `error`, and the answer ends the connection. */
  breakOff(error: ProtocolError): void {
    this.refused = true
    this.receiver?.fail(error)
  }

  protected get closing(): boolean {
    return this.refused || this.edge.inFlight.draining
  }

  /** Nobody asked for the body, and it is longer than any that would be taken: the rest of it is not waited for. */
  get #leavesTooMuch(): boolean {
    return this.#declaredLength !== undefined && this.#declaredLength > this.edge.options.limits.bodyBytes
  }

  protected done(): void {
    this.finished = true
    this.source?.close()
    this.edge.inFlight.leave()
  }

  protected abort(): void {
    // The older uWebSockets.js reports the end of a connection after a complete answer, too.
    if (this.finished) return
    this.aborted = true
    this.done()
    this.receiver?.fail(new RequestAborted())
    for (const callback of this.#abortCallbacks ?? []) callback()
  }

  #answer(response: TransportResponse): void {
    if (this.aborted || this.#answered) {
      if (isSource(response.body)) response.body.close()
      return
    }
    let answer: Answer
    try {
      answer = prepareAnswer(response)
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#answered = true
    if (isSource(answer.body)) this.source = answer.body
    if (this.receiver ? this.receiver.refused : this.#leavesTooMuch) this.refused = true
    this.send(answer)
  }

  #fail(error: unknown): void {
    if (this.aborted && error instanceof RequestAborted) return
    this.edge.options.onHandlerError?.(error)
    this.#answer(errorResponse(EdgeErrors.INTERNAL_ERROR()))
  }
}
