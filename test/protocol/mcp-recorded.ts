/**
 * Requests of widespread clients of `/mcp`: recorded, or as their public source and issues show them. Only facts are kept: addresses,
 * headers and bodies. Headers that the HTTP library of the test adds itself, and `accept-encoding`, are left out.
 */

type Headers = Readonly<Record<string, string>>

/** One request, and what its answer has to be: by default 200. */
export interface Sent {
  /** POST by default. */
  readonly verb?: 'GET' | 'HEAD' | 'DELETE' | 'OPTIONS'
  readonly headers?: Headers
  /** A text is sent as it is. */
  readonly body?: object | string
  readonly status?: number
  /** Part of the message in the answer. */
  readonly has?: object
  /** Headers of the answer. */
  readonly answered?: Readonly<Record<string, string | RegExp>>
}

export interface Recording {
  readonly client: string
  readonly source: string
  /** Headers of all requests, except `content-type: application/json`. */
  readonly headers: Headers
  readonly sent: readonly Sent[]
}

const JSON_FIRST = 'application/json, text/event-stream'
const EVENTS_FIRST = 'text/event-stream, application/json'
/** Headers that `fetch` of Node.js adds. */
const NODE = { 'accept-language': '*', 'sec-fetch-mode': 'cors', 'user-agent': 'node' }

/** A message; members in the order of the official TypeScript client. */
const rpc = (id: number | string, method: string, params?: object) => ({ method, params, jsonrpc: '2.0', id })
const note = (method: string, params?: object) => ({ method, params, jsonrpc: '2.0' })
const initialize = (id: number | string, protocolVersion: string, capabilities: object, clientInfo: object): Sent => ({
  body: rpc(id, 'initialize', { protocolVersion, capabilities, clientInfo }),
  has: { id, result: { protocolVersion, capabilities: { tools: {} } } },
})
const call = (id: number | string, name: string, input: object, meta?: object): object =>
  rpc(id, 'tools/call', { name, arguments: input, ...(meta && { _meta: meta }) })

const TOOLS = { result: { tools: [{ name: 'describe' }, { name: 'query' }] } }
const PARIS = { result: { structuredContent: { data: [{ __KEY: 'Paris' }] } } }
const FOUR = { result: { structuredContent: { data: 4 } } }
/** Answer to a method whose capability the server has not announced. */
const UNKNOWN = { error: { code: -32_601 } }
const COUNT = { class: 'City', function: 'count' }
const INITIALIZED: Sent = { body: note('notifications/initialized'), status: 202 }
/** A stream for messages of the server, and the end of a session, neither of which there is here. */
const STREAM: Sent = {
  verb: 'GET',
  headers: { accept: 'text/event-stream' },
  status: 405,
  answered: { allow: 'POST' },
}
const END: Sent = { verb: 'DELETE', status: 405, answered: { allow: 'POST' } }

const at = (version: string): Headers => ({ 'mcp-protocol-version': version })
/** The requests with headers that a client sends after the handshake. */
const later = (headers: Headers, ...sent: readonly Sent[]): Sent[] =>
  sent.map(each => ({ ...each, headers: { ...headers, ...each.headers } }))

const INSPECTOR_2 = { name: 'inspector-cli', version: '2.12.0' }
const INSPECTOR_2_CAPABILITIES = {
  roots: { listChanged: true },
  extensions: { 'io.modelcontextprotocol/tasks': {}, 'io.modelcontextprotocol/skills': {} },
}
const envelope = (clientInfo: object, clientCapabilities: object, more: object = {}) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': clientCapabilities,
  ...more,
})
const DEBUG = { 'io.modelcontextprotocol/logLevel': 'debug' }
const inspector2 = envelope(INSPECTOR_2, INSPECTOR_2_CAPABILITIES, DEBUG)
const chatGpt = { name: 'openai-mcp (ChatGPT)', version: '1.0.0' }
const CHATGPT_META = {
  'openai/locale': 'en-US',
  'openai/userAgent': 'Mozilla/5.0',
  'openai/subject': 'v1/anonymous',
  'openai/userLocation': { city: 'London', country: 'GB', latitude: '51.5', longitude: '-0.1', timezone: null },
}

