/** `/mcp` as an address: invalid messages, bounds, foreign pages, logins, tokens, quotas, and that no state is left behind. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exportSPKI, generateKeyPair, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { company } from '../support/fixtures/company.ts'
import { connect, ERAS } from '../support/clients/mcp-client.ts'
import { isLong } from '../support/runner/rounds.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestServer, transports } from '../support/servers/test-server.ts'

const HEAD = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const call = (name: string, input: object = {}, more: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: input, ...more },
})
const COUNT = call('aggregate', { class: 'City', function: 'count' })

const post = (server: TestServer, body: unknown, headers: Record<string, string> = {}) =>
  server.post('//mcp', body, { ...HEAD, ...headers })

/** The message in an answer, which is an event of a stream in protocol versions before 2026. */
function messageOf({ text, json }: { readonly text: string; readonly json: unknown }) {
  return json ?? JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? 'null')
}

interface Malformed {
  readonly says: string
  readonly body: unknown
  readonly headers?: Record<string, string>
  readonly status: number
  readonly has: object
}

const rpc = (code: number, message: RegExp = /./) => ({ jsonrpc: '2.0', error: { code, message } })
const MALFORMED: readonly Malformed[] = [
  { says: 'no JSON', body: '{', status: 400, has: rpc(-32_700) },
  { says: 'nothing', body: '', status: 400, has: rpc(-32_700, /empty; send one/) },
  { says: 'not UTF-8', body: Buffer.from([0x7b, 0xff, 0x7d]), status: 400, has: rpc(-32_700, /UTF-8/) },
  { says: 'too deep', body: `${'['.repeat(200)}${']'.repeat(200)}`, status: 400, has: rpc(-32_700, /100/) },
  { says: 'a prototype', body: '{"jsonrpc":"2.0","__proto__":{}}', status: 400, has: rpc(-32_700) },
  { says: 'a batch', body: [COUNT, COUNT], status: 400, has: rpc(-32_600, /array of 2; send one message/) },
  { says: 'an object of another kind', body: { hello: 1 }, status: 400, has: rpc(-32_600) },
  { says: 'another version of JSON-RPC', body: { ...COUNT, jsonrpc: '1.0' }, status: 400, has: rpc(-32_600) },
  { says: 'an id that is an object', body: { ...COUNT, id: {} }, status: 400, has: rpc(-32_600) },
  {
    says: 'another type of content',
    body: COUNT,
    headers: { 'content-type': 'text/plain' },
    status: 415,
    has: rpc(-32_000),
  },
  { says: 'another accepted type', body: COUNT, headers: { accept: 'text/html' }, status: 406, has: rpc(-32_000) },
  { says: 'an unknown method', body: { ...COUNT, method: 'tools/explode' }, status: 200, has: rpc(-32_601) },
  { says: 'no name', body: { ...COUNT, params: {} }, status: 200, has: rpc(-32_602) },
  {
    says: 'arguments that are a list',
    body: { ...COUNT, params: { name: 'query', arguments: [1] } },
    status: 200,
    has: rpc(-32_602),
  },
  { says: 'an unknown tool', body: call('qery'), status: 200, has: rpc(-32_602, /did you mean "query"/) },
  { says: 'a version without its header', body: call('query', {}, { _meta: META }), status: 400, has: rpc(-32_020) },
  {
    says: 'a header that contradicts the body',
    body: call('query', {}, { _meta: META }),
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'write' },
    status: 400,
    has: rpc(-32_020),
  },
  {
    says: 'an earlier version in the header, and a name that no header can have',
    body: call('größe\n→', {}, { _meta: META }),
    headers: { 'mcp-protocol-version': '2025-03-26' },
    status: 400,
    has: rpc(-32_020),
  },
  {
    says: 'an earlier version in the header, and no method',
    body: { ...COUNT, method: { toString: 1 }, params: { _meta: META } },
    headers: { 'mcp-protocol-version': '2025-03-26' },
    status: 400,
    has: rpc(-32_600),
  },
  {
    says: 'a future version',
    body: call('query', {}, { _meta: { ...META, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' } }),
    headers: { 'mcp-protocol-version': '2099-01-01', 'mcp-method': 'tools/call', 'mcp-name': 'query' },
    status: 400,
    has: rpc(-32_022),
  },
  {
    says: 'a subscription',
    body: { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { _meta: META, notifications: {} } },
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
    status: 200,
    has: rpc(-32_603, /limit/),
  },
]

for (const transport of transports) {
  t.test(`invalid messages on ${transport}`, async t => {
    const server = await startServer(t, company, { transport })
    for (const { says, body, headers, status, has } of MALFORMED) {
      const answer = await post(server, body, headers)
      t.equal(answer.status, status, `${says}: ${answer.text.slice(0, 200)}`)
      t.match(messageOf(answer), has, says)
    }
    const long = await post(server, call('query', { class: 'x'.repeat(2 ** 20) }))
    t.equal(long.status, 413, 'a body beyond server.commandBodyBytes')
    for (const method of ['GET', 'DELETE', 'PUT'] as const) {
      const answer = await server.send(method, '//mcp', undefined, HEAD)
      t.equal(answer.status, 405, method)
      t.equal(answer.headers.allow, 'POST')
    }
    t.match(messageOf(await post(server, COUNT)), { result: { isError: undefined } }, 'the next one is answered')
    const noted = await post(server, { jsonrpc: '2.0', method: 'notifications/initialized' })
    t.strictSame([noted.status, noted.text], [202, ''], 'a notification has no answer')
  })

  t.test(`foreign pages and hosts on ${transport}`, async t => {
    const server = await startServer(t, company, { transport })
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
      { host: 'evil.example' },
      { 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' },
    ]
    for (const headers of foreign) {
      const answer = await post(server, COUNT, headers)
      t.equal(answer.status, 403, JSON.stringify(headers))
    }
    t.equal((await post(server, COUNT, { origin: server.url })).status, 200, 'its own')
  })
}

/** A server where Employee requires a privilege, with the key of a user who has it. */
async function guarded(t: Test, { forceLogin = false, config = {} }: { forceLogin?: boolean; config?: object } = {}) {
  const roles = {
    forceLogin,
    privileges: [{ privilege: 'staff' }],
    permissions: { allowed: [{ applyTo: 'Employee', type: 'dataclass', read: ['staff'] }] },
  }
  const folder = temporaryFolder(t)
  const key = createKey()
  const keys = [{ name: 'ada', hash: hashKey(key), privileges: ['staff', 'WebAdmin'] }]
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ keys }))
  const server = await startServer(t, company, { folder, roles, config: config as Record<string, unknown> })
  return { server, key }
}

