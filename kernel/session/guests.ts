import { randomBytes } from 'node:crypto'
import type { ServerRecords } from '../../engine/index.ts'
import { GUEST_MS, type Lifetimes } from './lifetimes.ts'
import { NOTHING_GRANTED, type Peer, Session, type SessionRecord } from './session.ts'
import { GuestIds } from './session-id.ts'

const KEY = 'guest-key'

/** Key of the ids of guests, created once for each store, so that ids stay valid after a restart. */
export async function guestKey(records: ServerRecords): Promise<Buffer> {
  let key = records.get(KEY)
  if (typeof key !== 'string') {
    key = randomBytes(16).toString('hex')
    await records.put([{ key: KEY, value: key }])
  }
  return Buffer.from(key as string, 'hex')
}

/** Sessions of guests for whom nothing is stored: their ids contain the time of creation. */
export class Guests {
  private ids: GuestIds

  /** @param key from {@link guestKey} @param now milliseconds since 1970 */
  constructor(
    key: Buffer,
    private readonly lifetimes: Lifetimes,
    private readonly now: () => number,
  ) {
    this.ids = new GuestIds(key, now)
  }

  /** Replaces the key by the key that several servers share. */
  use(key: Buffer): void {
    this.ids = new GuestIds(key, this.now)
  }

  /** True for an id that this server, or a server with the same key, has created. */
  hasMade(id: string): boolean {
    return this.ids.madeAt(id) !== undefined
  }

  create(peer: Peer): Session {
    return new Session(this.ids.create(), () => this.record(peer, this.now()))
  }

  /** Guest with an id; undefined when the id is too old or was not created with this key. */
  find(id: string, handle: string, peer: Peer): Session | undefined {
    const madeAt = this.ids.madeAt(id)
    if (madeAt === undefined || this.now() - madeAt > GUEST_MS) return undefined
    return new Session(id, this.record(peer, madeAt), handle)
  }

  private record({ client: { address } }: Peer, madeAt: number): SessionRecord {
    return { user: undefined, granted: NOTHING_GRANTED, storage: {}, ...this.lifetimes.beginGuest(madeAt), address }
  }
}
