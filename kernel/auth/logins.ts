import pLimit, { type LimitFunction } from 'p-limit'
import { AuthErrors } from './auth-errors.ts'
import { Backoff } from './backoff.ts'
import type { Directory } from './directory.ts'
import type { FamiliarNetworks } from './familiar-networks.ts'
import { Throttle } from './throttle.ts'
import type { User } from './user.ts'

export interface LoginOptions {
  maxNameLength: number
  maxPasswordBytes: number
  /** Failures of one name from one network after which each further failure causes a delay. */
  failuresPerPair: number
  /** Maximum number of failures from one network in ten minutes. */
  failuresPerNetwork: number
  /** Maximum number of failures of one name in an hour, from networks that are not familiar. */
  failuresPerName: number
  /** Maximum number of passwords that are checked in parallel. */
  concurrency: number
  /** Maximum number of logins that wait for one of those checks to end. */
  queueLimit: number
}

const NETWORK_WINDOW_MS = 600_000
const NAME_WINDOW_MS = 3_600_000

/**
 * Checks user names and passwords: oversized input is refused, guessing is slowed down, and only a few checks run in parallel.
 *
 * Failures are counted for each pair of name and network, for each network, and for each name. The last two do not apply to a
 * user in a network from which that user has logged in before: failures elsewhere do not lock the user out there.
 */
export class Logins {
  private readonly pairs: Backoff
  private readonly networks: Throttle
  private readonly names: Throttle
  private readonly checks: LimitFunction

  /**
   * @param now milliseconds since 1970
   * @param refresh called before each check, whatever the name, so that its time reveals nothing: a new user may log in at once
   */
  constructor(
    private readonly identities: { readonly directory: Pick<Directory, 'authenticate'> },
    private readonly familiar: Pick<FamiliarNetworks, 'has' | 'remember'>,
    private readonly options: LoginOptions,
    now: () => number,
    private readonly refresh: () => Promise<void> = async () => {},
  ) {
    this.pairs = new Backoff(options.failuresPerPair, now)
    this.networks = new Throttle(options.failuresPerNetwork, NETWORK_WINDOW_MS, now)
    this.names = new Throttle(options.failuresPerName, NAME_WINDOW_MS, now)
    this.checks = pLimit(options.concurrency)
  }

  /**
   * Finds the user with this name and password; undefined for a failed login, whatever the reason.
   * @param network of the client: its address, for IPv6 the first 64 bits
   * @throws {AuthErrors.NAME_TOO_LONG} {@link AuthErrors.PASSWORD_TOO_LONG} 400
   * @throws {AuthErrors.TOO_MANY_FAILURES} 429, {@link AuthErrors.TOO_MANY_LOGINS} 503, both with the time to wait
   */
  async check(name: string, password: string, network: string): Promise<User | undefined> {
    const { maxNameLength, maxPasswordBytes, queueLimit } = this.options
    if (name.length > maxNameLength) throw AuthErrors.NAME_TOO_LONG(name.length, maxNameLength)
    const bytes = Buffer.byteLength(password)
    if (bytes > maxPasswordBytes) throw AuthErrors.PASSWORD_TOO_LONG(bytes, maxPasswordBytes)

    const key = name.toLowerCase()
    const pair = `${key}\n${network}`
    const isFamiliar = this.familiar.has(key, network)
    const seconds = Math.max(
      this.pairs.wait(pair),
      isFamiliar ? 0 : this.networks.wait(network),
      isFamiliar ? 0 : this.names.wait(key),
    )
    if (seconds > 0) throw AuthErrors.TOO_MANY_FAILURES(seconds).retryAfter(seconds)
    if (this.checks.pendingCount >= queueLimit) throw AuthErrors.TOO_MANY_LOGINS(queueLimit).retryAfter(1)

    // Counted before the check, so that parallel attempts cannot bypass the limit.
    this.pairs.fail(pair)
    const counts = isFamiliar ? [] : [this.networks.count(network), this.names.count(key)]
    const user = await this.checks(async () => {
      await this.refresh()
      return this.identities.directory.authenticate(name, password)
    })
    if (!user) return undefined
    this.pairs.forgive(pair)
    this.networks.refund(counts[0])
    this.names.refund(counts[1])
    this.familiar.remember(key, network)
    return user
  }
}
