import type { Session } from './session.ts'

const MAX_HEADERS = 10_000
const MAX_LENGTH = 500

/**
 * Sessions by the `Cookie` header of their requests, in bounded memory. Hashing and deciphering cost more than a look-up by key, so
 * they are done once for each client.
 */
export class RecentCookies {
  private readonly sessions = new Map<string, Session>()

  get(header: string): Session | undefined {
    return this.sessions.get(header)
  }

  add(header: string, session: Session): void {
    if (header.length > MAX_LENGTH) return
    if (this.sessions.size >= MAX_HEADERS) this.sessions.clear()
    this.sessions.set(header, session)
  }
}
