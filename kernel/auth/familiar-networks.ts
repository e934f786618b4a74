import { createHash } from 'node:crypto'
import { type ServerRecords, Sweeper } from '../../engine/index.ts'
import { recordSlices } from '../base/record-slices.ts'

/** Network from which a user logged in, with the time of the last login in milliseconds since 1970. */
interface Familiar {
  readonly network: string
  readonly at: number
}

const PREFIX = 'login/'
/** Maximum number of networks that are kept for a user; the least recently used one is dropped first. */
const MAX_NETWORKS = 8
const DAY_MS = 86_400_000
const KEPT_MS = 90 * DAY_MS

/**
 * Networks from which each user has logged in within 90 days, kept over restarts. Failures elsewhere do not lock the user out of these
 * networks.
 */
export class FamiliarNetworks {
  private readonly sweeper: Sweeper

  /** @param now milliseconds since 1970 */
  constructor(
    private readonly records: ServerRecords,
    private readonly now: () => number,
    onFailure: (error: Error) => void,
  ) {
    this.sweeper = new Sweeper(() => this.removeExpired(), DAY_MS, onFailure)
    this.sweeper.inBackground(this.sweeper.run())
  }

  has(name: string, network: string): boolean {
    return this.of(name).some(familiar => familiar.network === network && !this.hasExpired(familiar))
  }

  /** Records a login. */
  remember(name: string, network: string): void {
    const now = this.now()
    const networks = this.of(name)
    // At most one write per day and network.
    if (networks.some(familiar => familiar.network === network && now - familiar.at < DAY_MS)) return
    const otherNetworks = networks.filter(familiar => familiar.network !== network && !this.hasExpired(familiar))
    const value = [{ network, at: now }, ...otherNetworks].slice(0, MAX_NETWORKS)
    this.sweeper.inBackground(this.records.put([{ key: keyOf(name), value }]))
  }

  /** To be called before the engine is closed. */
  close(): Promise<void> {
    return this.sweeper.close()
  }

  private of(name: string): readonly Familiar[] {
    return (this.records.get(keyOf(name)) as readonly Familiar[] | undefined) ?? []
  }

  private hasExpired({ at }: Familiar): boolean {
    return this.now() - at > KEPT_MS
  }

  private async removeExpired(): Promise<void> {
    for (const slice of recordSlices(this.records, PREFIX)) {
      const expiredRecords = slice.filter(({ value }) =>
        (value as readonly Familiar[]).every(each => this.hasExpired(each)),
      )
      await this.records.put(expiredRecords.map(({ key }) => ({ key, value: undefined })))
    }
  }
}

const keyOf = (name: string): string => PREFIX + createHash('sha256').update(name).digest('hex')
