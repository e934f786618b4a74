import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import t from 'tap'
import { until } from '../support/base/until.ts'
import { startServer, type TestServer, usualTransports } from '../support/servers/test-server.ts'
import { model, names, open } from './importing.ts'

/** `$import`, an extension of Tesser. */

const CSV = { 'content-type': 'text/csv' }

for (const transport of usualTransports) {
  t.test(`rows become entities (${transport})`, async t => {
    const server = await open(t, transport)
    const { status, json } = await server.post('/$import/Company', 'name,size\nAcme,1.5\n"Globex, Inc",\n', CSV)
    t.equal(status, 200)
    t.match(json, {
      import: '1',
      dataClass: 'Company',
      trial: false,
      read: 2,
      inserted: 2,
      rejected: 0,
      isComplete: true,
    })
    t.same(json.rejectedRows, [])
    t.same(await names(server), ['Acme', 'Globex, Inc'])
    const rows = Array.from({ length: 30_000 }, (_, i) => `{"name":"n${i}","code":"c${i}","big":9007199254740993}\n`)
    t.match((await server.post('/$import/Company?$format=ndjson', rows.join(''))).json, {
      read: 30_000,
      inserted: 30_000,
    })
    const { text } = await server.get('/Company(30002)')
    t.match(text, /"name":"n29999"/)
    t.match(text, /"big":9007199254740993\b/)
    t.same((await server.get('/$import')).json, { imports: [] })
  })
}

t.test('wrong rows are in the answer, and can be sent again', async t => {
  const server = await open(t)
  const body = 'name;size;founded;big\nA;1,5;31.12.2020;9007199254740993\n;2;;9007199254740993\nB;x;;\nC;1;2;3;4\n'
  const path = '/$import/Company?$decimal=,&$dates=dmy'
  const { json, text } = await server.post(path, body, CSV)
  t.match(json, { read: 4, inserted: 1, rejected: 3 })
  t.match(json.rejectedRows, [
    { line: 3, errors: [/name is mandatory/, String], row: { name: null, size: '2', big: '9007199254740993' } },
    { line: 4, errors: [/size/, String], row: { name: 'B', size: 'x' } },
    { line: 5, errors: ['5 fields for 4 columns'] },
  ])
  t.match((await server.get('/Company(1)')).json, { name: 'A', size: 1.5, founded: '2020-12-31' })
  const lines = text.slice(text.indexOf('['), -1).split('\n').slice(1, 3)
  const corrected = lines.map(line =>
    line.replace(/,$/, '').replace('"name":null', '"name":"A2"').replace('"x"', '"7"'),
  )
  t.match((await server.post(`${path}&$format=ndjson`, corrected.join('\n'))).json, { inserted: 2, rejected: 0 })
  t.same(await names(server), ['A', 'A2', 'B'])
})

t.test('existing entities', async t => {
  const server = await open(t)
  await server.post('/$import/Company', 'ID,name\n1,A\n2,B\n', CSV)
  const send = async (existing: string): Promise<unknown> =>
    (await server.post(`/$import/Company?$existing=${existing}`, 'ID,name\n2,B2\n3,C\n', CSV)).json
  t.match(await send('reject'), { inserted: 1, rejected: 1, rejectedRows: [{ line: 2 }] })
  t.match(await send('skip'), { inserted: 0, skipped: 2 })
  t.same(await names(server), ['A', 'B', 'C'])
  t.match(await send('update'), { updated: 2 })
  t.same(await names(server), ['A', 'B2', 'C'])
})

t.test('a trial says what would happen, and saves nothing', async t => {
  const server = await open(t)
  await server.post('/$import/Company', 'ID,name\n1,A\n', CSV)
  const body = 'ID,name,ownerID\n1,A2,\n2,B,1\n3,a name of more than 20 letters,\n4,C,5\n5,D,\n'
  const { json } = await server.post('/$import/Company?$trial=true&$existing=update', body, CSV)
  t.match(json, { trial: true, read: 5, inserted: 2, updated: 1, rejected: 1, later: 1, rejectedRows: [{ line: 4 }] })
  t.same(await names(server), ['A'])
})

t.test('columns have other names, or are left out', async t => {
  const server = await open(t)
  const columns = encodeURIComponent(JSON.stringify({ 'Company name': 'name', Notes: null }))
  const body = 'Company name\tNotes\tsize\nA\tsome "text"\t1\n"B"\t\t2\n'
  t.match((await server.post(`/$import/Company?$columns=${columns}`, body, CSV)).json, { inserted: 1, rejected: 1 })
  const clean = body.replaceAll('"', '')
  t.match((await server.post(`/$import/Company?$columns=${columns}&$delimiter=tab`, clean, CSV)).json, { inserted: 2 })
})

