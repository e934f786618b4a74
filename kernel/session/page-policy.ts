import { isIP } from 'node:net'
import { ConfigError } from '../../config/config-error.ts'
import { isLoopback } from '../transport/loopback.ts'
import type { TransportRequest } from '../transport/transport.ts'
import { PageErrors } from './page-errors.ts'

interface PageOptions {
  /** Address that the server listens on. */
  readonly host: string
  readonly allowedHosts: readonly string[]
  readonly cors: { readonly origins: readonly string[] }
}

/** Properties of a request that concern its page. */
type PageRequest = Pick<TransportRequest, 'method' | 'header' | 'host' | 'client'>

const ENTRY = /^(?:\*|\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)$/i
/** Name or address and port of a `Host` header. */
const HOST = /^(\[[^\]]*\]|[^:[\]/\\?#@\s]+)(?::\d*)?$/

/**
 * Keeps pages of other sites from using the server through the browser of a user who can reach it.
 *
 * A page can send writes (`text/plain` forms and fetches, beacons) and GETs (images, links) anywhere, with or without cookies. Browsers
 * identify such requests: by `Sec-Fetch-Site`, or older ones by `Origin`. Programs send neither and are not limited. A page whose own name
 * points to this server (DNS rebinding) has the same origin for the browser; its `Host` reveals it. Source: Fetch Metadata, 2.3; Fetch,
 * 3.2; OWASP, Cross-Site Request Forgery Prevention.
 */
export class PagePolicy {
  readonly #origins: ReadonlySet<string>
  readonly #anyOrigin: boolean
  readonly #hosts: HostPolicy | undefined

  /** @throws {ConfigError} for invalid hosts and origins */
  constructor({ host, allowedHosts, cors }: PageOptions) {
    const wrongOrigins = cors.origins.filter(origin => origin !== '*' && !ORIGIN.test(origin))
    const wrongHosts = allowedHosts.filter(entry => !ENTRY.test(entry) && isIP(entry) === 0)
    const problems = [...wrongHosts.map(notAHost), ...wrongOrigins.map(notAnOrigin)]
    if (problems.length > 0) throw new ConfigError(problems)
    this.#origins = new Set(cors.origins)
    this.#anyOrigin = this.#origins.has('*')
    this.#hosts = HostPolicy.of(host, allowedHosts)
  }

  /**
   * Checks the host, and for all requests but reads the page. Must be called while the head can be read.
   * @param hasCookie true if a browser may have added the cookie for any page, which `*` does not allow
   * @throws {PageErrors.OTHER_HOST} {@link PageErrors.OTHER_ORIGIN} 403
   */
  admit(request: PageRequest, hasCookie: boolean): void {
    this.#hosts?.admit(request)
    if (isWrite(request.method)) this.rejectCrossOrigin(request, hasCookie)
  }

  /**
   * Checks the page, also for GETs that change something. Not called for functions that allow GET: the files that they send are meant to be
   * embedded in other pages. Must be called while the head can be read.
   * @throws {PageErrors.OTHER_ORIGIN} 403
   */
  rejectCrossOrigin(request: PageRequest, hasCookie: boolean): void {
    if (this.#anyOrigin && !hasCookie) return
    const origin = request.header('origin')
    if (origin !== '' && this.#origins.has(origin)) return
    const site = request.header('sec-fetch-site')
    // `none`: the user typed the address.
    const isForeign = site === '' ? origin !== '' && !isOwn(origin, request) : site !== 'same-origin' && site !== 'none'
    if (isForeign) throw PageErrors.OTHER_ORIGIN(origin.slice(0, 200) || 'another site')
  }
}

/** An origin as browsers send it: in lower case, without a trailing slash. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\sA-Z]+$/

const notAHost = (entry: string): string =>
  `server.allowedHosts: ${JSON.stringify(entry)} is not a host such as "data.example.com", ` +
  'a domain with all its hosts such as ".example.com", or "*"; it has neither scheme nor port'

function notAnOrigin(entry: string): string {
  const url = URL.canParse(entry) ? new URL(entry) : undefined
  const hint = url && url.origin !== 'null' ? `; did you mean ${JSON.stringify(url.origin)}?` : ''
  return `server.cors.origins: ${JSON.stringify(entry)} is not an origin such as "https://app.example.com", nor "*"${hint}`
}

export const isWrite = (method: string): boolean => method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'

/** True if a page comes from the host to which it sends. The scheme may differ: a proxy may handle TLS for the server. */
function isOwn(origin: string, request: PageRequest): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  // Parsing removes a default port, as in the origin.
  const ownOrigin = `${protocol}//${request.host}`
  return host !== '' && URL.canParse(ownOrigin) && new URL(ownOrigin).host === host
}

/** Names under which the server may be addressed. */
class HostPolicy {
  readonly #names: ReadonlySet<string>
  readonly #domains: readonly string[]
  /** No names are configured: requests that a trusted proxy forwards may then name any host. */
  readonly #isDefault: boolean
  #lastAllowed = ''

  /** Policy for the given names; undefined when every host is allowed. */
  static of(address: string, entries: readonly string[]): HostPolicy | undefined {
    if (entries.includes('*') || (entries.length === 0 && !isLoopback(address))) return undefined
    return new HostPolicy(entries.map(entry => entry.toLowerCase()))
  }

  private constructor(entries: readonly string[]) {
    this.#isDefault = entries.length === 0
    this.#names = new Set(entries.map(entry => entry.replace(/^\./, '')))
    this.#domains = entries.filter(entry => entry.startsWith('.'))
  }

  admit(request: PageRequest): void {
    const { host } = request
    if (host === this.#lastAllowed) return
    if (this.#allows(host)) this.#lastAllowed = host
    else if (!this.#isDefault || !request.client.isForwarded) throw PageErrors.OTHER_HOST(host.slice(0, 200))
  }

  /** True for an allowed host. Addresses and `localhost` are always allowed, because no foreign name can point to them. */
  #allows(host: string): boolean {
    const name = HOST.exec(host)?.[1]?.toLowerCase().replace(/\.$/, '')
    if (name === undefined) return false
    if (isIP(name) || (name.startsWith('[') && isIP(name.slice(1, -1))) || isLoopback(name)) return true
    return this.#names.has(name) || this.#domains.some(domain => name.endsWith(domain))
  }
}
