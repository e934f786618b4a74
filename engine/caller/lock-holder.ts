import type { SessionData } from './session-data.ts'

/** Owner of a lock on an entity, as other clients see it. */
export interface LockInfo {
  /** Host as the client addressed the server: `127.0.0.1:8080`. */
  readonly host: string
  readonly IPAddr: string
  readonly userAgent: string
}

export interface LockHolder {
  /** Handle of the session. */
  readonly owner: string
  readonly info: LockInfo
  /** Duration from now; undefined: until the session ends. */
  readonly lastsMs?: number | undefined
}

/** Duration of a lock by a key or a token, which has no session that could end. */
const TOKEN_LOCK_MS = 10 * 60_000

/** A session as the holder of a lock. */
export const lockHolder = ({ id: owner, client: info, isOfToken }: SessionData): LockHolder =>
  isOfToken ? { owner, info, lastsMs: TOKEN_LOCK_MS } : { owner, info }

/** Maximum duration of a guest's lock. */
export const GUEST_LOCK_MS = 24 * 3_600_000
