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

/** Maximum duration of a guest's lock. */
export const GUEST_LOCK_MS = 24 * 3_600_000
