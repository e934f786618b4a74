/**
 * Requests that a client sends without waiting for answers. `node-http` answers all of them in order; the builds of uWebSockets.js
 * close the connection when one arrives before the previous one is answered, after answers that are right so far.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { request } from 'undici'
import type {
  BodySource,
  BodyStream,
  RequestMeter,
  TransportHandler,
  TransportRequest,
  TransportResponse,
} from '../../../../kernel/transport/transport.ts'
import {
  answersIn,
  cutAtRandom,
  type RawAnswer,
  type RawRequest,
  rawRequest,
  sendInTurn,
  sendPipelined,
} from '../../../support/clients/pipelined.ts'
import { type Random, randomOf } from '../../../support/base/random.ts'
import { isLong, seeds } from '../../../support/runner/rounds.ts'
import { answeringErrors, loadableTransports, startTransport } from '../../../support/servers/transports.ts'
import { until } from '../../../support/base/until.ts'

const nextTurn = () => new Promise<void>(resolve => setImmediate(resolve))
const get = (path: string, headers = ''): RawRequest => rawRequest('GET', path, { headers })
const LAST = get('/sync/1', 'Connection: close\r\n')

/** Bytes that tell how many there are. */
const filled = (size: number): Buffer => Buffer.alloc(size, `<${size}>`)

const sourceOf = (bytes: Buffer): BodySource => ({
  size: bytes.length,
  read: start => {
    const piece = bytes.subarray(start, start + 50_000)
    return start % 100_000 === 0 ? nextTurn().then(() => piece) : piece
  },
  close: () => {},
})

async function* streamOf(bytes: Buffer): BodyStream {
  for (let start = 0; start < bytes.length; start += 70_000) {
    await nextTurn()
    yield bytes.subarray(start, start + 70_000)
  }
}

/** Answers by the first name of the path; the second one is the size, or the status. */
const mixed: TransportHandler = incoming => {
  const [, kind, number] = incoming.path.split('/')
  const size = Number(number)
  switch (kind) {
    case 'status':
      return { status: size, body: filled(100) }
    case 'sync':
      return { status: 200, body: filled(size) }
    case 'fault':
      throw new Error('a fault')
    default:
      return late(kind!, incoming, size)
  }
}

const late = async (kind: string, incoming: TransportRequest, size: number): Promise<TransportResponse> => {
  if (kind === 'echo') return { status: 200, body: await incoming.body() }
  if (kind === 'kept') {
    incoming.keep()
    await nextTurn()
    return { status: 200, body: await incoming.body() }
  }
  await nextTurn()
  if (kind === 'source') return { status: 200, body: sourceOf(filled(size)) }
  if (kind === 'stream') return { status: 200, body: streamOf(filled(size)) }
  return { status: 200, body: filled(size) }
}

/** Requests of all kinds that are answered in their turn. */
const quick = (random: Random): RawRequest => {
  const size = random.integer(0, 2_000)
  const body = 'b'.repeat(size)
  return random.pick([
    get(`/sync/${size}`),
    get('/fault'),
    get(`/status/${random.pick([204, 304, 404, 422])}`),
    rawRequest('HEAD', `/sync/${size}`),
    rawRequest('OPTIONS', `/sync/${size}`),
    rawRequest('POST', '/echo', { body }),
    rawRequest('PUT', '/echo', { body, chunked: true }),
    rawRequest('POST', '/sync/10', { body }),
  ])
}

const anyKind = (random: Random): RawRequest => {
  const size = random.chance(0.1) ? random.integer(100_000, 1_500_000) : random.integer(0, 3_000)
  const body = 'b'.repeat(random.integer(0, 30_000))
  return random.pick([
    quick(random),
    get(`/sync/${size}`),
    get(`/late/${size}`),
    get(`/source/${size}`),
    get(`/stream/${size}`),
    rawRequest('HEAD', `/late/${size}`),
    rawRequest('POST', '/kept', { body }),
    rawRequest('POST', '/echo', { body }),
    rawRequest('DELETE', '/late/10', { body, chunked: true }),
  ])
}

const requestsOf = (random: Random, kind: typeof quick): RawRequest[] => [
  ...Array.from({ length: 199 }, () => kind(random)),
  LAST,
]

const comparable = ({ status, head, body }: RawAnswer) => ({
  status,
  head: head.replace(/\r\n(Date|Connection|Keep-Alive): [^\r]*/gi, ''),
  body: createHash('sha1').update(body).digest('hex'),
})

