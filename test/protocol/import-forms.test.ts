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
  const dates = await server.post(`/$import/Company?$dates=dmy&$trial=true`, 'name,founded\nA,31.04.2024\n', CSV)
  t.match(dates.json.rejectedRows, [{ errors: ['founded: "31.04.2024" is not an existing date'] }])
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

t.test('a header in another encoding is refused, unless a parameter names it', async t => {
  const server = await open(t)
  const body = Buffer.from('name,gr\xf6\xdfe\nA,1\n', 'latin1')
  const { status, json } = await server.post('/$import/Company', body, CSV)
  t.equal(status, 400)
  t.match(json.__ERROR[0].message, /line 1, the header: it has bytes that are not UTF-8; .*\$encoding/)
  const columns = encodeURIComponent('{"größe":"size"}')
  const read = await server.post(`/$import/Company?$encoding=windows-1252&$columns=${columns}`, body, CSV)
  t.match(read.json, { inserted: 1 })
})

const JSON_TYPE = { 'content-type': 'application/json' }

t.test('a path leads to the list of rows in a document', async t => {
  const server = await open(t)
  const body = '{"data":{"firms":[{"name":"A"},\n{"name":"B","size":"x"}]},"towns":[{}]}'
  const { json } = await server.post('/$import/Company?$listPath=data.firms', body, JSON_TYPE)
  t.match(json, { read: 2, inserted: 1, rejected: 1, rejectedRows: [{ line: 2, row: { name: 'B', size: 'x' } }] })
  t.match((await server.post('/$import/Company?$listPath=/data/firms&$preview=1', body, JSON_TYPE)).json, {
    columns: [{ name: 'name', attribute: 'name' }],
    rows: [{ cells: ['A'], errors: [] }],
  })
  const refused: [string, Record<string, string>, RegExp][] = [
    [
      '$listPath=firms',
      JSON_TYPE,
      /there is nothing at firms; lists of objects: data\.firms, towns; 0 rows were saved/,
    ],
    ['$listPath=a..b', JSON_TYPE, /the path "a\.\.b" has an empty name/],
    ['$trial=true', JSON_TYPE, /the option path chooses a list of objects in it: data\.firms, towns;/],
    ['$listPath=firms', CSV, /a path leads to a list in JSON or GeoJSON, and the format is csv/],
  ]
  for (const [parameters, headers, message] of refused) {
    const { status, json } = await server.post(`/$import/Company?${parameters}`, body, headers)
    t.equal(status, 400)
    t.match(json.__ERROR[0].message, message)
  }
})

t.test('features of GeoJSON are rows', async t => {
  const server = await open(t)
  const feature = (name: string): string => `{"type":"Feature","properties":{"name":"${name}"},"geometry":null}`
  const collection = `{"type":"FeatureCollection","features":[${feature('A')}]}`
  for (const [parameters, body, headers] of [
    ['', collection, { 'content-type': 'application/geo+json' }],
    ['$format=geojson', collection, {}],
    ['$format=geojsonl', `${feature('A')}\n`, {}],
    ['$format=geojson&$listPath=/0/features', `[${collection}]`, {}],
  ] as const)
    t.match((await server.post(`/$import/Company?${parameters}`, body, headers)).json, { inserted: 1 }, parameters)
  const point = collection.replace('null', '{"type":"Point","coordinates":[1,2]}')
  t.match((await server.post('/$import/Company?$format=geojson', point, {})).json, {
    rejectedRows: [{ errors: [/the geometry is a Point, and there is no attribute for it/] }],
  })
})

t.test('names of JSON properties are recognized as those of CSV columns', async t => {
  const server = await open(t)
  const feature = `{"type":"Feature","properties":{"Name":"D","SIZE":4},"geometry":null}`
  const bodies: [string, string][] = [
    ['json', '[{"Name":"A","Size":1,"CODE":7},{"name":"B","Name":null,"size":2}]'],
    ['ndjson', '{"__STAMP":null,"Name":"C","Size":3}\n'],
    ['geojson', `{"type":"FeatureCollection","features":[${feature}]}`],
  ]
  for (const [format, body] of bodies)
    t.match((await server.post(`/$import/Company?$format=${format}`, body, {})).json, { rejected: 0 }, format)
  t.match((await server.get('/Company?$orderby=name&$attributes=name,size,code')).json.__ENTITIES, [
    { name: 'A', size: 1, code: '7' },
    { name: 'B', size: 2 },
    { name: 'C', size: 3 },
    { name: 'D', size: 4 },
  ])
  const wrong = '{"name":"A","Name":"B"}\n{"Nme":"A"}\n'
  t.match((await server.post('/$import/Company?$format=ndjson', wrong, {})).json.rejectedRows, [
    { errors: ['two columns have a value for name'] },
    { errors: [/no attribute "Nme" in Company; did you mean "name"/] },
  ])
  const columns = encodeURIComponent('{"Firm":"Name"}')
  const renamed = await server.post(`/$import/Company?$format=ndjson&$columns=${columns}`, '{"Firm":"E"}\n', {})
  t.match(renamed.json, { inserted: 1 })
})

t.test('rows that would occupy the server are refused one by one, and long names are not repeated', async t => {
  const server = await open(t)
  const names = Array.from({ length: 200_000 }, (_, i) => `"k${i}":1`).join()
  for (const [body, type, errors] of [
    [`[{${names}},{"name":"A"}]`, 'application/json', ['a row has at most 10000 names']],
    [`name,size\nC,${','.repeat(2 ** 20)}\nD,1\n`, 'text/csv', ['more than 32768 fields for 2 columns']],
  ] as const) {
    const { json } = await server.post('/$import/Company', body, { 'content-type': type })
    t.match(json, { read: 2, inserted: 1, rejectedRows: [{ errors }] })
  }
  const long = 'x'.repeat(2 ** 16)
  for (const [parameters, body] of [
    ['$format=csv', `${long},name\na,b\n`],
    [`$format=csv&$encoding=${long.slice(0, 20_000)}`, 'name\na\n'],
    ['$format=csv&$skipLines=999999', `${`${long}\n`.repeat(100)}`],
    ['$format=csv&$currencies=1', 'name\na\n'],
  ] as const) {
    const { status, json } = await server.post(`/$import/Company?${parameters}`, body)
    t.ok(JSON.stringify(json).length < 400)
    t.equal(status, parameters.includes('skip') ? 200 : 400)
  }
})
