/** Requests to the public protocol, the only access to data that this page has. */
import { signal } from '@preact/signals'
import { bodyOf, type Parameters, queryOf } from './parameters.ts'
import { text } from './rest-texts.ts'

/** `/rest` of the server that has sent this page, after its base path. */
const REST = new URL('../rest/', document.baseURI).pathname
/** Maximum length of an address; a longer one is sent as the body of `$query`. */
const MAX_ADDRESS = 4_000

export interface ProtocolFault {
  readonly message: string
  readonly errCode: number
  readonly componentSignature: string
  /** The attribute that an error of a save is about. */
  readonly attribute?: string
}

/** An answer that is an error, with the message of its first entry. */
export class RestError extends Error {
  override readonly name = 'RestError'
  constructor(
    readonly status: number,
    readonly faults: readonly ProtocolFault[],
    /** The whole answer, which may contain the entity as it is on the server now. */
    readonly answer: unknown,
    /** Seconds after which the request may succeed, if the server says so. */
    readonly retryAfter?: number,
  ) {
    super(faults[0]?.message ?? `HTTP ${status}`)
  }
}

/** True if the last request could not reach the server. */
export const isOffline = signal(false)

export type { Parameters } from './parameters.ts'
/** Status of the last answer; every answer creates a new object. */
export const lastStatus = signal<{ readonly code: number } | undefined>(undefined)

interface RestRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** A value that is sent as JSON; or bytes, or a text that is JSON already, with numbers that a double may not hold. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Maximum size of the answer; a longer one is aborted. */
  readonly maxBytes?: number | undefined
}

/** An answer that was longer than `maxBytes`. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
}

/** Address of a path such as `City(12)/country` on this server, with parameters, for requests and links. */
export const addressOf = (path: string, parameters: Parameters = {}): string => `${REST}${path}${queryOf(parameters)}`

/**
 * Sends a request and returns the JSON of its answer.
 * @throws {RestError} the answer is an error
 */
export async function ask<Answer>(path: string, parameters?: Parameters, request: RestRequest = {}): Promise<Answer> {
  const { answer } = await send<Answer>(addressOf(path, parameters), request)
  return answer
}

/** Reads a dataclass or an entity set, by `$query` if the address would be too long. */
export async function read<Answer>(
  path: string,
  parameters: Parameters,
  signal?: AbortSignal,
  maxBytes?: number,
): Promise<Answer> {
  const { answer } = await readWithHead<Answer>(path, parameters, signal, maxBytes)
  return answer
}

/** As {@link read}, with the head of the answer. */
export async function readWithHead<Answer>(
  path: string,
  parameters: Parameters,
  signal?: AbortSignal,
  maxBytes?: number,
) {
  const address = addressOf(path, parameters)
  if (address.length <= MAX_ADDRESS) return send<Answer>(address, { signal, maxBytes })
  return send<Answer>(addressOf(`${path}/$query`), { method: 'POST', body: bodyOf(parameters), signal, maxBytes })
}

/**
 * Sends a request and returns its answer with the head.
 * @throws {RestError} the answer is an error
 * @throws {AnswerTooLarge}
 */
async function send<Answer>(
  address: string,
  request: RestRequest = {},
): Promise<{ answer: Answer; response: Response; body: string }> {
  const response = await respond(address, request)
  const { maxBytes, signal } = request
  const read = maxBytes === undefined ? response.text() : textUpTo(response, maxBytes)
  const body = await read.catch((error: unknown) => {
    if (signal?.aborted || error instanceof AnswerTooLarge) throw error
    throw new Error(text('interrupted'), { cause: error })
  })
  return { answer: readAnswer(response, body) as Answer, response, body }
}

/** Sends a request and returns the unread answer, of any media type and status. */
export async function respond(address: string, { method, body, headers, signal }: RestRequest = {}): Promise<Response> {
  const init: RequestInit = { method: method ?? (body === undefined ? 'GET' : 'POST'), credentials: 'same-origin' }
  if (body !== undefined) init.body = body instanceof Blob || typeof body === 'string' ? body : JSON.stringify(body)
  if (headers) init.headers = headers
  if (signal) init.signal = signal
  const response = await fetch(address, init).catch((error: unknown) => {
    if (signal?.aborted) throw error
    isOffline.value = true
    throw new Error(text('noAnswer'), { cause: error })
  })
  isOffline.value = false
  lastStatus.value = { code: response.status }
  return response
}

/**
 * The JSON of an answer; undefined for other content.
 * @throws {RestError} the answer is an error
 */
export function readAnswer({ ok, status, headers }: Response, text: string): unknown {
  const answer = parseJson(text)
  const faults = (answer as { __ERROR?: ProtocolFault[] } | null | undefined)?.__ERROR
  const retryAfter = Number(headers.get('Retry-After')) || undefined
  if (!ok || faults) throw new RestError(status, faults ?? [], answer, retryAfter)
  return answer
}

async function textUpTo({ body }: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  const reader = body?.getReader()
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    bytes += part.value.length
    if (bytes > maxBytes) {
      await reader?.cancel()
      throw new AnswerTooLarge(`more than ${maxBytes} bytes`)
    }
    text += decoder.decode(part.value, { stream: true })
  }
  return text + decoder.decode()
}

/** Parses JSON; a number with more digits than a double can hold, such as a large `long64`, becomes the text of its digits. */
function parseJson(text: string): unknown {
  try {
    return /\d{16}/.test(text.replaceAll('.', '')) ? JSON.parse(text, exact) : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Keeps the digits of a number; browsers that do not pass the source round it. */
function exact(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined || !/^-?\d{16,}$|^-?\d+\.\d+$/.test(source)) return value
  const digits = source.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')
  return String(value) === digits ? value : source
}

/** Returns true if an error only means that a request was aborted. */
export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError'
