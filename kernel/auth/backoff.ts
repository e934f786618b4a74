interface Failures {
  count: number
  /** Milliseconds since 1970 until which no further attempt is accepted. */
  until: number
  /** Milliseconds since 1970 at which the failures are forgotten. */
  forgottenAt: number
}

/** Maximum number of keys; the key that failed longest ago is dropped first. */
const MAX_KEYS = 20_000
const FIRST_DELAY_MS = 1000
const MAX_DELAY_MS = 900_000
const MEMORY_MS = 3_600_000

/**
 * Delays after failures, by key, in bounded memory. The first failures are free; each further one doubles the delay: 1 s, 2 s,
 * 4 s, at most 15 minutes. Failures are forgotten an hour after the last one.
 */
export class Backoff {
  /** Failures by key, in the order of the latest failure. */
  private readonly failures = new Map<string, Failures>()

  /** @param now milliseconds since 1970 */
  constructor(
    private readonly free: number,
    private readonly now: () => number,
  ) {}

  /** Seconds until the next attempt is accepted; 0 when it is accepted now. */
  wait(key: string): number {
    const failure = this.failures.get(key)
    return failure ? Math.max(0, Math.ceil((failure.until - this.now()) / 1000)) : 0
  }

  fail(key: string): void {
    const now = this.now()
    const lastFailure = this.failures.get(key)
    const count = (lastFailure && lastFailure.forgottenAt > now ? lastFailure.count : 0) + 1
    const delay = count < this.free ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (count - this.free), MAX_DELAY_MS)
    this.failures.delete(key)
    this.failures.set(key, { count, until: now + delay, forgottenAt: now + MEMORY_MS })
    if (this.failures.size > MAX_KEYS) this.failures.delete(this.failures.keys().next().value!)
  }

  /** Forgets the failures of a key. */
  forgive(key: string): void {
    this.failures.delete(key)
  }
}
