import { type AddressInfo, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { Connection } from '../../../bench/load/connection.ts'

/** A server that answers each request with the next list of pieces, each written in a separate turn of the event loop. */
async function answering(t: Test, answers: string[][]): Promise<number> {
  const server = createServer(socket => {
    socket.setNoDelay(true)
    socket.on('data', async () => {
      for (const piece of answers.shift() ?? []) await write(socket, piece)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

const write = (socket: Socket, piece: string): Promise<void> =>
  new Promise(resolve => socket.write(piece, 'latin1', () => setImmediate(resolve)))

/** Sends requests one after the other. @returns status and length of each answer, as `200 5`, or the reason of a failure */
async function outcomes(t: Test, answers: string[][], requests: number): Promise<string[]> {
  const port = await answering(t, answers)
  const found: string[] = []
  await new Promise<void>(resolve => {
    const connection = new Connection(
      port,
      {
        onAnswer: (status, bodyBytes) => {
          found.push(`${status} ${bodyBytes}`)
          if (found.length < requests) return connection.send('GET / HTTP/1.1\r\n\r\n')
          connection.close()
          resolve()
        },
        onFailure: reason => {
          found.push(reason)
          resolve()
        },
      },
      () => connection.send('GET / HTTP/1.1\r\n\r\n'),
    )
  })
  return found
}

t.test('complete answers are reported with status and length', async t => {
  const answers = [
    ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'],
    ['HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n'],
  ]
  t.same(await outcomes(t, answers, 2), ['200 5', '404 0'])
})

t.test('a head and a body may arrive in pieces', async t => {
  const whole = `HTTP/1.1 200 OK\r\nContent-Type: a\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`
  const pieces = [whole.slice(0, 20), whole.slice(20, 60), whole.slice(60, 70_000), whole.slice(70_000)]
  t.same(await outcomes(t, [pieces, [whole]], 2), ['200 200000', '200 200000'])
})

t.test('an answer without Content-Length is a failure', async t => {
  const answers = [['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n']]
  t.same(await outcomes(t, answers, 1), ['an answer without Content-Length'])
})

t.test('a head without an end is a failure', async t => {
  t.same(await outcomes(t, [[`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(5_000)}`]], 1), [
    'an answer without an end of its head',
  ])
})

t.test('a port without a server is a failure', async t => {
  const reason = await new Promise<string>(resolve => {
    new Connection(1, { onAnswer: () => {}, onFailure: resolve }, () => resolve('connected'))
  })
  t.match(reason, 'ECONNREFUSED')
})
