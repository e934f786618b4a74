/** A message and its headers as the protocol defines them, from clients that deviate from it. */
import { json, ProtocolError, type Reply, type RestRequest } from '../../kernel/api.ts'

type Head = Readonly<Record<string, string>>
type Members = Readonly<Record<string, unknown>>

const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600
const SERVER_ERROR = -32_000

/** Headers that the protocol uses. */
const HEADERS = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id']

/** Copies the headers of a request, which are not available after the first `await`. */
export function headOf({ transport }: RestRequest): Head {
  const entries = HEADERS.map(name => [name, transport.header(name)] as const).filter(([, value]) => value !== '')
  return Object.fromEntries(entries)
}

/** The message in the body, or the refusal of a body that is not one message. @throws {ProtocolError} 413, 408 */
export async function messageOf(request: RestRequest): Promise<{ readonly value: unknown } | Reply> {
  let value: unknown
  try {
    value = await request.json()
  } catch (error) {
    if (error instanceof ProtocolError && error.httpStatus === 400) return refusal(PARSE_ERROR, error.message)
    throw error
  }
  if (value === undefined) return refusal(PARSE_ERROR, 'the body is empty; send one JSON-RPC message')
  // Each message counts as a request for quotas.
  if (Array.isArray(value))
    return refusal(INVALID_REQUEST, `received an array of ${value.length}; send one message a request`)
  return { value: withoutNulls(value) }
}

/** Refusal of an `Accept` header without a type in which messages are answered. */
export const notAcceptable = (accept: string, types: readonly string[]): Reply =>
  refusal(SERVER_ERROR, `received Accept: ${accept.slice(0, 200)}; answers are ${types.join(' or ')}`, 406)

const refusal = (code: number, message: string, status = 400): Reply =>
  json({ jsonrpc: '2.0', error: { code, message }, id: null }, status)

/**
 * Removes members and parameters of a message that are null, which some clients send in place of leaving them out. A handshake gets the
 * members that small programs leave out.
 */
function withoutNulls(message: unknown): unknown {
  if (!isObject(message)) return message
  const { params, ...members } = message
  const isHandshake = members.method === 'initialize'
  if (params === undefined || params === null) return isHandshake ? { ...members, params: handshakeOf({}) } : members
  if (!isObject(params)) return message
  return { ...members, params: isHandshake ? handshakeOf(withValuesInside(params) as Members) : withValues(params) }
}

/** The version that applies to clients that name none. Source: Model Context Protocol, 2025-06-18, transports. */
const UNNAMED_VERSION = '2025-03-26'
const UNNAMED_CLIENT = { name: 'unnamed', version: '0' }

/** The server reads nothing of a handshake but the version. */
function handshakeOf({ clientInfo = {}, ...params }: Members): Members {
  const info = isObject(clientInfo) ? { ...UNNAMED_CLIENT, ...clientInfo } : clientInfo
  return { protocolVersion: UNNAMED_VERSION, capabilities: {}, ...params, clientInfo: info }
}

const withValues = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))

const withValuesInside = (value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(withValues(value)).map(([name, each]) => [name, withValuesInside(each)]))
    : value

/** Key of the version in `_meta` of requests since 2026. */
const VERSION = 'io.modelcontextprotocol/protocolVersion'

/**
 * Headers that fit a message. Some connectors go on to send the version of their handshake, which is earlier than the version of their messages;
 * the message decides then, since this server does not read the headers for anything else.
 */
export function headFor(message: unknown, head: Head): Head {
  if (!isObject(message) || !isObject(message.params)) return head
  const { method } = message
  const { _meta: meta, name } = message.params
  const version = isObject(meta) ? meta[VERSION] : undefined
  const sentVersion = head['mcp-protocol-version']
  if (typeof version !== 'string' || sentVersion === undefined || !isEarlier(sentVersion, version)) return head
  return {
    ...(isHeaderValue(method) && { 'mcp-method': method }),
    ...(isHeaderValue(name) && { 'mcp-name': name }),
    ...head,
    'mcp-protocol-version': version,
  }
}

const DATE = /^\d{4}-\d{2}-\d{2}$/

const isEarlier = (version: string, other: string): boolean => DATE.test(version) && DATE.test(other) && version < other

/** False for a value that no header can have. The message is refused then, as one whose header is missing. */
const isHeaderValue = (value: unknown): value is string => typeof value === 'string' && /^[!-~]+$/.test(value)

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
