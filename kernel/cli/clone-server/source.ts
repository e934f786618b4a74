import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { parseExact } from '../../../engine/base/exact-json.ts'
import { SourceSession } from './source-session.ts'

interface SourceOptions {
  /** Address that ends with `/rest`. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Logs in; called before the first request, and again when the server answers 401 or in another session. */
  readonly login?: ((source: Source) => Promise<void>) | undefined
  /** Maximum number of parallel requests. */
  readonly requests: number
  readonly timeoutMs: number
  /** Pause before the second try; it doubles with each further one. */
  readonly pauseMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** A failure of the source, described for the operator. */
export class SourceError extends Error {}
/** The answer is too large or takes too long; a smaller part may succeed. */
export class TooMuch extends SourceError {}
/** The entity set or the entity no longer exists. */
export class Gone extends SourceError {}
/** The server refuses this client, so another try is pointless. */
export class Denied extends SourceError {}
/** The request failed, but another try may succeed. */
class Unavailable extends SourceError {
  constructor(
    message: string,
    /** Pause that the server requested. */
    readonly pauseMs = 0,
  ) {
    super(message)
  }
}

const TRIES = 7
const PAUSE_MS = 500
const MAX_PAUSE_MS = 60_000
/** Maximum bytes of JSON in one answer. */
const MAX_JSON_BYTES = 64 * 2 ** 20
const MAX_ERROR_BYTES = 64 * 1024
const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504])
/** Status codes by which proxies replace an answer that is too large or takes too long. */
const SMALLER = new Set([413, 502, 504])

interface Request {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** True if an answer that is too large or late, or that a proxy refuses, is {@link TooMuch} immediately: a smaller part may succeed. */
  readonly mayShrink?: boolean
  /** The request logs in. */
  readonly isLogin?: boolean
  /** Number of logins of this request so far, each because it was answered in another session. */
  readonly logins?: number
}

/** A server that is read: few parallel requests, retries after pauses, and the cookies of one session. */
export class Source {
  private readonly limit
  private readonly session: SourceSession

  constructor(readonly options: SourceOptions) {
    const { requests, login } = options
    this.limit = pLimit(requests)
    this.session = new SourceSession(login && (() => login(this)))
  }

  /** @param path below `/rest`, encoded @throws {SourceError} */
  json(path: string, request: Request = {}): Promise<unknown> {
    return this.retried(path, request, async answer => {
      const text = Buffer.concat(await this.collect(answer, MAX_JSON_BYTES, path, request)).toString()
      try {
        return parseExact(text, 'numbers')
      } catch {
        throw new Unavailable(`${this.name(path)} answers with text that is not JSON: ${quoteShort(text)}`)
      }
    })
  }

  /**
   * Streams the bytes of an image or a blob; tried again from the beginning.
   * @param uri of a `__deferred`
   * @param receive called for each try
   */
  binary<T>(uri: string, receive: (body: AsyncIterable<Uint8Array>, mediaType: string) => Promise<T>): Promise<T> {
    const path = pathOf(uri)
    return this.retried(path, {}, (answer, patience) =>
      receive(this.pieces(answer, undefined, path, {}, patience), answer.headers.get('content-type') ?? ''),
    )
  }

  /** Sends a request whose outcome does not matter. */
  async tell(path: string, body: string): Promise<void> {
    const send = async (): Promise<void> => {
      const patience = new Patience(this.options.timeoutMs)
      const answer = await this.send(path, { method: 'POST', body }, patience).finally(() => patience.end())
      await answer.body?.cancel()
    }
    await this.limit(send).catch(() => {})
  }

  private async retried<T>(
    path: string,
    request: Request,
    read: (answer: Response, patience: Patience) => Promise<T>,
  ): Promise<T> {
    const { login, pauseMs = PAUSE_MS } = this.options
    let [isRefused, otherLogins] = [false, 0]
    for (let tries = 1; ; tries++) {
      try {
        if (request.isLogin) return await this.attempt(path, request, read)
        return await this.limit(async () => {
          while (!this.session.isReady) await this.session.ready()
          return this.attempt(path, { ...request, logins: otherLogins }, read)
        })
      } catch (error) {
        this.options.signal?.throwIfAborted()
        if (error instanceof OtherSession) {
          otherLogins++
          continue
        }
        if (error instanceof Unauthorised && login && !isRefused && !request.isLogin) {
          isRefused = true
          this.session.end()
          continue
        }
        if (!(error instanceof Unavailable)) throw error
        if (tries === TRIES) throw new SourceError(`${error.message}; ${TRIES} tries failed`, { cause: error })
        await sleep(Math.min(Math.max(pauseMs * 2 ** (tries - 1), error.pauseMs), MAX_PAUSE_MS), undefined, {
          signal: this.options.signal,
        })
      }
    }
  }

  private async attempt<T>(
    path: string,
    request: Request,
    read: (answer: Response, patience: Patience) => Promise<T>,
  ): Promise<T> {
    const patience = new Patience(this.options.timeoutMs)
    try {
      return await read(await this.sendChecked(path, request, patience), patience)
    } finally {
      patience.end()
    }
  }