t.test('guests where a login is required', async t => {
  const { server, key } = await guarded(t, { forceLogin: true })
  for (const body of [COUNT, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, call('describe')]) {
    const answer = await post(server, body)
    t.equal(answer.status, 401)
    t.match(answer.headers['www-authenticate'], /^Bearer realm="tesser"$/)
    t.equal((await post(server, body, { authorization: `Bearer ${key}` })).status, 200)
  }
  t.equal((await post(server, COUNT, { authorization: 'Bearer tesser_wrong' })).status, 401)
  t.equal((await server.get('//.well-known/oauth-protected-resource')).status, 404, 'no issuer, no metadata')
})

t.test('tokens: their issuer is announced', async t => {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const keyFile = join(t.testdir({ 'jwt.pem': await exportSPKI(publicKey) }), 'jwt.pem')
  const issuer = 'https://login.example'
  const config = { auth: { jwt: { keyFile, issuer } }, server: { basePath: '/data' } }
  const { server } = await guarded(t, { forceLogin: true, config })
  const origin = server.url
  const refused = await post(server, COUNT)
  const address = `${origin}/data/.well-known/oauth-protected-resource/mcp`
  t.equal(refused.headers['www-authenticate'], `Bearer realm="tesser", resource_metadata="${address}"`)
  const wrong = await post(server, COUNT, { authorization: 'Bearer ey.wrong.token' })
  t.strictSame([wrong.status, wrong.headers['www-authenticate']], [401, refused.headers['www-authenticate']])
  for (const path of ['', '/mcp', '/data']) {
    const at =
      path === '/data' ? '//data/.well-known/oauth-protected-resource' : `//.well-known/oauth-protected-resource${path}`
    const { status, json } = await server.get(at)
    t.equal(status, 200, at)
    t.strictSame(json, {
      resource: `${origin}/data/mcp`,
      resource_name: 'Tesser',
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
    })
  }
  const elsewhere = await server.get('/Employee')
  t.equal(elsewhere.headers['www-authenticate'], 'Bearer realm="tesser"', 'answers at /rest are unchanged')
  const token = await new SignJWT({ sub: 'robot', privileges: ['staff'] })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer(issuer)
    .setExpirationTime('1h')
    .sign(privateKey)
  const agent = await connect(t, server.url, { key: token })
  t.equal((await agent.call('aggregate', { class: 'Employee', function: 'count' })).json.data, 6)
})

