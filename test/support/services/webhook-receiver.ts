import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** A webhook as it arrived. */
export interface Received {
  readonly id: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into events of every shape
  readonly event: any
}

/** Answers a webhook: with a status, or by code; `hang` never does. */
type Behaviour = (webhook: Received, count: number) => number | 'hang' | ((answer: ServerResponse) => void)

/** A receiver of webhooks on a free port of 127.0.0.1. */
export class WebhookReceiver {
  readonly received: Received[] = []
  /** The ones that were answered with 204. */
  readonly accepted: Received[] = []
  behaviour: Behaviour = () => 204
  /** Connections that were made. */
  connections = 0

  private constructor(private readonly server: Server) {}

  static async start(t: Pick<Test, 'teardown'>): Promise<WebhookReceiver> {
    const server = createServer()
    const receiver = new WebhookReceiver(server)
    server.on('connection', () => receiver.connections++)
    server.on('request', async (request, answer) => {
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece as Buffer)
      receiver.take(request.headers, Buffer.concat(pieces).toString(), answer)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => {
      server.close()
      server.closeAllConnections()
    })
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`
  }

  get types(): string[] {
    return this.accepted.map(({ event }) => event.type)
  }

  private take(headers: IncomingHttpHeaders, body: string, answer: ServerResponse): void {
    const webhook = { id: String(headers['webhook-id']), headers, body, event: JSON.parse(body) }
    this.received.push(webhook)
    const outcome = this.behaviour(webhook, this.received.filter(({ id }) => id === webhook.id).length)
    if (outcome === 'hang') return
    if (typeof outcome === 'function') outcome(answer)
    else {
      if (outcome === 204) this.accepted.push(webhook)
      answer.writeHead(outcome).end()
    }
  }
}

export const SECRET = `whsec_${Buffer.from('a secret of 24 or more bytes').toString('base64')}`
