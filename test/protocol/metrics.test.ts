/** Metrics: what they count, who sees them, and that clients cannot make them grow. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { request } from 'undici'
import type { Metric } from '../../kernel/api.ts'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { company } from '../support/fixtures/company.ts'
import { isLong } from '../support/runner/rounds.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestServer, transports } from '../support/servers/test-server.ts'

const PLUGIN = `import { definePlugin, defineErrors, json } from 'tesser'
const Errors = defineErrors('METERED', { BUSY: { errCode: 1830, http: 503, message: () => 'busy' } })
export default definePlugin({
  name: 'metered',
  kernel: '^1.0.0',
  register({ service, metrics }) {
    let calls = 0
    metrics.add(() => [{ name: 'metered_calls_total', help: 'Calls.', type: 'counter', values: [{ value: calls, labels: {} }] }])
    metrics.add(() => [
      { name: 'tesser_ready', help: 'Taken.', type: 'gauge', values: [] },
      { name: 'no name', help: 'Wrong.', type: 'gauge', values: [] },
    ])
    metrics.add(() => {
      throw new Error('broken')
    })
    service('$metered', { verbs: ['GET', 'POST'] }, request => {
      calls++
      if (request.parts[0] === 'busy') throw Errors.BUSY()
      if (request.parts[0] === 'wait') return new Promise(resolve => setTimeout(() => resolve(json({})), 60_000).unref())
      return json({ ok: true })
    })
  },
})
`

const open = (t: Test, transport?: TestServer['transport'], config: Record<string, unknown> = {}) =>
  startServer(t, company, {
    ...(transport && { transport }),
    config: {
      auth: { guestsAdministrate: true },
      plugins: [join(t.testdir({ 'metered.ts': PLUGIN }), 'metered.ts')],
      ...config,
    },
  })

const read = async (server: TestServer): Promise<Metric[]> => (await server.get('/$info/metrics')).json.metrics

/** Series of a metric by the values of its labels, in their order. */
function seriesOf(metrics: readonly Metric[], name: string): Record<string, number> {
  const values = metrics.find(metric => metric.name === name)?.values ?? []
  return Object.fromEntries(values.map(({ labels, value }) => [Object.values(labels).join(' '), value]))
}

const requestsOf = (metrics: readonly Metric[]) => seriesOf(metrics, 'tesser_http_requests_total')

/** Sends requests whose clients disconnect before there is an answer. */
async function abandon(server: TestServer, requests: number): Promise<void> {
  const calls = async () => seriesOf(await read(server), 'metered_calls_total')['']!
  const expected = (await calls()) + requests
  const sockets = Array.from({ length: requests }, () => connect(server.port, '127.0.0.1'))
  for (const socket of sockets) socket.write('GET /rest/$metered/wait HTTP/1.1\r\nHost: localhost\r\n\r\n')
  while ((await calls()) < expected);
  for (const socket of sockets) socket.destroy()
}

const COUNT = isLong ? 1_000_000 : 2_400
const CLIENTS = 64
const ABANDONED = 50

