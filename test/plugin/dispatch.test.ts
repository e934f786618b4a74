/** `scope.dispatch`: requests inside the server, with the rights of the request that a plugin serves. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createTestServer } from '../../kernel/testing.ts'

const PLUGIN = `import { definePlugin, json, readBody } from 'tesser'

export default definePlugin({
  name: 'acme-inner',
  kernel: '^1.0.0',
  register(scope) {
    const ask = async request => {
      const inner = request.verb === 'POST' ? await request.json() : JSON.parse(request.parameter('inner'))
      const reply = await scope.dispatch(inner, request)
      const body = Buffer.from(await readBody(reply, 2 ** 20)).toString()
      return json({ status: reply.status, type: reply.headers?.['Content-Type'], body })
    }
    scope.service('$inner', { verbs: ['GET', 'POST'] }, ask)
    scope.route('/late', { verbs: ['GET'] }, async request => {
      await 1
      return scope.dispatch({ url: '/rest/Note' }, request)
    })
    scope.service('$late', { verbs: ['GET'] }, async request => {
      await 1
      return scope.dispatch({ url: '/rest/Note' }, request)
    })
    scope.service('$streams', { verbs: ['GET'] }, () => ({
      status: 200,
      headers: { 'Content-Type': 'text/plain' },
      body: (async function* () {
        for (let i = 0; i < 3; i++) yield i + ' '
      })(),
    }))
    scope.service('$endless', { verbs: ['GET'] }, () => ({
      status: 200,
      body: (async function* () {
        for (;;) yield Buffer.alloc(300_000)
      })(),
    }))
  },
})
`
const model = {
  name: 'notes',
  dataClasses: {
    Note: {
      key: 'ID',
      attributes: { ID: { type: 'long', autoFill: 'increment' }, text: { type: 'string' }, secret: { type: 'string' } },
    },
  },
}
const roles = {
  privileges: [{ privilege: 'write' }],
  roles: [],
  permissions: {
    allowed: [
      { applyTo: 'ds', type: 'datastore', create: ['write'], update: ['write'], drop: ['write'] },
      { applyTo: 'Note.secret', type: 'attribute', read: ['write'] },
    ],
  },
}

t.test('dispatch', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'tesser-inner-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'index.mjs'), PLUGIN)
  const server = await createTestServer({
    model,
    roles,
    users: { ada: { privileges: ['write'] } },
    data: { Note: [{ text: 'one', secret: 'x' }] },
    plugins: [join(folder, 'index.mjs')],
  })
  t.teardown(() => server.close())
  const ada = server.as('ada')

  const asked = async (client: typeof ada, inner: object) => (await client.post('/rest/$inner', inner)).json
  const url = '/rest/Note?$attributes=text,secret&$asArray=true'

  const cases = [
    { says: 'a guest has the view of a guest', client: server, inner: { url }, status: 404, body: /"errCode":1500/ },
    { says: 'a user has the view of the user', client: ada, inner: { url }, status: 200, body: /"secret":"x"/ },
    {
      says: 'a guest may not write',
      client: server,
      inner: { method: 'POST', url: '/rest/Note?$method=update', body: '{"text":"two"}' },
      status: 401,
      body: /1558|1559|1560/,
    },
    {
      says: 'a user may',
      client: ada,
      inner: { method: 'POST', url: '/rest/Note?$method=update', body: '{"text":"two"}' },
      status: 200,
      body: /"text":"two"/,
    },
    { says: 'nothing there', client: ada, inner: { url: '/nothing' }, status: 404, body: /1806/ },
    { says: 'no address at all', client: ada, inner: { url: '' }, status: 404, body: /__ERROR/ },
    { says: 'a stream', client: ada, inner: { url: '/rest/$streams' }, status: 200, body: /^0 1 2 $/ },
  ]
  for (const { says, client, inner, status, body } of cases) t.match(await asked(client, inner), { status, body }, says)

  const direct = await ada.get(url)
  t.equal((await asked(ada, { url })).body, direct.text, 'the same bytes as over HTTP')
  t.match((await asked(ada, { url: '/health' })).body, /ok|ready|true/i, 'a route')
  t.equal((await ada.post('/rest/$inner', { url: '/rest/$endless' })).status, 500, 'readBody is bounded')

  const link = (inner: object, headers = {}) =>
    ada.get(`/rest/$inner?inner=${encodeURIComponent(JSON.stringify(inner))}`, headers)
  t.match((await link({ url })).json, { status: 200 }, 'within a GET')
  t.equal(
    (await link({ method: 'POST', url: '/rest/Note?$method=update', body: '{}' })).status,
    500,
    'no write within a GET',
  )
  const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://other.example' }
  t.match(
    (await link({ url: '/rest/$directory/logout' }, foreign)).json,
    { status: 403 },
    'nor anything else that changes state',
  )
  t.equal((await server.get('/rest/$late')).status, 500, 'allowed only before the first await of a GET')
  t.equal((await server.get('/late')).status, 200, 'but later at a route')
  t.match(
    (await asked(ada, { url: '/rest/$inner', method: 'POST', body: JSON.stringify({ url }) })).body,
    /"status":200/,
  )
})
