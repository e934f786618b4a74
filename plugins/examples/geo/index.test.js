import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestServer } from 'tesser/testing'

let server

const country = (code, code3, name) => ({
  ...{ code, code3, name, officialName: name },
  ...{ landlocked: false, unMember: true, regionCode: 'world' },
})
const city = (ID, name, latitude, longitude, countryCode) => ({
  ID,
  name,
  latitude,
  longitude,
  countryCode,
  isCapital: false,
})

before(async () => {
  server = await createTestServer({
    model: new URL('../../../config/demo/model.json', import.meta.url),
    plugins: [new URL('./index.ts', import.meta.url)],
    data: {
      Region: [{ code: 'world', name: 'World' }],
      Country: [country('LI', 'LIE', 'Liechtenstein'), country('FJ', 'FJI', 'Fiji')],
      City: [
        city(1, 'Vaduz', 47.1415, 9.5215, 'LI'),
        city(2, 'Schaan', 47.165, 9.5087, 'LI'),
        city(3, 'Balzers', 47.0667, 9.5, 'LI'),
        city(4, 'Suva', -18.1416, 178.4415, 'FJ'),
        city(5, 'Lakeba', -18.2, -178.8, 'FJ'),
      ],
    },
  })
})

after(() => server.close())

const namesOf = ({ json }) => json.__ENTITIES.map(({ name }) => name)

test('near gives what is within the distance, the nearest first', async () => {
  assert.deepEqual(namesOf(await server.get('/rest/City/near?$params=[47.14,9.52,5]')), ['Vaduz', 'Schaan'])
  assert.deepEqual(namesOf(await server.get('/rest/City/near?$params=[47.14,9.52,20]&$top=2&$skip=1')), [
    'Schaan',
    'Balzers',
  ])
})

test('near looks over the 180th meridian', async () => {
  assert.deepEqual(namesOf(await server.get('/rest/City/near?$params=[-18.1,179.9,300]')), ['Lakeba', 'Suva'])
})

test('distances are right to a hundred metres', async () => {
  const { json } = await server.get('/rest/City(1)/distanceTo?$params=[48.8566,2.3522]')
  assert.ok(Math.abs(json.result - 566.2) < 0.1, String(json.result))
})

test('the extent of a selection is that of its cities', async () => {
  const { json } = await server.get('/rest/City/extent?$filter="country.name=Liechtenstein"')
  assert.deepEqual(json.result, { south: 47.0667, north: 47.165, west: 9.5, east: 9.5215 })
})

test('what is no place, or too far, is refused', async () => {
  for (const [params, code] of [
    ['[91,0,5]', 1603],
    ['["x",0,5]', 1603],
    ['[0,0,0]', 1603],
    ['[0,0,5000]', 4001],
    ['[0,0]', 1603],
  ]) {
    const { status, json } = await server.get(`/rest/City/near?$params=${params}`)
    assert.equal(status, 400)
    assert.equal(json.__ERROR[0].errCode, code)
  }
})
