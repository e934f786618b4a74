/** Requests to `/mcp` as widespread assistants and tools send them, with their deviations from the protocol. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { staffPlugin } from '../support/plugins/test-plugins.ts'
import { company } from '../support/fixtures/company.ts'
import { startServer, type TestServer, usualTransports } from '../support/servers/test-server.ts'

type Headers = Readonly<Record<string, string>>

const JSON_TYPE = 'application/json'
const EVENTS = 'text/event-stream'
const BOTH = `${JSON_TYPE}, ${EVENTS}`

const rpc = (method: string, params?: object | null) => ({ jsonrpc: '2.0', id: 1, method, params })
const COUNT = rpc('tools/call', { name: 'aggregate', arguments: { class: 'City', function: 'count' } })

/** A request that names its version in its parameters, as clients do since 2026. */
const modern = (method: string, params: object = {}) =>
  rpc(method, {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'claude-code', version: '2.1.267' },
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, roots: { listChanged: true } },
    },
  })

/** Required arguments of each tool. */
const INPUTS = {
  describe: {},
  query: { class: 'City' },
  aggregate: { class: 'City', function: 'count' },
  search: { class: 'City', text: 'paris' },
  image: { class: 'Employee', key: '1', attribute: 'photo' },
  call: { class: 'Employee', key: '1', function: 'greet' },
  write: { class: 'City', save: [{ name: 'Rome', population: null }], check: true },
}

const send = (server: TestServer, body: unknown, headers: Headers, path = '//mcp') =>
  server.post(path, body, { 'content-type': JSON_TYPE, ...headers })

interface Client {
  readonly says: string
  readonly info: object
  readonly version: string
  /** Headers of all requests. */
  readonly headers: Headers
  /** Headers after the handshake. */
  readonly later?: Headers
  readonly type?: string
}

/** Clients with a handshake. Sources: their public issues. */
const CLIENTS: readonly Client[] = [
  { says: 'Inspector', info: { name: 'inspector-client' }, version: '2025-11-25', headers: { accept: BOTH } },
  {
    says: 'Claude Desktop, a version in the handshake alone',
    info: { name: 'claude-ai' },
    version: '2025-11-25',
    headers: { accept: BOTH },
  },
  {
    says: 'Claude Code, JSON alone',
    info: { name: 'claude-code' },
    version: '2025-11-25',
    headers: { accept: JSON_TYPE },
    later: { 'mcp-protocol-version': '2025-11-25' },
  },
  {
    says: 'ChatGPT',
    info: { name: 'openai-mcp', version: '1.0.0' },
    version: '2025-03-26',
    headers: { accept: `${EVENTS}, ${JSON_TYPE}`, 'user-agent': 'openai-mcp/1.0.0' },
    type: EVENTS,
  },
  {
    says: 'Cursor, with a session that this server has not begun',
    info: { name: 'cursor-vscode' },
    version: '2025-06-18',
    headers: { accept: BOTH },
    later: { 'mcp-protocol-version': '2025-06-18', 'mcp-session-id': 'a-session' },
  },
  {
    says: 'Visual Studio Code',
    info: { name: 'Visual Studio Code' },
    version: '2025-06-18',
    headers: { accept: `${EVENTS}, ${JSON_TYPE}` },
    later: { 'mcp-protocol-version': '2025-06-18' },
    type: EVENTS,
  },
  {
    says: 'Gemini CLI, without Accept',
    info: { name: 'gemini-cli-mcp-client' },
    version: '2024-11-05',
    headers: {},
  },
  { says: 'fetch and curl', info: { name: 'curl' }, version: '2025-06-18', headers: { accept: '*/*' } },
  {
    says: 'ElevenLabs, events alone',
    info: { name: 'elevenlabs' },
    version: '2025-03-26',
    headers: { accept: EVENTS },
    type: EVENTS,
  },
  {
    says: 'weights',
    info: { name: 'weighing' },
    version: '2025-06-18',
    headers: { accept: `${JSON_TYPE};q=0.1, ${EVENTS};q=0.9` },
    type: EVENTS,
  },
]

/** The message in an answer, whose type is checked. */
function messageIn(t: Test, answer: Awaited<ReturnType<typeof send>>, type = JSON_TYPE) {
  t.equal(answer.status, 200, answer.text)
  t.equal(answer.headers['content-type'], type)
  return type === JSON_TYPE
    ? answer.json
    : JSON.parse(/^event: message\ndata: (.*)\n\n$/.exec(answer.text)?.[1] ?? '{}')
}

