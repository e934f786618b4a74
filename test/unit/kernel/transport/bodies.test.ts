/** Every transport: bodies of requests, large answers, and limits of both. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import t from 'tap'
import { request } from 'undici'
import { exchangeRaw } from '../../../support/clients/raw-connection.ts'
import { answeringErrors, loadableTransports, startTransport } from '../../../support/servers/transports.ts'
import { bodyOf, LAST, ok, parsedError, rawGet, sha1, TEN_MB, url } from './requests.ts'

for (const name of loadableTransports) {
  t.test(name, async t => {
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
  })
}

/** The same bytes as a stream, which is sent in chunks. */
function piecewise(bytes: Uint8Array): Readable {
  const count = Math.ceil(bytes.byteLength / 60_001)
  return Readable.from(Array.from({ length: count }, (_, i) => bytes.subarray(i * 60_001, (i + 1) * 60_001)))
}
