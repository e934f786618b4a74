import type { Readable } from 'node:stream'
import { InputError } from '../../engine/base/input-error.ts'

type Id = string | number | null

interface Message {
  readonly id?: Id
  readonly method?: string
  readonly params?: {
    readonly name?: string
    readonly requestId?: Id
    readonly _meta?: Readonly<Record<string, unknown>>
  }
  readonly jsonrpc?: string
  readonly result?: { readonly protocolVersion?: string }
}

/** Key of the version in `_meta` of requests since 2026. */
const VERSION = 'io.modelcontextprotocol/protocolVersion'
const DATA = 'data:'
const HEADER_TEXT = /^[\x21-\x7e]+$/
const PARSE_ERROR = -32_700
const SERVER_ERROR = -32_000

/**
 * `tesser mcp`: passes messages of the Model Context Protocol from the standard input to `/mcp` of a running server, and its answers
 * to the standard output. Opens no store: only one process can open one, and desktop clients start several bridges in parallel.
 * @param url `/mcp` of the server
 * @param key API key or token; undefined for a guest
 * @param write called with each line of the output
 * @returns when the input has ended and every request is answered
 * @throws {InputError} the key cannot be sent
 */
export async function bridge(
  url: string,
  key: string | undefined,
  input: Readable,
  write: (line: string) => void,
): Promise<void> {
  if (key !== undefined && !HEADER_TEXT.test(key))
    throw new InputError('the key has characters that are not allowed in a key')
  const requests = new Map<Id, AbortController>()
  const pending = new Set<Promise<void>>()
  /** Version agreed on by the handshake of protocol versions before 2026. */
  let version: string | undefined

  const fail = (id: Id, code: number, message: string): void =>
    write(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }))

  const headersOf = ({ method, params }: Message): Record<string, string> => {
    const current = params?._meta?.[VERSION]
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...((current ?? version) !== undefined && { 'mcp-protocol-version': String(current ?? version) }),
      ...(current !== undefined && { 'mcp-method': String(method) }),
      ...(current !== undefined && params?.name !== undefined && { 'mcp-name': encodedName(params.name) }),
    }
  }

  const ask = async (line: string, message: Message): Promise<void> => {
    const { id = null } = message
    const isRequest = message.id !== undefined
    const controller = new AbortController()
    if (isRequest) requests.set(id, controller)
    try {
      const headers = headersOf(message)
      const answer = await fetch(url, { method: 'POST', headers, body: line, signal: controller.signal })
      const text = await answer.text()
      if (!isRequest) return
      const answers = messagesIn(text, answer.headers.get('content-type') ?? '')
      if (answers.length === 0) fail(id, SERVER_ERROR, refusalOf(answer.status, text, url))
      for (const each of answers) {
        version = each.result?.protocolVersion ?? version
        write(JSON.stringify(each))
      }
    } catch (error) {
      if (isRequest && !controller.signal.aborted) fail(id, SERVER_ERROR, unreachable(url, error as Error))
    } finally {
      requests.delete(id)
    }
  }

  for await (const line of linesOf(input)) {
    if (line.trim() === '') continue
    const message = parseMessage(line)
    if (!message) fail(null, PARSE_ERROR, 'received a line that is not a JSON object; send one JSON-RPC message a line')
    else if (message.method === 'notifications/cancelled') requests.get(message.params?.requestId ?? null)?.abort()
    else {
      const reply: Promise<void> = ask(line, message).finally(() => pending.delete(reply))
      pending.add(reply)
    }
  }
  await Promise.all(pending)
}

/** Lines of a stream. `readline` would also split lines at U+2028, which JSON strings may contain unescaped. */
async function* linesOf(input: Readable): AsyncGenerator<string, void, undefined> {
  let pieces: string[] = []
  for await (const piece of input.setEncoding('utf8') as AsyncIterable<string>) {
    const [first = '', ...others] = piece.split('\n')
    pieces.push(first)
    for (const other of others) {
      yield pieces.join('')
      pieces = [other]
    }
  }
  yield pieces.join('')
}

function messagesIn(text: string, mediaType: string): Message[] {
  const texts = mediaType.startsWith('text/event-stream')
    ? text.split(/[\r\n]+/).flatMap(line => (line.startsWith(DATA) ? line.slice(DATA.length) : []))
    : [text]
  return texts.flatMap(each => {
    const message = parseMessage(each)
    return message?.jsonrpc === undefined ? [] : message
  })
}

function parseMessage(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Encodes values that a header cannot contain as Base64. Source: Model Context Protocol 2026-07-28, Streamable HTTP. */
const encodedName = (name: string): string =>
  HEADER_TEXT.test(name) ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`

/** Describes an answer of the server that is not a message of the protocol. */
function refusalOf(status: number, text: string, url: string): string {
  const answer = parseMessage(text) as { readonly __ERROR?: readonly { readonly message: string }[] } | undefined
  const reason = answer?.__ERROR?.[0]?.message
  const hint = status === 401 ? '; give a key with --key or TESSER_KEY' : ''
  return `${url} answered ${status}${reason ? `: ${reason}` : ''}${hint}`
}

/** @param error of `fetch`, which has the reason as its cause */
function unreachable(url: string, { cause, message }: Error): string {
  const { code } = (cause ?? {}) as { readonly code?: string }
  // A member of the message is sent as a header, and is not valid there.
  if (!cause) return `the request cannot be sent: ${message.slice(0, 200)}`
  return `no server answers at ${url} (${code ?? message}); start it with tesser start, or give its address with --url`
}
