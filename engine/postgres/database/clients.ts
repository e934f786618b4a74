import type pg from 'pg'

type Pool = InstanceType<typeof pg.Pool>

/** A connection of the driver. */
export type Client = pg.PoolClient & { readonly processID: number; end(): Promise<void> }

/** Time after which unused connections return to the pool, which closes them later, in milliseconds. */
const UNUSED_MS = 1_000

interface Waiter {
  readonly since: number
  resolve(client: Promise<Client> | Client): void
  reject(error: Error): void
}

/**
 * The connections of a pool that are in use, or were a moment ago: the next statement takes one of these without the pool, whose timers and
 * listeners cost more than a small statement.
 */
export class Clients {
  private readonly spare: Client[] = []
  private readonly waiters: Waiter[] = []
  private readonly lost = new WeakSet<Client>()
  /** Number of connections that the pool has handed out. */
  private taken = 0
  private returning: NodeJS.Timeout | undefined
  private refusing: NodeJS.Timeout | undefined
  private isClosed = false

  /**
   * @param waitMs maximum time to wait for a connection that is in use
   * @param refuse creates the error when that time is over
   */
  constructor(
    private readonly pool: Pool,
    private readonly size: number,
    private readonly waitMs: number,
    private readonly refuse: () => Error,
  ) {
    pool.on('connect', client => {
      const drop = (): void => this.drop(client as Client)
      client.on('error', drop)
      client.on('end', drop)
    })
  }

  /** @throws {Error} of the driver, or {@link refuse} */
  take(): Promise<Client> | Client {
    const client = this.spare.pop()
    if (client) return client
    if (this.taken < this.size) return this.connect()
    return new Promise((resolve, reject) => {
      this.waiters.push({ since: performance.now(), resolve, reject })
      this.refusing ??= setTimeout(() => this.refuseWaiting(), this.waitMs).unref()
    })
  }

  /** @param isBroken true if the connection cannot be used again */
  give(client: Client, isBroken: boolean): void {
    const isLost = isBroken || this.lost.has(client)
    if (isLost || this.isClosed) {
      this.taken--
      client.release(isLost)
      if (!this.isClosed) this.waiters.shift()?.resolve(this.connect())
      return
    }
    const waiter = this.waiters.shift()
    if (waiter) waiter.resolve(client)
    else {
      this.spare.push(client)
      this.returning ??= setTimeout(() => this.returnSpare(), UNUSED_MS).unref()
    }
  }

  /** Waits until all connections have been given back, and closes them. */
  close(): Promise<void> {
    this.isClosed = true
    this.returnSpare()
    clearTimeout(this.refusing)
    for (const { reject } of this.waiters.splice(0)) reject(this.refuse())
    return this.pool.end()
  }

  private async connect(): Promise<Client> {
    this.taken++
    try {
      return (await this.pool.connect()) as Client
    } catch (error) {
      this.taken--
      this.waiters.shift()?.resolve(this.connect())
      throw error
    }
  }

  private returnSpare(): void {
    clearTimeout(this.returning)
    this.returning = undefined
    this.taken -= this.spare.length
    for (const client of this.spare.splice(0)) client.release()
  }

  /** Removes a lost connection. One that is in use is removed when it is given back. */
  private drop(client: Client): void {
    this.lost.add(client)
    const at = this.spare.indexOf(client)
    if (at < 0) return
    this.spare.splice(at, 1)
    this.taken--
    client.release(true)
  }

  private refuseWaiting(): void {
    const before = performance.now() - this.waitMs
    while (this.waiters.length > 0 && this.waiters[0]!.since <= before) this.waiters.shift()!.reject(this.refuse())
    const [first] = this.waiters
    this.refusing = first && setTimeout(() => this.refuseWaiting(), first.since - before).unref()
  }
}
