/**
 * Memory for bodies and answers from one shared budget, on every transport.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Agent, request } from 'undici'
import { ByteBudget } from '../../../../engine/index.ts'
import type { StreamLimits, TransportHandler, TransportName } from '../../../../kernel/transport/transport.ts'
import { answeringErrors, loadableTransports, startTransport } from '../../../support/servers/transports.ts'
import { until } from '../../../support/base/until.ts'

const MIB = 2 ** 20
const url = (port: number, path = '/') => `http://127.0.0.1:${port}${path}`
const limits: StreamLimits = { bodyBytes: 64 * MIB, totalTimeoutMs: 60_000 }

function gate() {
  let open!: () => void
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { opened, open }
}

async function start(t: Test, name: TransportName, memoryBytes: number, handler: TransportHandler) {
  const memory = ByteBudget.of(memoryBytes)
  const { port } = await startTransport(t, name, handler, { memory })
  const agent = new Agent({ connections: 20 })
  t.teardown(() => agent.destroy())
  const ask = async (method: 'GET' | 'POST' | 'HEAD', path = '/', body?: Buffer) => {
    const answer = await request(url(port, path), { method, body, dispatcher: agent })
    const text = await answer.body.text()
    return { status: answer.statusCode, headers: answer.headers, text }
  }
  /** @returns a connection that has sent `text` and reads nothing */
  const send = async (text: string | Buffer): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1' })
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    socket.pause()
    await once(socket, 'connect')
    socket.write(text)
    return socket
  }
  return { port, memory, ask, send }
}

const refusal = { __ERROR: [{ errCode: 1200, message: /bytes of memory/ }] }

