import { Throttle } from '../../kernel/api.ts'
import { DirectoryErrors } from './errors.ts'

/** Passwords that are checked at a time; each takes a thread and 32 MiB. */
const MAX_RUNNING = 32

/** Slows guessing down. */
export class LoginThrottle {
  private readonly failures: Throttle
  private running = 0

  constructor(limit: number, now: () => number) {
    this.failures = new Throttle(limit, 60_000, now)
  }

  /** @throws {DirectoryErrors.TOO_MANY_FAILURES} 429 */
  admit(name: string, address: string): void {
    const seconds = Math.max(...keysOf(name, address).map(key => this.failures.wait(key)))
    const wait = seconds > 0 ? seconds : this.running >= MAX_RUNNING ? 1 : 0
    if (wait > 0) throw DirectoryErrors.TOO_MANY_FAILURES(wait).retryAfter(wait)
  }

  /** Counts the attempt before it is made, so that many at once are no way around; a success gives it back. */
  async watch<T>(name: string, address: string, attempt: () => Promise<T | undefined>): Promise<T | undefined> {
    const keys = keysOf(name, address)
    for (const key of keys) this.failures.count(key)
    this.running++
    try {
      const result = await attempt()
      if (result !== undefined) for (const key of keys) this.failures.takeBack(key)
      return result
    } finally {
      this.running--
    }
  }
}

const keysOf = (name: string, address: string): string[] => [`user ${name.toLowerCase()}`, `address ${address}`]
