/** A guest's set or saved query, as counted against the bounds of guests. */
export interface GuestShare {
  readonly network: string
  /** Disk space. */
  readonly bytes: number
  /** Milliseconds since 1970. */
  readonly madeAt: number
}

export interface GuestSetLimits {
  /** Maximum bytes of all guests' sets of one network. */
  guestBytesPerAddress: number
  /** Maximum bytes of all guests' sets. */ maxGuestBytes: number
}

/** Sets in the order in which they were created. */
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

/** Bounds the bytes of guests' sets, per network and in total. */
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

  /** Counts a set as the newest, or updates its bytes. */
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

  /** A set that has to end because of the bounds: the oldest of `network` if that network exceeds its bound, or the oldest of all. */
  excess(network: string): string | undefined {
    const { guestBytesPerAddress, maxGuestBytes } = this.limits
    const group = this.networks.get(network)
    if (group && group.bytes > guestBytesPerAddress) return group.oldest
    return this.all.bytes > maxGuestBytes ? this.all.oldest : undefined
  }

  /** Sorts the sets by creation time, after the sets of an earlier run of the server have been put. */
  sort(): void {
    const shares = [...this.all.shares].sort(([, a], [, b]) => a.madeAt - b.madeAt)
    this.all = new Group()
    this.networks.clear()
    for (const [id, share] of shares) this.put(id, share)
  }
}
