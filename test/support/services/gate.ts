import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** A local service that answers only when the test says so. */
export interface Gate {
  readonly url: string
  /** Queries of all requests so far. */
  readonly asked: readonly string[]
  /** Waits until so many requests wait for their answers. */
  arrived(count?: number): Promise<void>
  /** Waits for a request whose query begins with a text. */
  query(begin: string): Promise<string>
  /** Answers the requests that wait, and with `forGood` all later ones at once. */
  open(text?: string, forGood?: boolean): void
}

export async function openGate(t: Test): Promise<Gate> {
  const waiting = new Set<ServerResponse>()
  const asked: string[] = []
  let always: string | undefined
  const server = createServer((request, response) => {
    asked.push(decodeURIComponent(request.url!.split('?')[1] ?? ''))
    if (always !== undefined) response.end(always)
    else {
      waiting.add(response)
      response.on('close', () => waiting.delete(response))
    }
    server.emit('asked')
  })
  server.setMaxListeners(0)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    asked,
    async arrived(count = 1) {
      while (waiting.size < count) await once(server, 'asked')
    },
    async query(begin) {
      for (;;) {
        const found = asked.find(each => each.startsWith(begin))
        if (found !== undefined) return found
        await once(server, 'asked')
      }
    },
    open(text = 'open', forGood = false) {
      if (forGood) always = text
      for (const response of waiting) response.end(text)
      waiting.clear()
    },
  }
}
