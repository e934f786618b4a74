import { errorOf, TesserError } from './errors.ts'
import { parseExact, writeExact } from './exact.ts'
import { streamWithProgress, sendFromBrowser } from './upload.ts'

export interface ClientOptions {
  /** API key or token, sent as `Authorization: Bearer`; a function is called before every request. */
  readonly key?: string | (() => string | Promise<string>)
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Number of times a request that is answered with 429 or 503 is repeated; 3 by default. */
  readonly retries?: number
  /** Maximum pause before the first repetition, in milliseconds; 200 by default, doubled for each further one. */
  readonly backOffMs?: number
  /** Maximum pause that a server may ask for, in milliseconds; a request is not repeated after a longer one. 30,000 by default. */
  readonly maxWaitMs?: number
  /** Option of `fetch`: `include` sends the cookies of a server of another origin. */
  readonly credentials?: 'omit' | 'same-origin' | 'include'
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch
}

/** Options of a single request. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
}

interface Sent extends RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** JSON, unless it is bytes. */
  readonly body?: unknown
  /** True if numbers may have more digits than doubles can hold. */
  readonly exact?: boolean
  /**
   * False for requests that may already have had an effect: they are not repeated after 503. `refused`: repeated only if the server itself
   * says that the request had no effect, since a proxy also answers with 503 when it has lost the answer.
   */
  readonly repeatable?: boolean | 'refused'
  /** Called with the fraction that has been sent, from 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined
}

/** An answer whose body has been read. */
export interface Exchanged {
  readonly status: number
  readonly json: unknown
  readonly isError: boolean
  /** Seconds that the server asks to wait. */
  readonly retryAfter: number | undefined
}

type Answer = Pick<Response, 'status' | 'ok' | 'text' | 'blob'> & {
  readonly headers: Pick<Headers, 'get'>
  readonly body?: Response['body']
}

/** Requests to a server. */
export class Connection {
  readonly url: string
  readonly #options: ClientOptions
  /** Cookies, kept here outside browsers, where `fetch` keeps none. */
  readonly #cookies = new Map<string, string>()

  constructor(url: string | URL, options: ClientOptions) {
    this.url = String(url).replace(/\/+$/, '')
    this.#options = options
  }

  /**
   * Sends a request and returns the JSON of its answer.
   * @throws {TesserError} the answer is an error
   */
  async ask(path: string, request?: Sent): Promise<unknown> {
    const result = await this.exchange(path, request)
    if (result.isError) throw errorOf(result)
    return result.json
  }

  /** Sends a request and returns the JSON of its answer, which may be an error. @throws {TesserError} the answer is not JSON */
  async exchange(path: string, request: Sent = {}): Promise<Exchanged> {
    const answer = await this.respond(`${this.url}/${path}`, request)
    const result = await readJson(answer, request.exact)
    if (answer.ok && result.json === undefined) throw new TesserError('server', answer.status, [NOT_JSON])
    return result
  }

  /** Sends a request and returns the unread answer, which may be an error. */
  async respond(address: string, request: Sent): Promise<Answer> {
    const { retries = 3, backOffMs = 200, maxWaitMs = 30_000 } = this.#options
    for (let attempt = 0; ; attempt++) {
      const answer = await this.#send(address, request)
      const isBusy = answer.status === 429 || (answer.status === 503 && isRepeatable(answer, request))
      if (!isBusy || attempt >= retries) return answer
      // Random, so that clients that were refused together do not retry together.
      const waitMs = Math.max((retryAfter(answer) ?? 0) * 1000, Math.random() * backOffMs * 2 ** attempt)
      if (waitMs > maxWaitMs) return answer
      await pause(waitMs, request.signal)
    }
  }

  async #send(address: string, { method, body, signal, onProgress }: Sent): Promise<Answer> {
    const { credentials = 'same-origin' } = this.#options
    const headers = await this.#headers()
    const verb = method ?? (body === undefined ? 'GET' : 'POST')
    const init: RequestInit & { duplex?: 'half' } = { method: verb, headers, credentials }
    if (signal) init.signal = signal
    if (isBytes(body)) {
      headers['Content-Type'] = ('type' in body && body.type) || 'application/octet-stream'
      if (onProgress) {
        const answer = sendFromBrowser(address, { verb, headers, body, signal, credentials, onProgress })
        if (answer) return answer
        init.duplex = 'half'
      }
      init.body = onProgress ? streamWithProgress(body, onProgress) : (body as Blob)
    } else if (body !== undefined) init.body = writeExact(body)
    const response = await (this.#options.fetch ?? fetch)(address, init)
    this.#keepCookies(response)
    return response
  }

  async #headers(): Promise<Record<string, string>> {
    const { headers, key } = this.#options
    const bearer = typeof key === 'function' ? await key() : key
    const cookies = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    return {
      ...headers,
      ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
      ...(cookies && { Cookie: cookies }),
    }
  }

  #keepCookies({ headers, redirected, url }: Response): void {
    const cookies = (headers as { getSetCookie?: () => string[] }).getSetCookie?.() ?? []
    // Cookies from another host, to which the request was redirected, do not belong to this one.
    if (cookies.length === 0 || (redirected && new URL(url).origin !== new URL(this.url).origin)) return
    for (const cookie of cookies) {
      const [, name = '', value = ''] = /^\s*([^=;]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '' || /;\s*max-age=0/i.test(cookie)) this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
  }
}

const NOT_JSON = { message: 'the answer is not JSON', errCode: 0, componentSignature: 'client' }

const isBytes = (body: unknown): body is Blob | Uint8Array =>
  ArrayBuffer.isView(body) || (typeof Blob === 'function' && body instanceof Blob)

/** A proxy answers 503 too when it has lost the answer to a save that did happen; its page is not JSON. */
const isRepeatable = ({ headers }: Answer, { repeatable = true }: Sent): boolean =>
  repeatable === 'refused' ? /\bjson\b/.test(headers.get('Content-Type') ?? '') : repeatable

/** The JSON of an answer; undefined for other content. */
export async function readJson(answer: Answer, exact = false): Promise<Exchanged> {
  const text = await answer.text()
  let json: unknown
  try {
    json = exact ? parseExact(text) : JSON.parse(text)
  } catch {
    // The answer is not JSON, but comes from a proxy.
  }
  const isError = !answer.ok || (typeof json === 'object' && json !== null && '__ERROR' in json)
  return { status: answer.status, json, isError, retryAfter: retryAfter(answer) }
}

/** The values of an answer that is a stream of lines. @throws {TesserError} the stream has failed */
export async function* readLines({ body, status }: Answer): AsyncGenerator<unknown, void, unknown> {
  const reader = body!.getReader()
  const decoder = new TextDecoder()
  let remainder = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      const lines = (remainder + decoder.decode(value, { stream: !done })).split('\n')
      remainder = lines.pop()!
      for (const line of lines) {
        const json = parseExact(line)
        if (typeof json === 'object' && json !== null && '__ERROR' in json)
          throw errorOf({ status, json, retryAfter: undefined })
        yield json
      }
      if (done) return
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function retryAfter({ headers }: Answer): number | undefined {
  const text = headers.get('Retry-After')
  if (text === null) return undefined
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/** @throws the reason of the signal */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
