import { isThenable } from '../../base/promised.ts'
import { inContext, type RunningCall } from '../declare/running-call.ts'
import { settle } from './settle.ts'
import type { StreamHead } from './tasks.ts'

/** An answer whose values are sent as they are produced. */
export interface Streaming {
  readonly stream: {
    readonly head: StreamHead
    readonly values: Iterator<unknown> | AsyncIterator<unknown>
    /** True if each value arrives as a promise. */
    readonly isAsync: boolean
    /** A value as it is sent. */
    write(value: unknown): string | Uint8Array
    /** Releases what the values are read from; called when the client has gone. */
    destroy?(): void
  }
}

interface Surroundings {
  readonly call: RunningCall
  /** Runs code of the call. */
  run(work: () => void): void
  onHead(head: StreamHead): void
  /** @returns its size as the client will report it */
  onChunk(chunk: string | Uint8Array): number
  /** Called once: after the last value, or with what was thrown instead of it. */
  onEnd(failure: { readonly exception: unknown } | undefined): void
}

/** Values are sent together up to this size, in characters or bytes. */
const CHUNK = 32 * 1024
/** Maximum size of chunks that the client has not taken. */
const AHEAD = 128 * 1024
const TURN_MS = 10

/**
 * Takes the values of a generator, and sends them in chunks, as fast as the client takes them. A value is not held back while the next one
 * is awaited. The time limits of the call restart with each value; time lost to a slow client does not count.
 */
export class ResultStream {
  private parts: (string | Uint8Array)[] = []
  /** Size of `parts`. */
  private size = 0
  /** True if the client has taken something. */
  private isRead = false
  /** Size of the chunks that the client has not taken. */
  private ahead = 0
  private hasHead = false
  private isOver = false
  private isPaused = false
  private isGone = false
  private isFlushing = false
  private turnEndsAt = 0

  constructor(
    private readonly stream: Streaming['stream'],
    private readonly surroundings: Surroundings,
    /** Time for which code that never waits runs before other calls get their turn. */
    private readonly turnMs = TURN_MS,
  ) {}

  start(): void {
    inContext({ call: this.surroundings.call }, () => setImmediate(this.goOn))
  }

  /** Called when the client has taken some of the chunks. */
  taken(size: number): void {
    this.isRead = true
    this.ahead -= size
    if (!this.isPaused || this.ahead >= AHEAD) return
    this.isPaused = false
    this.restart()
  }

  /** Called when the client has disconnected: as soon as the generator does not wait, it is ended and its `finally` runs. */
  gone(): void {
    if (this.isOver || this.isGone) return
    this.isGone = true
    if (this.isPaused) this.surroundings.call.waitsSince = performance.now()
    this.drop()
    inContext({ call: this.surroundings.call }, () =>
      setImmediate(() => this.close(work => this.surroundings.run(work))),
    )
  }

  /** Ends the stream with an error; code that still runs has no effect. */
  stop(exception: unknown): void {
    if (this.isOver) return
    this.end({ exception })
    // Its data can no longer be reached.
    inContext({ call: this.surroundings.call }, () => this.close(work => work()))
  }

  private restart(): void {
    this.surroundings.call.waitsSince = performance.now()
    inContext({ call: this.surroundings.call }, () => setImmediate(this.goOn))
  }

  private readonly goOn = (): void => {
    this.turnEndsAt = performance.now() + this.turnMs
    this.during(() => this.take())
  }

  private during(work: () => void): void {
    if (this.isOver || this.isGone) return
    try {
      this.surroundings.run(work)
    } catch (exception) {
      this.end({ exception })
    }
  }

  /** Takes values until it has to wait for one, for the client or for other calls. */
  private take(): void {
    const { values, isAsync } = this.stream
    const { call } = this.surroundings
    while (!this.isOver) {
      if (this.size >= CHUNK) this.flush()
      if (this.ahead >= AHEAD) {
        this.isPaused = true
        // Time spent waiting for a slow client is not charged; a stream that is never read ends at its deadline.
        if (this.isRead) call.waitsSince = Number.POSITIVE_INFINITY
        return
      }
      if (performance.now() > this.turnEndsAt) {
        this.flush()
        setImmediate(this.goOn)
        return
      }
      // The next promise is the one that the generator returns for a value.
      call.beginsFunction = isAsync
      const next = values.next()
      call.beginsFunction = false
      if (isThenable(next)) {
        settle(next, this.arrived, this.onFailure)
        this.flushSoon()
        return
      }
      this.add(next)
    }
  }

  private readonly arrived = (next: unknown): void =>
    this.during(() => {
      this.add(next as IteratorResult<unknown>)
      this.take()
    })

  private readonly onFailure = (exception: unknown): void => this.end({ exception })

  private add({ done, value }: IteratorResult<unknown>): void {
    if (done) {
      this.end(undefined)
      return
    }
    const part = this.stream.write(value)
    if (part.length > 0) this.parts.push(part)
    this.size += part.length
    const { call } = this.surroundings
    call.ranMs = 0
    call.waitsSince = performance.now()
  }

  /** Sends the values so far, unless the next one arrives in this turn. */
  private flushSoon(): void {
    if (this.isFlushing || this.size === 0) return
    this.isFlushing = true
    setImmediate(() => {
      this.isFlushing = false
      if (!this.isOver) this.flush()
    })
  }

  private flush(): void {
    if (this.size === 0) return
    const { parts } = this
    this.drop()
    if (this.isGone) return
    this.sendHead()
    this.ahead += this.surroundings.onChunk(joinParts(parts))
  }

  private sendHead(): void {
    if (!this.hasHead) this.surroundings.onHead(this.stream.head)
    this.hasHead = true
  }

  private drop(): void {
    this.parts = []
    this.size = 0
  }

  private end(failure: { exception: unknown } | undefined): void {
    if (this.isOver) return
    this.flush()
    if (!failure) this.sendHead()
    this.isOver = true
    this.surroundings.onEnd(this.isGone ? undefined : failure)
  }

  private close(run: (work: () => void) => void): void {
    const { values } = this.stream
    const finish = (): void => this.end(undefined)
    try {
      this.stream.destroy?.()
      run(() => {
        const last = values.return?.()
        if (isThenable(last)) settle(last, finish, this.onFailure)
        else finish()
      })
    } catch (exception) {
      this.end({ exception })
    }
  }
}

/** One chunk of the parts. Bytes are copied, because their buffer may be shared. */
function joinParts(parts: readonly (string | Uint8Array)[]): string | Uint8Array {
  if (parts.every(part => typeof part === 'string')) return parts.join('')
  return Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : part)))
}
