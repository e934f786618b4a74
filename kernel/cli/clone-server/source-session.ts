/**
 * Maximum number of logins of one request that each change the cookies again. After that, the cookies are assumed to belong to a load
 * balancer.
 */
const MAX_LOGINS = 2

/** Cookies of a source, and the login. Each request keeps the cookies with which it was sent. */
export class SourceSession {
  private readonly cookies = new Map<string, string>()
  private loggingIn: Promise<void> | undefined
  private isLoggedIn: boolean
  /** Cookies that existed when the login was complete. */
  private names: ReadonlySet<string> = new Set()
  private readonly ignoredNames = new Set<string>()

  constructor(private readonly login: (() => Promise<void>) | undefined) {
    this.isLoggedIn = login === undefined
  }

  /** True if a request can be sent in the session. */
  get isReady(): boolean {
    return this.isLoggedIn
  }

  /** Logs in. @throws errors of the login; the next call tries again */
  ready(): Promise<void> {
    this.loggingIn ??= this.login!()
      .then(() => {
        this.names = new Set(this.cookies.keys())
        this.isLoggedIn = true
      })
      .finally(() => {
        this.loggingIn = undefined
      })
    return this.loggingIn
  }

  /** Present cookies, for {@link isOther} and {@link end}. */
  snapshot(): ReadonlyMap<string, string> {
    return new Map(this.cookies)
  }

  /**
   * Takes the cookies of an answer. A cookie for a request that was sent before a later login is ignored.
   * @returns true if the answer belongs to another session than the one that logged in: a server that was restarted, or that ended the
   * session, may silently begin a new session with fewer rights
   */
  isOther(set: readonly string[], sentCookies: ReadonlyMap<string, string>, logins: number): boolean {
    let isOther = false
    for (const cookie of set) {
      const [, name, value] = /^\s*([^=;\s]+)=([^;]*)/.exec(cookie) ?? []
      if (name === undefined) continue
      const isChanged = this.names.has(name) && sentCookies.get(name) !== value && !this.ignoredNames.has(name)
      if (isChanged && logins >= MAX_LOGINS) this.ignoredNames.add(name)
      else isOther ||= isChanged
      if (this.cookies.get(name) === sentCookies.get(name)) this.cookies.set(name, value!)
    }
    return isOther
  }

  /** Called when the session of a request has ended: the next request logs in. */
  end(): void {
    if (this.login) this.isLoggedIn = false
  }
}
