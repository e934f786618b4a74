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
  /** Quotas set by function code; undefined for the defaults. */
  entitySets?: EntitySetQuotas
  /** Milliseconds since 1970 at which it ends even if it is used. */
  endsAt: number
  /** Address of the peer that opened it. */
  address: string
  /** Hashes of its one-time tokens, the oldest first; some may have been used up. */
  tokens?: readonly string[]
  /** Hashes of its aliases, the oldest first. */
  aliases?: readonly string[]
}

/** True if no user has logged in and nothing has been granted. */
export const isGuestRecord = ({ user, granted }: Pick<SessionRecord, 'user' | 'granted'>): boolean =>
  user === undefined && granted.privileges.length === 0 && granted.roles.length === 0

/** Sender of the request that opens a session. */
export interface Peer {
  readonly client: Client
}

/**
 * A client over several requests. Guests have sessions, too, which are stored only when there is something to store. Source: protocol
 * notes, 8.1 and 8.5.
 */
export class Session {
  /** Handle, which may be shown and stored; the id is a secret of the client. */
  #handle: string | undefined
  #record: SessionRecord | (() => SessionRecord)

  /**
   * @param id value of the cookie; undefined for a request with a key or a token, with which the session ends
   * @param record a function makes the record of a guest without grants on first use: most requests need none
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

  /** Session for one request with a key or a token. */
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

  /** Handle under which the session may hold locks; undefined for a new guest until something has asked for its handle. */
  get lockOwner(): string | undefined {
    return typeof this.#record === 'function' ? this.#handle : this.handle
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

  /** Options of an entity set that is created for the session. @param timeoutSeconds requested time; undefined for the default */
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

  /** True if the session ends with its request, because the caller has presented a key or a token. */
  get isOfToken(): boolean {
    return this.id === undefined
  }

  /** True if no user has logged in and nothing has been granted. */
  get isGuest(): boolean {
    return typeof this.#record === 'function' || isGuestRecord(this.#record)
  }

  /**
   * Network of a guest, by which the storage of guests is limited: a client without its cookie is a new guest each time. Undefined for
   * other sessions.
   */
  get guestNetwork(): string | undefined {
    return this.isGuest ? networkOf(this.record.address) : undefined
  }
}
