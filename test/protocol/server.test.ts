import { PassThrough, Writable } from 'node:stream'
import { pino } from 'pino'
import t from 'tap'
import { request } from 'undici'
import { loadConfig } from '../../config/load-config.ts'
import { createServer } from '../../kernel/main.ts'
import { company } from '../support/fixtures/company.ts'
import { startServer, transports } from '../support/test-server.ts'

for (const transport of transports) {
  t.test(`health on ${transport}`, async t => {
    const server = await startServer(t, company, { transport })
    t.match(await server.get('//health'), { status: 200, json: { status: 'ready' } })
    t.match(await server.get('//health/ready'), { status: 200, json: { status: 'ready' } })
    t.match(await server.get('//health/live'), { status: 200, json: { status: 'live' } })
  })

  t.test(`CORS on ${transport}`, async t => {
    const page = { origin: 'https://app.example' }
    const closed = await startServer(t, company, { transport })
    t.notOk((await closed.get('/City(Paris)', page)).headers['access-control-allow-origin'], 'off by default')

    const cors = { origins: ['https://app.example'], credentials: true }
    const server = await startServer(t, company, { transport, config: { server: { cors } } })
    const allowed = {
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-credentials': 'true',
      vary: 'Origin',
    }
    t.match((await server.get('/City(Paris)', page)).headers, allowed)
    t.match((await server.get('/City(Oslo)', page)).headers, allowed, 'an error too')
    t.notOk(
      (await server.get('/City(Paris)', { origin: 'https://evil.example' })).headers['access-control-allow-origin'],
    )
    const preflight = await server.send('OPTIONS', '/City', undefined, {
      ...page,
      'access-control-request-method': 'POST',
    })
    t.match(preflight, { status: 204, headers: { ...allowed, 'access-control-allow-methods': /POST/ } })
  })

  t.test(`CORS for every origin never takes cookies on ${transport}`, async t => {
    const cors = { origins: ['*'], credentials: true }
    const { headers } = await (await startServer(t, company, { transport, config: { server: { cors } } })).get(
      '/City',
      { origin: 'https://any.example' },
    )
    t.equal(headers['access-control-allow-origin'], '*')
    t.notOk(headers['access-control-allow-credentials'])
  })

  t.test(`a stop finishes what is in flight on ${transport}`, async t => {
    // Test servers give a second, which a busy machine may need for itself.
    const config = { quota: { concurrentPerAddress: 1 }, server: { graceMs: 60_000 } }
    const server = await startServer(t, company, { transport, config })
    const rows = Array.from({ length: 2_000 }, (_, i) => ({ name: `city ${i}` }))
    const content = Buffer.from(JSON.stringify(rows))
    const body = new PassThrough()
    body.write(content.subarray(0, 1_000))
    const headers = { 'content-length': String(content.length) }
    const answer = request(`${server.url}/rest/City`, { method: 'POST', headers, body })
    // Another request is refused as soon as the server has the first one.
    while ((await server.get('/$catalog')).status !== 429);
    const stopped = server.stop()
    body.end(content.subarray(1_000))
    const { statusCode, body: saved } = await answer
    t.equal(statusCode, 200)
    t.equal(((await saved.json()) as { __ENTITIES: unknown[] }).__ENTITIES.length, 2_000)
    await stopped
  })
}

t.test('the access log has a line for each request, and can be switched off', async t => {
  for (const accessLog of [true, false]) {
    const lines: { msg: string; status?: number; path?: string }[] = []
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        for (const line of chunk.toString().trim().split('\n')) lines.push(JSON.parse(line))
        done()
      },
    })
    const folder = t.testdir({ 'model.json': JSON.stringify(company.model) })
    const flags = {
      port: '0',
      model: `${folder}/model.json`,
      data: `${folder}/store-${accessLog}`,
      'server-access-log': String(accessLog),
    }
    const server = await createServer(loadConfig({ env: {}, flags, cwd: folder }), pino(sink))
    await (await request(`${server.url}/rest/City?$top=1`)).body.dump()
    await (await request(`${server.url}/rest/Nobody`)).body.dump()
    await server.close()
    const logged = lines.filter(({ msg }) => msg === 'request').map(({ path, status }) => [path, status])
    t.same(
      logged,
      accessLog
        ? [
            ['/rest/City', 200],
            ['/rest/Nobody', 404],
          ]
        : [],
    )
  }
})
