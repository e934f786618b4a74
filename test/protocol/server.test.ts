import { PassThrough } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { request } from 'undici'
import { company } from '../support/fixtures/company.ts'
import { startServer, transports } from '../support/servers/test-server.ts'

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
    const plain = await server.get('/$catalog/$all', page)
    const small = await server.get('/$catalog/$all', { ...page, 'accept-encoding': 'gzip, deflate' })
    t.match(small.headers, { 'content-encoding': 'gzip', vary: 'Origin, Accept-Encoding' })
    t.equal(gunzipSync(small.bytes).toString(), plain.text)
    const head = await server.send('HEAD', '/$catalog/$all', undefined, { 'accept-encoding': 'gzip' })
    t.equal(head.headers['content-length'], String(plain.bytes.length))
    t.notOk(
      (await server.get('/City(Paris)', { origin: 'https://evil.example' })).headers['access-control-allow-origin'],
    )
    const preflight = await server.send('OPTIONS', '/City', undefined, {
      ...page,
      'access-control-request-method': 'POST',
    })
    t.match(preflight, { status: 204, headers: { ...allowed, 'access-control-allow-methods': /POST.*PATCH/ } })
    for (const [wanted, given] of [
      ['authorization,content-type', 'authorization,content-type'],
      ['idempotency-key, x-acme-trace', 'idempotency-key, x-acme-trace'],
      ['', /^Authorization, Content-Type.*traceparent/],
      ['a b', /^Authorization/],
      ['x'.repeat(2_001), /^Authorization/],
    ] as const) {
      const asked = { ...page, 'access-control-request-method': 'PUT', 'access-control-request-headers': wanted }
      const { headers } = await server.send('OPTIONS', '/City', undefined, asked)
      t.match(headers['access-control-allow-headers'], given)
    }
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

  t.test(`headers of every answer on ${transport}`, async t => {
    const roles = {
      roles: [],
      privileges: [{ privilege: 'staff', includes: [] }],
      permissions: { allowed: [{ applyTo: 'Employee', type: 'dataclass', create: ['staff'] }] },
    }
    const server = await startServer(t, company, { transport, roles, config: { server: { bodyBytes: 1024 } } })
    const json = {
      'content-type': 'application/json; charset=UTF-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    }
    for (const [path, status] of [
      ['/City', 200],
      ['/City?$method=entityset', 200],
      ['/$catalog', 200],
      ['//health/live', 200],
      ['/Nobody', 404],
      ['//nowhere', 404],
      ['/City?$method=release', 400],
    ] as const) {
      const answer = await server.get(path)
      t.match(answer, { status, headers: json }, path)
      t.notOk(answer.headers['www-authenticate'], path)
    }
    const entity = await server.get('/City("Paris")')
    t.match(entity, { status: 200, headers: { ...json, 'cache-control': 'private, no-cache', etag: /^W\// } })
    t.match(await server.post('/City', 'x'.repeat(5_000)), { status: 413, headers: json })
    const unauthorized = { status: 401, headers: { ...json, 'www-authenticate': 'Bearer realm="tesser"' } }
    t.match(await server.get('/City', { authorization: 'Bearer nothing' }), unauthorized)
    t.match(await server.post('/$directory/login', ['Ada', 'wrong']), unauthorized)
    t.match(await server.post('/Employee?$method=update', [{ lastName: 'x' }]), unauthorized, 'of a save')
  })

  t.test(`unknown addresses suggest the right one on ${transport}`, async t => {
    // The explorer serves the root.
    const server = await startServer(t, company, { transport, config: { disablePlugins: ['explorer'] } })
    for (const [path, message] of [
      ['//', /^this is a Tesser server; its data is below \/rest: GET \/rest\/\$catalog .*; it also serves \/health, /],
      ['///', /^this is a Tesser server/],
      ['//City', /^nothing is served at \/City; did you mean "\/rest\/City"\?; the data is below \/rest/],
      ['//employee(1)/name', /; did you mean "\/rest\/Employee"\?/],
      ['//$catalog', /; did you mean "\/rest\/\$catalog"\?/],
      ['//REST/City', /; did you mean "\/rest\/City"\?/],
      ['//helth', /; did you mean "\/health"\?/],
      ['//favicon.ico', /^nothing is served at \/favicon\.ico; the data is below/],
      ['//restaurant', /^nothing is served at \/restaurant; the data is below/],
    ] as const) {
      const { status, json } = await server.get(path)
      t.equal(status, 404, path)
      t.match(json.__ERROR, [{ errCode: 1806, message }])
    }
  })

  t.test(`a stop finishes requests in flight on ${transport}`, async t => {
    // Test servers allow one second, which a busy machine may need for itself.
    const config = { quota: { concurrentPerAddress: 1 }, server: { graceMs: 60_000 } }
    const server = await startServer(t, company, { transport, config })
    const rows = Array.from({ length: 2_000 }, (_, i) => ({ name: `city ${i}` }))
    const content = Buffer.from(JSON.stringify(rows))
    const body = new PassThrough()
    body.write(content.subarray(0, 1_000))
    const headers = { 'content-length': String(content.length) }
    const answer = request(`${server.url}/rest/City`, { method: 'POST', headers, body })
    // Another request is refused as soon as the server has received the first one.
    while ((await server.get('/$catalog')).status !== 429);
    const stopped = server.stop()
    body.end(content.subarray(1_000))
    const { statusCode, body: saved } = await answer
    t.equal(statusCode, 200)
    t.equal(((await saved.json()) as { __ENTITIES: unknown[] }).__ENTITIES.length, 2_000)
    await stopped
  })
}
