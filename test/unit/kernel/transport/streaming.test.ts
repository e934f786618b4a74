import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import t from 'tap'
import { request } from 'undici'
import { EdgeErrors, RequestAborted } from '../../../../kernel/transport/edge-errors.ts'
import type { BodySource, StreamLimits } from '../../../../kernel/transport/transport.ts'
import { exchangeRaw } from '../../../support/raw-connection.ts'
import { answeringErrors, loadableTransports, startTransport } from '../../../support/transports.ts'

const limits: StreamLimits = { bodyBytes: 64 * 2 ** 20, totalTimeoutMs: 60_000 }
const content = Buffer.from(new Uint8Array(20 * 2 ** 20).map((_, i) => (i * 31 + (i >> 13)) & 0xff))
const sha1 = (...pieces: Uint8Array[]) =>
  pieces.reduce((hash, piece) => hash.update(piece), createHash('sha1')).digest('hex')
const url = (port: number) => `http://127.0.0.1:${port}/`
const nextTurn = () => new Promise<void>(resolve => setImmediate(resolve))

/** Gives `content` in pieces of `size`, every second one later, always in the same memory. */
function sourceOf(size: number, closed: () => void): BodySource {
  const buffer = Buffer.alloc(size)
  return {
    size: content.length,
    read(start) {
      const piece = buffer.subarray(0, content.copy(buffer, 0, start, start + size))
      return (start / size) % 2 === 1 ? nextTurn().then(() => piece) : piece
    },
    close: closed,
  }
}

// They wait most of the time.
t.jobs = loadableTransports.length
for (const name of loadableTransports) {
  t.test(name, async t => {
    t.test('a body arrives in pieces, and not more than a little of it while the taker waits', async t => {
      let waiting = 0
      let mostAtOnce = 0
      const handler = answeringErrors(async request => {
        const hash = createHash('sha1')
        await request.streamBody(piece => {
          hash.update(piece)
          waiting += piece.length
          mostAtOnce = Math.max(mostAtOnce, waiting)
          return nextTurn().then(() => {
            waiting = 0
          })
        }, limits)
        return { status: 200, body: hash.digest('hex') }
      })
      const { port } = await startTransport(t, name, handler)
      const chunked = () =>
        Readable.from([content.subarray(0, 7), content.subarray(7, 9_000_000), content.subarray(9_000_000)])
      for (const body of [content, chunked()]) {
        const answer = await request(url(port), { method: 'POST', body })
        t.equal(await answer.body.text(), sha1(content))
      }
      t.ok(mostAtOnce <= 2 ** 20, `${mostAtOnce} bytes`)
    })

    t.test('an empty body is streamed as nothing', async t => {
      let pieces = 0
      const handler = answeringErrors(async request => {
        await request.streamBody(piece => {
          pieces += piece.length
          return undefined
        }, limits)
        return { status: 200, body: 'ok' }
      })
      const { port } = await startTransport(t, name, handler)
      t.equal((await request(url(port), { method: 'POST' })).statusCode, 200)
      t.equal(pieces, 0)
    })

    t.test('what is over its limit, too slow or cannot be taken is refused', async t => {
      const cases = [
        { limit: { bodyBytes: 3 }, head: 'Content-Length: 5', body: 'abcde', status: 413 },
        { limit: { bodyBytes: 3 }, head: 'Content-Length: 999', body: '', status: 413 },
        { limit: {}, requestTimeoutMs: 100, head: 'Content-Length: 5', body: 'abc', status: 408 },
        { limit: { totalTimeoutMs: 0 }, head: 'Content-Length: 5', body: 'abc', status: 408 },
        { limit: {}, head: 'Content-Length: 5', body: 'fail', status: 411 },
        { limit: {}, head: 'Content-Length: 5', body: 'later', status: 411 },
      ]
      // All at a time: some connections are closed only when their request takes too long.
      const exchanges = cases.map(async ({ limit, requestTimeoutMs = 5_000, head, body, status }) => {
        const handler = answeringErrors(async request => {
          await request.streamBody(
            piece => {
              const text = Buffer.from(piece).toString()
              if (text === 'fail') throw EdgeErrors.LENGTH_REQUIRED()
              return text === 'later' ? Promise.reject(EdgeErrors.LENGTH_REQUIRED()) : undefined
            },
            { ...limits, ...limit },
          )
          return { status: 200, body: 'ok' }
        })
        const { port } = await startTransport(t, name, handler, { limits: { requestTimeoutMs } })
        const { statuses } = await exchangeRaw(port, [`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n${body}`], 'server')
        t.strictSame(statuses, [status], `${head} ${body}`)
      })
      await Promise.all(exchanges)
    })

    t.test('a client that is still sending when its body cannot be taken gets to read why', async t => {
      const handler = answeringErrors(async request => {
        await request.streamBody(() => Promise.reject(EdgeErrors.LENGTH_REQUIRED()), limits)
        return { status: 200, body: 'ok' }
      })
      const { port } = await startTransport(t, name, handler)
      for (let i = 0; i < 3; i++) {
        const answer = await request(url(port), { method: 'POST', body: content.subarray(0, 9_000_000) })
        t.equal(answer.statusCode, 411)
        await answer.body.dump()
      }
    })

    t.test('a client that goes away in the middle ends the stream', async t => {
      const failed = new Promise(resolve => {
        startTransport(t, name, async request => {
          await request.streamBody(() => undefined, limits).catch(resolve)
          return { status: 200, body: 'ok' }
        }).then(({ port }) =>
          exchangeRaw(port, ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n', 'abc'], 'reset'),
        )
      })
      t.type(await failed, RequestAborted)
    })

    t.test('an answer is read while it is sent, and its source closed once', async t => {
      let closed = 0
      const { port } = await startTransport(t, name, () => ({ status: 200, body: sourceOf(300_000, () => closed++) }))
      const answers = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const { headers, body } = await request(url(port))
          return { length: headers['content-length'], hash: sha1(Buffer.from(await body.arrayBuffer())) }
        }),
      )
      for (const { length, hash } of answers) t.same([length, hash], [String(content.length), sha1(content)])
      const head = await request(url(port), { method: 'HEAD' })
      t.equal(head.headers['content-length'], String(content.length))
      t.equal(closed, 5)
    })

    t.test('a client that goes away closes the source; one that reads slowly gets all', async t => {
      let closed = 0
      const { port } = await startTransport(t, name, () => ({ status: 200, body: sourceOf(100_000, () => closed++) }))
      const socket = connect({ port, host: '127.0.0.1' })
      await new Promise(resolve => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n', resolve))
      await new Promise(resolve => socket.once('data', resolve))
      socket.resetAndDestroy()
      const { body } = await request(url(port))
      const pieces: Buffer[] = []
      for await (const piece of body) {
        pieces.push(piece as Buffer)
        if (pieces.length % 20 === 0) await nextTurn()
      }
      t.equal(sha1(...pieces), sha1(content))
      t.equal(closed, 2)
    })

    t.test('a source that fails ends the connection and is reported', async t => {
      const errors: unknown[] = []
      let closed = 0
      const source: BodySource = {
        size: 100_000,
        read: start => (start === 0 ? Buffer.alloc(10) : Promise.reject(new Error('disk'))),
        close: () => closed++,
      }
      const { port } = await startTransport(t, name, () => ({ status: 200, body: source }), {
        onHandlerError: error => errors.push(error),
      })
      await t.rejects(request(url(port)).then(({ body }) => body.text()))
      t.match(errors, [{ message: 'disk' }])
      t.equal(closed, 1)
    })
  })
}
