/** Every transport: clients that disconnect, and handlers that fail. */
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { request } from 'undici'
import { RequestAborted } from '../../../../kernel/transport/edge-errors.ts'
import type { TransportHandler, TransportRequest } from '../../../../kernel/transport/transport.ts'
import { loadableTransports, startTransport } from '../../../support/servers/transports.ts'
import { gate, ok, parsedError, rawGet, TEN_MB, url } from './requests.ts'

for (const name of loadableTransports) {
  t.test(name, async t => {
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
  })
}
