/** Time window in which events of a key are counted together. */
interface ThrottleWindow {
  count: number
  /** Milliseconds since 1970. */
  readonly endsAt: number
}

/** Maximum number of windows; the oldest are dropped first. */
const MAX_WINDOWS = 20_000

/** Counts events by key in windows of fixed length, in bounded memory: 20,000 keys, which callers keep short. */
export class Throttle {
  /** Windows by key, ordered by end. */
  private readonly windows = new Map<string, ThrottleWindow>()

  /** @param limit events per window; 0 for no limit @param now milliseconds since 1970 */
  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
    private readonly now: () => number,
  ) {}

  /** Seconds until the next event is accepted; 0 when it is accepted now. */
  wait(key: string): number {
    if (this.limit === 0) return 0
    const window = this.windows.get(key)
    if (!window || window.endsAt <= this.now() || window.count < this.limit) return 0
    return Math.ceil((window.endsAt - this.now()) / 1000)
  }

  /** Counts an event. @param weight number to count it as @returns its window, for {@link refund} */
  count(key: string, weight = 1): ThrottleWindow | undefined {
    if (this.limit === 0) return undefined
    const now = this.now()
    const current = this.windows.get(key)
    if (current && current.endsAt > now) {
      current.count += weight
      return current
    }
    const window = { count: weight, endsAt: now + this.windowMs }
    this.windows.delete(key)
    this.windows.set(key, window)
    for (const [oldest, { endsAt }] of this.windows) {
      if (endsAt > now && this.windows.size <= MAX_WINDOWS) break
      this.windows.delete(oldest)
    }
    return window
  }

  /** Number of events of each key in its current window. */
  *counts(): Iterable<readonly [key: string, count: number]> {
    const now = this.now()
    for (const [key, { count, endsAt }] of this.windows) if (endsAt > now) yield [key, count]
  }

  /** Takes an event out of the window that counted it. */
  refund(window: ThrottleWindow | undefined): void {
    if (window) window.count--
  }
}
