import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestServer } from 'tesser/testing'

const TEXTS = [
  ['flag', 'LI', 'a gold crown on the hoist side of the blue band'],
  ['hazards', 'FJ', 'cyclonic storms can occur from November to January'],
  ['history', 'FJ', 'Fiji became independent in 1970 after nearly a century as a British colony.'],
  ['climate', 'LI', 'cold, cloudy winters with frequent snow; cool to moderately warm, humid summers'],
]

const country = (code, code3, name) => ({
  ...{ code, code3, name, officialName: name },
  ...{ landlocked: false, unMember: true, regionCode: 'world' },
})

const startServer = options =>
  createTestServer({
    model: new URL('../../../config/demo/model.json', import.meta.url),
    plugins: [{ plugin: new URL('./index.ts', import.meta.url), options }],
    data: {
      Region: [{ code: 'world', name: 'World' }],
      Country: [country('LI', 'LIE', 'Liechtenstein'), country('FJ', 'FJI', 'Fiji')],
    },
    config: { log: { level: 'silent' } },
  })

let server

before(async () => {
  server = await startServer({ minScore: 0.5 })
  // On a machine that has much else to do the model may be late.
  while ((await server.get('/rest/Passage/vector?$params=["a"]')).status === 503);
  for (const [topic, countryCode, text] of TEXTS) {
    const { json } = await server.get(`/rest/Passage/vector?$params=["${text}"]`)
    const saved = await server.post('/rest/Passage?$method=update', {
      topic,
      countryCode,
      text,
      embedding: json.result,
    })
    assert.equal(saved.status, 200, saved.text)
  }
})

after(() => server.close())

const topicsOf = ({ json }) => json.__ENTITIES.map(({ topic }) => topic)

test('search gives the nearest in meaning, without a word in common', async () => {
  assert.equal(topicsOf(await server.get('/rest/Passage/search?$params=["hurricane season"]'))[0], 'hazards')
  assert.equal(topicsOf(await server.get('/rest/Passage/search?$params=["when the empire ended",1]'))[0], 'history')
  const { json } = await server.get('/rest/Passage/search?$params=["icy weather",2]')
  assert.deepEqual([json.__COUNT, json.__SENT], [2, 2])
})

test('meaning is a condition like others, and tells its score', async () => {
  const filter = '$filter="meaning=:1 and country.name=Fiji"&$params=["hurricane season"]&$attributes=topic,__SCORE'
  const { json } = await server.get(`/rest/Passage?${filter}`)
  assert.deepEqual(topicsOf({ json }), ['hazards'])
  assert.ok(json.__ENTITIES[0].__SCORE > 0.5)
  const countries = await server.get('/rest/Country?$filter="passages.meaning=:1"&$params=["hurricane season"]')
  assert.deepEqual(
    countries.json.__ENTITIES.map(({ name }) => name),
    ['Fiji'],
  )
})

test('a passage finds the others', async () => {
  const topics = topicsOf(await server.get('/rest/Passage(2)/similar'))
  assert.deepEqual(topics.toSorted(), ['climate', 'flag', 'history'])
})

test('a vector has length 1', async () => {
  const { json } = await server.get('/rest/Passage/vector?$params=["hurricane season"]')
  assert.equal(json.result.length, 512)
  assert.ok(Math.abs(Math.hypot(...json.result) - 1) < 1e-4)
})

test('what is no sentence, no count or no comparison is refused', async () => {
  const refused = [
    ['search?$params=[]', /"sentence", is missing/, 1603],
    ['search?$params=[" "]', /empty/],
    ['search?$params=[5]', /"sentence", has to be a text .*received 5/, 1603],
    [`search?$params=["${'a'.repeat(501)}"]`, /one of 501/],
    ['search?$params=["a",0]', /"count", has to be an integer from 1 to 1000; received 0/, 1603],
    ['search?$params=["a",1.5]', /received 1.5/, 1603],
    ['?$filter="meaning > a"', /received >/],
    ['?$filter="meaning = null"', /nothing/],
  ]
  for (const [path, message, code = 4201] of refused) {
    const { status, json } = await server.get(`/rest/Passage/${path}`)
    assert.equal(status, 400)
    assert.equal(json.__ERROR[0].errCode, code)
    assert.match(json.__ERROR[0].message, message)
  }
})

test('without the packages of the model the server starts, and says what is missing', async t => {
  const other = await startServer({ weights: 'no-such-weights' })
  t.after(() => other.close())
  const { status, json } = await other.get('/rest/Passage/search?$params=["hurricane season"]')
  assert.equal(status, 500)
  assert.match(json.__ERROR[0].message, /npm install/)
  assert.equal((await other.get('/rest/Passage')).status, 200)
})
