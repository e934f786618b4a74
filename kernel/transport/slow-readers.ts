/** An answer that the client has not fully read. */
export interface Pending {
  /** Bytes that the client has taken. */
  readonly sentBytes: number
  /** Ends the connection. */
  drop(): void
  /** Called regularly while the answer is pending, so that a shorter timeout of the transport does not end the connection. */
  keepOpen(): void
}

export interface SlowReaderLimits {
  /** Time without progress after which a connection is closed. */
  answerTimeoutMs: number
  /** Minimum average bytes per second, once an answer has lasted twice `answerTimeoutMs`; 0 for no minimum. */
  minAnswerRate: number
}

interface Progress {
  readonly since: number
  bytes: number
  at: number
}

/** Closes the connections of clients that stop reading their answers, or read them more slowly than the minimum. */
export class SlowReaders {
  private readonly pending = new Map<Pending, Progress>()
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly limits: SlowReaderLimits) {}

  add(answer: Pending): void {
    const now = performance.now()
    this.pending.set(answer, { since: now, bytes: answer.sentBytes, at: now })
    this.timer ??= setInterval(() => this.look(), Math.min(1_000, this.limits.answerTimeoutMs / 4)).unref()
  }

  delete(answer: Pending): void {
    this.pending.delete(answer)
  }

  private look(): void {
    if (this.pending.size === 0) {
      clearInterval(this.timer)
      this.timer = undefined
    }
    const now = performance.now()
    for (const [answer, progress] of this.pending) {
      const { sentBytes } = answer
      if (sentBytes > progress.bytes) {
        progress.bytes = sentBytes
        progress.at = now
      }
      if (this.isTooSlow(progress, now)) answer.drop()
      else answer.keepOpen()
    }
  }

  private isTooSlow({ since, bytes, at }: Progress, now: number): boolean {
    const { answerTimeoutMs, minAnswerRate } = this.limits
    if (now - at > answerTimeoutMs) return true
    const elapsedMs = now - since
    return elapsedMs > 2 * answerTimeoutMs && bytes < (minAnswerRate * elapsedMs) / 1000
  }
}
