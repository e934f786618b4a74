/**
 * Tesser behind nginx with `config/deploy/nginx.conf`: what a proxy changes, and some of the protocol tests. In long runs
 * all of them run behind it (`npm run test:proxy`).
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { company } from '../support/fixtures/company.ts'
import { type Nginx, startNginx } from '../support/servers/nginx.ts'
import { needs, programOf } from '../support/base/programs.ts'
import { exchangeRaw } from '../support/clients/raw-connection.ts'
import { startServer, type TestServer } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'

const MIB = 2 ** 20
const HOST = 'data.example.com'

async function open(t: Test, config: object = {}): Promise<{ server: TestServer; nginx: Nginx }> {
  const server = await startServer(t, company, {
    isDirect: true,
    config: { ...config, server: { trustedProxies: ['loopback'], allowedHosts: [HOST] } },
  })
  const nginx = await startNginx(server.port)
  t.teardown(() => nginx.close())
  return { server, nginx }
}

interface Answer {
  headers: Record<string, unknown>
  bytes: Buffer
}

/** Requests of one connection of HTTP/2 with TLS, all at once. */
async function overHttp2(
  t: Test,
  port: number,
  requests: { head: OutgoingHttpHeaders; body?: Buffer }[],
): Promise<Answer[]> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  t.teardown(() => session.destroy())
  const answers = requests.map(async ({ head, body }) => {
    const stream = session.request({ ':authority': HOST, ...head }, { endStream: body === undefined })
    const pieces: Buffer[] = []
    stream.on('data', piece => pieces.push(piece))
    stream.end(body)
    const [[headers]] = await Promise.all([once(stream, 'response'), once(stream, 'end')])
    return { headers, bytes: Buffer.concat(pieces) }
  })
  return Promise.all(answers)
}

