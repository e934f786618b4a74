import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestServer } from 'tesser/testing'

let server

before(async () => {
  server = await createTestServer({
    model: new URL('../../../config/demo/model.json', import.meta.url),
    plugins: [new URL('./index.ts', import.meta.url)],
  })
})

after(() => server.close())

const trail = async key => {
  const { json } = await server.get(`/rest/AuditEntry?$filter="entityKey=:1"&$params=["${key}"]&$orderby=ID`)
  return json.__ENTITIES
}

test('creating, changing and dropping leave entries with what has changed', async () => {
  const { json } = await server.post('/rest/Director?$method=update', { name: 'Agnes Varda' })
  const key = json.__KEY
  await server.post('/rest/Director?$method=update', { __KEY: key, __STAMP: 1, name: 'Agnès Varda' })
  await server.post(`/rest/Director(${key})?$method=delete`)
  const entries = await trail(key)
  assert.deepEqual(
    entries.map(({ dataClass, action, changes }) => [dataClass, action, changes.name]),
    [
      ['Director', 'create', 'Agnes Varda'],
      ['Director', 'update', 'Agnès Varda'],
      ['Director', 'drop', 'Agnès Varda'],
    ],
  )
})

test('what was not saved leaves none', async () => {
  const { json } = await server.post('/rest/Director?$method=update', { name: 'Chantal Akerman' })
  const stale = await server.post('/rest/Director?$method=update', {
    __KEY: json.__KEY,
    __STAMP: 5,
    name: 'C. Akerman',
  })
  assert.equal(stale.status, 409)
  assert.equal((await trail(json.__KEY)).length, 1)
})

test('clients can neither write nor drop the trail', async () => {
  const written = await server.post('/rest/AuditEntry?$method=update', { dataClass: 'Movie', action: 'nothing' })
  assert.ok(written.status >= 400, written.text)
  const dropped = await server.post('/rest/AuditEntry?$method=delete')
  assert.ok(dropped.status >= 400, dropped.text)
  const { json } = await server.get('/rest/AuditEntry')
  assert.equal(json.__COUNT, 4)
})