for (const transport of transports) {
  t.test(`counters match the counts of the clients on ${transport}`, async t => {
    const server = await open(t, transport, { quota: { requestsPerSession: 150 } })
    const limited = String((await server.get('/Company(1)')).headers['set-cookie']).split(';')[0]!
    const tag = String((await server.get('//docs/')).headers.etag)
    const before = requestsOf(await read(server))

    const sent: Record<string, number> = {}
    const count = (series: string) => {
      sent[series] = (sent[series] ?? 0) + 1
    }
    const kinds: { path: string; plugin: string; method?: 'HEAD' | 'POST'; headers?: Record<string, string> }[] = [
      { path: '/rest/Company(1)', plugin: 'read' },
      { path: '/rest/Company(1)', plugin: 'read', method: 'HEAD' },
      { path: '/rest/Company(99)', plugin: 'read' },
      { path: '/rest/Company?$filter=%22name%20~~%20x%22', plugin: 'read' },
      { path: '/rest/Company/$query', plugin: 'read', method: 'POST' },
      { path: '/rest/Nothing', plugin: 'kernel' },
      { path: '/nothing', plugin: 'kernel' },
      { path: '/rest/$metered/busy', plugin: 'metered' },
      { path: '/docs/', plugin: 'docs', headers: { 'if-none-match': tag } },
      { path: '/rest/Company(1)', plugin: 'read', headers: { cookie: limited } },
      { path: '/rest/Company?$compute=count', plugin: 'compute' },
      { path: '/health', plugin: 'health' },
    ]
    let started = 0
    const client = async () => {
      for (let i = started++; i < COUNT; i = started++) {
        const { path, plugin, method = 'GET', headers = {} } = kinds[i % kinds.length]!
        const { statusCode, body } = await request(server.url + path, { method, headers })
        await body.dump()
        // A quota refuses before any plugin runs.
        count(`${statusCode === 429 ? 'kernel' : plugin} ${method} ${statusCode}`)
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    for (let i = 0; i < ABANDONED; i++) count('metered GET aborted')
    await abandon(server, ABANDONED)

    const own = 'info GET 200'
    let counted: Record<string, number> = {}
    // The server notices the end of an abandoned connection a moment later.
    for (let i = 0; i < 1_000; i++) {
      const after = requestsOf(await read(server))
      const grown = Object.entries(after).map(([series, value]) => [series, value - (before[series] ?? 0)] as const)
      counted = Object.fromEntries(grown.filter(([series, value]) => value > 0 && series !== own))
      if ((counted['metered GET aborted'] ?? 0) >= ABANDONED) break
    }
    t.strictSame(counted, sent)
    const statuses = new Set(Object.keys(sent).map(series => series.split(' ')[2]))
    for (const status of ['200', '304', '404', '400', '429', '503', 'aborted']) t.ok(statuses.has(status), status)

    const metrics = await read(server)
    const total = (name: string, part: string) =>
      (metrics.find(metric => metric.name === name)?.values ?? [])
        .filter(({ metricName }) => metricName === `${name}${part}`)
        .reduce((sum, { value }) => sum + value, 0)
    const requests = Object.values(requestsOf(metrics)).reduce((sum, value) => sum + value, 0)
    t.equal(total('tesser_http_request_duration_seconds', '_count'), requests, 'each has a time')
    t.ok(total('tesser_http_request_duration_seconds', '_sum') > 0)
    t.ok(seriesOf(metrics, 'metered_calls_total')[''], 'metrics of a plugin are among them')
    t.ok(seriesOf(metrics, 'tesser_ready')[''], 'and take no names of others')
  })
}

t.test('names, units and labels follow Prometheus, and no client adds to them', async t => {
  const server = await open(t)
  await server.get('/Company?$filter="name=a@"&$orderby="name desc"')
  await server.post('/Company?$method=update', { name: 'counted' })
  const metrics = await read(server)
  const names = metrics.map(({ name }) => name)
  t.equal(new Set(names).size, names.length, 'each name once')
  t.ok(names.length > 30, `${names.length} metrics`)
  for (const { name, help, type, values } of metrics) {
    t.match(name, /^(?:tesser|process|nodejs|metered|model_change)_[a-z0-9_]+$/)
    t.match(help, /^[A-Z0-9].*\.$/, name)
    if (name.startsWith('tesser_')) t.equal(type === 'counter', name.endsWith('_total'), `${name} is a ${type}`)
    if (name.startsWith('tesser_') && type === 'histogram') t.match(name, /_seconds$/)
    for (const { labels, value } of values) {
      t.equal(typeof value, 'number', name)
      for (const label of Object.keys(labels)) t.match(label, /^[a-z_]+$/, name)
    }
  }
  t.ok(seriesOf(metrics, 'tesser_writer_changes_total')[''])
  t.ok(seriesOf(metrics, 'tesser_rows_examined_total').read)

  const known = new Set(
    metrics.flatMap(({ name, values }) => values.map(({ labels }) => name + JSON.stringify(labels))),
  )
  for (let i = 0; i < 200; i++) {
    await server.get(`/Nothing${i}?$filter="a${i}=1"`)
    await server.get(`//nothing${i}`)
    await server.get(`/$nothing${i}/part${i}`)
    await server.get(`/Company?$parameter${i}=1`, { [`x-header-${i}`]: 'x' })
    await server.get(`/Company?$filter="name=${i}"`)
  }
  const series = (await read(server)).flatMap(({ name, values }) =>
    values.map(({ labels }) => name + JSON.stringify(labels)),
  )
  // Threads start on demand, and their delays are series from then on.
  const added = series.filter(each => !known.has(each) && !each.startsWith('tesser_event_loop_delay_seconds'))
  t.notOk(
    added.some(each => /nothing|parameter|header/i.test(each)),
    'none contains a name from a client',
  )
  t.ok(added.length < 100, `${added.length} series more`)
  t.strictSame(
    added.filter(each => /nothing|parameter|part|header/i.test(each)),
    [],
  )
})

t.test('only administrators see them', async t => {
  const server = await startServer(t, company)
  t.equal((await server.get('/$info/metrics')).status, 401)
})

t.test('metrics.enabled = false counts no requests', async t => {
  const server = await open(t, undefined, { metrics: { enabled: false } })
  const names = (await read(server)).map(({ name }) => name)
  t.ok(names.includes('tesser_writer_up'))
  t.notOk(names.includes('tesser_http_requests_total'))
})

/** Series of the text format: name with labels, and the value. */
const linesOf = (text: string): Map<string, string> =>
  new Map(
    text.split('\n').flatMap(line => (/^[a-z]/.test(line) ? [line.split(/ (?=[^ ]*$)/) as [string, string]] : [])),
  )

t.test('/metrics has the same series in the text format', async t => {
  const server = await open(t)
  await server.get('/Company(1)')
  const { status, headers, text } = await server.get('//metrics')
  t.equal(status, 200)
  t.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  const lines = linesOf(text)
  t.equal(lines.get('tesser_http_requests_total{plugin="read",method="GET",status="200"}'), '1')
  t.equal(lines.get('tesser_http_request_duration_seconds_count{plugin="read",method="GET"}'), '1')
  t.equal(lines.get('tesser_http_request_duration_seconds_bucket{plugin="read",method="GET",le="+Inf"}'), '1')
  t.equal(lines.get('metered_calls_total'), '0')
  t.match(text, /^# HELP tesser_writer_up .+\n# TYPE tesser_writer_up gauge\ntesser_writer_up 1$/m)
  for (const { name, values } of await read(server))
    if (values.length > 0) t.match(text, new RegExp(`^# TYPE ${name} `, 'm'), name)
  t.equal((await server.send('POST', '//metrics')).status, 405)
})

t.test('/metrics is for administrators', async t => {
  const folder = temporaryFolder(t)
  const [admin, other] = [createKey(), createKey()]
  const keys = [
    { name: 'prometheus', hash: hashKey(admin), privileges: ['WebAdmin'] },
    { name: 'other', hash: hashKey(other), privileges: ['reader'] },
  ]
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ users: [], keys }))
  const roles = { privileges: [{ privilege: 'reader' }], permissions: { allowed: [] } }
  const server = await startServer(t, company, { folder, roles })
  const as = (key: string) => server.get('//metrics', { authorization: `Bearer ${key}` })
  t.equal((await as(admin)).status, 200)
  t.match(await as(other), { status: 401, json: { __ERROR: [{ errCode: 1611 }] } })
  t.match(await server.get('//metrics'), { status: 401, headers: { 'www-authenticate': /^Bearer/ } })
})

