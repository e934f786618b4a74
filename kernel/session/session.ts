import type { CreateOptions, EntitySetQuotas, Granted } from '../../engine/index.ts'
import type { User } from '../auth/user.ts'
import { type Client, networkOf } from '../transport/client.ts'
import { handleOf } from './session-id.ts'

export const NOTHING_GRANTED: Granted = { privileges: [], roles: [] }

/** Stored record of a session. */
export interface SessionRecord {
  user: User | undefined
  granted: Granted
  storage: Record<string, unknown>
  idleMinutes: number
  /** Milliseconds since 1970. */
  expires: number
  /** As function code has set them; undefined: as for everybody. */
  entitySets?: EntitySetQuotas
  /** It ends then even when it is used. */
  endsAt: number
  /** Peer that opened it. */
  address: string
  /** Hashes of its one-time tokens, the oldest first; some may have been used up. */
  tokens?: readonly string[]
  /** Hashes of its further ids, the oldest first. */
  aliases?: readonly string[]
}

/** No user has logged in and nothing has been granted. */
export const isGuestRecord = ({ user, granted }: Pick<SessionRecord, 'user' | 'granted'>): boolean =>
  user === undefined && granted.privileges.length === 0 && granted.roles.length === 0

/** Sender of the request that opens a session. */
export interface Peer {
  readonly client: Client
}

/**
 * A client over several requests. A guest has one too, of which nothing is kept until there is something worth it.
 * Source: protocol notes, 8.1 and 8.5.
 */
export class Session {
  /** Handle, which may be shown and stored, unlike the id, which is a secret of the client. */
  #handle: string | undefined
  #record: SessionRecord | (() => SessionRecord)

  /**
   * @param id the value of the cookie; undefined for a request with a key or a token, which ends with it
   * @param record of a guest, who has been granted nothing, made when it is first asked for: most requests need none
   */
  constructor(
    readonly id: string | undefined,
    record: SessionRecord | (() => SessionRecord),
    handle?: string,
  ) {
    this.#record = record
    this.#handle = handle
  }

  get record(): SessionRecord {
    if (typeof this.#record === 'function') this.#record = this.#record()
    return this.#record
  }

  /** For one request with a key or a token. */
  static ofToken(user: User, token: string, address: string): Session {
    const record = {
      user,
      granted: user.granted,
      storage: {},
      idleMinutes: 0,
      expires: Number.POSITIVE_INFINITY,
      endsAt: Number.POSITIVE_INFINITY,
      address,
    }
    return new Session(undefined, record, handleOf(token))
  }

  get handle(): string {
    this.#handle ??= handleOf(this.id ?? '')
    return this.#handle
  }

  get user(): User | undefined {
    return this.record.user
  }

  get userName(): string {
    return this.record.user?.userName ?? ''
  }

  get granted(): Granted {
    return typeof this.#record === 'function' ? NOTHING_GRANTED : this.#record.granted
  }

  /** How an entity set is made for it. @param timeoutSeconds as the request asks; undefined: the default */
  entitySetOptions(timeoutSeconds: number | undefined): CreateOptions {
    const { defaultTimeoutSeconds, maxTimeoutSeconds, count } = this.record.entitySets ?? {}
    return {
      timeoutSeconds: timeoutSeconds ?? defaultTimeoutSeconds,
      maxTimeoutSeconds,
      creator: this.handle,
      creatorLimit: count,
      guestNetwork: this.guestNetwork,
    }
  }

  /** Ends with its request: the caller has shown a key or a token. */
  get isOfToken(): boolean {
    return this.id === undefined
  }

  /** No user has logged in and nothing has been granted. */
  get isGuest(): boolean {
    return typeof this.#record === 'function' || isGuestRecord(this.#record)
  }

  /**
   * Network that a guest came from, by which what guests keep is bounded: without its cookie a guest is a new one each time.
   * Undefined for others.
   */
  get guestNetwork(): string | undefined {
    return this.isGuest ? networkOf(this.record.address) : undefined
  }
}
