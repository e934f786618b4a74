import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestServer } from 'tesser/testing'

let server

before(async () => {
  server = await createTestServer({
    model: new URL('./model.json', import.meta.url),
    roles: new URL('./roles.json', import.meta.url),
    users: { ada: { roles: ['reader'] }, kurt: { roles: ['editor'] } },
    data: { Person: [{ ID: 1, firstName: 'Ada', lastName: 'Byron' }] },
  })
})

after(() => server.close())

test('guests have to log in', async () => {
  assert.equal((await server.get('/rest/Person')).status, 401)
})

test('readers read, and change nothing', async () => {
  const { json } = await server.as('ada').get('/rest/Person(1)')
  assert.equal(json.firstName, 'Ada')
  const refused = await server.as('ada').post('/rest/Person?$method=update', { firstName: 'Eve' })
  assert.equal(refused.status, 401)
})

test('editors add people', async () => {
  const { json } = await server.as('kurt').post('/rest/Person?$method=update', { firstName: 'Eve' })
  assert.equal(json.firstName, 'Eve')
})