for (const name of loadableTransports) {
  const isQueued = name === 'node-http'
  t.test(name, async t => {
    for (const seed of seeds(isLong ? 10 : 1)) {
      const random = randomOf(seed)
      t.test(`requests answered in their turn, seed ${seed}`, async t => {
        const { port } = await startTransport(
          t,
          name,
          answeringErrors(async each => mixed(each)),
        )
        const requests = requestsOf(random, quick)
        const expected = (await sendInTurn(port, requests)).map(comparable)
        for (const cuts of [0, 40]) {
          const { answers, restBytes } = answersIn(
            await sendPipelined(port, cutAtRandom(requests, random, cuts)),
            requests,
          )
          t.strictSame(answers.map(comparable), expected, `in order, ${cuts} cuts`)
          t.equal(restBytes, 0)
        }
      })

      t.test(`requests of all kinds, seed ${seed}`, async t => {
        const { port } = await startTransport(t, name, mixed)
        const requests = requestsOf(random, anyKind)
        const expected = (await sendInTurn(port, requests)).map(comparable)
        for (const [cuts, pauseMs] of [
          [0, 0],
          [60, 0],
          [60, 1],
        ] as const) {
          const received = await sendPipelined(port, cutAtRandom(requests, random, cuts), pauseMs)
          const { answers, restBytes } = answersIn(received, requests)
          const text = `${answers.length} answers in order, ${cuts} cuts`
          t.strictSame(answers.map(comparable), isQueued ? expected : expected.slice(0, answers.length), text)
          if (isQueued) t.equal(restBytes, 0)
        }
        t.equal((await request(`http://127.0.0.1:${port}/sync/1`)).statusCode, 200)
      })
    }

    if (isQueued) return
    t.test('a connection that is closed for it runs no further request, and the log tells why, once', async t => {
      const seen: string[] = []
      const warnings: string[] = []
      const turnBegan = () => performance.now()
      const beats = new Int32Array(1)
      const meter: RequestMeter = {
        timedEvery: 16,
        beats,
        turnBegan,
        isSlow: () => false,
        finished: () => {},
        unreadable: () => {},
      }
      const { port } = await startTransport(
        t,
        name,
        each => {
          seen.push(each.path)
          return mixed(each)
        },
        { meter, onWarning: text => warnings.push(text) },
      )
      const requests = [get('/sync/1'), get('/late/1'), get('/sync/2'), LAST]
      // The time between request and end decides, which a busy machine may lengthen.
      const isWarned = await until(async () => {
        seen.length = 0
        await sendPipelined(port, cutAtRandom(requests, randomOf(1), 0))
        t.strictSame(seen, ['/sync/1', '/late/1'])
        return warnings.length > 0
      })
      t.ok(isWarned)
      t.match(warnings[0], /pipelining.*server\.transport to node-http/)
      await sendPipelined(port, cutAtRandom(requests, randomOf(1), 0))
      t.equal(warnings.length, 1)
    })
  })
}

