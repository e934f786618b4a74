import { Throttle } from '../auth/throttle.ts'
import type { Session } from './session.ts'
import { SessionErrors } from './session-errors.ts'

/** Limits per minute; 0 for no limit. */
export interface RequestQuotaOptions {
  requestsPerSession: number
  requestsPerAddress: number
  /** Maximum number of rows examined. */
  costPerSession: number
  costPerAddress: number
  /** Maximum number of parallel requests of an address. */
  concurrentPerAddress: number
}

/** Use of the quotas by one session or one network in the current minute. */
interface QuotaUse {
  /** Handle of the session, or the network. */
  readonly name: string
  readonly requests: number
  /** Rows examined. */
  readonly cost: number
}

/** Quotas with their current use, largest first. */
export interface QuotaReport {
  readonly limits: RequestQuotaOptions
  readonly sessions: readonly QuotaUse[]
  readonly addresses: readonly (QuotaUse & { readonly concurrent: number })[]
}

const MINUTE_MS = 60_000

/** Quotas per minute of a session and of an address. */
export class RequestQuota {
  private readonly requests: Throttle
  private readonly addressRequests: Throttle
  private readonly cost: Throttle
  private readonly addressCost: Throttle
  private readonly concurrent = new Map<string, number>()
  readonly isLimited: boolean

  constructor(
    private readonly options: RequestQuotaOptions,
    now: () => number,
  ) {
    const throttle = (limit: number) => new Throttle(limit, MINUTE_MS, now)
    this.requests = throttle(options.requestsPerSession)
    this.addressRequests = throttle(options.requestsPerAddress)
    this.cost = throttle(options.costPerSession)
    this.addressCost = throttle(options.costPerAddress)
    this.isLimited = Object.values(options).some(limit => limit > 0)
  }

  /** Counts the start of a request; {@link leave} must follow. @throws {SessionErrors.TOO_MANY_REQUESTS} 429 */
  enter(session: Session, address: string): void {
    if (!this.isLimited) return
    const { options } = this
    const refuse = (limit: string, seconds: number) => {
      if (seconds > 0) throw SessionErrors.TOO_MANY_REQUESTS(limit, seconds).retryAfter(seconds)
    }
    refuse(`the quota of ${options.requestsPerAddress} requests a minute`, this.addressRequests.wait(address))
    refuse(`the quota of ${options.costPerAddress} examined rows a minute`, this.addressCost.wait(address))
    // A guest without a cookie is a new one each time: only the limit of the address applies to it.
    refuse(`the quota of ${options.requestsPerSession} requests a minute`, this.requests.wait(session.handle))
    refuse(`the quota of ${options.costPerSession} examined rows a minute`, this.cost.wait(session.handle))
    const runningCount = this.concurrent.get(address) ?? 0
    if (options.concurrentPerAddress > 0 && runningCount >= options.concurrentPerAddress) {
      refuse(`the quota of ${options.concurrentPerAddress} requests at a time`, 1)
    }
    this.concurrent.set(address, runningCount + 1)
    this.addressRequests.count(address)
    this.requests.count(session.handle)
  }

  /** @param limit maximum number of sessions and of addresses in the report */
  report(limit: number): QuotaReport {
    const addresses = usesOf(this.addressRequests, this.addressCost, limit)
    return {
      limits: this.options,
      sessions: usesOf(this.requests, this.cost, limit),
      addresses: addresses.map(use => ({ ...use, concurrent: this.concurrent.get(use.name) ?? 0 })),
    }
  }

  /** Counts the end of a request. */
  leave(address: string): void {
    if (!this.isLimited) return
    const remainingCount = this.concurrent.get(address)! - 1
    if (remainingCount === 0) this.concurrent.delete(address)
    else this.concurrent.set(address, remainingCount)
  }

  /** Charges the cost of a request. @param rows number of examined rows */
  charge(session: Session, address: string, rows: number): void {
    if (!this.isLimited) return
    this.cost.count(session.handle, rows)
    this.addressCost.count(address, rows)
  }
}

function usesOf(requests: Throttle, cost: Throttle, limit: number): QuotaUse[] {
  const uses = new Map<string, QuotaUse>()
  for (const [name, count] of requests.counts()) uses.set(name, { name, requests: count, cost: 0 })
  for (const [name, count] of cost.counts()) uses.set(name, { requests: 0, ...uses.get(name), name, cost: count })
  return [...uses.values()].sort((a, b) => b.requests - a.requests || b.cost - a.cost).slice(0, limit)
}
