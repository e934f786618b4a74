import {
  definePlugin,
  json,
  ProtocolError,
  type Reply,
  type RestRequest,
  Type,
  type RouteSpec,
} from '../../kernel/api.ts'
import { serveMetadata } from './oauth.ts'

/**
 * `/mcp`: data access for agents, by the Model Context Protocol over Streamable HTTP, versions of 2026 and 2025.
 *
 *   POST /mcp   {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query","arguments":{"class":"City","top":2}}}
 *
 * A few tools serve all dataclasses: `describe`, `query`, `aggregate`, `search`, `image`, `call`, and `write` if `mcp.write` is on.
 * Each uses the public protocol, within the request of the agent and with its rights: what a client may not do at `/rest`, it cannot do
 * here. No state is kept between requests. `disablePlugins: ["mcp"]` disables it. `tesser mcp` speaks the same protocol over standard
 * input and output, for desktop clients.
 *
 * The implementation is loaded by the first request. Source: Model Context Protocol, 2026-07-28 and 2025-11-25.
 */
export default definePlugin({
  name: 'mcp',
  kernel: '^1.0.0',
  options: Type.Object({
    write: Type.Boolean({
      default: false,
      description: 'Lets agents save and delete entities, and call functions that do not allow GET.',
    }),
  }),
  register(scope, { write }) {
    serveMetadata(scope)
    let loading: Promise<typeof import('./serve.ts')> | undefined
    scope.route('/mcp', ROUTE, async request => {
      request.demandLogin()
      const head = headOf(request)
      const message = await messageOf(request)
      if ('status' in message) return message
      loading ??= import('./serve.ts')
      const { serve } = await loading
      return serve(message.value, head, { scope, request, mayWrite: write })
    })
  },
})

const anyObject = { type: 'object', additionalProperties: true }

const ROUTE: RouteSpec = {
  verbs: ['POST'],
  doc: 'The Model Context Protocol: data access for agents, with the rights of the caller.',
  tag: 'server',
  operations: {
    POST: {
      id: 'mcp',
      doc: 'The Model Context Protocol, for agents',
      body: {
        schema: {
          type: 'object',
          properties: {
            jsonrpc: { type: 'string', const: '2.0' },
            id: { type: ['string', 'number'] },
            method: { type: 'string' },
            params: anyObject,
          },
          required: ['jsonrpc'],
        },
        example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      },
      answers: {
        200: { doc: 'A JSON-RPC message.', types: ['application/json', 'text/event-stream'], schema: anyObject },
        202: { doc: 'The server accepted a notification.', types: [] },
        default: { doc: 'A JSON-RPC error or a server error.', schema: anyObject },
      },
    },
  },
}

/** Headers that the protocol uses. */
const HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id']

/** Copies the head of a request, which is not available after the first `await`. */
function headOf({ transport }: RestRequest): Record<string, string> {
  const entries = HEADERS.map(name => [name, transport.header(name)] as const).filter(([, value]) => value !== '')
  return Object.fromEntries(entries)
}

/** The message in the body, or the refusal of a body that is not one message. @throws {ProtocolError} 413, 408 */
async function messageOf(request: RestRequest): Promise<{ readonly value: unknown } | Reply> {
  let value: unknown
  try {
    value = await request.json()
  } catch (error) {
    if (error instanceof ProtocolError && error.httpStatus === 400) return refusal(-32_700, error.message)
    throw error
  }
  if (value === undefined) return refusal(-32_700, 'the body is empty; send one JSON-RPC message')
  // Each message counts as a request for quotas.
  if (Array.isArray(value)) return refusal(-32_600, `received an array of ${value.length}; send one message a request`)
  return { value }
}

const refusal = (code: number, message: string): Reply =>
  json({ jsonrpc: '2.0', error: { code, message }, id: null }, 400)
