import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { KERNEL_VERSION, type Reply } from '../../kernel/api.ts'
import type { AgentRequest } from './tool.ts'
import { callTool, INSTRUCTIONS, toolsFor } from './tools.ts'

const LIST_MS = 60_000

/**
 * Answers one message of an agent. The package implements both versions of the protocol; a server is created for each message.
 * @param head headers by lower-case name
 */
export async function serve(message: unknown, head: Record<string, string>, agent: AgentRequest): Promise<Reply> {
  const { scope, request } = agent
  const disconnection = new AbortController()
  request.transport.onAborted(() => disconnection.abort())
  const handler = createMcpHandler(() => serverFor(agent), {
    // There are no changes to notify clients of, and a stream would have to be kept open.
    maxSubscriptions: 0,
    onerror: error => scope.log.debug({ err: error }, 'a message was refused'),
  })
  const webRequest = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: head,
    signal: disconnection.signal,
  })
  const response = await handler.fetch(webRequest, { parsedBody: message })
  const type = response.headers.get('content-type')
  return { status: response.status, headers: type ? { 'Content-Type': type } : {}, body: await response.text() }
}

function serverFor(agent: AgentRequest): Server {
  const server = new Server(
    { name: 'tesser', version: KERNEL_VERSION },
    {
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
      cacheHints: { 'tools/list': { ttlMs: LIST_MS, cacheScope: 'public' } },
    },
  )
  server.setRequestHandler('tools/list', () => ({ tools: toolsFor(agent) }))
  server.setRequestHandler('tools/call', ({ params }) => callTool(params.name, params.arguments ?? {}, agent))
  return server
}
