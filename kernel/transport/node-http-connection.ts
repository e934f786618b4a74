import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ProtocolError } from '../../engine/index.ts'
import type { EncodedConnection } from './encoded-connection.ts'

/** Number of waiting requests at which reading from a connection pauses. The requests of one packet are parsed in any case. */
const MAX_WAITING = 16

/** Request that is being served. */
interface Serving {
  readonly isOver: boolean
  breakOff(error: ProtocolError): void
}

interface Waiting {
  readonly serve: () => Serving
  /** Error of the parser in the body of this request. */
  error?: ProtocolError
}

/**
 * One connection, whose requests are served one at a time. A request that the client sends before the answer to the previous one
 * (pipelining) waits until that answer has been sent: it may depend on what the previous one changes (RFC 9112, 9.3.2), and at most one
 * answer is held for a client that does not read.
 */
export class NodeHttpConnection {
  /** Reads the bytes of this connection again if the parser has refused them. */
  encodedConnection: EncodedConnection | undefined
  readonly #socket: Duplex
  readonly #waiting: Waiting[] = []
  #latest: IncomingMessage | undefined
  #serving: Serving | undefined
  #isEnding = false
  #isHeld = false
  /** Called when no request is left to serve. */
  #atLast: (() => void) | undefined
  #headTimer: NodeJS.Timeout | undefined

  constructor(socket: Duplex) {
    this.#socket = socket
  }

  /** True while a request is being served or its answer is being sent. */
  get isBusy(): boolean {
    return this.#serving !== undefined && !this.#serving.isOver
  }

  /** Takes a request that has arrived. @param serve starts serving the request when it is due; calls {@link served} in a later turn */
  take(req: IncomingMessage, serve: () => Serving): void {
    if (this.#isOver) return
    clearTimeout(this.#headTimer)
    this.#atLast = undefined
    this.#latest = req
    if (!this.isBusy) this.#serving = serve()
    else {
      this.#waiting.push({ serve })
      if (this.#waiting.length === MAX_WAITING) this.#hold()
    }
  }

  /** Called when a request has been answered, or its client has disconnected. */
  served(): void {
    if (this.#isOver) return
    const next = this.#waiting.shift()
    if (!next) {
      this.#atLast?.()
      return
    }
    if (this.#waiting.length < MAX_WAITING) this.#release()
    this.#serving = next.serve()
    if (next.error) this.#serving.breakOff(next.error)
  }

  /** Serves no further request: the connection ends with the current answer. */
  end(): void {
    this.#isEnding = true
  }

  /**
   * Called when the parser cannot continue. An error in the body of a request aborts that request.
   * @param refuse answers any other unreadable input after the preceding requests have been answered, and closes the connection
   */
  breakOff(error: ProtocolError, refuse: () => void): void {
    if (this.#isOver) return
    const last = this.#waiting.at(-1)
    if (!this.isBusy) {
      this.end()
      refuse()
    } else if (this.#latest?.complete) this.#atLast = () => this.breakOff(error, refuse)
    else if (last) last.error = error
    else this.#serving!.breakOff(error)
  }

  /** Gives a late head the full time again after the other answers, since the connection may not have been read in the meantime. */
  wait(timeoutMs: number, timedOut: () => void): void {
    this.#atLast = () => {
      this.#headTimer = setTimeout(timedOut, timeoutMs).unref()
    }
  }

  /** True if a request was refused (ending), an answer had `Connection: close`, or the client has disconnected (not writable). */
  get #isOver(): boolean {
    return this.#isEnding || !this.#socket.writable
  }

  /** Stops reading. Node.js resumes the socket at the end of each request. */
  #hold(): void {
    this.#isHeld = true
    this.#socket.pause().on('resume', this.#pause)
  }

  #release(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#socket.off('resume', this.#pause).resume()
  }

  readonly #pause = (): void => {
    this.#socket.pause()
  }
}
