/** Entity tags of entities, and conditions on them. Source: RFC 9110, 8.8.3 and 13.1. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { company } from '../support/fixtures/company.ts'
import { hiddenCompaniesPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestAnswer, type TestServer, transports } from '../support/servers/test-server.ts'

const NAMES = '$attributes=firstName,lastName,salary'
const tagOf = ({ headers }: TestAnswer): string => String(headers.etag)
const codes = ({ json }: TestAnswer): number[] => json.__ERROR.map(({ errCode }: { errCode: number }) => errCode)
const salaryOf = async (server: TestServer, key: number): Promise<number> =>
  (await server.get(`/Employee(${key})?$attributes=salary`)).json.salary

for (const transport of transports) {
  t.test(`a client that has an entity is answered 304 on ${transport}`, async t => {
    const server = await startServer(t, company, { transport })
    const path = `/Employee(1)?${NAMES}`
    const first = await server.get(path)
    const tag = tagOf(first)
    t.match(tag, /^W\/"1-[\w-]+"$/)
    t.equal(first.headers['cache-control'], 'private, no-cache')
    const ask = (given: string) => server.get(path, { 'if-none-match': given })
    for (const given of [tag, tag.slice(2), `"x", ${tag}`, '*']) {
      const { status, headers, bytes } = await ask(given)
      t.match({ status, tag: headers.etag, bytes: bytes.length }, { status: 304, tag, bytes: 0 }, given)
    }
    t.match(await server.send('HEAD', path, undefined, { 'if-none-match': tag }), { status: 304 })
    t.same((await ask('"1-other"')).json, first.json)

    await server.post('/Employee?$method=update', { __KEY: '1', __STAMP: 1, salary: 1 })
    const changed = await ask(tag)
    t.equal(changed.status, 200)
    t.match(tagOf(changed), /^W\/"2-/)
    t.equal((await ask(tagOf(changed))).status, 304)

    await server.send('DELETE', '/Employee(6)')
    await server.post('/Employee', { ID: 6, lastName: 'new' })
    const again = `/Employee(6)?${NAMES}`
    t.equal((await server.get(again, { 'if-none-match': tag })).status, 200, 'another entity of the same version')
  })
}

t.test('an answer with more than the values of one entity has no tag', async t => {
  const server = await startServer(t, company)
  for (const path of [
    '/Employee',
    '/Employee(1,2)',
    '/Employee(1)?$expand=employer',
    '/Employee(1)/lastName,employer.name',
    '/Employee(1)?$attributes=lastName,employer.*',
    '/Employee?$filter="ID=1"&$asArray=true',
    '/Employee(99)',
    '/Employee(1)?$attributes=',
    '/Employee(1)?$attributes=%20',
  ])
    t.match(await server.get(path), { headers: { etag: undefined, 'cache-control': 'no-store' } }, path)
  for (const path of ['/Employee(1)/lastName', '/Employee(1)?$prettyprint=true&$attributes=salary', '/City(Paris)'])
    t.match(tagOf(await server.get(path)), /^W\/"1-/, path)
})

t.test('another entity at the same address has another tag', async t => {
  const server = await startServer(t, company)
  const made = await server.post('/Employee', [
    { ID: 70, lastName: 'Same', notes: 'one' },
    { ID: 71, lastName: 'Same', notes: 'two' },
  ])
  t.equal(made.status, 200)
  const path = '/Employee:lastName(Same)?$attributes=notes'
  const tag = tagOf(await server.get(path))
  await server.send('DELETE', '/Employee(70)')
  t.match(await server.get(path, { 'if-none-match': tag }), { status: 200, json: { __KEY: '71', notes: 'two' } })
})

t.test('a long answer is compressed and has its tag', async t => {
  const server = await startServer(t, company)
  const path = '/Employee(1)?$attributes=notes'
  const saved = { __KEY: '1', __STAMP: 1, notes: 'long '.repeat(1_000) }
  t.equal((await server.post('/Employee?$method=update', saved)).status, 200)
  const gzip = { 'accept-encoding': 'gzip' }
  const answer = await server.get(path, gzip)
  t.match(answer.headers, { 'content-encoding': 'gzip', etag: /^W\/"2-/, vary: /Accept-Encoding/ })
  t.equal((await server.get(path, { ...gzip, 'if-none-match': tagOf(answer) })).status, 304)
})

t.test('other rights have another tag', async t => {
  const folder = temporaryFolder(t)
  const key = createKey()
  const keys = [{ name: 'all', hash: hashKey(key), privileges: ['all'] }]
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ keys }))
  const roles = {
    privileges: [{ privilege: 'all' }],
    permissions: { allowed: [{ applyTo: 'City.population', type: 'attribute', read: ['all'] }] },
  }
  const server = await startServer(t, company, { folder, roles })
  const guest = await server.get('/City(Paris)')
  const user = { authorization: `Bearer ${key}` }
  const seen = await server.get('/City(Paris)', { ...user, 'if-none-match': tagOf(guest) })
  t.equal(seen.status, 200)
  t.equal((await server.get('/City(Paris)', { ...user, 'if-none-match': tagOf(seen) })).status, 304)
  t.equal((await server.get('/City(Paris)', { 'if-none-match': tagOf(guest) })).status, 304)
})

t.test('a save with If-Match changes only that version', async t => {
  const server = await startServer(t, company)
  const tag = tagOf(await server.get(`/Employee(1)?${NAMES}`))
  const before = await salaryOf(server, 1)
  const save = (ifMatch: string, body: unknown, parameters = '') =>
    server.post(`/Employee?$method=update${parameters}`, body, { 'if-match': ifMatch })

  for (const given of ['"2"', '"x"', 'W/"17-a-b"', 'nonsense', '"2", "3"']) {
    const answer = await save(given, { __KEY: '1', __STAMP: 1, salary: 5 })
    t.equal(answer.status, 412, given)
    t.same(codes(answer), [1263, 1046, 1517], given)
    t.match(answer.json, { __STAMP: 1, __STATUS: { success: false, status: 2 } })
  }
  for (const given of ['"01"', 'x"1"', '"1"x', '"a"1"b"', '"9" "1"', '"1', '1', '"1-x"'])
    t.equal((await save(given, { __KEY: '1', salary: 5 })).status, 412, `not a tag of it: ${given}`)
  t.equal((await save('"1"', { __KEY: '1', __STAMP: 7, salary: 5 })).status, 409, 'a stamp in the body counts too')
  t.equal((await save('*', { __KEY: '1', salary: 5 })).status, 409, 'existence says nothing about the version')
  t.equal(await salaryOf(server, 1), before)
  t.equal((await save(tag, { __KEY: '1', salary: 5 }, '&$refresh=true')).status, 200)
  t.equal(await salaryOf(server, 1), before)
  t.match(await save(tag, { __KEY: '1', salary: 5 }), { status: 200, json: { __STAMP: 2, salary: 5 } })
  t.equal((await save(tag, { __KEY: '1', salary: 6 })).status, 412)
  t.match(await save('"1", "2"', { __KEY: '1', salary: 6 }), { status: 200, json: { __STAMP: 3 } }, 'of several')
  t.match(await save('*', { __KEY: '1', __STAMP: 3, salary: 7 }), { status: 200 })

  for (const given of ['*', '"1"']) {
    t.equal((await save(given, { ID: 77, lastName: 'new' })).status, 412, 'a new entity has no version')
    t.equal((await save(given, { __KEY: '99', lastName: 'new' })).status, 404)
  }
  t.equal((await server.get('/Employee(77)')).status, 404)

  const several = await save('"1"', [
    { __KEY: '2', salary: 1 },
    { __KEY: '1', salary: 1 },
  ])
  t.equal(several.status, 412)
  t.match(several.json.__ENTITIES, [{ __STAMP: 2 }, { __STATUS: { success: false } }])
  const together = await save(
    '"1"',
    [
      { __KEY: '3', salary: 1 },
      { __KEY: '1', salary: 1 },
    ],
    '&$atomic=true',
  )
  t.equal(together.status, 412)
  t.equal((await server.get('/Employee(3)')).json.__STAMP, 1)
})

t.test('the tag of an entity that was deleted, or lost its unique value, does not match another one', async t => {
  const server = await startServer(t, company)
  const ifMatch = (tag: string) => ({ 'if-match': tag })
  const old = tagOf(await server.get('/Employee(6)?$attributes=ID'))
  await server.send('DELETE', '/Employee(6)')
  await server.post('/Employee', { ID: 6, lastName: 'new' })
  t.equal((await server.post('/Employee', { __KEY: '6', lastName: 'x' }, ifMatch(old))).status, 412)
  t.equal((await server.get('/Employee(6)/lastName')).json.lastName, 'new')

  const byCode = '/Company:code("AA/1")'
  const companies = [
    { ID: 70, name: 'first', code: 'AA/1' },
    { ID: 71, name: 'second', code: 'AA/2' },
  ]
  t.equal((await server.post('/Company', companies)).status, 200)
  const tag = tagOf(await server.get(`${byCode}?$attributes=name`))
  const swapped = await server.post('/Company', [
    { __KEY: '70', __STAMP: 1, code: 'AA/3' },
    { __KEY: '71', __STAMP: 1, code: 'AA/1' },
  ])
  t.equal(swapped.status, 200)
  t.equal((await server.send('DELETE', byCode, undefined, ifMatch(tag))).status, 412)
  t.equal((await server.get('/Company(71)')).status, 200)
})

t.test('a deletion with If-Match deletes only that version', async t => {
  const server = await startServer(t, company)
  const drop = (ifMatch: string, path = '/Employee(5)') =>
    server.send('DELETE', path, undefined, { 'if-match': ifMatch })
  const other = await drop('"2"')
  t.equal(other.status, 412)
  t.match(codes(other), [1263])
  t.equal((await server.get('/Employee(5)')).status, 200)
  t.equal((await drop('"1"', '/Employee?$filter="ID>900"')).status, 412, 'nothing has this version')
  t.equal((await server.get('/Employee/$compute=count'.replace('/$', '?$'))).json, 6)
  t.match(await drop(tagOf(await server.get('/Employee(5)?$attributes=ID'))), { status: 200, json: { ok: true } })
  t.equal((await server.get('/Employee(5)')).status, 404)
  t.match(await server.post('/Employee(6)?$method=delete', '', { 'if-match': '*' }), { status: 200 })
})

t.test('bytes of an attribute are replaced only in that version', async t => {
  const server = await startServer(t, company)
  const path = '/Company(1)/contract'
  t.equal((await server.send('PUT', path, 'first', { 'if-match': '"1"' })).status, 200)
  const tag = tagOf(await server.get(`${path}?$binary=true`))
  t.match(tag, /^"2-/)
  t.equal((await server.send('PUT', path, 'second', { 'if-match': '"1"' })).status, 412)
  t.equal((await server.send('DELETE', `${path}?$binary=true`, undefined, { 'if-match': '"1"' })).status, 412)
  t.equal((await server.get(`${path}?$binary=true`)).text, 'first')
  await server.send('DELETE', '/Company(4)')
  await server.post('/Company', { ID: 4, name: 'again', code: 'ZZ/9' })
  t.equal((await server.send('PUT', '/Company(4)/contract', 'x', { 'if-match': tag.replace('2-', '1-') })).status, 412)
  t.equal((await server.send('PUT', path, 'second', { 'if-match': tag })).status, 200)
  t.equal((await server.get(`${path}?$binary=true`)).text, 'second')
})

t.test('events and restrict events make no difference', async t => {
  const server = await startServer(t, company, {
    config: { plugins: [hiddenCompaniesPlugin], functions: { threads: 1 } },
  })
  const answer = await server.get('/Company(1)?$attributes=name')
  t.match(tagOf(answer), /^W\/"1-/)
  t.equal((await server.get('/Company(1)?$attributes=name', { 'if-none-match': tagOf(answer) })).status, 304)
  const save = (key: string, ifMatch: string) =>
    server.post('/Company?$method=update', { __KEY: key, revenues: 1 }, { 'if-match': ifMatch })
  const hidden = await save('4', '"9"')
  const missing = await save('99', '"9"')
  t.equal(hidden.status, 404)
  t.equal(hidden.text.replaceAll(/\b4\b/g, '99'), missing.text)
  t.equal((await save('1', '"9"')).status, 412)
  t.equal((await save('1', '"1"')).status, 200)
})