  /** @throws {SourceError} if the status is not a success */
  private async sendChecked(path: string, request: Request, patience: Patience): Promise<Response> {
    const { session } = this
    const sentCookies = session.snapshot()
    let answer: Response
    try {
      answer = await this.send(path, request, patience)
    } catch (error) {
      throw this.failure(error, path, request)
    }
    const { status } = answer
    const isOther = session.isOther(answer.headers.getSetCookie(), sentCookies, request.logins ?? 0)
    if (isOther && !request.isLogin && status < 500) {
      session.end()
      await answer.body?.cancel()
      throw new OtherSession()
    }
    if (answer.ok) return answer
    if (status >= 300 && status < 400) {
      await answer.body?.cancel()
      const to = quoteShort(answer.headers.get('location') ?? 'another address')
      throw new SourceError(`${this.name(path)} redirects to ${to}; give that address`)
    }
    const text = Buffer.concat(await this.collect(answer, MAX_ERROR_BYTES, path, request).catch(() => [])).toString()
    const message = `${this.name(path)} answers with status ${status}${reasonOf(text)}`
    if (request.mayShrink && SMALLER.has(status)) throw new TooMuch(message)
    if (status === 401) throw new Unauthorised(message)
    if (status === 403) throw new Denied(message)
    if (status === 404) throw new Gone(message)
    if (RETRIED.has(status)) throw new Unavailable(message, retryAfterMs(answer))
    throw new SourceError(message)
  }

  private send(
    path: string,
    { method = 'GET', headers = {}, body }: Request,
    { signal: late }: Patience,
  ): Promise<Response> {
    const { signal } = this.options
    const cookie = [...this.session.snapshot()].map(([name, value]) => `${name}=${value}`).join('; ')
    return fetch(`${this.options.url}/${path}`, {
      method,
      headers: {
        accept: 'application/json, */*',
        ...this.options.headers,
        ...headers,
        ...(cookie && { cookie }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
      // A redirection would send passwords of headers to another server.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, late]) : late,
    })
  }

  private async collect(answer: Response, maxBytes: number, path: string, request: Request): Promise<Uint8Array[]> {
    const pieces: Uint8Array[] = []
    for await (const piece of this.pieces(answer, maxBytes, path, request)) pieces.push(piece)
    return pieces
  }

  /** @param patience time limit of an answer that may be long; it restarts with each piece */
  private async *pieces(
    answer: Response,
    maxBytes: number | undefined,
    path: string,
    request: Request,
    patience?: Patience,
  ): AsyncGenerator<Uint8Array> {
    let bytes = 0
    const body = (answer.body ?? new Blob([]).stream()).getReader()
    try {
      for (;;) {
        const { done, value } = await body.read().catch((error: unknown) => {
          throw this.failure(error, path, request)
        })
        if (done) return
        bytes += value.length
        if (maxBytes !== undefined && bytes > maxBytes)
          throw new TooMuch(`${this.name(path)} answers with more than ${maxBytes} bytes`)
        patience?.renew()
        yield value
      }
    } finally {
      await body.cancel().catch(() => {})
    }
  }

  private failure(error: unknown, path: string, { mayShrink = false }: Request): Error {
    const { name, message, cause } = error as Error
    const { timeoutMs } = this.options
    const late = `${this.name(path)} has not answered within ${timeoutMs / 1000} s`
    if (name === 'TimeoutError') return mayShrink ? new TooMuch(late) : new Unavailable(late)
    // The message of fetch only says that it failed.
    const reason = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : message
    return new Unavailable(`${this.name(path)} cannot be read: ${reason}`)
  }

  /** Name of a resource for messages: without values of parameters. */
  private name(path: string): string {
    return `${new URL(this.options.url).origin}/…/${path.split('?')[0]}`
  }
}

class Unauthorised extends Denied {}
class OtherSession extends Error {}

/** Time limit of an answer. */
class Patience {
  private readonly controller = new AbortController()
  private readonly timer

  constructor(timeoutMs: number) {
    this.timer = setTimeout(() => this.controller.abort(new DOMException('late', 'TimeoutError')), timeoutMs)
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  renew(): void {
    this.timer.refresh()
  }

  end(): void {
    clearTimeout(this.timer)
  }
}

const quoteShort = (text: string): string => JSON.stringify(text.slice(0, 80))

/** Path of a URI. Servers behind a proxy may name another host or prefix than clients use. */
function pathOf(uri: string): string {
  const at = uri.indexOf('/rest/')
  const path = at < 0 ? uri.replace(/^\/+/, '') : uri.slice(at + '/rest/'.length)
  return path.replaceAll('#', '%23')
}

function reasonOf(text: string): string {
  try {
    const { message, errCode } = (JSON.parse(text) as { __ERROR: { message: string; errCode: number }[] }).__ERROR[0]!
    return `: ${String(message).split('\n')[0]!.slice(0, 300)} (${errCode})`
  } catch {
    return ''
  }
}

/** Pause that `Retry-After` requests. Source: RFC 9110, 10.2.3. */
function retryAfterMs({ headers }: Response): number {
  const text = headers.get('retry-after') ?? ''
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return ms > 0 ? ms : 0
}
