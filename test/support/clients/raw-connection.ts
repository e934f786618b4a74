import { connect } from 'node:net'

/** Side that ends a raw connection after everything is sent; `reset`: the client, by a reset. */
export type EndedBy = 'server' | 'client' | 'reset'

export interface RawExchange {
  /** All bytes received, one character for each byte. */
  received: string
  /** Statuses of the answers in these bytes, without `100 Continue`. */
  statuses: number[]
}

/**
 * Sends `pieces` over one TCP connection, each in a separate turn, and collects what it receives until the connection
 * is closed. Never rejects: a reset ends the exchange like a close.
 */
export function exchangeRaw(
  port: number,
  pieces: Iterable<string | Uint8Array>,
  endedBy: EndedBy,
): Promise<RawExchange> {
  return new Promise(resolve => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let received = ''
    socket.on('data', bytes => {
      received += bytes.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve({ received, statuses: statusesOf(received) }))
    socket.on('connect', async () => {
      for (const piece of pieces) {
        if (socket.destroyed) return
        await new Promise(sent => socket.write(piece, sent))
        await new Promise(nextTurn => setImmediate(nextTurn))
      }
      if (endedBy === 'client') socket.end()
      if (endedBy === 'reset') socket.resetAndDestroy()
    })
  })
}

function statusesOf(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(match => Number(match[1])).filter(status => status >= 200)
}