t.test('node-http', async t => {
  t.test('a request is served when the previous one is answered', async t => {
    const seen: string[] = []
    let value = 'old'
    const { port } = await startTransport(t, 'node-http', async each => {
      seen.push(`begin ${each.method}`)
      await nextTurn()
      const body = each.method === 'PUT' ? String(await each.body()) : value
      await nextTurn()
      value = body
      seen.push(`end ${each.method}`)
      return { status: 200, body }
    })
    const requests = [get('/'), rawRequest('PUT', '/', { body: 'new' }), get('/'), LAST]
    const { answers } = answersIn(await sendPipelined(port, cutAtRandom(requests, randomOf(1), 0)), requests)
    t.strictSame(
      answers.map(({ body }) => String(body)),
      ['old', 'new', 'new', 'new'],
    )
    t.strictSame(
      seen,
      ['GET', 'PUT', 'GET', 'GET'].flatMap(method => [`begin ${method}`, `end ${method}`]),
    )
  })

  t.test('the connection is not read while many requests wait', async t => {
    let open!: () => void
    const opened = new Promise<void>(resolve => {
      open = resolve
    })
    const { port } = await startTransport(t, 'node-http', async () => {
      await opened
      return { status: 200, body: 'ok' }
    })
    const padding = `X-Padding: ${'a'.repeat(60_000)}\r\n`
    const requests = [...Array.from({ length: 500 }, () => get('/', padding)), LAST]
    const socket = connect({ port, host: '127.0.0.1' })
    for (const { bytes } of requests) socket.write(bytes)
    const received: Buffer[] = []
    socket.on('data', bytes => received.push(bytes))
    let unsent = -1
    await until(async () => {
      const before = unsent
      await delay(100)
      unsent = socket.writableLength
      return unsent === before
    })
    t.ok(unsent > 10_000_000, `${unsent} bytes are unsent`)
    open()
    await once(socket, 'close')
    t.equal(answersIn(Buffer.concat(received), requests).answers.length, requests.length)
  })

  t.test('an answer has its time from its turn on', async t => {
    let open!: () => void
    const opened = new Promise<void>(resolve => {
      open = resolve
    })
    const limits = { answerTimeoutMs: 100 }
    const answer: TransportHandler = async each => {
      if (each.path === '/first') await opened
      return { status: 200, body: each.path }
    }
    const { port } = await startTransport(t, 'node-http', answer, { limits })
    const requests = [get('/first'), get('/second'), LAST]
    const received = sendPipelined(port, cutAtRandom(requests, randomOf(1), 0))
    await delay(500)
    open()
    t.equal(answersIn(await received, requests).answers.length, 3)
  })

  t.test('a client that reads none of several answers is disconnected', async t => {
    const transport = await startTransport(t, 'node-http', mixed, { limits: { answerTimeoutMs: 400 } })
    const socket = connect({ port: transport.port, host: '127.0.0.1' }).pause()
    socket.on('error', () => {})
    for (let i = 0; i < 10; i++) socket.write(get('/late/12000000').bytes)
    t.ok(await until(async () => (await transport.load()).inFlight === 1))
    const isOver = async () => {
      const { inFlight, connections } = await transport.load()
      return inFlight === 0 && connections === 0
    }
    t.ok(await until(isOver))
    socket.destroy()
  })

  t.test('what cannot be parsed is refused in its turn', async t => {
    const { port } = await startTransport(
      t,
      'node-http',
      answeringErrors(async each => mixed(each)),
    )
    const first = get('/late/3')
    const chunked = rawRequest('POST', '/echo', { headers: 'Transfer-Encoding: chunked\r\n' })
    const cases: [string, RawRequest[], number[]][] = [
      ['a head', [first, get('/sync/4'), get('/', 'bad header\r\n'), first], [200, 200, 400]],
      ['a body', [first, { ...chunked, bytes: Buffer.concat([chunked.bytes, Buffer.from('zz\r\n')]) }], [200, 400]],
      ['framing', [first, get('/sync/4', 'Content-Length: +1\r\n'), first], [200, 400]],
    ]
    for (const [what, requests, statuses] of cases) {
      const { answers } = answersIn(
        await sendPipelined(port, [Buffer.concat(requests.map(each => each.bytes))]),
        requests,
      )
      t.strictSame(
        answers.map(({ status }) => status),
        statuses,
        what,
      )
      t.match(answers.at(-1)!.head, /\r\nConnection: close/)
    }
  })

  t.test('nothing runs after a request with Connection: close', async t => {
    const seen: string[] = []
    const { port } = await startTransport(t, 'node-http', each => {
      seen.push(each.path)
      return mixed(each)
    })
    const requests = [get('/late/1'), get('/late/2', 'Connection: close\r\n'), get('/late/3')]
    const { answers } = answersIn(await sendPipelined(port, cutAtRandom(requests, randomOf(1), 0)), requests)
    t.equal(answers.length, 2)
    t.strictSame(seen, ['/late/1', '/late/2'])
  })

  t.test('a head that is late while another request is served has its time again', async t => {
    let open!: () => void
    const opened = new Promise<void>(resolve => {
      open = resolve
    })
    const { port } = await startTransport(
      t,
      'node-http',
      async each => {
        if (each.path === '/first') await opened
        return { status: 200, body: each.path }
      },
      { limits: { requestTimeoutMs: 300 } },
    )
    const [early, late] = [get('/first'), LAST]
    const begin = Buffer.concat([early.bytes, late.bytes.subarray(0, 20)])
    /** @returns what arrives when the client sends `rest` after the answer to the first request */
    const receivedWith = async (rest: Buffer | undefined): Promise<Buffer> => {
      const socket = connect({ port, host: '127.0.0.1' })
      const received: Buffer[] = []
      socket.on('data', bytes => {
        received.push(bytes)
        if (rest && received.length === 1) socket.write(rest)
      })
      socket.write(begin)
      await delay(1_000)
      open()
      await once(socket, 'close')
      return Buffer.concat(received)
    }
    const [served, refused] = await Promise.all([receivedWith(late.bytes.subarray(20)), receivedWith(undefined)])
    const statuses = (received: Buffer) => answersIn(received, [early, late]).answers.map(({ status }) => status)
    t.strictSame(statuses(served), [200, 200])
    t.strictSame(statuses(refused), [200, 408])
  })
})
