import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestServer } from 'tesser/testing'

let server

before(async () => {
  server = await createTestServer({
    model: new URL('./model.json', import.meta.url),
    plugins: [new URL('./index.ts', import.meta.url)],
    data: {
      Person: [
        { ID: 1, firstName: 'Ada', lastName: 'Byron' },
        { ID: 2, firstName: 'Kurt', lastName: 'Gödel' },
      ],
    },
  })
})

after(() => server.close())

test('a person is greeted by the first name', async () => {
  const { json } = await server.get('/rest/Person(1)/greet')
  assert.deepEqual(json, { result: 'Hello, Ada!' })
})

test('people are found by either name, whatever the case and the accents', async () => {
  const { json } = await server.get('/rest/Person/named?$params=["godel"]')
  assert.equal(json.__COUNT, 1)
  assert.equal(json.__ENTITIES[0].firstName, 'Kurt')
})

test('the plugin answers at an address of its own', async () => {
  const { json } = await server.get('/greeting')
  assert.deepEqual(json, { greeting: 'Hello' })
})

test('a new last name is saved', async () => {
  const { json } = await server.post('/rest/Person(1)/rename', ['Lovelace'])
  assert.equal(json.result.success, true)
  const renamed = await server.get('/rest/Person(1)/lastName')
  assert.equal(renamed.json.lastName, 'Lovelace')
})
