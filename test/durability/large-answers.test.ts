/**
 * Answers that are too large for memory: they are spooled to files without names until they are sent, however slow the client.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createBrotliDecompress } from 'node:zlib'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { inTurn, isLong, timeoutMs } from '../support/runner/rounds.ts'
import { transports } from '../support/servers/test-server.ts'
import { LiveServer } from '../support/servers/live-server.ts'
import { until } from '../support/base/until.ts'

const PEOPLE = isLong ? 75_000 : 10_000
const ALL = '/Person?$top=100000&$expand=employer'
/** Minimum size of all answers. */
const BYTES = 2_200 * PEOPLE
const SLOW_READERS = 10
/** Maximum growth of the memory of the server. */
const MOST_BYTES = 64 * 2 ** 20

t.setTimeout(timeoutMs)

async function start(t: Test, config: object) {
  const folder = t.testdir({})
  const server = new LiveServer('large-answers.child.js', () => [folder, String(PEOPLE), JSON.stringify(config)])
  await server.start()
  return { server, spool: join(folder, 'store', 'spool') }
}

/** Requests a page and reads only the beginning of the answer. */
async function slowReader({ port }: LiveServer, path = ALL): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.write(`GET /rest${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
  const [head] = await once(socket, 'data')
  if (!String(head).startsWith('HTTP/1.1 200')) throw new Error(String(head))
  socket.pause()
  return socket
}

async function read({ port }: LiveServer, path = ALL, coding?: 'br') {
  const { statusCode, headers, body } = await request(`http://127.0.0.1:${port}/rest${path}`, {
    headers: coding && { 'accept-encoding': coding },
  })
  if (headers['content-encoding'] !== coding) throw new Error(`coded as ${headers['content-encoding']}`)
  const hash = createHash('sha1')
  let length = 0
  for await (const piece of coding ? body.pipe(createBrotliDecompress()) : body) {
    hash.update(piece)
    length += piece.length
  }
  return { status: statusCode, length, declared: Number(headers['content-length']), hash: hash.digest('hex') }
}

for (const transport of inTurn(transports)) {
  t.test(`memory does not grow with answers or with slow readers, on ${transport}`, async t => {
    const { server } = await start(t, { server: { transport } })
    // Threads need memory at first, and so does compiled code.
    const { hash } = await read(server)
    for (let i = 0; i < 10; i++) await read(server, '/Person?$top=2000&$expand=employer')
    const before = await server.rss()
    const sockets = await Promise.all(Array.from({ length: SLOW_READERS }, () => slowReader(server)))
    const grown = (await server.rss()) - before
    t.ok(grown < MOST_BYTES, `${SLOW_READERS} slow readers: ${Math.round(grown / 2 ** 20)} MiB`)
    const whole = await read(server)
    t.match(whole, { status: 200, length: whole.declared, hash }, 'other clients receive all of it meanwhile')
    t.ok(whole.length > BYTES)
    const { length, declared, hash: decoded } = await read(server, ALL, 'br')
    t.ok(declared < length / 3, `${declared} of ${length} bytes`)
    t.equal(decoded, hash, 'the compressed answer is the same')
    t.equal((await read(server, '/Person(1)')).status, 200)
    for (const socket of sockets) socket.destroy()
    await delay(500)
    const left = (await server.rss()) - before
    t.ok(left < MOST_BYTES, `afterwards: ${Math.round(left / 2 ** 20)} MiB`)
    await server.stop()
  })
}

t.test('a server that is killed leaves no file of an answer', async t => {
  const { server, spool } = await start(t, {})
  await Promise.all([slowReader(server), slowReader(server)])
  // One answer is being written.
  slowReader(server).catch(() => {})
  await delay(30)
  await server.kill()
  t.strictSame(readdirSync(spool), [])
})

t.test('answers beyond the limit of the spool are refused until others have been sent', async t => {
  const { server } = await start(t, { storage: { spoolBytes: Math.round(BYTES * 1.5) } })
  const slow = await slowReader(server)
  const { status, headers, bytes } = await server.send('GET', ALL)
  t.equal(status, 503)
  t.ok(Number(headers['retry-after']) > 0)
  t.match(JSON.parse(bytes.toString()), { __ERROR: [{ errCode: 1200, message: /smaller pages/ }] })
  t.equal((await read(server, '/Person?$top=1000&$expand=employer')).status, 200, 'a smaller answer is sent')
  slow.destroy()
  await until(async () => (await read(server)).status === 200)
  t.equal((await read(server)).status, 200)
  await server.stop()
})