async function converse(t: Test, server: TestServer, client: Client): Promise<void> {
  const { headers, later, version, type } = client
  const clientInfo = { version: '1', ...client.info }
  const begun = await send(
    server,
    rpc('initialize', { protocolVersion: version, capabilities: {}, clientInfo }),
    headers,
  )
  t.match(messageIn(t, begun, type), { id: 1, result: { protocolVersion: version, capabilities: { tools: {} } } })
  t.equal(begun.headers['mcp-session-id'], undefined)
  const ask = (body: unknown) => send(server, body, { ...headers, ...later })
  t.equal((await ask({ jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202)
  const { result } = messageIn(t, await ask(rpc('tools/list')), type)
  t.match(
    result.tools.map((each: { name: string }) => each.name),
    ['describe', 'query'],
  )
  t.match(messageIn(t, await ask(COUNT), type), { result: { structuredContent: { data: 4 } } })
  // Some clients ask for everything, whatever the server is able to.
  t.match(messageIn(t, await ask(rpc('prompts/list')), type), { error: { code: -32_601 } })
  t.match(messageIn(t, await ask(rpc('ping')), type), { result: {} })
}

/** A plugin that adds a parameter to reads, and so an argument to tools. */
const PARAMETER = `import { definePlugin } from 'tesser'
export default definePlugin({
  name: 'acme',
  kernel: '^1.0.0',
  register({ parameter }) {
    parameter('$depth', { schema: { type: 'integer' }, doc: 'How deep.', example: 2 }, () => {})
  },
})`

for (const transport of usualTransports) {
  t.test(`clients on ${transport}`, async t => {
    const plugins = [staffPlugin, join(t.testdir({ 'index.ts': PARAMETER }), 'index.ts')]
    const server = await startServer(t, company, { transport, config: { plugins, mcp: { write: true } } })
    for (const client of CLIENTS) await t.test(client.says, async t => converse(t, server, client))

    await t.test('the version of 2026', async t => {
      const head = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'aggregate' }
      for (const [accept, type] of [
        [BOTH, JSON_TYPE],
        ['*/*', JSON_TYPE],
        [EVENTS, EVENTS],
      ] as const) {
        const answer = await send(server, modern('tools/call', COUNT.params!), { ...head, accept })
        t.match(messageIn(t, answer, type), { result: { structuredContent: { data: 4 } } }, accept)
      }
    })

    await t.test('a connector that goes on to send the version of its handshake', async t => {
      const head = { accept: BOTH, 'mcp-protocol-version': '2025-11-25' }
      t.match(messageIn(t, await send(server, modern('server/discover'), head)), { result: {} })
      t.match(messageIn(t, await send(server, modern('tools/list'), head)), { result: { tools: [] } })
      const called = await send(server, modern('tools/call', COUNT.params!), head)
      t.match(messageIn(t, called), { result: { structuredContent: { data: 4 } } })
      const other = await send(server, modern('tools/call', COUNT.params!), { ...head, 'mcp-name': 'write' })
      t.match([other.status, other.json], [400, { error: { code: -32_020 } }], 'another tool in the header is refused')
    })

    await t.test('types that are not answered', async t => {
      for (const accept of ['text/html', `${JSON_TYPE};q=0`, 'application/xml, image/*']) {
        const { status, json } = await send(server, COUNT, { accept })
        t.match(
          [status, json.error],
          [406, { code: -32_000, message: /application\/json or text\/event-stream/ }],
          accept,
        )
      }
    })

    await t.test('null in place of a missing member', async t => {
      t.match(messageIn(t, await send(server, rpc('tools/list', null), {})).result.tools.length, 7)
      t.match(
        messageIn(t, await send(server, rpc('tools/list', { cursor: null, _meta: null }), {})).result.tools.length,
        7,
      )
      const described = await send(server, rpc('tools/call', { name: 'describe', arguments: null }), {})
      t.match(messageIn(t, described).result, { content: [{ text: /classes/ }] })
    })

    await t.test('null for each optional argument of each tool', async t => {
      const { tools } = messageIn(t, await send(server, rpc('tools/list'), {})).result
      for (const { name, inputSchema } of tools) {
        const optional = Object.keys(inputSchema.properties).filter(each => !inputSchema.required?.includes(each))
        const nulls = Object.fromEntries(optional.map(each => [each, null]))
        const call = (input: object) => send(server, rpc('tools/call', { name, arguments: input }), {})
        const input = INPUTS[name as keyof typeof INPUTS]
        const [plain, withNulls] = [await call(input), await call({ ...nulls, ...input })]
        t.ok(optional.length > 0, name)
        t.equal(withNulls.text, plain.text, name)
        t.notOk(plain.json.result.isError, `${name}: ${plain.text}`)
      }
      const missing = await send(server, rpc('tools/call', { name: 'query', arguments: { class: null } }), {})
      t.match(
        missing.json.result,
        { isError: true, content: [{ text: /class: expected a string, received null/ }] },
        'required is required',
      )
      const unknown = await send(
        server,
        rpc('tools/call', { name: 'query', arguments: { class: 'City', limit: null } }),
        {},
      )
      t.match(unknown.json.result, { isError: true, content: [{ text: /instead of limit there is top/ }] })
    })

    await t.test('streams and sessions of a server that keeps no state', async t => {
      for (const method of ['GET', 'DELETE'] as const) {
        const { status, headers } = await server.send(method, '//mcp', undefined, {
          accept: EVENTS,
          'mcp-session-id': 'x',
        })
        t.match([status, headers.allow], [405, 'POST'], method)
      }
    })
  })
}
