import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createKey, hashKey } from '../../../kernel/auth/directory.ts'
import { quickHash } from '../base/password.ts'
import { CINEMA_MODEL, CINEMA_SQL } from '../fixtures/cinema.ts'
import { company } from '../fixtures/company.ts'
import { startPostgres } from '../databases/sql-servers.ts'
import { visitsPlugin } from '../plugins/test-plugins.ts'
import { temporaryFolder } from '../base/temporary-folder.ts'
import { startServer, type TestAnswer, type TestServer } from './test-server.ts'

/** Dataclasses of the store and of the database. */
export const PAIR_MODEL = {
  ...company.model,
  dataClasses: { ...(company.model as typeof CINEMA_MODEL).dataClasses, ...CINEMA_MODEL.dataClasses },
}
export const KEY = createKey()
export const PASSWORD = 'correct horse'
/** The servers have the same file: a session ends where the entry of its user is another one. */
const password = await quickHash(PASSWORD)

/** A database that can go away and come back: a proxy in front of one. */
export interface SharedServer {
  readonly url: string
  run(sql: string): Promise<void>
  goAway(): Promise<void>
  comeBack(): Promise<void>
}

/** @returns the reason if there is no PostgreSQL on this machine */
export async function startShared(t: Test): Promise<SharedServer | string> {
  const server = await startPostgres()
  if (typeof server === 'string') return server
  const folder = mkdtempSync(join(tmpdir(), 'tesser-nodes-'))
  const path = join(folder, '.s.PGSQL.5432')
  const target = join(decodeURIComponent(/host=(.*)/.exec(server.url)![1]!), '.s.PGSQL.5432')
  const sockets = new Set<Socket>()
  let proxy: Server | undefined
  const comeBack = (): Promise<void> =>
    new Promise(resolve => {
      proxy = createServer(client => {
        const upstream = connect(target)
        for (const socket of [client, upstream]) {
          sockets.add(socket)
          socket.on('error', () => {})
          socket.on('close', () => {
            sockets.delete(socket)
            client.destroy()
            upstream.destroy()
          })
        }
        client.pipe(upstream).pipe(client)
      }).listen(path, resolve)
    })
  const goAway = (): Promise<void> =>
    new Promise(resolve => {
      proxy!.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  await server.run(CINEMA_SQL)
  await comeBack()
  t.teardown(async () => {
    await goAway()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return { url: server.url.replace(/host=.*/, `host=${encodeURIComponent(folder)}`), run: server.run, goAway, comeBack }
}

interface PairOptions {
  readonly sessionSeconds?: number
  readonly now?: () => number
  readonly config?: Record<string, unknown>
}

/** Options of one of several servers. The users are Ada and Kurt, with {@link PASSWORD}; there is a key, too. */
export async function nodeOptions(t: Test, { url }: SharedServer, options: PairOptions = {}) {
  const { sessionSeconds = 0, now, config = {} } = options
  const folder = temporaryFolder(t)
  const users = ['Ada', 'Kurt'].map(name => ({ name, password }))
  const keys = [{ name: 'nightly', hash: hashKey(KEY) }]
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ users, keys }))
  const all = {
    plugins: [visitsPlugin],
    auth: { guestsAdministrate: true },
    connections: { cinema: { url } },
    nodes: { connection: 'cinema', sessionSeconds },
    ...config,
  }
  return { folder, config: all, ...(now && { now }) }
}

/** Two servers with one database, started at the same time. */
export async function startPair(t: Test, shared: SharedServer, options: PairOptions = {}): Promise<TestServer[]> {
  const fixture = { model: PAIR_MODEL, rows: company.rows }
  return Promise.all(
    [0, 1].map(async () => startServer(t, fixture, { ...(await nodeOptions(t, shared, options)), isDirect: true })),
  )
}

/** A client with a cookie, whose requests go to one server after the other. */
export class RoundRobin {
  private next = 0

  constructor(
    private readonly servers: readonly TestServer[],
    public cookie = '',
  ) {}

  login(user: string): Promise<TestAnswer> {
    return this.send('POST', '/$directory/login', undefined, { 'username-4D': user, 'password-4D': PASSWORD })
  }

  get(path: string): Promise<TestAnswer> {
    return this.send('GET', path)
  }

  post(path: string, body?: unknown): Promise<TestAnswer> {
    return this.send('POST', path, body)
  }

  async result(name: string, ...args: unknown[]): Promise<unknown> {
    return (await this.post(`/$catalog/${name}`, args)).json.result
  }

  /** Answers of each server, in their order. */
  each(path: string): Promise<TestAnswer[]> {
    return Promise.all(this.servers.map(() => this.get(path)))
  }

  private async send(method: 'GET' | 'POST', path: string, body?: unknown, headers = {}): Promise<TestAnswer> {
    const server = this.servers[this.next++ % this.servers.length]!
    const answer = await server.send(method, path, body, { ...headers, ...(this.cookie && { cookie: this.cookie }) })
    const set = answer.headers['set-cookie']
    if (set) this.cookie = String(set).split(';')[0]!
    return answer
  }
}
