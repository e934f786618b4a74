import type { SessionRecord } from './session.ts'
import type { SessionOptions } from './session-options.ts'

type Times = Pick<SessionRecord, 'idleMinutes' | 'expires' | 'endsAt'>

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** Minimum extension that is recorded, per minute of idle time. */
const RECORDED_MS = 6_000
/** Lifetime of a guest, used or not. */
export const GUEST_MS = 24 * HOUR_MS

/** Times of sessions: a session ends when it has been idle for too long, and at the end of its life. */
export class Lifetimes {
  /** @param now milliseconds since 1970 */
  constructor(
    private readonly options: Pick<SessionOptions, 'idleMinutes' | 'maxIdleMinutes' | 'lifetimeHours'>,
    private readonly now: () => number,
  ) {}

  /** Times of a session that begins now. @param idleMinutes requested by a login, if more than the minimum */
  begin(idleMinutes: number): Times {
    const times = { idleMinutes, expires: 0, endsAt: this.now() + this.options.lifetimeHours * HOUR_MS }
    this.setIdleMinutes(times, Math.max(idleMinutes, this.options.idleMinutes))
    return times
  }

  /** Times of a guest, which has no idle limit until something is stored for it. */
  beginGuest(madeAt: number): Times {
    const endsAt = madeAt + GUEST_MS
    return { idleMinutes: this.options.idleMinutes, expires: endsAt, endsAt }
  }

  /** Sets the idle time, within the server's limits, and restarts it. */
  setIdleMinutes(times: Times, minutes: number): void {
    times.idleMinutes = Math.min(minutes, Math.max(this.options.maxIdleMinutes, this.options.idleMinutes))
    this.restart(times)
  }

  /** Restarts the idle time. */
  restart(times: Times): void {
    times.expires = this.idleEnd(times)
  }

  /** Restarts the idle time if the extension is worth storing: not every use is. @returns true if restarted */
  extend(times: Times): boolean {
    const expires = this.idleEnd(times)
    if (expires - times.expires < Math.min(MINUTE_MS, times.idleMinutes * RECORDED_MS)) return false
    times.expires = expires
    return true
  }

  /** True after the idle time or the end of life. */
  hasExpired({ expires }: Times): boolean {
    return expires <= this.now()
  }

  /** True after the end of life, whatever the idle time: nothing can be stored for the session. */
  isOver({ endsAt }: Times): boolean {
    return endsAt <= this.now()
  }

  secondsLeft({ endsAt }: Times): number {
    return Math.max(0, Math.round((endsAt - this.now()) / 1000))
  }

  private idleEnd({ idleMinutes, endsAt }: Times): number {
    return Math.min(this.now() + idleMinutes * MINUTE_MS, endsAt)
  }
}
