import { createHash, randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import t from 'tap'
import { request } from 'undici'
import { RequestAborted } from '../../../../kernel/transport/edge-errors.ts'
import type {
  RequestMeter,
  TransportHandler,
  TransportRequest,
  TransportResponse,
} from '../../../../kernel/transport/transport.ts'
import { exchangeRaw } from '../../../support/clients/raw-connection.ts'
import { until } from '../../../support/base/until.ts'
import { answeringErrors, loadableTransports, startTransport } from '../../../support/servers/transports.ts'

const KEY_FILE = 'test/edge/fixtures/localhost.key.pem'
const CERT_FILE = 'test/edge/fixtures/localhost.cert.pem'
const RENEWED_KEY_FILE = 'test/edge/fixtures/renewed.key.pem'
const RENEWED_CERT_FILE = 'test/edge/fixtures/renewed.cert.pem'
const TEN_MB = 10 * 1024 * 1024

const ok = (body: string | Uint8Array = 'ok'): TransportResponse => ({ status: 200, body })
const sha1 = (bytes: Uint8Array) => createHash('sha1').update(bytes).digest('hex')
const rawGet = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`
const LAST = 'Connection: close\r\n'
const url = (port: number, path = '/') => `http://127.0.0.1:${port}${path}`
const bodyOf = (received: string) => Buffer.from(received.split('\r\n\r\n')[1] ?? '', 'latin1').toString()
const parsedError = (body: string) => JSON.parse(body).__ERROR[0]

/** A promise that a test resolves. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open!: () => void
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { opened, open }
}

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

    t.test('a body arrives whole, whatever its size and framing', async t => {
      const { port } = await startTransport(t, name, async request => ok(sha1(await request.body())))
      for (const size of [0, 1, 65_536, TEN_MB]) {
        const bytes = randomBytes(size)
        const whole = await request(url(port), { method: 'POST', body: bytes })
        t.equal(await whole.body.text(), sha1(bytes), `${size} bytes with a length`)
        const chunked = await request(url(port), { method: 'POST', body: piecewise(bytes) })
        t.equal(await chunked.body.text(), sha1(bytes), `${size} bytes in chunks`)
      }
    })

    t.test('a request without a body has an empty one', async t => {
      const { port } = await startTransport(t, name, async request => ok(String((await request.body()).byteLength)))
      t.equal(await (await request(url(port))).body.text(), '0')
    })

    t.test('a body that the handler does not read does not disturb the next request', async t => {
      const { port } = await startTransport(t, name, ({ path }) => ok(path))
      const post = 'POST /post HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n'
      const { statuses } = await exchangeRaw(
        port,
        [post, 'a'.repeat(50_000), 'a'.repeat(50_000), rawGet('/get', LAST)],
        'server',
      )
      t.strictSame(statuses, [200, 200])
    })

    t.test('a client that waits for 100 Continue receives it', async t => {
      const { port } = await startTransport(t, name, async request => ok(await request.body()))
      const head = `POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n${LAST}\r\n`
      const { received } = await exchangeRaw(port, [head, 'ab'], 'server')
      t.match(received, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/)
    })

    t.test('10 MB reach a slow reader unchanged, although the handler reuses its memory', async t => {
      const bytes = randomBytes(TEN_MB)
      const expected = sha1(bytes)
      const { port } = await startTransport(t, name, async () => {
        setImmediate(() => bytes.fill(0))
        return ok(bytes)
      })
      const socket = connect({ port, host: '127.0.0.1' })
      socket.write(rawGet('/', LAST))
      const received: Buffer[] = []
      for await (const piece of socket) {
        received.push(piece)
        await new Promise(resolve => setImmediate(resolve))
      }
      const whole = Buffer.concat(received)
      t.equal(sha1(whole.subarray(whole.indexOf('\r\n\r\n') + 4)), expected)
    })

    t.test('two large answers follow each other on one connection', async t => {
      const bytes = randomBytes(1024 * 1024)
      const { port } = await startTransport(t, name, async () => ok(bytes))
      const socket = connect({ port, host: '127.0.0.1' })
      for (const last of ['', LAST]) {
        socket.write(rawGet('/', last))
        let length = 0
        while (length < bytes.byteLength) length += (await once(socket, 'data'))[0].byteLength
      }
      await once(socket, 'close')
      t.pass('both arrived')
    })

    t.test('an answer after an await arrives', async t => {
      const { port } = await startTransport(t, name, async ({ path }) => {
        await new Promise(resolve => setImmediate(resolve))
        return ok(path)
      })
      t.equal(await (await request(url(port, '/later'))).body.text(), '/later')
    })

    t.test('a client that disconnects while the handler waits is reported once, and its answer is dropped', async t => {
      const arrived = gate()
      const aborted = gate()
      let reports = 0
      let seen!: TransportRequest
      const { port } = await startTransport(t, name, async request => {
        if (request.path === '/good') return ok()
        seen = request
        request.onAborted(() => {
          reports++
          aborted.open()
        })
        arrived.open()
        await aborted.opened
        return ok(Buffer.alloc(TEN_MB))
      })
      const socket = connect({ port, host: '127.0.0.1' })
      socket.write(rawGet('/'))
      await arrived.opened
      t.equal(seen.aborted, false)
      socket.destroy()
      await aborted.opened
      t.equal(seen.aborted, true)
      seen.onAborted(() => reports++)
      t.equal(reports, 2, 'a late listener is called at once')
      t.type(seen.client.address, 'string')
      t.equal((await request(url(port, '/good'))).statusCode, 200)
    })

    t.test('a client that disconnects within its body rejects the promise of the body', async t => {
      const arrived = gate()
      const outcome = gate()
      let error: unknown
      const { port } = await startTransport(t, name, async request => {
        arrived.open()
        await request.body().catch(reason => {
          error = reason
          outcome.open()
        })
        return ok()
      })
      const socket = connect({ port, host: '127.0.0.1' })
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\na')
      await arrived.opened
      socket.destroy()
      await outcome.opened
      t.type(error, RequestAborted)
    })

    t.test('a client that disconnects within a large answer does no harm', async t => {
      const { port } = await startTransport(t, name, async ({ path }) =>
        ok(path === '/good' ? 'ok' : Buffer.alloc(TEN_MB)),
      )
      const socket = connect({ port, host: '127.0.0.1' })
      socket.write(rawGet('/'))
      await once(socket, 'data')
      socket.resetAndDestroy()
      t.equal((await request(url(port, '/good'))).statusCode, 200)
    })

    const faulty: Record<string, TransportHandler> = {
      throws: () => {
        throw new Error('secret')
      },
      rejects: async () => {
        throw new Error('secret')
      },
      'rejects with no error at all': () => Promise.reject(undefined),
      'sets a header with a line end': () => ({ status: 200, headers: { 'X-A': 'secret\r\nX-B: 1' }, body: '' }),
      'names a header with a line end': () => ({ status: 200, headers: { 'X-A: secret\r\nX-B': '1' }, body: '' }),
      'sets a cookie with a line end': () => ({ status: 200, cookie: 'a=secret\r\nX-B: 1', body: '' }),
      'asks for a header after an await': async request => {
        await Promise.resolve()
        return ok(request.header('host'))
      },
      'sets a header beyond ASCII': () => ({ status: 200, headers: { 'X-A': 'secret €' }, body: '' }),
      'sets a length of its own': () => ({ status: 200, headers: { 'content-length': '1' }, body: 'secret' }),
      'answers a status that does not exist': () => ({ status: 42, body: 'secret' }),
    }
    for (const [fault, handler] of Object.entries(faulty)) {
      t.test(`a handler that ${fault} is answered with 500 without details, and reported`, async t => {
        const reported: unknown[] = []
        const { port } = await startTransport(t, name, handler, { onHandlerError: error => reported.push(error) })
        const { statusCode, headers, body } = await request(url(port))
        t.equal(statusCode, 500)
        t.equal(headers['content-type'], 'application/json; charset=UTF-8')
        t.strictSame(parsedError(await body.text()), {
          message: 'the server failed to answer this request; its log tells why',
          componentSignature: 'dbmg',
          errCode: 1585,
        })
        t.equal(reported.length, 1)
      })
    }

    t.test('a body above the limit is answered with 413 and the connection closed', async t => {
      const handler = answeringErrors(async request => ok(await request.body()))
      const { port } = await startTransport(t, name, handler, { limits: { bodyBytes: 100_000 } })
      const bytes = Buffer.alloc(150_000)
      for (const body of [bytes, () => piecewise(bytes)]) {
        const answer = await request(url(port), { method: 'POST', body: typeof body === 'function' ? body() : body })
        t.equal(answer.statusCode, 413)
        t.equal(answer.headers.connection, 'close')
        t.match(parsedError(await answer.body.text()), { errCode: 1806, message: /limit of 100000 bytes/ })
      }
      const huge = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200001\r\n\r\n'
      const { statuses } = await exchangeRaw(port, [huge], 'server')
      t.strictSame(statuses, [413], 'at once if the length says so')
      const exact = await request(url(port), { method: 'POST', body: bytes.subarray(0, 100_000) })
      t.equal(exact.statusCode, 200)
    })

    t.test('a body that stalls is answered with 408 and the connection closed', async t => {
      const handler = answeringErrors(async request => ok(await request.body()))
      const { port } = await startTransport(t, name, handler, { limits: { requestTimeoutMs: 100 } })
      const { statuses, received } = await exchangeRaw(
        port,
        ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\na'],
        'server',
      )
      t.strictSame(statuses, [408])
      t.match(parsedError(bodyOf(received)), { errCode: 1806, message: /within 100 ms/ })
    })

    t.test('a head above the limit is answered with 431', async t => {
      const { port } = await startTransport(t, name, () => ok(), { limits: { headerBytes: 2_000 } })
      const { statuses, received } = await exchangeRaw(port, [rawGet(`/?${'a'.repeat(2_500)}`)], 'server')
      t.strictSame(statuses, [431])
      t.match(parsedError(bodyOf(received)), { errCode: 1806, message: /limit of 2000 bytes/ })
    })

    t.test('a refused HEAD has no body, and the connection is closed', async t => {
      const { port } = await startTransport(t, name, () => ok())
      const head = rawGet('/', 'Transfer-Encoding: gzip, chunked\r\n').replace('GET', 'HEAD')
      const { received } = await exchangeRaw(port, [head], 'server')
      t.match(received, /^HTTP\/1\.1 400 .*\r\n\r\n$/s)
    })

    t.test('a body in tiny chunks is refused before they cost much', async t => {
      const { port } = await startTransport(
        t,
        name,
        answeringErrors(async request => {
          if (request.path === '/late') {
            request.keep()
            await new Promise(setImmediate)
          }
          if (request.path === '/stream')
            await request.streamBody(() => undefined, { bodyBytes: 2 ** 20, totalTimeoutMs: 10_000 })
          else await request.body()
          return ok()
        }),
      )
      /** Beginning of the answer, whichever side ends the connection. */
      const answerTo = async (path: string, chunks: string): Promise<string> => {
        const socket = connect({ port, host: '127.0.0.1' })
        socket.on('error', () => {})
        socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
        const [bytes] = (await once(socket, 'data')) as [Buffer]
        socket.destroy()
        return bytes.toString()
      }
      for (const path of ['/', '/late', '/stream']) {
        t.match(await answerTo(path, '1\r\nx\r\n'.repeat(9_000)), /^HTTP\/1.1 200/, `${path}, a few`)
        const larger = `40\r\n${'x'.repeat(64)}\r\n`.repeat(12_000)
        t.match(await answerTo(path, larger), /^HTTP\/1.1 200/, `${path}, larger ones`)
        const refusal = await answerTo(path, '1\r\nx\r\n'.repeat(40_000))
        t.match(refusal, /^HTTP\/1.1 400 .*less than 32 bytes on average/s, path)
      }
    })

    t.test('a chunked body is answered with 411 if the option says so', async t => {
      const { port } = await startTransport(t, name, () => ok(), { limits: { refuseChunked: true } })
      const { statusCode } = await request(url(port), { method: 'POST', body: piecewise(Buffer.from('ab')) })
      t.equal(statusCode, 411)
    })

    t.test('a stop lets the request in flight finish with Connection: close, and accepts no other', async t => {
      const arrived = gate()
      const finish = gate()
      const transport = await startTransport(t, name, async () => {
        arrived.open()
        await finish.opened
        return ok('finished')
      })
      const answer = exchangeRaw(transport.port, [rawGet('/')], 'server')
      await arrived.opened
      const closed = transport.close(60_000)
      const late = await exchangeRaw(transport.port, [rawGet('/')], 'server')
      t.strictSame(late.statuses, [])
      finish.open()
      const { received } = await answer
      t.match(received, /Connection: close\r\n/)
      t.ok(received.endsWith('finished'))
      await closed
    })

    t.test('a stop closes idle connections', async t => {
      const transport = await startTransport(t, name, () => ok())
      const socket = connect({ port: transport.port, host: '127.0.0.1' })
      socket.write(rawGet('/'))
      await once(socket, 'data')
      const closed = once(socket, 'close')
      await transport.close(60_000)
      await closed
      t.pass('closed by the server')
    })

    t.test('a stop cuts off unfinished requests when its time is over', async t => {
      const arrived = gate()
      const transport = await startTransport(t, name, () => {
        arrived.open()
        return new Promise(() => {})
      })
      const answer = exchangeRaw(transport.port, [rawGet('/')], 'server')
      await arrived.opened
      await transport.close(10)
      t.strictSame((await answer).statuses, [])
      await transport.close(10)
    })

    t.test('TLS serves, large bodies too, and a plain request to it is refused', async t => {
      const tls = { keyFile: KEY_FILE, certFile: CERT_FILE }
      const bytes = randomBytes(TEN_MB)
      const transport = await startTransport(t, name, async request => ok(sha1(await request.body())), { tls })
      const answer = await new Promise<string>((resolve, reject) => {
        const options = {
          method: 'POST',
          host: '127.0.0.1',
          port: transport.port,
          ca: readFileSync(CERT_FILE),
          agent: false,
        } as const
        httpsRequest(options, response => resolve(text(response)))
          .on('error', reject)
          .end(bytes)
      })
      t.equal(answer, sha1(bytes))
      const plain = await exchangeRaw(transport.port, [rawGet('/')], 'client')
      t.notOk(plain.statuses.includes(200))
    })

    t.test('TLS files that cannot be used are an error that names them', async t => {
      const tls = { keyFile: KEY_FILE, certFile: 'no-such-file.pem' }
      await t.rejects(
        startTransport(t, name, () => ok(), { tls }),
        { message: /key\.pem.*no-such-file\.pem.*ENOENT/ },
      )
      const swapped = { keyFile: CERT_FILE, certFile: KEY_FILE }
      await t.rejects(
        startTransport(t, name, () => ok(), { tls: swapped }),
        { message: /TLS cannot use key/ },
      )
    })

    t.test('a renewed certificate is used for new connections, and no request is lost', async t => {
      const folder = t.testdir()
      const tls = { keyFile: join(folder, 'key.pem'), certFile: join(folder, 'cert.pem') }
      const write = (keyFile: string, certFile: string) => {
        copyFileSync(keyFile, tls.keyFile)
        copyFileSync(certFile, tls.certFile)
        return new X509Certificate(readFileSync(certFile)).fingerprint256
      }
      const first = write(KEY_FILE, CERT_FILE)
      const transport = await startTransport(t, name, () => ok(), { tls, limits: { maxConnections: 100 } })
      const { port } = transport
      const open = async () => {
        const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false })
        t.teardown(() => socket.destroy())
        await once(socket, 'secureConnect')
        return socket
      }
      const served = async (socket: TLSSocket): Promise<string> => {
        socket.write(rawGet('/'))
        const [bytes] = await once(socket, 'data')
        t.match(String(bytes), /^HTTP\/1.1 200/)
        return socket.getPeerCertificate().fingerprint256
      }
      const early = await open()
      t.equal(await served(early), first)
      t.equal(transport.certificate?.fingerprint256, first)

      const second = write(RENEWED_KEY_FILE, RENEWED_CERT_FILE)
      let isRenewing = true
      const meanwhile = async (): Promise<void> => {
        for (let i = 0; isRenewing || i < 5; i++) {
          // A connection that waits at the socket that is closed is reset before its handshake: clients connect again.
          const socket = await open().catch(() => open())
          t.ok([first, second].includes(await served(socket)))
          socket.destroy()
        }
      }
      const load = [meanwhile(), meanwhile()]
      for (let i = 0; i < 3; i++) t.equal((await transport.renewCertificate()).fingerprint256, second)
      isRenewing = false
      await Promise.all(load)
      t.equal(await served(await open()), second)
      t.equal(await served(early), first, 'an earlier connection stays usable')

      write(RENEWED_KEY_FILE, CERT_FILE)
      await t.rejects(transport.renewCertificate(), { message: /TLS cannot use .*key\.pem .*cert\.pem: / })
      writeFileSync(tls.certFile, 'half a cert')
      await t.rejects(transport.renewCertificate(), { message: /TLS cannot use/ })
      t.equal(await served(await open()), second, 'files that cannot be used change nothing')
      t.equal(transport.certificate?.fingerprint256, second)

      await t.rejects(
        startTransport(t, name, () => ok(), { port }),
        { message: /another process has port/ },
      )
      await transport.close(0)
      await t.rejects(open(), { code: 'ECONNREFUSED' })
    })

    t.test('a port can be opened again at once after connections on it were closed', async t => {
      const first = await startTransport(t, name, () => ok())
      const socket = connect(first.port, '127.0.0.1')
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      await once(socket, 'data')
      await first.close(0)
      const waits: string[] = []
      const onWaiting = (text: string) => waits.push(text)
      const again = await startTransport(t, name, () => ok(), { port: first.port, onWaiting })
      t.equal(again.port, first.port)
      t.same(waits, [])
    })

    t.test('an address that cannot be listened on is an error with the address and the reason', async t => {
      const { port } = await startTransport(t, name, () => ok())
      await t.rejects(
        startTransport(t, name, () => ok(), { port }),
        {
          message: `cannot listen on 127.0.0.1:${port}: another process has port ${port}; end it, or name another port (server.port)`,
        },
      )
      // TEST-NET-1, which no machine has (RFC 5737).
      await t.rejects(
        startTransport(t, name, () => ok(), { host: '192.0.2.1', port }),
        { message: `cannot listen on 192.0.2.1:${port}: 192.0.2.1 is not an address of this machine (server.host)` },
      )
      await t.rejects(
        startTransport(t, name, () => ok(), { host: 'host.invalid', port: 0 }),
        { message: /^cannot listen on host\.invalid:0: .*host.* host\.invalid .*\(server\.host\)$/ },
      )
    })
  })
}

/** The same bytes as a stream, which is sent in chunks. */
function piecewise(bytes: Uint8Array): Readable {
  const count = Math.ceil(bytes.byteLength / 60_001)
  return Readable.from(Array.from({ length: count }, (_, i) => bytes.subarray(i * 60_001, (i + 1) * 60_001)))
}