t.test('a preview shows columns and first rows as they would be read, and saves nothing', async t => {
  const server = await open(t)
  await server.post('/$import/Company', 'ID,name\n1,A\n', CSV)
  const body = 'ID;Firma;founded;size;Notes\n1;A;;;\n2;B;31.12.2020;1.234,5;"a;b"\n3;;;x;\n4;C\n5;D;;;\n'
  const columns = encodeURIComponent('{"Firma":"name"}')
  const path = `/$import/Company?$preview=4&$decimal=,&$dates=dmy&$columns=${columns}`
  const preview = { dataClass: 'Company', delimiter: ';' }
  t.match((await server.post(path, body, CSV)).json, {
    ...preview,
    columns: [
      { name: 'ID', attribute: 'ID' },
      { name: 'Firma', attribute: 'name' },
      { name: 'founded', attribute: 'founded' },
      { name: 'size', attribute: 'size' },
      { name: 'Notes', attribute: null },
    ],
    rows: [
      { line: 2, cells: ['1', 'A', null, null, null], errors: [/exists|already|1/] },
      { line: 3, cells: ['2', 'B', '2020-12-31', '1234.5', 'a;b'], errors: { length: 0 } },
      { line: 4, cells: ['3', null, null, 'x', null], errors: [/name is mandatory|size/] },
      { line: 5, cells: ['4', 'C'], errors: ['2 fields for 5 columns'] },
    ],
  })
  const guessed = await server.post('/$import/Company?$preview=1', 'Company name|Number\nA, B|1\n', CSV)
  t.match(guessed.json, { delimiter: '|', columns: [{ name: 'Company name', attribute: null }, { name: 'Number' }] })
  t.same(guessed.json.rows[0].cells, ['A, B', '1'])
  const lines = '{"name":"B","big":9007199254740993}\n{"name":"C","nme":[1]}\n{"na'
  const { json } = await server.post('/$import/Company?$preview=9&$format=ndjson', lines)
  t.same(json.columns, [
    { name: 'name', attribute: 'name' },
    { name: 'big', attribute: 'big' },
    { name: 'nme', attribute: null },
  ])
  t.same(
    json.rows.map(({ cells }: { cells: unknown }) => cells),
    [
      ['B', '9007199254740993', null],
      ['C', null, '[1]'],
      [null, null, null],
    ],
  )
  t.same(await names(server), ['A'])
})

t.test('an import has the name that its client gives it', async t => {
  const server = await open(t)
  const request = httpRequest({
    port: server.port,
    path: '/rest/$import/Company?$id=a-1',
    method: 'POST',
    headers: CSV,
  })
  request.write(`name\n${'A\n'.repeat(6_000)}`)
  await until(async () => (await server.get('/$import')).json.imports[0]?.inserted >= 5_000)
  const again = await server.post('/$import/Company?$id=a-1', 'name\nB', CSV)
  t.match([again.status, again.json], [400, { __ERROR: [{ message: /name that no running import has/ }] }])
  const answered = once(request, 'response')
  t.same((await server.send('DELETE', '/$import/a-1')).json, { ok: true })
  const [answer] = await answered
  let text = ''
  for await (const chunk of answer) text += chunk
  t.match(JSON.parse(text), { import: 'a-1', isComplete: false, inserted: 6_000 })
  request.destroy()
})

t.test('an import is listed while it runs, ends by its id, and when its client goes away', async t => {
  const server = await open(t)
  const begin = async () => {
    const request = httpRequest({ port: server.port, path: '/rest/$import/Company', method: 'POST', headers: CSV })
    request.on('error', () => {})
    request.write(`name\n${'A\n'.repeat(6_000)}`)
    const saved = async () => (await server.get('/Company?$compute=count')).json
    await until(async () => (await server.get('/$import')).json.imports[0]?.inserted >= 5_000)
    return { request, saved }
  }
  const first = await begin()
  t.match((await server.get('/$import')).json.imports, [
    { import: '1', dataClass: 'Company', trial: false, since: /Z$/ },
  ])
  const answered = once(first.request, 'response')
  t.same((await server.send('DELETE', '/$import/1')).json, { ok: true })
  const [answer] = await answered
  let text = ''
  for await (const chunk of answer) text += chunk
  t.match(JSON.parse(text), { isComplete: false, inserted: 6_000 })
  first.request.destroy()
  t.equal((await server.send('DELETE', '/$import/1')).status, 404)

  const second = await begin()
  second.request.destroy()
  t.ok(await until(async () => (await server.get('/$import')).json.imports.length === 0))
})