t.test('metrics.port serves them alone, and /metrics of the server does not exist', async t => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  const config = { auth: { guestsAdministrate: true }, metrics: { port } }
  await t.rejects(
    startServer(t, company, { config }),
    /127\.0\.0\.1:\d+: another process has port .* \(metrics\.port\)/,
  )
  await new Promise(resolve => probe.close(resolve))
  const server = await startServer(t, company, { config })
  t.equal((await server.get('//metrics')).status, 404)
  const ask = async (path: string, method: 'GET' | 'HEAD' | 'POST' = 'GET') => {
    const { statusCode, headers, body } = await request(`http://127.0.0.1:${port}${path}`, { method })
    return { status: statusCode, type: headers['content-type'], text: await body.text() }
  }
  t.match(await ask('/metrics'), { status: 200, text: /^tesser_ready 1$/m })
  t.match(await ask('/metrics?x=1'), { status: 200 })
  t.match(await ask('/metrics', 'HEAD'), { status: 200, text: '' })
  t.equal((await ask('/metrics', 'POST')).status, 405)
  for (const path of ['/', '/rest/Company', '/metrics/', '/metricsx']) t.equal((await ask(path)).status, 404, path)
  await server.close()
  await t.rejects(ask('/metrics'), /ECONNREFUSED|closed|reset/)
})
