import { errorOf, TesserError } from './errors.ts'
import { parseExact, writeExact } from './exact.ts'
import { counted, sendFromBrowser } from './upload.ts'

export interface ClientOptions {
  /** API key or token, sent as `Authorization: Bearer`; a function is asked before every request. */
  readonly key?: string | (() => string | Promise<string>)
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Repetitions of a request that is answered with 429 or 503; 3 by default. */
  readonly retries?: number
  /** Milliseconds before the first repetition at most, 200 by default; doubled for each further one. */
  readonly backOffMs?: number
  /** Longer times that a server asks to wait are not waited for; 30,000 milliseconds by default. */
  readonly maxWaitMs?: number
  /** As of `fetch`: `include` sends the cookies of a server of another origin. */
  readonly credentials?: 'omit' | 'same-origin' | 'include'
  /** In place of the global `fetch`. */
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
  /** Whether numbers may have more digits than doubles hold. */
  readonly exact?: boolean
  /** Whether 503 leads to a repetition too: not of what may have had an effect. */
  readonly repeatable?: boolean
  /** Called with the share that has been sent, from 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined
}

/** An answer that has been read. */
export interface Exchanged {
  readonly status: number
  readonly json: unknown
  readonly isError: boolean
  /** Seconds that the server asks to wait. */
  readonly retryAfter: number | undefined
}

type Answer = Pick<Response, 'status' | 'ok' | 'text' | 'blob'> & { readonly headers: Pick<Headers, 'get'> }

/** Requests to a server. */
export class Connection {
  readonly url: string
  readonly #options: ClientOptions
  /** Cookies, where `fetch` keeps none: outside of browsers. */
  readonly #cookies = new Map<string, string>()

  constructor(url: string | URL, options: ClientOptions) {
    this.url = String(url).replace(/\/+$/, '')
    this.#options = options
  }

  /**
   * The JSON of an answer.
   * @throws {TesserError} the answer is an error
   */
  async ask(path: string, sent?: Sent): Promise<unknown> {
    const exchanged = await this.exchange(path, sent)
    if (exchanged.isError) throw errorOf(exchanged)
    return exchanged.json
  }

  /** The JSON of an answer, which may be an error. @throws {TesserError} it is not JSON */
  async exchange(path: string, sent: Sent = {}): Promise<Exchanged> {
    const answer = await this.respond(`${this.url}/${path}`, sent)
    const exchanged = await readJson(answer, sent.exact)
    if (answer.ok && exchanged.json === undefined) throw new TesserError('server', answer.status, [NOT_JSON])
    return exchanged
  }

  /** The answer as it came. It may be an error. */
  async respond(address: string, sent: Sent): Promise<Answer> {
    const { retries = 3, backOffMs = 200, maxWaitMs = 30_000 } = this.#options
    for (let attempt = 0; ; attempt++) {
      const answer = await this.#send(address, sent)
      const isBusy = answer.status === 429 || (answer.status === 503 && sent.repeatable !== false)
      if (!isBusy || attempt >= retries) return answer
      // At random, so that clients that were refused together do not come back together.
      const waitMs = Math.max((retryAfter(answer) ?? 0) * 1000, Math.random() * backOffMs * 2 ** attempt)
      if (waitMs > maxWaitMs) return answer
      await pause(waitMs, sent.signal)
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
      init.body = onProgress ? counted(body, onProgress) : (body as Blob)
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

  #keepCookies({ headers }: Response): void {
    const cookies = (headers as { getSetCookie?: () => string[] }).getSetCookie?.() ?? []
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

/** The JSON of an answer; undefined for other content. */
export async function readJson(answer: Answer, exact = false): Promise<Exchanged> {
  const text = await answer.text()
  let json: unknown
  try {
    json = exact ? parseExact(text) : JSON.parse(text)
  } catch {
    // A proxy in between answers in its own words.
  }
  const isError = !answer.ok || (typeof json === 'object' && json !== null && '__ERROR' in json)
  return { status: answer.status, json, isError, retryAfter: retryAfter(answer) }
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
