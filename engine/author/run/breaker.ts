interface BreakerOptions {
  /** Number of threads in a row that a function has to end before it is refused. */
  readonly limit: number
  /** Time for which the function is then refused. */
  readonly pauseMs: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Refuses functions that end their threads, so that a broken one does not cost a thread per call. */
export class Breaker {
  private readonly losses = new Map<string, { count: number; at: number }>()

  constructor(private readonly options: BreakerOptions) {}

  /** @returns remaining time for which the function is refused, in milliseconds; 0: it may be called */
  refusedForMs(name: string): number {
    const loss = this.losses.get(name)
    if (!loss || loss.count < this.options.limit) return 0
    return Math.max(0, loss.at + this.options.pauseMs - this.options.now())
  }

  /** Number of functions that are refused now. */
  get openCount(): number {
    return [...this.losses.keys()].filter(name => this.refusedForMs(name) > 0).length
  }

  succeeded(name: string): void {
    if (this.losses.size > 0) this.losses.delete(name)
  }

  /** Records that a function has ended its thread. After a pause, one more lost thread starts the next pause. */
  endedThread(name: string): void {
    const count = (this.losses.get(name)?.count ?? 0) + 1
    this.losses.set(name, { count, at: this.options.now() })
  }
}
