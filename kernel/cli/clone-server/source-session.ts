/** Logins of one request that lead to other cookies once more. Then these are not cookies of the session, but of a load balancer. */
const MAX_LOGINS = 2

/** Cookies of a source, and the login. A request knows with which it was sent. */
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
   * Takes the cookies of an answer. One to a request that was sent before a later login is left.
   * @returns true if the answer belongs to another session than the one that logged in: a server that was started again, or that ended the
   * session, may begin a new one without a word, in which less can be read
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

  /** The session of a request has ended: the next one logs in. */
  end(): void {
    if (this.login) this.isLoggedIn = false
  }
}
