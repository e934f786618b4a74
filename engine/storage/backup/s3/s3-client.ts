import { createReadStream } from 'node:fs'
import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { pipeline } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { createHash } from 'node:crypto'
import { BackupError } from '../manifest.ts'
import type { Environment, S3Bucket } from './s3-bucket.ts'
import { describeRefusal, isPassing, type Refusal } from './s3-error.ts'
import { xmlText } from './s3-xml.ts'

/** Maximum number of tries of a request before the server has answered for the first time: its address may be wrong. */
const FIRST_TRIES = 3
const TRIES = 8
const MAX_DELAY_MS = 20_000
const MAX_TEXT_BYTES = 16 * 2 ** 20
const EMPTY = createHash('sha256').digest('hex')

/** Bytes of a file from `start` up to, not including, `end`. */
interface FilePart {
  readonly path: string
  readonly start: number
  readonly end: number
  /** As hexadecimal digits. */
  readonly sha256: string
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Name of the object, without the prefix of the place; undefined for the bucket. */
  readonly name?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | FilePart
  /** Statuses of refusals that are answers to the caller. */
  readonly accept?: readonly number[]
  /** The request in words, for messages. */
  readonly what: string
}

const NOT_FOUND = 404

export const READ = { method: 'GET', what: 'cannot be read', accept: [NOT_FOUND] } as const
export const WRITE = { method: 'PUT', what: 'cannot be written to' } as const
export const REMOVE = { method: 'DELETE', what: 'cannot be cleared', accept: [NOT_FOUND] } as const

interface S3Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

export interface S3Timing {
  /** Time before the second try; doubled for each further one. */
  readonly firstDelayMs: number
  /** Time without a byte in either direction after which a connection is closed. */
  readonly idleMs: number
  /** Time between two renewals of a lock. */
  readonly renewalMs: number
}

const TIMING: S3Timing = { firstDelayMs: 250, idleMs: 60_000, renewalMs: 60_000 }
/** Factor of the time for requests that may keep the server busy, such as the end of an upload in parts. */
const PATIENCE = 10

/** Sends signed requests to a bucket. They are tried again while the network or the server fails. */
export class S3Client {
  private hasAnswered = false

  constructor(
    readonly bucket: S3Bucket,
    private readonly env: Environment,
    readonly timing = TIMING,
  ) {}

  /** @throws {BackupError} */
  send(request: S3Request): Promise<S3Answer> {
    return this.withRetries(request, async message => {
      const answer = await answerOf(message)
      // Some operations report a failure after they have answered 200.
      if (answer.status === 200 && request.method === 'POST' && /<Error>/.test(answer.text))
        throw new Refused(readRefusal({ ...answer, status: 500 }))
      return answer
    })
  }

  /** The answer to a GET, readable while it arrives; undefined for an accepted refusal. @throws {BackupError} */
  open(request: S3Request): Promise<IncomingMessage | undefined> {
    return this.withRetries(request, async message => {
      if (message.statusCode! < 300) return message
      await answerOf(message)
      return undefined
    })
  }

  /** Waits before another try. @returns false if no try is left @param failedTries number of tries that have failed */
  async mayTryAgain(failedTries: number): Promise<boolean> {
    if (failedTries >= (this.hasAnswered ? TRIES : FIRST_TRIES)) return false
    // Randomized, so that clients that were refused together do not return together.
    const spread = 0.5 + Math.random() / 2
    await delay(Math.min(MAX_DELAY_MS, this.timing.firstDelayMs * 2 ** (failedTries - 1)) * spread)
    return true
  }

  private async withRetries<T>(request: S3Request, read: (message: IncomingMessage) => Promise<T>): Promise<T> {
    const { what, accept = [] } = request
    for (let failures = 1; ; failures++) {
      let problem: BackupError
      try {
        const message = await this.once(request)
        const status = message.statusCode!
        if (status < 300 || accept.includes(status)) return await read(message)
        throw new Refused(readRefusal(await answerOf(message)))
      } catch (error) {
        // An error with a path comes from reading the file that is sent.
        if (error instanceof BackupError || (error as NodeJS.ErrnoException).path !== undefined) throw error
        if (error instanceof Refused) problem = describeRefusal(this.bucket, error.refusal, what)
        else problem = this.unreachable(error)
        if (error instanceof Refused && !isPassing(error.refusal)) throw problem
      }
      if (!(await this.mayTryAgain(failures))) throw problem
    }
  }