export const RECORDINGS: readonly Recording[] = [
  {
    client: 'Inspector 1.0.3, command line',
    source: 'recorded: npx @modelcontextprotocol/inspector@1.0.3 --cli',
    headers: { accept: JSON_FIRST, ...NODE },
    sent: [
      initialize(0, '2025-11-25', {}, { name: 'inspector', version: '1.0.3' }),
      ...later(
        at('2025-11-25'),
        INITIALIZED,
        STREAM,
        { body: rpc(1, 'tools/list', {}), has: TOOLS },
        {
          body: call(2, 'query', { class: 'City', top: 2, filter: 'name = :1', params: ['Paris'] }),
          has: PARIS,
        },
      ),
    ],
  },
  {
    client: 'Inspector 2.12.0, command line',
    source: 'recorded: npx @modelcontextprotocol/inspector@2.12.0 --cli',
    headers: { accept: JSON_FIRST, ...NODE },
    sent: [
      initialize(0, '2025-11-25', INSPECTOR_2_CAPABILITIES, INSPECTOR_2),
      ...later(
        at('2025-11-25'),
        INITIALIZED,
        STREAM,
        { body: rpc(1, 'tools/list'), has: TOOLS },
        { body: call(2, 'aggregate', COUNT), has: FOUR },
      ),
    ],
  },
  {
    client: 'Inspector 2.12.0, --protocol-era modern',
    source: 'recorded: npx @modelcontextprotocol/inspector@2.12.0 --cli',
    headers: { accept: JSON_FIRST, ...NODE, ...at('2026-07-28') },
    sent: [
      {
        headers: { 'mcp-method': 'server/discover' },
        body: rpc('server-discover-probe-1', 'server/discover', {
          _meta: envelope(INSPECTOR_2, INSPECTOR_2_CAPABILITIES),
        }),
        has: { id: 'server-discover-probe-1', result: { supportedVersions: ['2026-07-28'] } },
      },
      { headers: { 'mcp-method': 'tools/list' }, body: rpc(0, 'tools/list', { _meta: inspector2 }), has: TOOLS },
      {
        headers: { 'mcp-method': 'tools/call', 'mcp-name': 'aggregate' },
        body: call(2, 'aggregate', COUNT, inspector2),
        has: FOUR,
      },
    ],
  },
  {
    client: 'Inspector 1, page through its proxy',
    source: 'modelcontextprotocol/inspector b30a628: client/src/lib/hooks/useConnection.ts, server/src/index.ts',
    headers: { ...NODE, accept: EVENTS_FIRST, 'x-team': 'data' },
    sent: [
      initialize(
        0,
        '2025-11-25',
        {
          sampling: {},
          elicitation: { form: {}, url: {} },
          roots: { listChanged: true },
          tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
        },
        { name: 'inspector-client', version: '0.22.0' },
      ),
      ...later(
        at('2025-11-25'),
        INITIALIZED,
        STREAM,
        { body: rpc(1, 'logging/setLevel', { level: 'debug' }), has: UNKNOWN },
        { body: rpc(2, 'ping', { _meta: { progressToken: 2 } }), has: { id: 2, result: {} } },
        { body: rpc(3, 'tools/list', { _meta: { progressToken: 3 } }), has: TOOLS },
        { body: call(4, 'aggregate', COUNT, { progressToken: 4 }), has: FOUR },
        { body: rpc(5, 'completion/complete', { ref: { type: 'ref/prompt', name: 'x' } }), has: UNKNOWN },
        { body: note('notifications/roots/list_changed'), status: 202 },
        END,
      ),
    ],
  },
  {
    client: 'Inspector 1, page without its proxy',
    source: 'modelcontextprotocol/inspector b30a628: client/src/lib/hooks/useConnection.ts; Fetch standard, preflights',
    headers: {
      accept: EVENTS_FIRST,
      origin: 'http://localhost:6274',
      'sec-fetch-site': 'same-site',
      'sec-fetch-mode': 'cors',
    },
    sent: [
      ...['content-type', 'content-type,mcp-protocol-version,x-custom-auth-headers,x-team,mcp-session-id'].map(
        (names): Sent => ({
          verb: 'OPTIONS',
          headers: { 'access-control-request-method': 'POST', 'access-control-request-headers': names },
          status: 204,
          answered: {
            'access-control-allow-origin': 'http://localhost:6274',
            'access-control-allow-methods': /POST/,
            'access-control-allow-headers': names,
          },
        }),
      ),
      {
        ...initialize(
          0,
          '2025-11-25',
          { sampling: {}, roots: { listChanged: true } },
          { name: 'inspector-client', version: '0.22.0' },
        ),
        answered: { 'access-control-allow-origin': 'http://localhost:6274' },
      },
      ...later(
        { ...at('2025-11-25'), 'x-custom-auth-headers': '["X-Team"]', 'x-team': 'data' },
        INITIALIZED,
        { ...STREAM, answered: { 'access-control-allow-origin': 'http://localhost:6274' } },
        { body: rpc(1, 'tools/list', { _meta: { progressToken: 1 } }), has: TOOLS },
      ),
    ],
  },
  {
    client: 'Claude Code, arguments as texts',
    source:
      'cl-ai-project/cl-mcp#26 (handshake); anthropics/claude-code#22394 and #59227 (lists as JSON), #24597 (numbers), #71927 (lists of one element)',
    headers: { accept: JSON_FIRST, 'user-agent': 'claude-code/2.1.220' },
    sent: [
      initialize(0, '2025-11-25', { roots: {} }, { name: 'claude-code', version: '2.0.73' }),
      ...later(
        at('2025-11-25'),
        INITIALIZED,
        STREAM,
        { body: rpc(1, 'tools/list'), has: TOOLS },
        {
          body: call(
            2,
            'query',
            { class: 'City', filter: 'name = :1', params: '["Paris"]', attributes: '["name"]', top: '5', skip: '0' },
            { 'claudecode/toolUseId': 'toolu_01', progressToken: 2 },
          ),
          has: PARIS,
        },
        { body: call(3, 'query', { class: 'City', filter: 'name = :1', params: 'Paris' }), has: PARIS },
        { body: note('notifications/cancelled', { requestId: 3, reason: 'AbortError' }), status: 202 },
      ),
    ],
  },
  {
    client: 'Claude on the web, its version in the handshake alone',
    source: 'anthropics/claude-ai-mcp#70',
    headers: { accept: JSON_FIRST, 'user-agent': 'python-httpx/0.28.1' },
    sent: [
      initialize(0, '2025-11-25', {}, { name: 'Anthropic/ClaudeAI', version: '1.0.0' }),
      INITIALIZED,
      { body: rpc(1, 'tools/list'), has: TOOLS },
      { body: rpc(2, 'prompts/list'), has: UNKNOWN },
      { body: rpc(3, 'resources/list'), has: UNKNOWN },
    ],
  },
  {
    client: 'ChatGPT',
    source: 'server logs and types in public repositories (name, resources/list, members of _meta)',
    headers: { accept: EVENTS_FIRST, 'user-agent': 'openai-mcp/1.0.0' },
    sent: [
      initialize(0, '2025-03-26', {}, chatGpt),
      INITIALIZED,
      { body: rpc(1, 'resources/list'), has: UNKNOWN },
      { body: rpc(2, 'tools/list'), has: TOOLS },
      { body: call(3, 'aggregate', COUNT, CHATGPT_META), has: FOUR },
    ],
  },
  {
    client: 'ChatGPT since 2026',
    source: 'server logs and types in public repositories (name, members of _meta)',
    headers: { accept: EVENTS_FIRST, 'user-agent': 'openai-mcp/1.0.0', ...at('2026-07-28') },
    sent: [
      {
        headers: { 'mcp-method': 'server/discover' },
        body: rpc(0, 'server/discover', { _meta: envelope(chatGpt, {}) }),
        has: { result: { supportedVersions: ['2026-07-28'] } },
      },
      {
        headers: { 'mcp-method': 'tools/call', 'mcp-name': 'aggregate' },
        body: call(1, 'aggregate', COUNT, envelope(chatGpt, {}, CHATGPT_META)),
        has: FOUR,
      },
    ],
  },
  {
    client: 'Cursor of 2025, capabilities that are true and false',
    source: 'handshakes in tests of servers in public repositories; punkpeye/fastmcp#14 (lists it asks for)',
    headers: { accept: JSON_FIRST, ...NODE },
    sent: [
      initialize(
        0,
        '2024-11-05',
        { tools: true, prompts: false, resources: true, logging: false, roots: { listChanged: false } },
        { name: 'cursor-vscode', version: '1.0.0' },
      ),
      INITIALIZED,
      { body: rpc(1, 'tools/list'), has: TOOLS },
      { body: rpc(2, 'resources/list'), has: UNKNOWN },
      { body: rpc(3, 'resources/templates/list'), has: UNKNOWN },
    ],
  },
  {
    client: 'Visual Studio Code',
    source:
      'microsoft/vscode: src/vs/workbench/api/common/extHostMcp.ts, contrib/mcp/common/mcpServerRequestHandler.ts; openai/codex#7951 (_meta)',
    headers: { accept: EVENTS_FIRST, 'user-agent': 'Visual Studio Code/1.107.0' },
    sent: [
      initialize(
        1,
        '2025-06-18',
        { roots: { listChanged: true }, sampling: {}, elicitation: {} },
        { name: 'Visual Studio Code', version: '1.107.0' },
      ),
      STREAM,
      ...later(
        at('2025-06-18'),
        INITIALIZED,
        { body: rpc(2, 'tools/list', {}), has: TOOLS },
        {
          body: call(3, 'aggregate', COUNT, {
            progressToken: '1106ae9e-bd94-46ef-a2c5-d26891770c41',
            'vscode.conversationId': 'dc30885e-3edb-4744-8521-a8e63f890573',
            'vscode.requestId': 'bf766dd8-b330-4d1d-bac5-8bfa3f71b8dc',
          }),
          has: FOUR,
        },
        { body: { jsonrpc: '2.0', id: 7, result: { roots: [] } }, status: 202 },
        { body: { jsonrpc: '2.0', id: 8, error: { code: -32_601, message: 'Method not found: x' } }, status: 202 },
        { body: note('notifications/cancelled', { requestId: 3 }), status: 202 },
        { ...END, headers: { 'mcp-session-id': 'a-session' } },
      ),
    ],
  },
  {
    client: 'Gemini CLI',
    source: 'google-gemini/gemini-cli: packages/core/src/tools/mcp-client.ts; typescript-sdk 1.x',
    headers: { accept: JSON_FIRST, ...NODE },
    sent: [
      initialize(0, '2025-06-18', { roots: {} }, { name: 'gemini-cli-mcp-client-tesser', version: '0.0.1' }),
      ...later(
        at('2025-06-18'),
        INITIALIZED,
        STREAM,
        { body: rpc(1, 'prompts/list', {}), has: UNKNOWN },
        { body: rpc(2, 'tools/list'), has: TOOLS },
        // Models of Google write integers as floats.
        {
          body: '{"method":"tools/call","params":{"name":"query","arguments":{"class":"City","top":1.0,"skip":0.0}},"jsonrpc":"2.0","id":3}',
          has: PARIS,
        },
      ),
    ],
  },
  {
    client: 'LangChain, null for each optional argument',
    source: 'python-sdk 1.x: src/mcp/client/streamable_http.py, session.py; hideya/langchain-mcp-tools-py#45',
    headers: { accept: JSON_FIRST, 'user-agent': 'python-httpx/0.28.1' },
    sent: [
      initialize(0, '2025-11-25', {}, { name: 'mcp', version: '0.1.0' }),
      ...later(
        at('2025-11-25'),
        INITIALIZED,
        { body: rpc(1, 'tools/list'), has: TOOLS },
        {
          body: call(
            2,
            'query',
            { class: 'City', filter: null, params: null, orderBy: null, attributes: null, top: 1, skip: null },
            { progressToken: 2 },
          ),
          has: PARIS,
        },
      ),
    ],
  },
  {
    client: 'AI SDK of Vercel, its version in the header of the handshake',
    source: 'vercel/ai#14413',
    headers: { accept: JSON_FIRST, ...at('2025-11-25') },
    sent: [
      initialize(0, '2025-11-25', {}, { name: 'ai-sdk-mcp-client', version: '1.0.0' }),
      INITIALIZED,
      { body: rpc(1, 'tools/list'), has: TOOLS },
    ],
  },
  {
    client: 'LM Studio, texts of digits as numbers',
    source: 'lmstudio-ai/lmstudio-bug-tracker#1626',
    headers: { accept: JSON_FIRST },
    sent: [
      {
        body: call(1, 'search', { class: 'City', text: 8 }),
        has: { result: { isError: undefined, structuredContent: { count: 0 } } },
      },
      {
        body: call(2, 'image', { class: 'Employee', key: 1, attribute: 'photo' }),
        has: { result: { content: [{ type: 'image' }] } },
      },
    ],
  },
  {
    client: 'programs of a few lines',
    source: 'databricks/databricks-sdk-py#1006; JSON-RPC 2.0, 5 and 6; Model Context Protocol 2025-03-26, transports',
    headers: { accept: '*/*' },
    sent: [
      {
        body: { jsonrpc: '2.0', id: 'init-1', method: 'initialize', params: {} },
        has: { id: 'init-1', result: { protocolVersion: '2025-03-26' } },
      },
      { body: rpc('a', 'initialize'), has: { result: { protocolVersion: '2025-03-26' } } },
      {
        body: rpc(0, 'initialize', {
          protocolVersion: '2025-06-18',
          capabilities: { sampling: null, experimental: null, roots: { listChanged: null } },
          clientInfo: { name: 'generated', title: null, version: null, icons: null },
        }),
        has: { id: 0, result: { protocolVersion: '2025-06-18' } },
      },
      // A version that the server does not know is answered with the newest that it knows.
      {
        body: rpc(0, 'initialize', { protocolVersion: '2099-01-01' }),
        has: { result: { protocolVersion: '2025-11-25' } },
      },
      { body: note('notifications/initialized', {}), status: 202 },
      { body: '{"jsonrpc":"2.0","method":"notifications/initialized","params":null}', status: 202 },
      { body: note('notifications/acme/hello', { a: 1 }), status: 202 },
      { body: rpc('f7c1-22', 'ping'), has: { id: 'f7c1-22', result: {} } },
      {
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: rpc(0, 'ping'),
        has: { id: 0, result: {} },
      },
      { body: rpc(1, 'tools/list', { cursor: '' }), has: TOOLS },
      { verb: 'HEAD', status: 405 },
      // Each message counts for quotas.
      {
        headers: at('2025-03-26'),
        body: [rpc(1, 'ping'), INITIALIZED.body!],
        status: 400,
        has: { error: { code: -32_600, message: /received an array of 2; send one message a request/ } },
      },
    ],
  },
]

/** Addresses at which clients look for a login, in this order, and the status for a server with an issuer of tokens. */
export const DISCOVERY: readonly { readonly path: string; readonly status: number; readonly source: string }[] = [
  {
    path: '/.well-known/oauth-protected-resource/mcp',
    status: 200,
    source: 'typescript-sdk 1.29 and python-sdk 1.x: RFC 9728',
  },
  { path: '/.well-known/oauth-protected-resource', status: 200, source: 'typescript-sdk 1.29, if the first is 404' },
  ...[
    '/.well-known/oauth-authorization-server/mcp',
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration/mcp',
    '/mcp/.well-known/openid-configuration',
    '/.well-known/openid-configuration',
  ].map(path => ({ path, status: 404, source: 'typescript-sdk 1.29 and python-sdk 1.x, without a resource' })),
]
