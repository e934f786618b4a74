/** A set, or what is saved of one, as far as it counts among those of guests. */
export interface GuestShare {
  readonly network: string
  /** Disk that it takes. */
  readonly bytes: number
  /** Milliseconds since 1970. */
  readonly madeAt: number
}

export interface GuestSetLimits {
  /** Bytes of all sets of guests of one network. */
  guestBytesPerAddress: number
  /** Bytes of all sets of guests. */
  maxGuestBytes: number
}

/** Sets in the order in which they were made. */
class Group {
  readonly shares = new Map<string, GuestShare>()
  bytes = 0

  put(id: string, share: GuestShare): void {
    this.bytes += share.bytes - (this.shares.get(id)?.bytes ?? 0)
    this.shares.set(id, share)
  }

  remove(id: string): void {
    this.bytes -= this.shares.get(id)?.bytes ?? 0
    this.shares.delete(id)
  }

  get oldest(): string {
    return this.shares.keys().next().value!
  }
}

/** Bounds the bytes of the sets of guests: of one network, and of all. */
export class GuestSets {
  private all = new Group()
  private readonly networks = new Map<string, Group>()

  constructor(private readonly limits: GuestSetLimits) {}

  has(id: string): boolean {
    return this.all.shares.has(id)
  }

  /** Bytes of all sets of guests. */
  get bytes(): number {
    return this.all.bytes
  }

  /** Counts a set as the newest, or again with other bytes. */
  put(id: string, share: GuestShare): void {
    const group = this.networks.get(share.network) ?? new Group()
    this.networks.set(share.network, group)
    for (const each of [this.all, group]) each.put(id, share)
  }

  remove(id: string): void {
    const share = this.all.shares.get(id)
    if (!share) return
    const group = this.networks.get(share.network)!
    for (const each of [this.all, group]) each.remove(id)
    if (group.shares.size === 0) this.networks.delete(share.network)
  }

  /** A set that has to end for the bounds: the oldest of `network` when that has too much, or the oldest of all. */
  excess(network: string): string | undefined {
    const { guestBytesPerAddress, maxGuestBytes } = this.limits
    const group = this.networks.get(network)
    if (group && group.bytes > guestBytesPerAddress) return group.oldest
    return this.all.bytes > maxGuestBytes ? this.all.oldest : undefined
  }

  /** Brings them into the order in which they were made, after those of an earlier run of the server were put. */
  sort(): void {
    const shares = [...this.all.shares].sort(([, a], [, b]) => a.madeAt - b.madeAt)
    this.all = new Group()
    this.networks.clear()
    for (const [id, share] of shares) this.put(id, share)
  }
}