t.test('quotas of requests and of rows hold', async t => {
  const ask = call('query', { class: 'Employee', filter: 'notes != x' })
  for (const quota of [{ requestsPerAddress: 3 }, { costPerAddress: 20 }]) {
    const server = await startServer(t, company, { config: { quota } })
    const statuses: number[] = []
    for (let i = 0; i < 8; i++) statuses.push((await post(server, ask)).status)
    t.equal(statuses[0], 200)
    t.equal(statuses.at(-1), 429, JSON.stringify(quota))
  }
})

t.test('no state of a client is left', async t => {
  const { server, key } = await guarded(t)
  const admin = { authorization: `Bearer ${key}` }
  const state = async () => {
    const { json } = await server.get('/$info', admin)
    return [json.sessionInfo.length, json.entitySet.length ?? json.entitySet.entitySetCount]
  }
  const before = await state()
  for (const era of ERAS) {
    const agent = await connect(t, server.url, { era })
    await agent.call('query', { class: 'City' })
    await agent.client.close()
  }
  const answer = await post(server, COUNT)
  t.equal(answer.headers['set-cookie'], undefined)
  t.equal(answer.headers['mcp-session-id'], undefined)
  t.strictSame(await state(), before)
})

t.test('five clients at once', async t => {
  const { server, key } = await guarded(t)
  const agents = await Promise.all(
    Array.from({ length: 5 }, (_, i) => connect(t, server.url, { era: ERAS[i % 2]!, key: i % 3 === 0 ? key : '' })),
  )
  const asked = agents.flatMap((agent, i) =>
    Array.from({ length: 20 }, async (_, n) => {
      const id = 1 + (n % 6)
      const { isError, json } = await agent.call('query', {
        class: 'Employee',
        filter: `ID = ${id}`,
        attributes: ['ID'],
      })
      t.equal(isError, i % 3 !== 0, 'each with its own rights')
      if (!isError) t.strictSame(json.data, [{ __KEY: String(id), ID: id }], 'each with its own answer')
    }),
  )
  await Promise.all(asked)
})

/** Compares the medians of queries by a tool and at `/rest`, measured alternately. */
async function compareTimes(t: Test): Promise<void> {
  const server = await startServer(t, company, { setting: 'normal' })
  const url = `/City?$filter="name%20=%20:1"&$params=["Paris"]&$attributes=name`
  const message = call('query', { class: 'City', filter: 'name = :1', params: ['Paris'], attributes: ['name'] })
  const median = async (ask: () => Promise<unknown>): Promise<number> => {
    const times: number[] = []
    for (let i = 0; i < 200; i++) {
      const begun = performance.now()
      await ask()
      times.push(performance.now() - begun)
    }
    return times.sort((a, b) => a - b)[100]!
  }
  const differences: number[] = []
  for (let turn = 0; turn < 5; turn++) {
    const atRest = await median(() => server.get(url))
    differences.push((await median(() => post(server, message))) - atRest)
  }
  // Other work of the machine only adds time.
  const least = Math.min(...differences)
  t.comment(`${least.toFixed(2)} ms`)
  t.ok(least <= 2, `${differences.map(each => each.toFixed(2))} ms`)
}
if (isLong) t.test('a query takes at most 2 ms more than at /rest', compareTimes)
