import t, { type Test } from 'tap'
import { startServer, type TestServer } from '../support/servers/test-server.ts'

/** Forms of files that `$import` reads. */

const model = {
  name: 'shop',
  dataClasses: {
    Company: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        name: { type: 'string' },
        code: { type: 'string' },
        size: { type: 'number' },
        founded: { type: 'date', simpleDate: true },
      },
    },
  },
}

const open = (t: Test): Promise<TestServer> =>
  startServer(t, { model, rows: {} }, { config: { auth: { guestsAdministrate: true } } })

const CSV = { 'content-type': 'text/csv' }

t.test('years of two digits and currencies are read if parameters say so', async t => {
  const server = await open(t)
  const body = 'name,size,founded\nA,"1.234,50 €",12-Jun-45\n'
  const { json } = await server.post(`/$import/Company?$trial=true`, body, CSV)
  t.match(json.rejectedRows, [{ errors: [/^founded: the year of "12-Jun-45" may be of two centuries/] }])
  const parameters = `$years=1930&$decimal=,&$currencies=${encodeURIComponent('€')}`
  t.match((await server.post(`/$import/Company?${parameters}`, body, CSV)).json, { inserted: 1 })
  t.match((await server.get('/Company(1)')).json, { size: 1234.5, founded: '1945-06-12' })
})

t.test('lines above the header are recognized, or their number is given', async t => {
  const server = await open(t)
  const body = (above: string): string => `${above}name;code\nA;a\nB;b\n`
  for (const [above, parameters] of [
    ['# of 2024, by me\n', ''],
    ['Report\n\n', ''],
    ['code;name\n', '&$skipLines=1'],
  ] as const) {
    const { json } = await server.post(`/$import/Company?$trial=true${parameters}`, body(above), CSV)
    t.match(json, { read: 2, inserted: 2 }, JSON.stringify(json))
  }
})