  /** @throws {Error} the connection fails */
  private async once({ method, name, query = {}, headers = {}, body }: S3Request): Promise<IncomingMessage> {
    const path = name === undefined ? '' : `/${(this.bucket.prefix + name).split('/').map(encodeText).join('/')}`
    const search = Object.entries(query).map(([key, value]) => `${encodeText(key)}=${encodeText(value)}`)
    const url = new URL(`${this.bucket.url}${path || '/'}${search.length > 0 ? `?${search.join('&')}` : ''}`)
    const bytes = typeof body === 'string' ? Buffer.from(body) : undefined
    const length = body === undefined ? undefined : typeof body === 'string' ? bytes!.length : body.end - body.start
    const signedHeaders = await this.sign(method, url, { ...headers, 'x-amz-content-sha256': digestOfBody(body) })
    // Not signed, since proxies may change it.
    if (length !== undefined) signedHeaders['content-length'] = String(length)
    return new Promise((resolve, reject) => {
      const send = url.protocol === 'http:' ? requestPlain : requestTls
      const timeout = this.timing.idleMs * (method === 'POST' ? PATIENCE : 1)
      const outgoing = send(url, { method, headers: signedHeaders, timeout })
      outgoing.on('timeout', () => outgoing.destroy(new Error('it does not go on')))
      outgoing.on('error', reject)
      outgoing.on('response', message => {
        this.hasAnswered = true
        // A server that refuses a body may answer before it has received all of it.
        message.once('end', () => outgoing.writableFinished || outgoing.destroy())
        resolve(message)
      })
      if (typeof body !== 'object') outgoing.end(bytes)
      else if (length === 0) outgoing.end()
      else {
        const file = createReadStream(body.path, { start: body.start, end: body.end - 1, highWaterMark: 2 ** 18 })
        pipeline(file, outgoing, error => error && reject(error))
      }
    })
  }

  private async sign(method: string, url: URL, headers: Record<string, string>): Promise<Record<string, string>> {
    const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN } = this.env
    if (!accessKeyId || !secretAccessKey)
      throw new BackupError(
        `${this.bucket.place} needs a key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment`,
      )
    // Checked here because an error about a header would repeat the secret.
    if (![accessKeyId, secretAccessKey, AWS_SESSION_TOKEN || '-'].every(text => /^[!-~]+$/.test(text)))
      throw new BackupError(
        'AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN have no spaces or other lines',
      )
    const { AwsV4Signer } = await import('aws4fetch')
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers,
      accessKeyId,
      secretAccessKey,
      service: 's3',
      ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
      ...(this.bucket.region !== undefined && { region: this.bucket.region }),
    })
    return Object.fromEntries((await signer.sign()).headers)
  }

  private unreachable(error: unknown): BackupError {
    const { code, message } = error as NodeJS.ErrnoException
    return new BackupError(
      `${this.bucket.place} cannot be reached at ${new URL(this.bucket.url).host}: ${code ?? message}`,
    )
  }
}

class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.code)
  }
}

/** Encodes all characters that signatures encode; `encodeURIComponent` does not encode all of them. */
const encodeText = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

const digestOfBody = (body: S3Request['body']): string =>
  body === undefined ? EMPTY : typeof body === 'string' ? createHash('sha256').update(body).digest('hex') : body.sha256

/** @throws {Error} the connection breaks, or the answer is too long */
async function answerOf(message: IncomingMessage): Promise<S3Answer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_TEXT_BYTES) throw new Error('the answer is too long')
    chunks.push(chunk)
  }
  return { status: message.statusCode!, headers: message.headers, text: Buffer.concat(chunks).toString() }
}

/** Reads a refusal. Texts of the server are left out: they may repeat parts of the request. */
function readRefusal({ status, headers, text }: S3Answer): Refusal {
  const region = headers['x-amz-bucket-region'] ?? xmlText(text, 'Region')
  return {
    status,
    code: /^\w{1,64}$/.exec(xmlText(text, 'Code') ?? '')?.[0] ?? '',
    region: typeof region === 'string' && /^[\w-]{1,64}$/.test(region) ? region : undefined,
  }
}
