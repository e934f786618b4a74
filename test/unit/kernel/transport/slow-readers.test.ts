import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ByteBudget } from '../../../../engine/index.ts'
import type { BodySource, TransportName } from '../../../../kernel/transport/transport.ts'
import { type Pending, SlowReaders } from '../../../../kernel/transport/slow-readers.ts'
import { isLong } from '../../../support/runner/rounds.ts'
import { loadableTransports, startTransport } from '../../../support/servers/transports.ts'
import { until } from '../../../support/base/until.ts'

const MIB = 2 ** 20
const SIZE = 24 * MIB
const piece = Buffer.alloc(256 * 1024)

async function start(t: Test, name: TransportName, limits: { answerTimeoutMs: number; minAnswerRate: number }) {
  const memory = ByteBudget.of(256 * MIB)
  const closed: string[] = []
  const source = (): BodySource => ({
    size: SIZE,
    bufferBytes: piece.length,
    read: async start => piece.subarray(0, SIZE - start),
    close: () => closed.push('source'),
  })
  const bytes = Buffer.alloc(SIZE)
  const { port } = await startTransport(
    t,
    name,
    async ({ path }) => ({ status: 200, body: path === '/source' ? source() : bytes }),
    { limits, memory },
  )
  const ask = async (path: string): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1' })
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    socket.pause()
    await once(socket, 'connect')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    return socket
  }
  return { memory, closed, ask }
}

t.test('a connection is kept open while its client makes progress, for longer than it may make none', async t => {
  const readers = new SlowReaders({ answerTimeoutMs: 100, minAnswerRate: 0 })
  const calls: Record<string, string[]> = { reading: [], stalled: [] }
  let looks = 0
  const pending = (name: string, sentBytes: () => number): Pending => ({
    get sentBytes() {
      return sentBytes()
    },
    keepOpen: () => calls[name]!.push('keepOpen'),
    drop: () => calls[name]!.push('drop'),
  })
  const reading = pending('reading', () => looks++)
  const stalled = pending('stalled', () => 0)
  readers.add(reading)
  readers.add(stalled)
  const startedAt = performance.now()
  await until(() => performance.now() - startedAt > 500 && calls.stalled!.includes('drop'))
  readers.delete(reading)
  readers.delete(stalled)
  t.ok(calls.reading!.length > 1)
  t.ok(calls.reading!.every(call => call === 'keepOpen'))
})

// The tests wait most of the time.
t.jobs = loadableTransports.length
for (const name of loadableTransports) {
  t.test(name, async t => {
    t.test('a client that reads nothing is dropped, and its memory is released', async t => {
      const { memory, closed, ask } = await start(t, name, { answerTimeoutMs: 600, minAnswerRate: 0 })
      const sockets = [await ask('/source'), await ask('/bytes')]
      t.ok(await until(() => memory.usedBytes > 0))
      t.strictSame(closed, [])
      const startedAt = performance.now()
      await until(() => memory.usedBytes === 0)
      t.equal(memory.usedBytes, 0)
      t.strictSame(closed, ['source'])
      // The shortest timeout of the builds themselves is some 10 s. A usual run may be delayed as long.
      if (isLong) t.ok(performance.now() - startedAt < 9_000)
      for (const socket of sockets) {
        let length = 0
        socket.on('data', data => {
          length += data.length
        })
        await once(socket.resume(), 'close')
        t.ok(length < SIZE, 'the answer is cut off')
      }
    })

    t.test(
      'a client may read nothing for the time of the option, whatever the timeouts of a build',
      { skip: !isLong && 'it takes half a minute' },
      async t => {
        const { closed, ask } = await start(t, name, { answerTimeoutMs: 60_000, minAnswerRate: 0 })
        const sockets = [await ask('/source'), await ask('/bytes')]
        // Longer than either build keeps such a connection open by itself.
        await delay(36_000)
        for (const socket of sockets) {
          let length = 0
          socket.on('data', data => {
            length += data.length
          })
          socket.resume()
          t.ok(await until(() => length > SIZE), `${length} of ${SIZE}`)
          socket.destroy()
        }
        await until(() => closed.length > 0)
      },
    )

    t.test('a client that reads slowly receives everything, unless it is slower than the minimum', async t => {
      const cases = [
        { minAnswerRate: MIB / 4, isServed: true },
        { minAnswerRate: 60 * MIB, isServed: false },
      ]
      await Promise.all(
        cases.map(async ({ minAnswerRate, isServed }) => {
          const { closed, ask } = await start(t, name, { answerTimeoutMs: 1_200, minAnswerRate })
          const socket = await ask('/source')
          let length = 0
          // Some 6 MiB a second.
          socket.on('data', data => {
            length += data.length
            socket.pause()
            setTimeout(() => socket.resume(), data.length / 6_500)
          })
          const isClosed = once(socket.resume(), 'close').then(() => true)
          while (length < SIZE && !(await Promise.race([isClosed, delay(20).then(() => false)])));
          t.equal(length > SIZE, isServed, `${minAnswerRate}: ${length} of ${SIZE}`)
          socket.destroy()
          await until(() => closed.length > 0)
          t.strictSame(closed, ['source'])
        }),
      )
    })
  })
}
