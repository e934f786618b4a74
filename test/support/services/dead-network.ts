import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** The way to a server, on which a test lets packets get lost. */
export interface Network {
  readonly port: number
  /** Nothing gets through, and nobody notices. */
  hang(): void
  goOn(): void
}

/** @param socket path of the socket of the server */
export async function openNetwork(t: Test, socket: string): Promise<Network> {
  const ends = new Set<Socket>()
  let isHanging = false
  const add = (end: Socket): void => {
    ends.add(end)
    end.on('error', () => {})
    end.on('close', () => ends.delete(end))
    if (isHanging) end.pause()
  }
  const server = createServer(client => {
    const way = connect(socket)
    client.pipe(way).pipe(client)
    client.on('close', () => way.destroy())
    way.on('close', () => client.destroy())
    add(client)
    add(way)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const end of ends) end.destroy()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    hang() {
      isHanging = true
      for (const end of ends) end.pause()
    },
    goOn() {
      isHanging = false
      for (const end of ends) end.resume()
    },
  }
}
