/** Every transport: requests as handlers see them, and answers as clients do. */
import t from 'tap'
import { request } from 'undici'
import type { RequestMeter, TransportHandler } from '../../../../kernel/transport/transport.ts'
import { exchangeRaw } from '../../../support/clients/raw-connection.ts'
import { until } from '../../../support/base/until.ts'
import { loadableTransports, startTransport } from '../../../support/servers/transports.ts'
import { bodyOf, LAST, ok, rawGet, TEN_MB, url } from './requests.ts'

for (const name of loadableTransports) {
  t.test(name, async t => {
    t.test('a handler sees method, raw path, raw query, headers and peer', async t => {
      let seen: unknown
      const { port } = await startTransport(t, name, ({ method, path, query, client, isSecure }) => {
        const { address, host } = client
        seen = { method, path, query, address, host, isSecure }
        return ok()
      })
      await request(url(port, '/rest/Person(1)/%20?$filter=%22a%20b%22&x=a+b?c'), { method: 'PUT' })
      t.strictSame(seen, {
        method: 'PUT',
        path: '/rest/Person(1)/%20',
        query: '$filter=%22a%20b%22&x=a+b?c',
        address: '127.0.0.1',
        host: `127.0.0.1:${port}`,
        isSecure: false,
      })
      await request(url(port, '/a'))
      t.match(seen, { path: '/a', query: '' })
    })

    t.test(
      'a meter receives the beat of each arrival, and the start of every nth one and of those that continue later',
      async t => {
        const seen: object[] = []
        const beats = new Int32Array(1)
        const meter: RequestMeter = {
          timedEvery: 3,
          beats,
          turnBegan: () => -1,
          isSlow: () => false,
          finished({ path, startedAt, beat }, isSameTurn) {
            const start = startedAt === -1 ? 'told' : startedAt > 0 ? 'measured' : 'unknown'
            seen.push({ path, isSameTurn, start, beat })
          },
          unreadable() {},
        }
        const answer: TransportHandler = ({ path }) => {
          beats[0]!++
          return path === '/later' ? new Promise(resolve => setImmediate(() => resolve(ok()))) : ok()
        }
        const { port } = await startTransport(t, name, answer, { meter })
        for (const path of ['/a', '/b', '/later', '/d', '/later?post', '/f']) {
          const method = path.endsWith('post') ? 'POST' : 'GET'
          await request(url(port, path), { method }).then(({ body }) => body.dump())
        }
        await until(() => seen.length === 6)
        // The answers of `node:http` are sent a turn later.
        const isSameTurn = name !== 'node-http'
        const start = isSameTurn ? 'unknown' : 'measured'
        t.match(seen, [
          { path: '/a', isSameTurn, start: 'measured', beat: 0 },
          { path: '/b', isSameTurn, start, beat: 1 },
          { path: '/later', isSameTurn: false, start: isSameTurn ? 'told' : 'measured', beat: 2 },
          { path: '/d', isSameTurn, start: 'measured', beat: 3 },
          { path: '/later', isSameTurn: false, start: 'measured', beat: 4 },
          { path: '/f', isSameTurn, start, beat: 5 },
        ])
      },
    )

    t.test('every method of the protocol arrives as it was sent', async t => {
      const { port } = await startTransport(t, name, request => ok(request.method))
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        t.equal(await (await request(url(port), { method: method as 'GET' })).body.text(), method)
      }
    })

    t.test('raw bytes above ASCII in the target are read as UTF-8', async t => {
      const { port } = await startTransport(t, name, ({ path, query }) => ok(JSON.stringify([path, query])))
      const target = Buffer.from('/é€?ü=€')
      const head = Buffer.concat([Buffer.from('GET '), target, Buffer.from(rawGet('', LAST).slice(4))])
      const { received, statuses } = await exchangeRaw(port, [head], 'server')
      t.strictSame(statuses, [200])
      t.strictSame(JSON.parse(bodyOf(received)).map(decodeURIComponent), ['/é€', 'ü=€'])
    })

    t.test('a header is found by its lower-case name, the first of several, in UTF-8', async t => {
      const { port } = await startTransport(t, name, request =>
        ok(JSON.stringify(['x-one', 'x-two', 'x-none', 'constructor'].map(header => request.header(header)))),
      )
      const head = Buffer.from(rawGet('/', `X-One: a€z\r\nx-two: first\r\nX-TWO: second\r\n${LAST}`))
      const { received } = await exchangeRaw(port, [head], 'server')
      t.strictSame(JSON.parse(bodyOf(received)), ['a€z', 'first', '', ''])
    })

    t.test('status, reason, headers and length arrive as answered', async t => {
      const { port } = await startTransport(t, name, ({ path }) => ({
        status: Number(path.slice(1)),
        headers: { 'Content-Type': 'application/json; charset=UTF-8', 'Set-Cookie': ['a=1', 'b=2'], 'X-Empty': '' },
        body: '"é"',
      }))
      for (const [status, reason] of [
        [200, 'OK'],
        [201, 'Created'],
        [404, 'Not Found'],
        [409, 'Conflict'],
        [422, 'Unprocessable Entity'],
        [503, 'Service Unavailable'],
      ] as const) {
        const { received } = await exchangeRaw(port, [rawGet(`/${status}`, LAST)], 'server')
        const [head, body] = received.split('\r\n\r\n')
        const lines = head!.split('\r\n')
        t.equal(lines[0], `HTTP/1.1 ${status} ${reason}`)
        t.ok(lines.includes('Content-Type: application/json; charset=UTF-8'))
        t.strictSame(
          lines.filter(line => line.startsWith('Set-Cookie')),
          ['Set-Cookie: a=1', 'Set-Cookie: b=2'],
        )
        t.ok(lines.includes('Content-Length: 4'))
        t.equal(lines.filter(line => /^date: /i.test(line)).length, 1)
        t.notMatch(head, /uwebsockets/i)
        t.equal(Buffer.from(body!, 'latin1').toString(), '"é"')
      }
    })

    t.test('a cookie of the server is added to constant headers, in its answer only', async t => {
      const headers = Object.freeze({ 'X-Same': '1', 'Set-Cookie': 'b=2' })
      const { port } = await startTransport(t, name, ({ query }) => ({
        status: 200,
        headers,
        ...(query && { cookie: query }),
        body: '',
      }))
      const { received } = await exchangeRaw(port, [rawGet('/?a=1'), rawGet('/?c=3'), rawGet('/', LAST)], 'server')
      const lines = received.split('\r\n').filter(line => /^(X-Same|Set-Cookie)/.test(line))
      const same = ['X-Same: 1', 'Set-Cookie: b=2']
      t.strictSame(lines, [...same, 'Set-Cookie: a=1', ...same, 'Set-Cookie: c=3', ...same])
    })

    t.test('204 and 304 have neither body nor length, and the connection stays usable', async t => {
      const { port } = await startTransport(t, name, ({ path }) => ({ status: Number(path.slice(1)), body: 'unsent' }))
      const { received, statuses } = await exchangeRaw(
        port,
        [rawGet('/204'), rawGet('/304'), rawGet('/200', LAST)],
        'server',
      )
      t.strictSame(statuses, [204, 304, 200])
      t.equal(received.match(/content-length/gi)?.length, 1)
      t.equal(received.match(/unsent/g)?.length, 1)
    })

    t.test('HEAD gets the headers of GET without the body, and the connection stays usable', async t => {
      const { port } = await startTransport(t, name, ({ path }) => ok(Buffer.alloc(Number(path.slice(1)), 'b')))
      for (const size of [0, 3, TEN_MB]) {
        const head = rawGet(`/${size}`).replace('GET', 'HEAD')
        const { received, statuses } = await exchangeRaw(port, [head, head, rawGet('/1', LAST)], 'server')
        t.strictSame(statuses, [200, 200, 200])
        t.equal(received.match(new RegExp(`Content-Length: ${size}\r\n`, 'g'))?.length, 2)
        t.ok(received.endsWith('\r\n\r\nb'))
      }
    })

    t.test('requests on one connection are answered in order', async t => {
      const { port } = await startTransport(t, name, ({ path }) => ok(path))
      const { statuses, received } = await exchangeRaw(port, [rawGet('/1'), rawGet('/2'), rawGet('/3', LAST)], 'server')
      t.strictSame(statuses, [200, 200, 200])
      t.ok(received.indexOf('/1') < received.indexOf('/2') && received.indexOf('/2') < received.indexOf('/3'))
    })

    t.test('pipelined requests that are answered at once are answered in order', async t => {
      const { port } = await startTransport(t, name, ({ path }) => ok(`<${path}>`))
      const batch = Array.from({ length: 50 }, (_, i) => rawGet(`/${i}`)).join('') + rawGet('/last', LAST)
      const { received } = await exchangeRaw(port, [batch], 'server')
      t.strictSame(received.match(/<[^>]+>/g), [...Array.from({ length: 50 }, (_, i) => `</${i}>`), '</last>'])
    })

    t.test('pipelined bodies reach the request they belong to', async t => {
      const { port } = await startTransport(t, name, async request => ok(`<${await request.body()}>`))
      const post = (body: string, headers = '') =>
        `POST / HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`
      const { received } = await exchangeRaw(port, [post('one') + post('') + post('three', LAST)], 'server')
      t.strictSame(received.match(/<[^>]*>/g), ['<one>', '<>', '<three>'])
    })
  })
}
