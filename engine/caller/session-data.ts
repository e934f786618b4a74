import type { Granted } from '../permission/roles.ts'
import type { LockHolder, LockInfo } from './lock-holder.ts'

/** Quotas of one session; undefined: the server's defaults. Source: protocol notes, 8.6. */
export interface EntitySetQuotas {
  defaultTimeoutSeconds?: number
  maxTimeoutSeconds?: number
  /** Maximum number of entity sets. */
  count?: number
}

/** The session of a request, as plain data for the thread that handles it. */
export interface SessionData {
  /** Public id; never the content of the cookie. */
  readonly id: string
  /** Empty for a guest. */
  readonly userName: string
  readonly granted: Granted
  /** All privileges, including promoted and included ones. */
  readonly privileges: readonly string[]
  readonly storage: Readonly<Record<string, unknown>>
  /** Milliseconds since 1970. */
  readonly expires: number
  readonly idleMinutes: number
  readonly entitySets: EntitySetQuotas
  /** True if it ends with its request, because the caller used a key or a token. */
  readonly isOfToken: boolean
  /** Maximum bytes of JSON in the storage of a guest. */
  readonly guestStorageBytes: number
  /** Description of a lock's holder for other clients. */
  readonly client: LockInfo
}

/** Duration of a lock by a key or a token, which has no session that could end. */
const TOKEN_LOCK_MS = 10 * 60_000

/** A session as the holder of a lock. */
export const lockHolder = ({ id: owner, client: info, isOfToken }: SessionData): LockHolder =>
  isOfToken ? { owner, info, lastsMs: TOKEN_LOCK_MS } : { owner, info }

/** Changes of a session by plugin code. */
export interface SessionChanges {
  granted?: Granted & { readonly userName?: string }
  /** Set if the session has locks: it must be kept until its end, which frees them. */
  hasLocks?: true
  /** Top-level entries of the storage; undefined: removed. */
  storage?: Record<string, unknown>
  idleMinutes?: number
  entitySets?: EntitySetQuotas
  /** Hashes of new one-time tokens. */
  tokens?: { readonly hash: string; readonly seconds: number }[]
  /** Hash of the token with which another session replaces this one. */
  restored?: string
}
