import { FunctionErrors } from '../declare/function-errors.ts'

/** Valid header names; others could inject header lines. Source: RFC 9110, 5.1 and 5.5. */
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
const VALUE = /^[\t\x20-\x7e]{0,8000}$/
const OF_THE_TRANSPORT = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'date',
  'keep-alive',
  'upgrade',
  'trailer',
])

/**
 * An answer that the function composes itself: a download, a redirect, a page.
 *
 *   const answer = new OutgoingMessage()
 *   answer.setBody('id;name\n1;Ada')
 *   answer.setHeader('Content-Type', 'text/csv')
 *   return answer
 *
 * Source: protocol notes, 7.4.
 */
export class OutgoingMessage {
  #status = 200
  #headers: Record<string, string> = {}
  #body: string | Uint8Array = ''
  #stream: BodyStream | undefined

  /** @param status 200 to 599 */
  setStatus(status: number): void {
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw FunctionErrors.BAD_RESULT('OutgoingMessage.setStatus', `${status} is not a valid status; use 200 to 599`)
    }
    this.#status = status
  }

  /** Sets a header; replaces an earlier one of that name. */
  setHeader(name: string, value: string | number): void {
    const text = String(value)
    const lower = String(name).toLowerCase()
    if (!NAME.test(name)) throw FunctionErrors.BAD_RESULT('OutgoingMessage.setHeader', 'that is not a name of a header')
    if (!VALUE.test(text)) {
      throw FunctionErrors.BAD_RESULT(
        'OutgoingMessage.setHeader',
        `the value of ${name} has to be visible ASCII on one line`,
      )
    }
    if (OF_THE_TRANSPORT.has(lower)) {
      throw FunctionErrors.BAD_RESULT('OutgoingMessage.setHeader', `${name} is set by the server`)
    }
    this.#headers[lower] = text
  }

  /**
   * Sets the body: text, bytes, an image or blob of an attribute, or any JSON value; or a stream of texts and bytes, such as a
   * generator, a `ReadableStream` or a `Readable` of Node.js, which is sent while it is read. Sets `Content-Type` too.
   */
  setBody(body: unknown): void {
    this.#stream = streamOf(body)
    const [content, mediaType] = this.#stream ? ['', 'application/octet-stream'] : contentOf(body)
    this.#body = content
    this.setHeader('Content-Type', mediaType)
  }

  /** The body, if it is a stream. */
  get bodyStream(): BodyStream | undefined {
    return this.#stream
  }

  /** The answer as it is sent. Bytes are copied, because their buffer may be shared. */
  toAnswer(): { status: number; headers: Record<string, string>; body: string | Uint8Array } {
    const body = typeof this.#body === 'string' ? this.#body : new Uint8Array(this.#body)
    return { status: this.#status, headers: { ...this.#headers }, body }
  }
}

interface BodyStream {
  readonly isAsync: boolean
  values(): Iterator<unknown> | AsyncIterator<unknown>
  /** Releases the source. */
  destroy?(): void
}

function streamOf(body: unknown): BodyStream | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const source = body as Partial<AsyncIterable<unknown> & Iterator<unknown> & Iterable<unknown> & { destroy(): void }>
  if (typeof source[Symbol.asyncIterator] === 'function') {
    const isReadable = typeof source.destroy === 'function'
    return {
      isAsync: true,
      values: () => source[Symbol.asyncIterator]!(),
      ...(isReadable && { destroy: () => source.destroy!() }),
    }
  }
  // Arrays, maps and the like are values.
  if (typeof source[Symbol.iterator] !== 'function' || typeof source.next !== 'function') return undefined
  return { isAsync: false, values: () => source[Symbol.iterator]!() }
}

function contentOf(body: unknown): [string | Uint8Array, string] {
  if (typeof body === 'string') return [body, 'text/plain; charset=UTF-8']
  if (body instanceof Uint8Array) return [body, 'application/octet-stream']
  const { bytes, mediaType } = (body ?? {}) as { bytes?: unknown; mediaType?: unknown }
  if (bytes instanceof Uint8Array && typeof mediaType === 'string') return [bytes, mediaType]
  return [JSON.stringify(body ?? null), 'application/json; charset=UTF-8']
}
