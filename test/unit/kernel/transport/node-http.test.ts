import { once } from 'node:events'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import type { TransportHandler } from '../../../../kernel/transport/transport.ts'
import { exchangeRaw } from '../../../support/clients/raw-connection.ts'
import { answeringErrors, startTransport } from '../../../support/servers/transports.ts'

/** Bytes of a request that Node's parser alone would refuse. */

const raw = (text: string): Buffer => Buffer.from(text)
const HOST = 'Host: x\r\n'

/** Answers with the request as it was received. */
const echo: TransportHandler = answeringErrors(async request => {
  const { method, path, query } = request
  const header = request.header('x-name')
  const body = Buffer.from(await request.body()).toString()
  return {
    status: 200,
    body: JSON.stringify([method, decodeURIComponent(path), decodeURIComponent(query), header, body]),
  }
})
const bodiesOf = (received: string): string[] =>
  received.split(/HTTP\/1\.1 /).map(answer => Buffer.from(answer.split('\r\n\r\n')[1] ?? '', 'latin1').toString())
const echoed = (received: string): unknown[] =>
  bodiesOf(received)
    .filter(body => body.startsWith('['))
    .map(body => JSON.parse(body))

t.test('a request that offers another protocol is the last of its connection', async t => {
  const { port } = await startTransport(t, 'node-http', echo)
  const upgrade = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n'
  const hidden = `GET /hidden HTTP/1.1\r\n${HOST}\r\n`
  // Node.js drops what has arrived with the request: the body of the second one would be read as a request.
  const second = `POST /second HTTP/1.1\r\n${HOST}Content-Length: ${hidden.length}\r\n\r\n`
  const sent = [raw(`GET /first HTTP/1.1\r\n${HOST}${upgrade}\r\n${second}`), raw(hidden)]
  const { received } = await exchangeRaw(port, sent, 'server')
  t.same(echoed(received), [['GET', '/first', '', '', '']])
  t.match(received, /\r\nConnection: close\r\n/i)
  const waiting = await exchangeRaw(port, [raw(`GET /zero HTTP/1.1\r\n${HOST}\r\n`), ...sent], 'server')
  t.same(echoed(waiting.received), [
    ['GET', '/zero', '', '', ''],
    ['GET', '/first', '', '', ''],
  ])
  const plain = `POST /body HTTP/1.1\r\n${HOST}${upgrade}Content-Length: 2\r\n\r\nok`
  t.same(echoed((await exchangeRaw(port, [raw(plain)], 'server')).received), [['POST', '/body', '', '', 'ok']])
  const one = `GET /one HTTP/1.1\r\n${HOST}Upgrade: h2c\r\n\r\nGET /two HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`
  t.equal(echoed((await exchangeRaw(port, [raw(one)], 'server')).received).length, 2, 'a header by itself is none')
})

