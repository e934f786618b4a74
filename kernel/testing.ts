/**
 * `tesser/testing`: a server with its own store, for the tests of plugins and of clients.
 *
 * ```ts
 * const server = await createTestServer({
 *   model: new URL('./model.json', import.meta.url),
 *   data: { Person: [{ ID: 1, firstName: 'Ada' }] },
 *   plugins: [new URL('./index.ts', import.meta.url)],
 * })
 * const { status, json } = await server.get('/rest/Person(1)/greet')
 * await server.close()
 * ```
 */
import { type PluginEngine, pluginEngine } from '../engine/index.ts'
import type { Server } from './main.ts'
import { openTestServer, type TestServerOptions } from './open-test-server.ts'

export { insertRows, type TestPlugin, type TestRights, type TestServerOptions } from './open-test-server.ts'

export interface TestAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
  readonly json: any
  readonly bytes: Uint8Array
}

export interface TestServer extends Omit<Server, 'engine' | 'stop' | 'renewCertificate'>, TestClient {
  readonly engine: PluginEngine
  /**
   * Sends requests as one of `users`, without a lasting session: `Session.storage` ends with the request.
   * @throws {Error} there is no such user
   */
  as(user: string): TestClient
}

export interface TestClient {
  /** @param path with `/rest`; characters that a URL cannot contain are percent-encoded */
  get(path: string, headers?: Record<string, string>): Promise<TestAnswer>
  /** @param body sent as JSON; strings and bytes are sent unchanged */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>
}

/**
 * Starts a server on a free port of 127.0.0.1. It logs errors only, and has one thread for queries and one for plugin code.
 * @throws {Error} for everything that `tesser start` would refuse, for entities that cannot be saved, and for users with roles or
 * privileges that `roles` does not declare
 */
export async function createTestServer(options: TestServerOptions): Promise<TestServer> {
  const { server, keys, removeFolder } = await openTestServer(options)
  return {
    ...server,
    engine: pluginEngine(server.engine),
    ...clientOf(server.url),
    as(user) {
      const key = keys.get(user)
      if (key === undefined) {
        throw new Error(
          `there is no user ${user}; the option users of createTestServer has ${[...keys.keys()].join(', ') || 'none'}`,
        )
      }
      return clientOf(server.url, { Authorization: `Bearer ${key}` })
    },
    async close() {
      await server.close()
      removeFolder()
    },
  }
}

function clientOf(url: string, identity: Record<string, string> = {}): TestClient {
  const send: TestClient['send'] = async (method, path, body, headers = {}) => {
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { ...identity, ...headers },
      body: isRaw ? body : JSON.stringify(body),
      redirect: 'manual',
    })
    const bytes = new Uint8Array(await answer.arrayBuffer())
    const text = Buffer.from(bytes).toString()
    return { status: answer.status, headers: answer.headers, text, json: parseJson(text), bytes }
  }
  return {
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body, headers),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not every answer is JSON.
    return undefined
  }
}
