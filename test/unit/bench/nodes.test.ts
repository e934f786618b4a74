/** The proxy and the arguments of `npm run nodes`. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { readPort } from '../../../bench/nodes/read-port.ts'
import { startRoundRobin } from '../../../bench/nodes/round-robin.ts'

async function listen(t: Test, handler: RequestListener): Promise<string> {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('a server that ends while it reads a request', async t => {
  const dying = await listen(t, ({ socket }) => void socket.destroy())
  const other = await listen(t, (_, answer) => void answer.end('other'))
  const proxy = await startRoundRobin(() => [dying, other], 0)
  t.teardown(() => proxy.close())
  const send = async (method: string) => {
    const answer = await fetch(proxy.url, { method, ...(method === 'POST' && { body: '{}' }) })
    return [answer.status, await answer.text()]
  }
  const answers: Record<string, unknown[]> = { GET: [], POST: [] }
  // The second request goes to the other server first.
  for (const method of ['GET', 'GET', 'POST', 'POST']) answers[method]!.push(await send(method))
  t.same(answers.GET, [
    [200, 'other'],
    [200, 'other'],
  ])
  const [[status, text], second] = answers.POST as [[number, string], unknown]
  t.equal(status, 502, 'a write may have been executed')
  t.match(text, /read the entity before you repeat it/)
  t.same(second, [200, 'other'])
})

t.test('a port in use', async t => {
  const taken = new URL(await listen(t, () => {}))
  await t.rejects(
    startRoundRobin(() => [], Number(taken.port)),
    { code: 'EADDRINUSE' },
  )
})

t.test('arguments', async t => {
  t.not(readPort([]), 8080, 'the demo can run at the same time')
  t.equal(readPort(['9000']), 9000)
  t.equal(readPort(['0']), 0)
  t.match(readPort(['--help']), { isWanted: true, text: /npm run nodes \[-- PORT\]/ })
  for (const args of [['abc'], ['70000'], ['1', '2'], ['--port', '1']]) {
    t.match(readPort(args), { isWanted: false, text: /expected a port from 0 to 65535, received / })
  }
})
