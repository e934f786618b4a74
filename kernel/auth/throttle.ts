interface Window {
  count: number
  endsAt: number
}

/** Windows kept at a time; the oldest go first. */
const MAX_WINDOWS = 20_000

/** Counts events by key in windows of fixed length, in bounded memory. */
export class Throttle {
  /** In the order of their ends. */
  private readonly windows = new Map<string, Window>()

  /** @param limit events in a window; 0: no limit @param now milliseconds since 1970 */
  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
    private readonly now: () => number,
  ) {}

  /** Seconds until the next event is taken; 0 when it is taken now. */
  wait(key: string): number {
    if (this.limit === 0) return 0
    const window = this.windows.get(key)
    if (!window || window.endsAt <= this.now() || window.count < this.limit) return 0
    return Math.ceil((window.endsAt - this.now()) / 1000)
  }

  /** An event has happened. @param weight counts as that many */
  count(key: string, weight = 1): void {
    if (this.limit === 0) return
    const now = this.now()
    const window = this.windows.get(key)
    if (window && window.endsAt > now) {
      window.count += weight
      return
    }
    this.windows.delete(key)
    this.windows.set(key, { count: weight, endsAt: now + this.windowMs })
    for (const [oldest, { endsAt }] of this.windows) {
      if (endsAt > now && this.windows.size <= MAX_WINDOWS) return
      this.windows.delete(oldest)
    }
  }

  /** An event that was counted does not count after all. */
  takeBack(key: string): void {
    const window = this.windows.get(key)
    if (window) window.count--
  }
}
