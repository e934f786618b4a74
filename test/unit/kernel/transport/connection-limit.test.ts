import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import {
  ConnectionLimit,
  connectionBound,
  connectionsWithin,
  fileLimit,
} from '../../../../kernel/transport/connection-limit.ts'
import { selectTransport } from '../../../../kernel/transport/select.ts'
import { startUws } from '../../../../kernel/transport/uws.ts'
import type { UwsModule } from '../../../../kernel/transport/uws-module.ts'
import { loadableTransports, startTransport, testLimits } from '../../../support/servers/transports.ts'

/** Connections beyond a bound, so that descriptors are left for files and threads. */

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

async function open(t: Test, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** True if a connection was accepted: a request on it is answered. */
async function isTaken(socket: Socket): Promise<boolean> {
  const ended = once(socket, 'close').then(() => false)
  socket.write(REQUEST)
  return Promise.race([once(socket, 'data').then(() => true), ended])
}

for (const name of loadableTransports.filter(name => name !== 'uws-node20')) {
  t.test(`further connections are closed, and accepted again when others have ended, on ${name}`, async t => {
    const lines: string[] = []
    const { port } = await startTransport(t, name, () => ({ status: 200, body: 'ok' }), {
      limits: { maxConnections: 3 },
      onWarning: line => lines.push(line),
    })
    const sockets: Socket[] = []
    for (let i = 0; i < 3; i++) {
      const socket = await open(t, port)
      t.equal(await isTaken(socket), true)
      sockets.push(socket)
    }
    t.equal(await isTaken(await open(t, port)), false)
    t.equal(await isTaken(await open(t, port)), false)
    t.equal(await isTaken(sockets[1]!), true, 'the others continue')
    t.match(lines, [/^3 connections are open, and further ones are closed at once; /], 'once a minute')
    t.equal(lines.length, 1)
    sockets[0]!.destroy()
    while (!(await isTaken(await open(t, port))));
  })
}

t.test('the filter of uWebSockets.js closes connections beyond the limit', async t => {
  let filter: ((res: { close(): void }, change: number) => void) | undefined
  const app = {
    any() {},
    filter: (callback: typeof filter) => (filter = callback),
    listen: (_host: string, _port: number, _options: number, done: (socket: object) => void) => done({}),
  }
  const uws = { App: () => app, us_socket_local_port: () => 1, us_listen_socket_close() {} } as unknown as UwsModule
  const options = { host: '127.0.0.1', port: 0, limits: { ...testLimits, maxConnections: 2 } }
  await startUws('uws', uws)(options, () => ({ status: 200, body: '' }))
  let closed = 0
  const close = (): void => {
    closed++
    filter!({ close() {} }, -1)
  }
  const come = (): void => filter!({ close }, 1)
  for (let i = 0; i < 5; i++) come()
  t.equal(closed, 3)
  filter!({ close() {} }, -1)
  come()
  t.equal(closed, 3, 'another one has ended')
})

t.test('half of the descriptors that the process does not need itself are for connections', async t => {
  t.equal(connectionsWithin([2, 2], 1024), 464)
  t.equal(connectionsWithin([2, 2], 100), 16)
  t.ok(connectionsWithin([0, 0], 1024) <= 464, 'threads for each core')
  t.equal(connectionsWithin([0, 0], Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY)
  const { soft } = (process.report.getReport() as { userLimits: { open_files: { soft: unknown } } }).userLimits
    .open_files
  t.equal(fileLimit(), typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY)
  t.match(connectionBound(5_000, [2, 2]), { maxConnections: 5_000, isRequired: true })
})

t.test('a required bound excludes the transport that cannot enforce it', async t => {
  const required = { maxConnections: 100, isRequired: true }
  const choice = selectTransport('auto', testLimits.headerBytes, required)
  t.not(choice.name, 'uws-node20')
  if (choice.name === 'node-http') {
    t.match(choice.warnings, [
      /^node-http reads about 40 % as many .*cannot limit connections, here to 100 .*ulimit -n/,
    ])
  }
  const { name } = selectTransport('auto', testLimits.headerBytes)
  t.equal(selectTransport('auto', testLimits.headerBytes, { ...required, isRequired: false }).name, name)
  if (loadableTransports.includes('uws-node20')) {
    const warning =
      /^transport uws-node20 cannot limit connections, here to 100, and keeps a core busy .*; set server\.transport to node-http$/
    t.match(selectTransport('uws-node20', testLimits.headerBytes, required).warnings, [warning])
  }
})

t.test('refusals are logged once', async t => {
  const lines: string[] = []
  const limit = new ConnectionLimit(1, line => lines.push(line))
  t.strictSame([limit.enter(), limit.enter(), limit.enter()], [true, false, false])
  limit.leave()
  limit.leave()
  limit.leave()
  t.equal(limit.enter(), true)
  t.equal(lines.length, 1)
})
