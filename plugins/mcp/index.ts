import { definePlugin, preferredType, type RouteSpec, Type } from '../../kernel/api.ts'
import { headFor, headOf, messageOf, notAcceptable } from './envelope.ts'
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
      const accept = request.header('accept')
      const type = preferredType(accept, TYPES)
      if (!type) return notAcceptable(accept, TYPES)
      const message = await messageOf(request)
      if ('status' in message) return message
      loading ??= import('./serve.ts')
      const { serve } = await loading
      return serve(message.value, headFor(message.value, head), type, { scope, request, mayWrite: write })
    })
  },
})

/** Types of answers. Messages are single, so that a stream has no advantage for a client that accepts both. */
const TYPES = ['application/json', 'text/event-stream'] as const

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
        200: { doc: 'A JSON-RPC message.', types: [...TYPES], schema: anyObject },
        202: { doc: 'The server accepted a notification.', types: [] },
        default: { doc: 'A JSON-RPC error or a server error.', schema: anyObject },
      },
    },
  },
}