t.test('targets with raw bytes above ASCII', async t => {
  const { port } = await startTransport(t, 'node-http', echo)

  await t.test('of a request without a body', async t => {
    const { received } = await exchangeRaw(
      port,
      [raw(`GET /é?a="ü€"&b=😀 HTTP/1.1\r\n${HOST}X-Name: ñ\r\n\r\n`)],
      'server',
    )
    t.same(echoed(received), [['GET', '/é', 'a="ü€"&b=😀', 'ñ', '']])
    t.match(received, /\r\nConnection: close\r\n/i, 'the connection is closed after it')
  })

  await t.test('of a request with a body, in one piece and in many', async t => {
    const body = 'é€'.repeat(40_000)
    const head = raw(`POST /ä HTTP/1.1\r\n${HOST}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`)
    const whole = Buffer.concat([head, raw(body)])
    const pieces = [10, 30, 50, 1_000, 60_000, 100_000].map((start, i, all) => whole.subarray(start, all[i + 1]))
    for (const sent of [[whole], [whole.subarray(0, 10), ...pieces]]) {
      const { received } = await exchangeRaw(port, sent, 'server')
      t.same(echoed(received), [['POST', '/ä', '', '', body]])
    }
  })

  await t.test('a request after it is not run', async t => {
    const first = `GET /é HTTP/1.1\r\n${HOST}\r\n`
    const { received } = await exchangeRaw(port, [raw(`${first}GET /second HTTP/1.1\r\n${HOST}\r\n`)], 'server')
    t.same(echoed(received), [['GET', '/é', '', '', '']])
    const later = await exchangeRaw(port, [raw(first), raw(`GET /second HTTP/1.1\r\n${HOST}\r\n`)], 'server')
    t.same(echoed(later.received), [['GET', '/é', '', '', '']])
  })

  await t.test('on a connection that has served others', async t => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.write(`GET /first HTTP/1.1\r\n${HOST}\r\n`)
    await once(socket, 'data')
    socket.write(raw(`GET /é HTTP/1.1\r\n${HOST}\r\n`))
    t.same(echoed((await buffer(socket)).toString('latin1')), [['GET', '/é', '', '', '']])
  })

  await t.test('malformed requests are still refused', async t => {
    const bad: [string, (string | Buffer)[]][] = [
      ['a control character', [`GET /a\x01 HTTP/1.1\r\n${HOST}\r\n`]],
      ['a control character after them', [raw(`GET /é\x01 HTTP/1.1\r\n${HOST}\r\n`)]],
      ['a line that is not a header', [raw(`GET /é HTTP/1.1\r\n${HOST}bad header\r\n\r\n`)]],
      ['two lengths', [raw(`POST /é HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`)]],
      [
        'a length and a coding',
        [raw(`POST /é HTTP/1.1\r\n${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`)],
      ],
      ['no host', [raw('GET /é HTTP/1.1\r\n\r\n')]],
      ['after another request in one packet', [raw(`POST /a HTTP/1.1\r\n\r\nGET /é HTTP/1.1\r\n${HOST}\r\n`)]],
    ]
    for (const [what, sent] of bad) {
      const { statuses } = await exchangeRaw(port, sent, 'server')
      t.same(statuses, [400], what)
    }
    const split = connect({ port, host: '127.0.0.1' })
    split.write('GET /a')
    await setTimeout(100)
    split.write(raw(`é HTTP/1.1\r\n${HOST}\r\n`))
    t.match((await buffer(split)).toString(), /^HTTP\/1.1 400 .*char in url/s, 'the method is no longer known')
    const head = raw(`GET /${'é'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`)
    t.same((await exchangeRaw(port, [head], 'server')).statuses, [431], 'the limit of a head counts encoded bytes')
  })

  await t.test('a large answer is sent as fast as it is read, and a client that disconnects is noticed', async t => {
    const large = Buffer.alloc(20 * 2 ** 20, 'é')
    const transport = await startTransport(t, 'node-http', () => ({ status: 200, body: large }))
    const { port } = transport
    const slow = connect({ port, host: '127.0.0.1' })
    slow.write(raw(`GET /é HTTP/1.1\r\n${HOST}\r\n`))
    await once(slow, 'readable')
    await setTimeout(50)
    const received = await buffer(slow)
    const body = received.subarray(received.indexOf('\r\n\r\n') + 4)
    t.equal(sha1(body), sha1(large))
    const gone = connect({ port, host: '127.0.0.1' })
    gone.write(raw(`GET /é HTTP/1.1\r\n${HOST}\r\n`))
    await once(gone, 'readable')
    gone.resetAndDestroy()
    // Longer than the test may take: close must not wait.
    await transport.close(1_800_000)
  })

  await t.test('over TLS', async t => {
    const tls = { keyFile: 'test/edge/fixtures/localhost.key.pem', certFile: 'test/edge/fixtures/localhost.cert.pem' }
    const { port } = await startTransport(t, 'node-http', echo, { tls })
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    socket.write(raw(`GET /é HTTP/1.1\r\n${HOST}\r\n`))
    t.same(echoed((await buffer(socket)).toString('latin1')), [['GET', '/é', '', '', '']])
  })
})

t.test('a HEAD that cannot be parsed is answered without a body', async t => {
  const { port } = await startTransport(t, 'node-http', echo)
  const bad = `${HOST}bad header\r\n\r\n`
  for (const [sent, hasBody] of [
    [`HEAD / HTTP/1.1\r\n${bad}`, false],
    [`HEAD /a\x01 HTTP/1.1\r\n${HOST}\r\n`, false],
    [`GET / HTTP/1.1\r\n${bad}`, true],
    [`GET /HEAD HTTP/1.1\r\n${bad}`, true],
  ] as const) {
    const { received, statuses } = await exchangeRaw(port, [sent], 'server')
    t.same(statuses, [400])
    t.match(received, /\r\nContent-Length: [1-9]/)
    t.equal(received.split('\r\n\r\n')[1] !== '', hasBody, sent)
  }
})

t.test('other versions of HTTP are refused', async t => {
  const { port } = await startTransport(t, 'node-http', echo)
  for (const [line, status] of [
    ['GET / HTTP/2.0', 505],
    ['HEAD / HTTP/2.0', 505],
    ['GET / HTTP/0.9', 505],
    ['GET / HTTP/3.0', 400],
    ['PRI * HTTP/2.0', 400],
    ['GET / HTTP/1.0', 200],
    ['GET / HTTP/1.1', 200],
  ] as const) {
    const next = `GET /next HTTP/1.1\r\n${HOST}\r\n`
    const { received, statuses } = await exchangeRaw(
      port,
      [`${line}\r\n${HOST}Connection: close\r\n\r\n${status === 505 ? next : ''}`],
      'server',
    )
    t.same(statuses, [status], line)
    if (status === 505) t.match(received, line.startsWith('HEAD') ? /\r\n\r\n$/ : /use HTTP\/1.1/)
  }
})

const sha1 = (bytes: Uint8Array): string => createHash('sha1').update(bytes).digest('hex')