t.test('refusals', async t => {
  const server = await open(t)
  const plain = await startServer(t, { model, rows: {} })
  const cases: readonly (readonly [TestServer, string, string, string, Record<string, string>, number, RegExp])[] = [
    [plain, 'POST', '/$import/Company', 'name\nA', CSV, 401, /for administrators: log in/],
    [plain, 'GET', '/$import', '', {}, 401, /for administrators: log in/],
    [server, 'POST', '/$import', 'name\nA', CSV, 404, /^POST \/rest\/\$import\/City saves rows/],
    [server, 'GET', '/$import/Company', '', {}, 404, /GET \/rest\/\$import lists/],
    [server, 'POST', '/$import/Compny', 'name\nA', CSV, 400, /no dataclass "Compny"; did you mean "Company"\?/],
    [
      server,
      'POST',
      '/$import/Company',
      'nme\nA',
      CSV,
      400,
      /column "nme" is not an attribute of Company; did you mean "name"/,
    ],
    [server, 'POST', '/$import/Company', 'name\nA', {}, 400, /format of the rows is not known; send \$format/],
    [
      server,
      'POST',
      '/$import/Company?$format=xml',
      '<a/>',
      {},
      400,
      /\$format=xml cannot be used; it is one of csv, ndjson, json/,
    ],
    [
      server,
      'POST',
      '/$import/Company?$existing=all',
      'name\nA',
      CSV,
      400,
      /\$existing=all cannot be used; it is one of reject/,
    ],
    [server, 'POST', '/$import/Company?$columns=[]', 'name\nA', CSV, 400, /\$columns=\[\] cannot be used/],
    [server, 'POST', '/$import/Company?$delimiter=ab', 'name\nA', CSV, 400, /\$delimiter=ab cannot be used/],
    [
      server,
      'POST',
      '/$import/Company?$skipLines=x',
      'name\nA',
      CSV,
      400,
      /\$skipLines=x cannot be used; it is a number of lines/,
    ],
    [
      server,
      'POST',
      '/$import/Company?$years=30',
      'name\nA',
      CSV,
      400,
      /\$years=30 cannot be used; .* from 1000 to 9899/,
    ],
    [server, 'POST', '/$import/Company?$preview=0', 'name\nA', CSV, 400, /\$preview=0 cannot be used; it is a number/],
    [server, 'POST', '/$import/Company?$preview=1&$encoding=x', 'name\nA', CSV, 400, /no encoding "x".*; 0 rows/],
    [server, 'POST', '/$import/Company?$id=a/b', 'name\nA', CSV, 400, /\$id=a\/b cannot be used; it is at most 64/],
    [server, 'POST', '/$import/Company?$encoding=utf-9', 'name\nA', CSV, 400, /no encoding "utf-9"/],
    [server, 'POST', '/$import/Company?$format=json', '{"name":1}', {}, 400, /where an array should begin/],
    [server, 'POST', '/$import/Company', '', CSV, 200, /"read":0/],
    [server, 'DELETE', '/$import/9', '', {}, 404, /no running import "9"/],
    [server, 'PUT', '/$import/Company', 'name\nA', CSV, 405, /./],
  ]
  for (const [on, verb, path, body, headers, status, message] of cases) {
    const answer = await on.send(verb as 'POST', path, verb === 'GET' ? undefined : body, headers)
    t.equal(answer.status, status, `${verb} ${path}`)
    t.match(answer.json.__ERROR?.[0].message ?? answer.text, message)
  }
  t.same(await names(server), [])
})

t.test('related entities are given by another attribute', async t => {
  const server = await open(t)
  await server.post('/$import/Company', 'name,code\nA,a\nB,b\n', CSV)
  const columns = (by: unknown): string => encodeURIComponent(JSON.stringify({ Owner: { attribute: 'owner', by } }))
  const body = 'name,Owner\nC,a\nD,x\nE,\n'
  const { json } = await server.post(`/$import/Company?$columns=${columns('Company.code')}`, body, CSV)
  t.match(json, {
    inserted: 2,
    rejectedRows: [
      { line: 3, errors: ['owner: no entity of Company has "x" as code'], row: { name: 'D', owner: 'x' } },
    ],
  })
  const owners = (await server.get('/Company?$filter="ownerID != null"&$asArray=true')).json
  t.match(owners, [{ name: 'C', ownerID: 1 }])
  const trial = await server.post(`/$import/Company?$trial=true&$columns=${columns('Company.code')}`, body, CSV)
  t.match(trial.json, { inserted: 2, later: 1 })
  for (const by of ['Company.name', 7])
    t.equal((await server.post(`/$import/Company?$columns=${columns(by)}`, body, CSV)).status, 400)
})
