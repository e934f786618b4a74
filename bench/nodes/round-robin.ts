import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A proxy that sends requests to one server after the other. A request that a server has not accepted goes to the next, and so does a read
 * that it has not begun to answer. A write that it has received may have been executed, so it is not repeated.
 */
export interface RoundRobinProxy {
  readonly url: string
  close(): Promise<void>
}

/** @param targets addresses of the servers, `http://127.0.0.1:8081` */
export async function startRoundRobin(targets: () => readonly string[], port: number): Promise<RoundRobinProxy> {
  const agent = new Agent({ keepAlive: true })
  let next = 0
  const server = createServer((incoming, outgoing) => {
    const all = targets()
    const first = next++
    forward(all.map((_, i) => all[(first + i) % all.length]!))

    function forward([target, ...others]: readonly string[]): void {
      if (target === undefined) {
        refuse(outgoing)
        return
      }
      const upstream = request(target + incoming.url, { agent, method: incoming.method!, headers: headersOf(incoming) })
      let isConnected = false
      const send = (): void => {
        isConnected = true
        incoming.pipe(upstream)
      }
      upstream.on('socket', socket => {
        if (socket.connecting) socket.once('connect', send)
        else send()
      })
      upstream.on('response', answer => {
        outgoing.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(outgoing)
        answer.on('error', () => outgoing.destroy())
      })
      upstream.on('error', () => {
        if (outgoing.destroyed) return
        if (outgoing.headersSent) outgoing.destroy()
        else if (!isConnected || isRepeatable(incoming)) forward(others)
        else refuse(outgoing)
      })
      outgoing.on('close', () => upstream.destroy())
    }
  }).listen(port, '127.0.0.1')
  // Rejects if the port is in use.
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      agent.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** True if a request that may have been executed can be sent again: a read without a body, of which nothing has been consumed. */
const isRepeatable = ({ method, headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  headers['transfer-encoding'] === undefined &&
  Number(headers['content-length'] ?? 0) === 0

const headersOf = ({ headers, socket }: IncomingMessage) => ({
  ...headers,
  'x-forwarded-for': socket.remoteAddress ?? '',
})

function refuse(outgoing: ServerResponse): void {
  outgoing.writeHead(502, { 'content-type': 'text/plain' })
  outgoing.end('no server answers; a write may have been executed: read the entity before you repeat it')
}