t.test('behind nginx', needs('nginx'), async t => {
  const { server, nginx } = await open(t, { auth: { guestsAdministrate: true } })

  t.test('port 80 redirects to TLS', async t => {
    const answer = await request(`http://127.0.0.1:${nginx.ports.redirect}/rest/City(Paris)?$expand=x%2Fy`, {
      headers: { host: HOST },
    })
    t.equal(answer.statusCode, 308)
    t.equal(answer.headers.location, `https://${HOST}/rest/City(Paris)?$expand=x%2Fy`)
    await answer.body.dump()
  })

  t.test('HTTP/2: many requests at once, heads and bodies as long as Tesser accepts', async t => {
    const path = '/rest/City(Paris)'
    const answers = await overHttp2(
      t,
      nginx.ports.tls,
      Array.from({ length: 50 }, () => ({ head: { ':path': path } })),
    )
    t.ok(answers.every(({ headers }) => headers[':status'] === 200))
    t.match(answers[0]!.headers['set-cookie'], [/; Secure/], 'cookies are Secure')

    const filter = `/rest/City?$filter="name=${'x'.repeat(25_000)}"`
    const [found] = await overHttp2(t, nginx.ports.tls, [{ head: { ':path': encodeURI(filter) } }])
    t.match(JSON.parse(String(found!.bytes)), { __COUNT: 0 })

    // Without a length, which HTTP/2 does not need: nginx passes it on in chunks.
    const contract = Buffer.alloc(8 * MIB, 'contract ')
    const blob = '/rest/Company(1)/contract'
    const [written] = await overHttp2(t, nginx.ports.tls, [
      { head: { ':method': 'PUT', ':path': blob }, body: contract },
    ])
    t.equal(written!.headers[':status'], 200, String(written!.bytes))
    const [read] = await overHttp2(t, nginx.ports.tls, [{ head: { ':path': `${blob}?$binary=true` } }])
    t.ok(read!.bytes.equals(contract), `${read!.bytes.length} bytes are read back`)
  })

  t.test('forwarding headers of a client are not trusted', async t => {
    const { nginx } = await open(t, { quota: { requestsPerAddress: 2 } })
    const statuses: number[] = []
    for (const headers of [
      { 'x-forwarded-for': '192.0.2.1' },
      { forwarded: 'for=192.0.2.2;host=evil.example' },
      { 'x-forwarded-host': 'evil.example', 'x-forwarded-for': '192.0.2.3' },
    ]) {
      const answer = await request(`http://127.0.0.1:${nginx.ports.plain}/rest/City(Paris)`, { headers })
      statuses.push(answer.statusCode)
      await answer.body.dump()
    }
    t.same(statuses, [200, 200, 429])
  })

  t.test('a client that disconnects ends its request at Tesser', async t => {
    const kept = async (): Promise<Buffer> => (await server.get('/Company(1)/contract?$binary=true')).bytes
    const before = await kept()
    const socket = connect(nginx.ports.plain, '127.0.0.1')
    socket.write(`PUT /rest/Company(1)/contract HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${8 * MIB}\r\n\r\n`)
    await new Promise(sent => socket.write(Buffer.alloc(MIB), sent))
    const aborted = async (): Promise<boolean> =>
      /tesser_http_requests_total\{[^}]*method="PUT"[^}]*status="aborted"[^}]*\} 1/.test(
        (await server.get('//metrics')).text,
      )
    t.notOk(await aborted())
    socket.destroy()
    t.ok(await until(aborted), 'the request is counted as aborted')
    t.ok((await kept()).equals(before), 'nothing of it is stored')
  })

  t.test('nginx answers the requests that it refuses', async t => {
    const { plain } = nginx.ports
    const status = async (head: string) => (await exchangeRaw(plain, [`${head}\r\n\r\n`], 'client')).statuses
    // Malformed heads never reach Tesser, whatever its transport makes of them.
    t.same(await status('GET /rest/City HTTP/1.1\r\nHost: localhost\r\n: x'), [400])
    t.same(await status('GET /rest/City HTTP/1.1\r\nHost: localhost\r\nHost: evil.example'), [400])
    t.same(await status('GET /rest/City HTTP/1.1'), [400], 'without a host')
    t.same(
      await status('POST /rest/City HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked'),
      [400],
    )
    t.same(await status(`GET /rest/${'x'.repeat(70_000)} HTTP/1.1\r\nHost: localhost`), [414])
    const [, limit] = /client_max_body_size (\d+)m;/.exec(readFileSync('config/deploy/nginx.conf', 'utf8'))!
    const length = Number(limit) * MIB + 1
    t.same(await status(`POST /rest/$upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}`), [413])
  })

  t.test('while Tesser is down, nginx answers 502', async t => {
    const ask = async (): Promise<number> => {
      const { statusCode, body } = await request(`http://127.0.0.1:${nginx.ports.plain}/rest/City(Paris)`)
      await body.dump()
      return statusCode
    }
    t.equal(await ask(), 200)
    await server.stop()
    t.equal(await ask(), 502)
  })
})

t.test('a sub path, with the location of the page', needs('nginx'), async t => {
  const page = readFileSync('plugins/docs/pages/operate/deployment.md', 'utf8')
  const [, location] = /^```nginx\n(.*?)^```$/ms.exec(page)!
  const site = readFileSync('config/deploy/nginx.conf', 'utf8').replace(/^\tlocation \/ \{.*?^\t\}$/ms, location!)
  t.notMatch(site, /location \/ \{/)
  const server = await startServer(t, company, {
    isDirect: true,
    config: { server: { basePath: '/data', trustedProxies: ['loopback'], allowedHosts: [HOST] } },
  })
  const nginx = await startNginx(server.port, site)
  t.teardown(() => nginx.close())
  const [found, explorer, catalog, outside] = await overHttp2(
    t,
    nginx.ports.tls,
    ['/data/rest/City(Paris)', '/data/', '/data/rest/$catalog', '/rest/City(Paris)'].map(path => ({
      head: { ':path': path },
    })),
  )
  t.equal(found!.headers[':status'], 200)
  t.match(found!.headers['set-cookie'], [/; Path=\/data; .*Secure/])
  t.match(explorer!.headers, { ':status': 302, location: '/data/explorer/' })
  t.match(JSON.parse(String(catalog!.bytes)).dataClasses[0].uri, /^\/data\/rest\//)
  t.equal(outside!.headers[':status'], 404, 'other addresses are those of nginx')
})

if (programOf('nginx')) {
  process.env.TESSER_TEST_PROXY = 'nginx'
  await import('../protocol/addresses.test.ts')
  await import('../protocol/reading.test.ts')
  await import('../protocol/images.test.ts')
}
