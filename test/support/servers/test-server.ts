import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { Agent, type Dispatcher, request } from 'undici'
import type { Engine } from '../../../engine/index.ts'
import { openTestServer } from '../../../kernel/open-test-server.ts'
import { selectTransport } from '../../../kernel/transport/select.ts'
import type { TransportName } from '../../../kernel/transport/transport.ts'
import { temporaryFolder } from '../base/temporary-folder.ts'
import { type Contract, contractOf } from '../checks/openapi.ts'
import { isBehindNginx, startNginx } from './nginx.ts'
import { remoteFixture } from '../databases/remote-fixture.ts'
import { optionsOf, type Setting, settingOf, wantedSetting } from '../runner/setting.ts'
import { isLong } from '../runner/rounds.ts'
import { testLimits } from './transports.ts'

export { insertRows } from '../../../kernel/testing.ts'

export interface Fixture {
  model: object
  /** Rows by dataclass, in an order in which every reference exists before it is needed. */
  rows: Readonly<Record<string, readonly object[]>>
}

export interface TestAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  /** The body as JSON; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
  json: any
  bytes: Buffer
}

export interface TestServer {
  url: string
  port: number
  transport: TransportName
  engine: Engine
  /** `path` is relative to `/rest`; characters beyond ASCII are percent-encoded, all others are sent as they are. */
  get(path: string, headers?: Record<string, string>): Promise<TestAnswer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>
  send(
    method: Dispatcher.HttpMethod,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<TestAnswer>
  /** Stops the server while requests are in progress; `close` waits for them first. */
  stop(): Promise<void>
  close(): Promise<void>
}

const wantedTransport = process.env.TESSER_TEST_TRANSPORT as TransportName | undefined
/** Transports that the protocol suite runs on: the fastest that loads here and `node-http`, or the one in TESSER_TEST_TRANSPORT. */
export const transports: readonly TransportName[] = wantedTransport
  ? [wantedTransport]
  : [...new Set([selectTransport('auto', testLimits.headerBytes).name, 'node-http' as const])]
/** Transports for tests that do not depend on HTTP: all of them in a long run, otherwise one. */
export const usualTransports: readonly TransportName[] = isLong ? transports : transports.slice(0, 1)

export interface ServerOptions {
  transport?: TransportName
  config?: Record<string, unknown>
  /** Content of `roles.json`. */
  roles?: object | undefined
  /** Clock for lifetimes. */
  now?: () => number
  /** Setup, unless something else asks for one; by default the name of the test selects it. */
  setting?: Setting
  /** Plugins of the test change answers, which long runs then do not check against the OpenAPI document. */
  isChanged?: boolean
  /**
   * Clients connect without the proxy of TESSER_TEST_PROXY, which would answer requests of the test itself or hide what the test
   * observes. So do those of a server with `trustedProxies`: there the test is the proxy.
   */
  isDirect?: boolean
  /** Folder of the store, to be opened again after a server has closed it. */
  folder?: string
}

/** Options that the page for operators requires. */
const BEHIND_A_PROXY = { trustedProxies: ['loopback'], allowedHosts: ['data.example.com'] }

/** A server on a free port of 127.0.0.1 with a store of its own. It closes with the test. */
export async function startServer(
  t: Test,
  fixture: Fixture,
  {
    transport = transports[0]!,
    config = {},
    roles,
    now,
    setting: own,
    isChanged,
    isDirect = false,
    folder = temporaryFolder(t),
  }: ServerOptions = {},
): Promise<TestServer> {
  const setting = wantedSetting() ?? own ?? settingOf(t)
  t.comment(`setting: ${setting}`)
  const { pool, ...storage } = optionsOf(setting)
  if (roles) writeFileSync(join(folder, 'roles.json'), JSON.stringify(roles))
  const { trustedProxies } = (config.server ?? {}) as { trustedProxies?: unknown }
  const isProxied = isBehindNginx() && !isDirect && trustedProxies === undefined
  const remote = setting === 'remote' ? await remoteFixture(fixture, folder) : undefined
  const startedAt = performance.now()
  const { server } = await openTestServer({
    model: remote?.model ?? fixture.model,
    data: fixture.rows,
    folder,
    config: {
      ...config,
      ...(remote && { connections: remote.connections }),
      server: { transport, ...(isProxied && BEHIND_A_PROXY), ...(config.server as object) },
      log: { level: 'silent' },
      storage: { ...storage, ...(config.storage as object) },
      pool: { ...pool, ...(config.pool as object) },
    },
    now,
  })
  performance.measure('test server', { start: startedAt })
  const nginx = isProxied ? await startNginx(server.port) : undefined
  const port = nginx?.ports.plain ?? server.port
  const url = nginx ? `http://127.0.0.1:${port}` : server.url
  const agent = new Agent({ keepAliveTimeout: 1_000 })
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= agent
      .close()
      .then(() => nginx?.close())
      .then(() => server.close())
    return closing
  }
  t.teardown(close)

  let contract: Contract | undefined
  const send: TestServer['send'] = async (method, path, body, headers = {}) => {
    const answer = await request(`${url}${path.startsWith('//') ? path.slice(1) : `/rest${path}`}`, {
      method,
      dispatcher: agent,
      headers,
      body: body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    })
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    const text = bytes.toString('utf8')
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch {
      // Not every answer is JSON.
    }
    const given = { status: answer.statusCode, headers: answer.headers, text, json, bytes }
    // The document has the forms that an address has without `Accept`.
    if (headers.accept === undefined) contract?.demand(method, path, body, given)
    return given
  }
  const get: TestServer['get'] = (path, headers) => send('GET', path, undefined, headers)
  // Without roles the document is the same for all clients. With quotas its request would be counted.
  if (isLong && !roles && !isChanged && !config.quota) contract = await contractOf({ get })
  return {
    url,
    port,
    transport: server.transport,
    engine: server.engine,
    send,
    get,
    post: (path, body, headers) => send('POST', path, body, headers),
    stop: () => server.close(),
    close,
  }
}
