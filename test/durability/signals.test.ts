/**
 * Signals to a server under load: SIGTERM stops it without a failed request, both for clients with direct connections and for
 * clients behind a load balancer; SIGHUP makes it reload its TLS files.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { X509Certificate } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { Client, type Dispatcher, Pool, request } from 'undici'
import { outputUrl } from '../../engine/base/output-root.ts'
import { isLong, timeoutMs } from '../support/runner/rounds.ts'
import { transports } from '../support/servers/test-server.ts'

t.setTimeout(timeoutMs)

const STOPS = isLong ? 50 : 2
const CONNECTIONS = 16
/** Number of answers before a stop. */
const ANSWERS = 300
const CHECK_MS = 50
/** Long compared with the time between two checks, because the machine may be busy with other tests. */
const DRAIN_MS = 1_500
const FIXTURES = 'test/edge/fixtures'

const model = {
  name: 'signals',
  dataClasses: {
    Entry: {
      key: 'ID',
      attributes: { ID: { type: 'long', autoFill: 'increment' }, text: { type: 'string', indexed: true } },
    },
  },
}

/** A server in a separate process. */
class Process {
  output = ''
  readonly #child: ChildProcess

  constructor(t: Test, cwd: string, store: string, options: Readonly<Record<string, string | number>>) {
    const program = fileURLToPath(outputUrl('kernel/cli/main.js'))
    const flags = Object.entries({ model: 'model.json', data: store, port: 0, ...options }).flatMap(([name, value]) => [
      `--${name}`,
      String(value),
    ])
    this.#child = spawn(process.execPath, [program, 'start', ...flags], { cwd, env: { PATH: process.env.PATH } })
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) stream.on('data', chunk => (this.output += chunk))
    t.teardown(() => this.#child.kill('SIGKILL'))
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** Waits until the process has written text that matches `pattern`. @returns the match */
  async wrote(pattern: RegExp): Promise<string> {
    for (;;) {
      const [found] = pattern.exec(this.output) ?? []
      if (found !== undefined) return found
      if (this.#child.exitCode !== null) throw new Error(`the server has ended: ${this.output}`)
      await delay(10)
    }
  }

  origin(): Promise<string> {
    return this.wrote(/(?<="url":")https?:[^"]+:\d+/)
  }

  /** Stops it. @returns its exit code */
  async stopped(): Promise<number | null> {
    const exit = once(this.#child, 'exit')
    this.signal('SIGTERM')
    const [code] = await exit
    return code as number | null
  }
}

/** Alternates reads and writes. @returns true if it was a write */
async function sendOne(dispatcher: Dispatcher, n: number): Promise<boolean> {
  const isWrite = n % 4 === 0
  const { statusCode, body } = await dispatcher.request(
    isWrite
      ? { method: 'POST', path: '/rest/Entry?$method=update', body: `{"text":"entry ${n}"}` }
      : { method: 'GET', path: n % 4 === 1 ? '/rest/Entry?$top=1000' : '/rest/Entry?$filter="text=entry@"&$top=1' },
  )
  const text = await body.text()
  if (statusCode !== 200) throw new Error(`${statusCode}: ${text.slice(0, 500)}`)
  return isWrite
}

async function countOf(origin: string): Promise<number> {
  const { body } = await request(`${origin}/rest/Entry?$top=0`)
  return ((await body.json()) as { __COUNT: number }).__COUNT
}

t.test('clients with direct connections lose no request', async t => {
  const cwd = t.testdir({ 'model.json': JSON.stringify(model) })
  let saved = 0
  let answered = 0
  const failures: string[] = []
  for (let stop = 0; stop < STOPS; stop++) {
    const transport = transports[stop % transports.length]!
    const server = new Process(t, cwd, 'store', { 'server-transport': transport })
    const origin = await server.origin()
    t.equal(await countOf(origin), saved, 'every acknowledged write is stored')
    const clients = Array.from({ length: CONNECTIONS }, () => new Client(origin))
    const first = answered
    const waiting = new Set(clients)
    const load = clients.map(async (client, i) => {
      for (let n = i; ; n++) {
        try {
          if (await sendOne(client, n)) saved++
          answered++
          waiting.delete(client)
        } catch (error) {
          // The connection failed: the request was not sent, and another server may serve it.
          if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') failures.push(`${transport}: ${error}`)
          return
        }
      }
    })
    while (failures.length === 0 && (waiting.size > 0 || answered - first < ANSWERS)) await delay(10)
    t.equal(await server.stopped(), 0)
    await Promise.all(load)
    await Promise.all(clients.map(client => client.destroy()))
  }
  t.comment(`${answered} answers, ${saved} of them to writes`)
  t.same(failures, [])
})

t.test('clients behind a load balancer do not notice a stop', async t => {
  const cwd = t.testdir({ 'model.json': JSON.stringify(model) })
  const options = { 'server-drain-ms': DRAIN_MS }
  const start = async (i: number) => {
    const server = new Process(t, cwd, `store${i}`, {
      ...options,
      'server-transport': transports[i % transports.length]!,
    })
    const origin = await server.origin()
    return { server, origin, pool: new Pool(origin, { connections: CONNECTIONS }), isReady: true }
  }
  const backends = await Promise.all([start(0), start(1)])
  let isOver = false
  const checks = (async () => {
    while (!isOver) {
      for (const backend of backends) {
        const { statusCode, body } = await request(`${backend.origin}/health/ready`).catch(() => ({
          statusCode: 0,
          body: undefined,
        }))
        await body?.dump()
        backend.isReady = statusCode === 200
      }
      await delay(CHECK_MS)
    }
  })()
  const failures: string[] = []
  let answered = 0
  const load = Array.from({ length: CONNECTIONS }, async (_, i) => {
    for (let n = i; !isOver; n++) {
      const ready = backends.filter(({ isReady }) => isReady)
      const backend = ready[n % ready.length]
      if (!backend) failures.push('no server is ready')
      else await sendOne(backend.pool, n).catch(error => failures.push(String(error)))
      answered++
      // Leaves time for other tests.
      await delay(25)
    }
  })
  for (let stop = 0; stop < STOPS; stop++) {
    const first = answered
    while (answered - first < ANSWERS) await delay(10)
    const i = stop % 2
    const { server, pool } = backends[i]!
    t.equal(await server.stopped(), 0)
    backends[i] = await start(i)
    await pool.destroy()
  }
  isOver = true
  await Promise.all([checks, ...load])
  t.comment(`${answered} answers`)
  t.same(failures, [])
  for (const { server, pool } of backends) {
    await pool.destroy()
    t.equal(await server.stopped(), 0)
  }
})

for (const transport of transports) {
  t.test(`SIGHUP makes ${transport} reload its TLS files`, async t => {
    const cwd = t.testdir({ 'model.json': JSON.stringify(model) })
    const write = (name: string): string => {
      for (const kind of ['key', 'cert']) copyFileSync(`${FIXTURES}/${name}.${kind}.pem`, join(cwd, `${kind}.pem`))
      return new X509Certificate(readFileSync(join(cwd, 'cert.pem'))).fingerprint256
    }
    const first = write('localhost')
    const server = new Process(t, cwd, 'store', {
      'server-transport': transport,
      'server-tls-key-file': 'key.pem',
      'server-tls-cert-file': 'cert.pem',
    })
    const { port } = new URL(await server.origin())
    const served = async (): Promise<string> => {
      const socket = connectTls({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false })
      await once(socket, 'secureConnect')
      const { fingerprint256 } = socket.getPeerCertificate()
      socket.destroy()
      return fingerprint256
    }
    t.equal(await served(), first)
    const second = write('renewed')
    server.signal('SIGHUP')
    await server.wrote(/the certificate was read again/)
    t.equal(await served(), second)
    t.equal(await server.stopped(), 0)
  })
}

t.test('SIGHUP does not end a server without TLS', async t => {
  const cwd = t.testdir({ 'model.json': JSON.stringify(model) })
  const server = new Process(t, cwd, 'store', {})
  const origin = await server.origin()
  server.signal('SIGHUP')
  await delay(200)
  t.equal(await countOf(origin), 0)
  t.equal(await server.stopped(), 0)
})