for (const name of loadableTransports) {
  t.test(name, async t => {
    t.test('bodies beyond the memory for them are refused with 503, and other requests are not', async t => {
      const { opened, open } = gate()
      let asked = 0
      const handler = answeringErrors(async request => {
        const body = request.method === 'POST' ? await request.body() : Buffer.from('live')
        asked++
        if (request.path === '/wait') await opened
        return { status: 200, body: String(body.length) }
      })
      const { memory, ask, send } = await start(t, name, MIB, handler)
      const first = ask('POST', '/wait', Buffer.alloc(900_000))
      await until(() => asked === 1)
      t.ok(memory.usedBytes >= 900_000)
      const refused = await ask('POST', '/', Buffer.alloc(900_000))
      t.equal(refused.status, 503)
      t.ok(Number(refused.headers['retry-after']) > 0)
      t.match(JSON.parse(refused.text), refusal)
      const chunked = await send(
        `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${'5000\r\n'.padEnd(0x5006, 'x')}\r\n`,
      )
      t.equal((await ask('GET')).status, 200, 'health')
      t.equal((await ask('POST', '/', Buffer.alloc(30_000))).status, 200, 'a small body')
      chunked.resetAndDestroy()
      open()
      t.equal((await first).text, '900000')
      t.equal((await ask('POST', '/', Buffer.alloc(900_000))).status, 200, 'later there is room again')
      t.ok(await until(() => memory.usedBytes === 0), 'everything is released')
    })

    t.test('stalled bodies do not exclude small ones', async t => {
      const handler = answeringErrors(async request => {
        const body = request.method === 'POST' ? await request.body() : Buffer.from('live')
        return { status: 200, body: String(body.length) }
      })
      const { memory, ask, send } = await start(t, name, 4 * MIB, handler)
      const stalled: Socket[] = []
      for (let i = 0; i < 5; i++) {
        const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${MIB}\r\n\r\n`
        stalled.push(await send(Buffer.concat([Buffer.from(head), Buffer.alloc(MIB - 1)])))
      }
      t.ok(await until(() => memory.usedBytes === 4 * MIB), 'all of the memory is taken')
      t.equal((await ask('POST', '/', Buffer.alloc(100_000))).status, 503)
      for (const size of [15, 10_000, 60_000]) t.equal((await ask('POST', '/', Buffer.alloc(size))).status, 200)
      const many = await Promise.all(Array.from({ length: 12 }, () => ask('POST', '/', Buffer.alloc(60_000))))
      t.ok(many.every(({ status }) => status === 200 || status === 503))
      t.ok(memory.usedBytes <= 4.5 * MIB)
      for (const socket of stalled) socket.destroy()
      t.ok(await until(() => memory.usedBytes === 0), 'everything is released')
    })

    t.test('answers that wait for their clients are counted', async t => {
      const body = Buffer.alloc(12 * MIB)
      let asked = 0
      const handler = answeringErrors(async ({ path }) => {
        asked++
        return { status: 200, body: path === '/large' ? body : 'live' }
      })
      const { memory, ask, send } = await start(t, name, 16 * MIB, handler)
      const sockets = [await send('GET /large HTTP/1.1\r\nHost: x\r\n\r\n')]
      t.ok(await until(() => memory.usedBytes === body.length))
      const refused = await ask('GET', '/large')
      t.equal(refused.status, 503)
      t.match(JSON.parse(refused.text), refusal)
      t.equal((await ask('HEAD', '/large')).status, 200, 'an answer that is not sent takes no memory')
      t.equal((await ask('GET', '/live')).status, 200)
      const changed = await ask('POST', '/large')
      t.equal(changed.status, 200, 'a write is answered nevertheless')
      t.equal(changed.text.length, body.length)
      for (let i = 0; i < 3; i++)
        sockets.push(await send('POST /large HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'))
      t.ok(await until(() => asked === 8 && memory.usedBytes >= 2 * body.length))
      t.equal(memory.usedBytes, 2 * body.length, 'within twice the limit')
      for (const socket of sockets) socket.destroy()
      t.ok(await until(() => memory.usedBytes === 0), 'everything is released')
      t.equal((await ask('GET', '/large')).status, 200)
    })

    t.test('a client that sends request after request and reads nothing does not fill the memory', async t => {
      const body = Buffer.alloc(40_000)
      const { memory, ask, send } = await start(t, name, 4 * MIB, () => ({ status: 200, body }))
      const before = process.memoryUsage.rss()
      const sockets = []
      for (let i = 0; i < 5; i++) sockets.push(await send('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2_500)))
      await delay(300)
      const grown = process.memoryUsage.rss() - before
      t.ok(grown < 100 * MIB, `${Math.round(grown / MIB)} MiB`)
      t.equal((await ask('GET')).text.length, body.length)
      for (const socket of sockets) socket.destroy()
      t.ok(await until(() => memory.usedBytes === 0), 'everything is released')
    })

    t.test('a streamed body counts with its pending part', async t => {
      const { opened, open } = gate()
      const handler = answeringErrors(async request => {
        let length = 0
        await request.streamBody(piece => {
          length += piece.length
          return opened
        }, limits)
        return { status: 200, body: String(length) }
      })
      const { memory, ask } = await start(t, name, 4 * MIB, handler)
      const content = Buffer.alloc(20 * MIB)
      const first = ask('POST', '/', content)
      await until(() => memory.usedBytes > 300_000)
      await delay(50)
      t.ok(memory.usedBytes < 2 * MIB, `${memory.usedBytes} bytes`)
      open()
      t.equal((await first).text, String(content.length))
      t.ok(await until(() => memory.usedBytes === 0), 'everything is released')
    })

    t.test('clients that disconnect release their memory', async t => {
      const left: unknown[] = []
      let started = 0
      const handler: TransportHandler = async request => {
        started++
        if (request.path === '/stream') await request.streamBody(() => undefined, limits)
        else await request.body()
        return { status: 200, body: 'ok' }
      }
      const { memory, send } = await start(t, name, 4 * MIB, request =>
        Promise.resolve(handler(request)).catch(error => {
          left.push(error)
          throw error
        }),
      )
      const head = (path: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n`
      const sockets = [
        await send(head('/') + 'x'.repeat(400_000)),
        await send(head('/stream') + 'x'.repeat(400_000)),
        await send(head('/')),
      ]
      await until(() => started === 3 && memory.usedBytes > 400_000)
      for (const socket of sockets) socket.resetAndDestroy()
      t.ok(await until(() => left.length === 3))
      t.ok(await until(() => memory.usedBytes === 0), 'everything is released')
    })

    t.test('a handler can read head and body later, and the body is not received before', async t => {
      const { opened, open } = gate()
      let started = 0
      const handler = answeringErrors(async request => {
        request.keep()
        started++
        await opened
        const header = request.header('x-name')
        if (request.path === '/none') return { status: 401, body: header }
        let length = 0
        if (request.path === '/whole') length = (await request.body()).length
        else {
          await request.streamBody(piece => {
            length += piece.length
            return delay(0)
          }, limits)
        }
        return { status: 200, body: `${header} ${length} ${request.header('x-none')}` }
      })
      const { memory, port } = await start(t, name, 16 * MIB, handler)
      const agent = new Agent({ connections: 4 })
      t.teardown(() => agent.destroy())
      const send = async (path: string, body: Buffer | undefined, method: 'POST' | 'GET' = 'POST') => {
        const answer = await request(url(port, path), {
          method,
          body,
          dispatcher: agent,
          headers: { 'X-Name': `n${path}` },
        })
        return `${answer.statusCode} ${await answer.body.text()}`
      }
      const content = Buffer.alloc(6 * MIB)
      const answers = [
        send('/whole', content),
        send('/stream', content),
        send('/whole', Buffer.alloc(3)),
        send('/whole', undefined, 'GET'),
      ]
      await until(() => started === 4)
      await delay(200)
      t.ok(memory.usedBytes < 3 * MIB, `${memory.usedBytes} bytes of 12 MiB`)
      open()
      const length = content.length
      t.strictSame(await Promise.all(answers), [
        `200 n/whole ${length} `,
        `200 n/stream ${length} `,
        '200 n/whole 3 ',
        '200 n/whole 0 ',
      ])
      for (let i = 0; i < 10; i++) t.equal(await send('/none', content.subarray(0, 700_000)), '401 n/none')
      t.equal(await send('/whole', Buffer.alloc(5)), '200 n/whole 5 ', 'the connections stay usable')
      t.ok(await until(() => memory.usedBytes === 0), 'everything is released')
    })

    t.test('a connection stays usable after a body that had arrived in full before the handler read it', async t => {
      const handler = answeringErrors(async request => {
        request.keep()
        await delay(20)
        const { length } = request.path === '/none' ? '' : await request.body()
        return { status: 200, body: String(length) }
      })
      const { port } = await start(t, name, 16 * MIB, handler)
      const head = (path: string, line: string) => `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${line}\r\n\r\n`
      const socket = connect({ port, host: '127.0.0.1' })
      t.teardown(() => socket.destroy())
      let received = ''
      socket.on('data', data => {
        received += data
      })
      const chunked = '3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'
      let answers = 0
      for (const path of ['/body', '/none', '/body']) {
        socket.write(head(path, 'Transfer-Encoding: chunked') + chunked)
        answers++
        t.ok(await until(() => received.split('HTTP/1.1 200').length === answers + 1), `${path} is answered`)
      }
      socket.write(`${head('/body', 'Content-Length: 2')}xy`)
      t.ok(await until(() => received.endsWith('\r\n\r\n2')), 'and a later request')
    })
  })
}
