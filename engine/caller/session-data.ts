import type { Granted } from '../permission/roles.ts'
import type { LockInfo } from './lock-holder.ts'

/** Quotas of one session; undefined: the general ones. Source: protocol notes, 8.6. */
export interface EntitySetQuotas {
  defaultTimeoutSeconds?: number
  maxTimeoutSeconds?: number
  /** Sets that it may have at a time. */
  count?: number
}

/** The session of a request, as plain data for the thread that works for it. */
export interface SessionData {
  /** Public id; never the content of the cookie. */
  readonly id: string
  /** Empty for a guest. */
  readonly userName: string
  readonly granted: Granted
  /** All that it may do, promoted or included privileges too. */
  readonly privileges: readonly string[]
  readonly storage: Readonly<Record<string, unknown>>
  /** Milliseconds since 1970. */
  readonly expires: number
  readonly idleMinutes: number
  readonly entitySets: EntitySetQuotas
  /** Ends with its request: the caller has shown a key or a token. */
  readonly isOfToken: boolean
  /** Bytes of JSON that a guest may keep. */
  readonly guestStorageBytes: number
  /** Description of a lock's holder for other clients. */
  readonly client: LockInfo
}

/** Changes of a session by code. */
export interface SessionChanges {
  granted?: Granted & { readonly userName?: string }
  /** It has locked something: it must not be forgotten before its end, which frees that. */
  hasLocks?: true
  /** Top-level entries of the storage; undefined: removed. */
  storage?: Record<string, unknown>
  idleMinutes?: number
  entitySets?: EntitySetQuotas
  /** One-time tokens that it has made, hashed. */
  tokens?: { readonly hash: string; readonly seconds: number }[]
  /** The token, hashed, by which another session takes its place. */
  restored?: string
}
