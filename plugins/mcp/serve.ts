import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { KERNEL_VERSION, type Reply } from '../../kernel/api.ts'
import type { AgentRequest } from './tool.ts'
import { callTool, INSTRUCTIONS, toolsFor } from './tools.ts'

const LIST_MS = 60_000

const EVENTS = 'text/event-stream'
type AnswerType = 'application/json' | typeof EVENTS

/**
 * Answers one message of an agent. The package implements both versions of the protocol; a server is created for each message.
 * @param head headers by lower-case name
 * @param type of the answer; errors of the protocol are JSON
 */
export async function serve(
  message: unknown,
  head: Readonly<Record<string, string>>,
  type: AnswerType,
  agent: AgentRequest,
): Promise<Reply> {
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
    // The package insists on both.
    headers: { ...head, accept: `application/json, ${EVENTS}` },
    signal: disconnection.signal,
  })
  const response = await handler.fetch(webRequest, { parsedBody: message })
  return replyOf(response.status, response.headers.get('content-type') ?? '', await response.text(), type)
}

/** A reply in the type that the client prefers. The package answers with a stream or with JSON, depending on the version. */
function replyOf(status: number, givenType: string, text: string, type: AnswerType): Reply {
  if (text === '') return { status, headers: {}, body: '' }
  const message = givenType.startsWith(EVENTS) ? dataOf(text) : text
  return status === 200 && type === EVENTS
    ? { status, headers: { 'Content-Type': EVENTS }, body: `event: message\ndata: ${message}\n\n` }
    : { status, headers: { 'Content-Type': 'application/json' }, body: message }
}

const DATA = 'data: '

/** Data of the only event of a stream. */
const dataOf = (events: string): string =>
  events
    .split('\n')
    .find(line => line.startsWith(DATA))
    ?.slice(DATA.length) ?? ''

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
