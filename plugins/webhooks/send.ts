import * as http from 'node:http'
import * as https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { signWebhook } from '../../kernel/api.ts'
import { checkedLookup, forbidden, hostOf, type Resolve } from './addresses.ts'
import type { HookOptions } from './options.ts'

/** Answer of a receiver, or the reason why there is none. */
export type Outcome =
  | { readonly kind: 'delivered' }
  /** 410: the receiver does not want further events. */
  | { readonly kind: 'gone'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs: number }

/** Number of bytes of an answer that are read, so that its connection can be reused. */
const ANSWER_BYTES = 4_096
const IDLE_MS = 15_000
const MAX_RETRY_AFTER_SECONDS = 86_400

/** Sends signed events to the receiver of one hook, over connections that stay open. */
export class Sender {
  private readonly url: URL
  private readonly agent: http.Agent
  private readonly lookup: LookupFunction | undefined

  constructor(
    private readonly hook: Pick<HookOptions, 'url' | 'secret' | 'allowPrivate' | 'concurrency'>,
    private readonly now: () => number,
    resolve?: Resolve,
  ) {
    this.url = new URL(hook.url)
    const options = {
      keepAlive: true,
      maxSockets: hook.concurrency,
      maxFreeSockets: hook.concurrency,
      timeout: IDLE_MS,
    }
    this.agent = this.url.protocol === 'https:' ? new https.Agent(options) : new http.Agent(options)
    this.lookup = hook.allowPrivate ? (resolve as LookupFunction | undefined) : checkedLookup(resolve)
  }

  /** @param signal ends the attempt; its reason becomes the reason of the failure */
  async send(id: string, body: string, signal: AbortSignal): Promise<Outcome> {
    const host = hostOf(this.url)
    const problem = isIP(host) !== 0 && !this.hook.allowPrivate ? forbidden(host) : undefined
    if (problem) return failureOf(`${host} ${problem}`)
    try {
      return await this.attempt(id, body, signal)
    } catch (error) {
      return failureOf(signal.aborted ? String((signal.reason as Error).message) : messageOf(error as Error))
    }
  }

  close(): void {
    this.agent.destroy()
  }

  private attempt(id: string, body: string, signal: AbortSignal): Promise<Outcome> {
    const bytes = Buffer.from(body)
    const timestamp = Math.floor(this.now() / 1000)
    const headers = {
      'content-type': 'application/json',
      'content-length': bytes.length,
      'user-agent': 'Tesser-Webhooks/1',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signWebhook(this.hook.secret, { id, timestamp, body: bytes }),
    }
    const { agent, lookup } = this
    const { request: begin } = this.url.protocol === 'https:' ? https : http
    return new Promise((resolve, reject) => {
      const request = begin(this.url, { method: 'POST', agent, headers, signal, ...(lookup && { lookup }) })
      request.on('error', reject)
      request.on('response', answer => {
        // The status decides; the rest of the answer is read only to free the connection, and may fail.
        const outcome = outcomeOf(answer, this.now())
        // From here on, errors resolve with the outcome, even at the time limit.
        request.off('error', reject)
        request.on('error', () => resolve(outcome))
        let read = 0
        answer.on('error', () => {})
        answer.on('close', () => resolve(outcome))
        answer.on('data', ({ length }: Buffer) => {
          read += length
          if (read > ANSWER_BYTES) answer.destroy()
        })
      })
      request.end(bytes)
    })
  }
}

function outcomeOf({ statusCode: status = 0, headers }: http.IncomingMessage, now: number): Outcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  if (status === 410) return { kind: 'gone', reason: 'answered 410, that it does not want the event' }
  if (status >= 300 && status < 400) return failureOf(`answered ${status}, a redirect, which is not followed`)
  const retryAfterMs = 1000 * Math.min(secondsOf(headers['retry-after'], now), MAX_RETRY_AFTER_SECONDS)
  return { kind: 'failed', reason: `answered ${status}`, retryAfterMs }
}

/** Seconds of a `Retry-After`, which is a number of seconds or a date; 0 without the header. */
function secondsOf(header: string | undefined, now: number): number {
  const seconds = Number(header)
  if (header === undefined || seconds <= 0) return 0
  if (seconds > 0) return seconds
  return Math.max(0, (Date.parse(header) - now) / 1000) || 0
}

const failureOf = (reason: string): Outcome => ({ kind: 'failed', reason, retryAfterMs: 0 })

/** Message of an error. An error of a connection to several addresses contains their messages. */
const messageOf = (error: Error): string =>
  error instanceof AggregateError ? error.errors.map(each => (each as Error).message).join('; ') : error.message
