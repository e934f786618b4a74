import type { CookieOptions } from './session-cookies.ts'
import type { SessionQuotaOptions } from './session-quota.ts'

export interface SessionOptions extends CookieOptions, SessionQuotaOptions {
  /** Minutes without a request after which a session ends. */
  idleMinutes: number
  /** Maximum idle time that a login may request. */
  maxIdleMinutes: number
  /** Hours after which a session ends even if it is used. */
  lifetimeHours: number
  /** A login keeps the storage that function code filled for the guest before it. */
  keepGuestStorage: boolean
  /** Maximum bytes of JSON that function code may store for a guest. */
  guestStorageBytes: number
}
