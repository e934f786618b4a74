/** Every transport: stops, and ports that are opened again. */
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { exchangeRaw } from '../../../support/clients/raw-connection.ts'
import { loadableTransports, startTransport } from '../../../support/servers/transports.ts'
import { gate, ok, rawGet } from './requests.ts'

for (const name of loadableTransports) {
  t.test(name, async t => {
    t.test('a stop lets the request in flight finish with Connection: close, and accepts no other', async t => {
      const arrived = gate()
      const finish = gate()
      const transport = await startTransport(t, name, async () => {
        arrived.open()
        await finish.opened
        return ok('finished')
      })
      const answer = exchangeRaw(transport.port, [rawGet('/')], 'server')
      await arrived.opened
      const closed = transport.close(60_000)
      const late = await exchangeRaw(transport.port, [rawGet('/')], 'server')
      t.strictSame(late.statuses, [])
      finish.open()
      const { received } = await answer
      t.match(received, /Connection: close\r\n/)
      t.ok(received.endsWith('finished'))
      await closed
    })

    t.test('a stop closes idle connections', async t => {
      const transport = await startTransport(t, name, () => ok())
      const socket = connect({ port: transport.port, host: '127.0.0.1' })
      socket.write(rawGet('/'))
      await once(socket, 'data')
      const closed = once(socket, 'close')
      await transport.close(60_000)
      await closed
      t.pass('closed by the server')
    })

    t.test('a stop cuts off unfinished requests when its time is over', async t => {
      const arrived = gate()
      const transport = await startTransport(t, name, () => {
        arrived.open()
        return new Promise(() => {})
      })
      const answer = exchangeRaw(transport.port, [rawGet('/')], 'server')
      await arrived.opened
      await transport.close(10)
      t.strictSame((await answer).statuses, [])
      await transport.close(10)
    })

    t.test('a port can be opened again at once after connections on it were closed', async t => {
      const first = await startTransport(t, name, () => ok())
      const socket = connect(first.port, '127.0.0.1')
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      await once(socket, 'data')
      await first.close(0)
      const waits: string[] = []
      const onWaiting = (text: string) => waits.push(text)
      const again = await startTransport(t, name, () => ok(), { port: first.port, onWaiting })
      t.equal(again.port, first.port)
      t.same(waits, [])
    })

    t.test('an address that cannot be listened on is an error with the address and the reason', async t => {
      const { port } = await startTransport(t, name, () => ok())
      await t.rejects(
        startTransport(t, name, () => ok(), { port }),
        {
          message: `cannot listen on 127.0.0.1:${port}: another process has port ${port}; end it, or use another port: --port ${port < 65_535 ? port + 1 : port - 1} (server.port)`,
        },
      )
      // TEST-NET-1, which no machine has (RFC 5737).
      await t.rejects(
        startTransport(t, name, () => ok(), { host: '192.0.2.1', port }),
        { message: `cannot listen on 192.0.2.1:${port}: 192.0.2.1 is not an address of this machine (server.host)` },
      )
      await t.rejects(
        startTransport(t, name, () => ok(), { host: 'host.invalid', port: 0 }),
        { message: /^cannot listen on host\.invalid:0: .*host.* host\.invalid .*\(server\.host\)$/ },
      )
    })
  })
}
