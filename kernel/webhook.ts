import { createHmac, timingSafeEqual } from 'node:crypto'
import { WebhookErrors } from './webhook-errors.ts'

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/
const MIN_KEY_BYTES = 24
const MAX_KEY_BYTES = 64
const TOLERANCE_SECONDS = 300
/** Maximum number of signatures that are compared. A sender sends a few while its secret is being changed. */
const MAX_SIGNATURES = 20
const MAX_ID = 256

/** Describes the problem of a secret without showing it; undefined for a usable secret. */
export function webhookSecretProblem(secret: string): string | undefined {
  const [, encodedKey] = SECRET.exec(secret) ?? []
  const bytes = encodedKey === undefined ? 0 : Buffer.from(encodedKey, 'base64').length
  if (encodedKey !== undefined && bytes >= MIN_KEY_BYTES && bytes <= MAX_KEY_BYTES) return undefined
  const command = "node -p \"'whsec_'+crypto.randomBytes(32).toString('base64')\""
  return `is not whsec_ and ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes as base64; ${command} makes one`
}

/** Signed parts of a webhook. */
export interface SignedWebhook {
  readonly id: string
  /** In seconds since 1970. */
  readonly timestamp: number
  readonly body: string | Uint8Array
}

/**
 * The value of `webhook-signature`.
 * @param secret `whsec_` and base64
 * @throws {TypeError} the secret is malformed Source: Standard Webhooks, "Signature scheme".
 */
export function signWebhook(secret: string, { id, timestamp, body }: SignedWebhook): string {
  return `v1,${digestOf(secret, `${id}.${timestamp}.`, body).toString('base64')}`
}

/** @param head text that is signed before the body */
function digestOf(secret: string, head: string, body: string | Uint8Array): Buffer {
  const problem = webhookSecretProblem(secret)
  if (problem) throw new TypeError(`the secret of the webhook ${problem}`)
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return createHmac('sha256', key).update(head).update(body).digest()
}

export interface VerifyOptions {
  /** One secret, or several during a change: a signature by any of them is accepted. */
  readonly secret: string | readonly string[]
  /** Maximum difference between the clocks, also for webhooks that are sent again; 300 by default. */
  readonly toleranceSeconds?: number
  /** Clock in milliseconds since 1970. */
  readonly now?: () => number
}

/** Headers by name: as Node.js has them, `Headers` of `fetch`, or a function such as `header` of a request. */
export type WebhookHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get(name: string): string | null }
  | ((name: string) => string | undefined)

/**
 * Verifies a webhook by Standard Webhooks, and parses its body.
 *
 *   const event = verifyWebhook({ secret: options.secret }, name => request.transport.header(name), await request.body())
 *
 * The same webhook may arrive twice, with the same `webhook-id`: see {@link SeenWebhooks}.
 * @param body bytes as received: reserialized JSON would have another signature
 * @returns the JSON of the body
 * @throws {ProtocolError} 400: headers are missing or malformed, or the body is not JSON; 401: signature or time are wrong
 * @throws {TypeError} a secret is malformed Source: Standard Webhooks, "Verifying webhook authenticity".
 */
export function verifyWebhook(options: VerifyOptions, headers: WebhookHeaders, body: string | Uint8Array): unknown {
  const { secret, toleranceSeconds = TOLERANCE_SECONDS, now = Date.now } = options
  const id = requiredHeader(headers, 'webhook-id')
  const time = requiredHeader(headers, 'webhook-timestamp')
  const signatureHeader = requiredHeader(headers, 'webhook-signature')
  if (id.length > MAX_ID) throw WebhookErrors.BAD_HEADER('webhook-id', `at most ${MAX_ID} characters long`)
  if (!/^\d{1,12}$/.test(time)) throw WebhookErrors.BAD_HEADER('webhook-timestamp', 'the number of seconds since 1970')
  const signatures = signatureHeader.split(' ', MAX_SIGNATURES).flatMap(each => /^v1,(.+)$/.exec(each)?.[1] ?? [])
  if (signatures.length === 0) throw WebhookErrors.BAD_HEADER('webhook-signature', 'v1, and a signature in base64')
  const digests = signatures.map(each => Buffer.from(each, 'base64'))
  const secrets = typeof secret === 'string' ? [secret] : secret
  const expected = secrets.map(each => digestOf(each, `${id}.${time}.`, body))
  const isSigned = expected.some(right =>
    digests.some(each => each.length === right.length && timingSafeEqual(each, right)),
  )
  if (!isSigned) throw WebhookErrors.WRONG_SIGNATURE()
  const seconds = Math.round(now() / 1000 - Number(time))
  if (!(Math.abs(seconds) <= toleranceSeconds)) {
    throw WebhookErrors.OUT_OF_TIME(Math.abs(seconds), seconds < 0 ? 'ahead of' : 'behind', toleranceSeconds)
  }
  try {
    return JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString('utf8'))
  } catch {
    throw WebhookErrors.NOT_JSON()
  }
}

function requiredHeader(headers: WebhookHeaders, name: string): string {
  const value = headerOf(headers, name)
  if (value === undefined || value === '') throw WebhookErrors.NO_HEADER(name)
  return value
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers === 'function') return headers(name)
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const value = (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name]
  return typeof value === 'string' ? value : value?.join(' ')
}

/** Ids of the last webhooks that were processed, kept in the memory of this process. A key in the data would last longer. */
export class SeenWebhooks {
  private readonly ids = new Set<string>()

  /** @param limit maximum number of ids; the oldest are forgotten */
  constructor(private readonly limit = 10_000) {}

  has(id: string): boolean {
    return this.ids.has(id)
  }

  /** Adds the id of a webhook. Call this after its effects are durable, so that a failed webhook is processed when it is sent again. */
  add(id: string): void {
    this.ids.add(id)
    if (this.ids.size > this.limit) this.ids.delete(this.ids.values().next().value!)
  }
}
