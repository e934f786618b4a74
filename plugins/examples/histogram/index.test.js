import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestServer } from 'tesser/testing'

let server

before(async () => {
  server = await createTestServer({
    model: new URL('../../../config/demo/model.json', import.meta.url),
    plugins: [new URL('./index.ts', import.meta.url)],
    data: {
      Region: [{ code: 'world', name: 'World' }],
      Country: [
        {
          ...{ code: 'LI', code3: 'LIE', name: 'Liechtenstein', officialName: 'Liechtenstein' },
          ...{ landlocked: true, unMember: true, regionCode: 'world' },
        },
      ],
      City: [0, 1, 2, 5, 10].map((latitude, i) => ({
        ...{ ID: i + 1, name: `City ${i}`, latitude, longitude: 9 },
        ...{ countryCode: 'LI', isCapital: false },
      })),
    },
  })
})

after(() => server.close())

const counts = ({ json }) => json.buckets.map(({ count }) => count)

test('values are counted by ranges', async () => {
  const answer = await server.get('/rest/City?$histogram=latitude&$buckets=5')
  assert.deepEqual(counts(answer), [2, 1, 1, 0, 1])
  assert.deepEqual(answer.json.buckets[0], { from: 0, to: 2, count: 2 })
})

test('only what the filter selects counts', async () => {
  assert.deepEqual(counts(await server.get('/rest/City?$histogram=latitude&$buckets=2&$filter="latitude<5"')), [1, 2])
  assert.deepEqual((await server.get('/rest/City?$histogram=latitude&$filter="ID>9"')).json, { count: 0, buckets: [] })
})

test('what is no number, or does not exist, is refused', async () => {
  const name = await server.get('/rest/City?$histogram=name')
  assert.deepEqual([name.status, name.json.__ERROR[0].errCode], [400, 4002])
  assert.equal((await server.get('/rest/City?$histogram=nothing')).status, 404)
  assert.equal((await server.get('/rest/City?$histogram=latitude&$buckets=0')).status, 400)
})
