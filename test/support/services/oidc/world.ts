import type { Test } from 'tap'
import { request } from 'undici'
import type { TransportName } from '../../../../kernel/transport/transport.ts'
import { type LogLine, logSink } from '../../base/log-sink.ts'
import { startConfigured } from '../../servers/configured-server.ts'
import { transports } from '../../servers/test-server.ts'
import { OIDC_CLIENT, type OidcProvider, startOidcProvider } from './provider.ts'

/** Address at which browsers of the tests reach the server; they bring requests for it to its real one, as a proxy with TLS would. */
export const PUBLIC = 'https://data.example.com'

export const ROLES = {
  privileges: [{ privilege: 'view' }, { privilege: 'change' }],
  roles: [
    { role: 'reader', privileges: ['view'] },
    { role: 'editor', privileges: ['view', 'change'] },
  ],
  permissions: { allowed: [{ applyTo: 'ds', type: 'datastore', read: ['view'], update: ['change'] }] },
  forceLogin: true,
}

export interface OidcWorld {
  readonly url: string
  readonly lines: LogLine[]
  readonly browser: () => Browser
}

interface WorldOptions {
  readonly providers: Readonly<Record<string, object>>
  readonly basePath?: string
  readonly publicUrl?: string
  /** Content of roles.json; null for none. */
  readonly roles?: object | null
  readonly directory?: object
  readonly now?: () => number
  readonly transport?: TransportName
}

/** A server with the plugin, which logs everything that it can. */
export async function startOidcServer(
  t: Test,
  {
    providers,
    basePath = '',
    publicUrl = PUBLIC,
    roles = ROLES,
    directory,
    now,
    transport = transports[0]!,
  }: WorldOptions,
): Promise<OidcWorld> {
  const { lines, logger } = logSink('trace')
  const { server } = await startConfigured(t, {
    fixture: { rows: {} },
    logger: () => logger,
    files: { ...(roles && { 'roles.json': roles }), ...(directory && { 'tesser.directory.json': directory }) },
    ...(now && { now }),
    config: {
      plugins: [{ plugin: 'tesser/plugins/oidc', options: { publicUrl, providers } }],
      server: {
        transport,
        basePath,
        trustedProxies: ['loopback'],
        allowedHosts: ['data.example.com'],
        accessLog: true,
      },
      log: { slowQueryMs: 1, slowQueryValues: true },
      storage: { mapSizeBytes: '64 MiB', memoryBytes: 0 },
    },
  })
  return { url: server.url, lines, browser: () => new Browser(server.url, basePath) }
}

/** A provider, and the options of one that the plugin needs for it. */
export async function oidcProvider(t: Test, name: string, options: object = {}, basePath = '') {
  const provider = await startOidcProvider(t, `${PUBLIC}${basePath}/auth/${name}/callback`)
  const all = { issuer: provider.issuer, clientId: OIDC_CLIENT.id, clientSecret: OIDC_CLIENT.secret, ...options }
  return { provider, options: all }
}

export interface PageAnswer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
  /** Address of the answer, after all redirects. */
  readonly address: string
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
  readonly json: any
}

/** As much of a browser as a login needs: cookies for the server, and redirects. */
export class Browser {
  readonly cookies = new Map<string, string>()

  constructor(
    private readonly url: string,
    readonly basePath: string,
  ) {}

  /** Opens an address, and follows redirects until one leads to an address that begins with `until`. */
  async open(address: string, until?: string, method: 'GET' | 'POST' = 'GET', headers = {}): Promise<PageAnswer> {
    let [at, verb] = [new URL(address, PUBLIC), method]
    for (let hops = 0; hops < 6; hops++) {
      const answer = await this.ask(at, verb, headers)
      const { location } = answer.headers
      if (answer.status < 300 || answer.status > 399 || typeof location !== 'string') return answer
      at = new URL(location, at)
      verb = 'GET'
      if (until !== undefined && at.href.startsWith(until)) return { ...answer, address: at.href }
    }
    throw new Error('too many redirects')
  }

  /** Logs in, but does not open the address of the callback. @returns the address */
  async toCallback(name: string): Promise<string> {
    const callback = `${PUBLIC}${this.basePath}/auth/${name}/callback`
    return (await this.open(`${this.basePath}/auth/${name}/login`, callback)).address
  }

  logIn(name: string): Promise<PageAnswer> {
    return this.open(`${this.basePath}/auth/${name}/login?returnTo=${this.basePath}/rest/$directory/currentUser`)
  }

  /** Name of the user of the session; undefined for a guest. */
  async userName(): Promise<string | undefined> {
    const { json } = await this.ask(new URL(`${this.basePath}/rest/$directory/currentUser`, PUBLIC), 'GET', {})
    return json.result?.userName
  }

  private async ask(at: URL, method: 'GET' | 'POST', given: object): Promise<PageAnswer> {
    const isServer = at.origin === PUBLIC
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const own = { host: at.host, 'x-forwarded-proto': 'https', ...(cookie !== '' && { cookie }) }
    const { statusCode, headers, body } = await request(
      `${isServer ? this.url : at.origin}${at.pathname}${at.search}`,
      {
        method,
        headers: { ...(isServer && own), accept: 'text/html', ...given },
      },
    )
    const text = await body.text()
    for (const line of isServer ? [headers['set-cookie'] ?? []].flat() : []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      this.cookies.set(name!, value!)
    }
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch {
      // A page.
    }
    return { status: statusCode, headers, text, address: at.href, json }
  }
}

/** Texts of the log that give access to something. */
export function leaksIn(lines: readonly LogLine[], providers: readonly OidcProvider[]): string[] {
  const text = JSON.stringify(lines)
  const secrets = [OIDC_CLIENT.secret, ...providers.flatMap(provider => provider.secrets)].filter(each => each !== '')
  return [...secrets.filter(each => text.includes(each)), ...(text.match(/code=[^…]/g) ?? [])]
}
