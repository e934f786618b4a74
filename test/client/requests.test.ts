/** Requests of a client beside reads and writes: functions, hidden names, cookies, links, repetitions and sessions. */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { hashKey } from '../../kernel/auth/directory.ts'
import { quickHash } from '../support/base/password.ts'
import { connect } from '../../plugins/client/runtime/client.ts'
import { runTesser } from '../support/commands/author-package.ts'
import { company } from '../support/fixtures/company.ts'
import { declaredPlugin, staffPlugin, streamingPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'
import { type Db, failed, fixture, moduleOf } from './loaded-client.ts'

t.test('functions of plugins without declarations', async t => {
  const server = await startServer(t, company, { config: { plugins: [staffPlugin] } })
  const { createClient, schema } = await moduleOf(t, server)
  t.ok(schema.classes.Employee)
  const { text } = await server.get('/$client')
  t.match(text, /functions: \{\n\s+dataClass: \{\n(?:\s+.*\n)*?\s+\w+: null/)
  t.ok(createClient(`${server.url}/rest`).Employee)
})

t.test('hidden names leave no trace in a client, which caches keep until the rights change', async t => {
  const roles = {
    privileges: [{ privilege: 'boss' }],
    permissions: {
      allowed: [
        { applyTo: 'Company', type: 'dataclass', read: ['boss'] },
        { applyTo: 'Employee.salary', type: 'attribute', read: ['boss'] },
        { applyTo: 'Employee.earning', type: 'method', execute: ['boss'] },
      ],
    },
  }
  const server = await startServer(t, fixture, { roles, config: { plugins: [declaredPlugin] } })
  const guest = await server.get('/$client')
  for (const hidden of [/Company/, /\bsalary\b/, /employer:/, /earning/, /\bHidden\b/, /secret/]) {
    t.notMatch(guest.text.slice(0, guest.text.indexOf('export const schema')), hidden)
    t.notMatch(/^export const schema.*$/m.exec(guest.text)![0], hidden)
  }
  t.match(guest.text, /EntityArgument<'|nameOf: Declared<\[company: unknown\]/)
  const page = await server.get('/$client/client.js')
  t.match(page.headers['content-type'], /text\/javascript/)
  t.notMatch(page.text, /Company|"salary"/)
  const again = await server.get('/$client', { 'if-none-match': String(guest.headers.etag) })
  t.equal(again.status, 304)
  t.not((await server.get('/$client?$dates=text')).headers.etag, guest.headers.etag)
  t.match(await server.get('/$client/other.ts'), { status: 404, json: { __ERROR: [{ errCode: 1806 }] } })
  t.match(await server.get('/$client?$dates=now'), { status: 400, json: { __ERROR: [{ errCode: 1806 }] } })
  t.equal((await server.post('/$client', '')).status, 405)
})

t.test('cookies of another host are not kept', async t => {
  const received: (string | undefined)[] = []
  const listening = async (host: string, setCookie: string, location?: () => string): Promise<string> => {
    const server = createServer((request, response) => {
      received.push(request.headers.cookie)
      const target = location?.()
      response.writeHead(target ? 307 : 200, { 'Set-Cookie': setCookie, ...(target && { Location: target }) })
      response.end('{"__COUNT":0,"__ENTITIES":[]}')
    })
    await new Promise<void>(resolve => server.listen(0, host, resolve))
    t.teardown(() => server.close())
    return `http://${host}:${(server.address() as AddressInfo).port}/rest`
  }
  const other = await listening('127.0.0.1', 'foreign=1')
  let target: string | undefined
  const url = await listening('127.0.0.1', 'own=1', () => target as string)
  const db = connect(url, { dates: 'date', classes: { A: {} } }) as Db
  await db.A.all.list()
  target = `${other}/A`
  await db.A.all.list()
  target = undefined
  await db.A.all.list()
  t.strictSame(received, [undefined, 'own=1', undefined, 'own=1'])
})

t.test('links and keys stay within the server', async t => {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(String(request.url))
    const photo = { __deferred: { uri: 'http://127.0.0.2:1/image', image: true } }
    response.end(JSON.stringify({ __KEY: '1', photo }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rest`
  const db = connect(url, { dates: 'date', classes: { A: { photo: 'image' } } }) as Db
  const { photo } = await db.A.get('1')
  t.ok(photo.url.startsWith(`${url}http`), 'an address of another host is none')
  await t.rejects(db.$download({ url: 'http://127.0.0.2:1/rest/image' }), { message: /not a link of/ })
  await t.rejects(db.$download({ url: `${url}@127.0.0.2/rest/image` }), { message: /not a link of/ })
  await db.A.get(`a')"b`)
  t.equal(requests.at(-1), `/rest/A(${encodeURIComponent(`'a')"b'`).replace(')', '%29')})`)
})

t.test('dates as texts', async t => {
  const server = await startServer(t, company, { config: { protocol: { dateOnlyFormat: 'dmy' } } })
  const { createClient } = await moduleOf(t, server, '?$dates=text')
  const db = createClient(`${server.url}/rest`)
  t.match(await db.Employee.get(1), { birthDate: '1985-12-10T08:30:00.000Z', hired: '2010-01-04' })
  t.equal(await db.Employee.all.max('hired'), '2020-12-24')
})

t.test('requests to busy servers are repeated', async t => {
  const server = await startServer(t, company)
  const client = await moduleOf(t, server)
  const answers: { status: number; after?: string; type?: string; body?: string }[] = []
  const seen: string[] = []
  const proxy = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    const {
      status,
      after,
      type = 'application/json',
      body = '{"__ERROR":[{"message":"later","componentSignature":"dbmg","errCode":1200}]}',
    } = answers.shift()!
    response.writeHead(status, {
      'Content-Type': type,
      ...(after !== undefined && { 'Retry-After': after }),
    })
    response.end(body)
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => proxy.close())
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/rest`
  const db: Db = client.createClient(url, { backOffMs: 5, maxWaitMs: 2_000, key: async () => 'k' })
  const empty = { status: 200, body: '{"__COUNT":0,"__FIRST":0,"__ENTITIES":[],"__SENT":0}' }
  const entity = { status: 200, body: '{"__KEY":"1","__STAMP":1,"name":"x"}' }
  const scripts: [string, typeof answers, () => Promise<unknown>, object, number][] = [
    ['503 and 429', [{ status: 503 }, { status: 429, after: '0' }, empty], () => db.City.all.list(), [], 3],
    ['a save', [{ status: 503 }, entity], () => db.City.create({ name: 'x' }), { name: 'x' }, 2],
    [
      'not a save after the 503 of a proxy, which may have lost the answer',
      [{ status: 503, type: 'text/plain', body: 'disconnect before headers' }],
      () => db.City.create({ name: 'x' }),
      { kind: 'busy', code: 0 },
      1,
    ],
    [
      'not an atomic batch after it',
      [{ status: 503, type: 'text/plain', body: 'disconnect before headers' }],
      () => db.City.saveAtomic([{ name: 'x' }]),
      { kind: 'busy', code: 0 },
      1,
    ],
    [
      'not for ever',
      [503, 503, 503, 503].map(status => ({ status })),
      () => db.City.all.list(),
      { kind: 'busy', code: 1200 },
      4,
    ],
    [
      'not when it takes too long',
      [{ status: 503, after: '60' }],
      () => db.City.all.list(),
      { kind: 'busy', retryAfter: 60 },
      1,
    ],
    ['not a function after 503', [{ status: 503 }], () => client.createClient(url).$call('f'), { kind: 'busy' }, 1],
    ['a function after 429', [{ status: 429 }, { status: 200, body: '{"result":1}' }], () => db.$call('f'), Number, 2],
    ['not a batch after 503', [{ status: 503 }], () => db.City.saveAll([{ name: 'x' }]), { kind: 'busy' }, 1],
    [
      'an answer of a proxy',
      [{ status: 502, body: '<html>' }],
      () => db.City.all.list(),
      { kind: 'server', status: 502, code: 0 },
      1,
    ],
    ['an answer that is not JSON', [{ status: 200, body: '<html>' }], () => db.City.all.list(), { kind: 'server' }, 1],
    [
      'an abort while it waits',
      [{ status: 503, after: '1' }],
      () => {
        const controller = new AbortController()
        void until(() => seen.length > 0).then(() => setTimeout(() => controller.abort(), 30))
        return db.City.all.list({ signal: controller.signal })
      },
      { name: 'AbortError' },
      1,
    ],
  ]
  for (const [name, script, run, expected, requests] of scripts) {
    answers.push(...script)
    seen.length = 0
    const outcome = await run().catch((error: unknown) => error)
    t.match(outcome, expected, name)
    t.equal(seen.length, requests, `${name}: requests`)
    answers.length = 0
  }
})

t.test('sessions and keys', async t => {
  const password = await quickHash('correct horse')
  const folder = temporaryFolder(t)
  const users = [{ name: 'ada', fullName: 'Ada Lovelace', password, privileges: ['boss'] }]
  const keys = [{ name: 'robot', hash: hashKey('tesser_robot'), privileges: ['boss'] }]
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ users, keys }))
  const roles = {
    privileges: [{ privilege: 'boss' }],
    permissions: { allowed: [{ applyTo: 'Company', type: 'dataclass', read: ['boss'], update: ['boss'] }] },
  }
  const server = await startServer(t, company, { folder, roles })
  const url = `${server.url}/rest`
  const { createClient } = await moduleOf(t, server, '', { authorization: 'Bearer tesser_robot' })
  const db: Db = createClient(url)
  t.match(await failed(db.Company.get(1)), { kind: 'missing', code: 1800 })
  t.match(await failed(db.$session.login('ada', 'wrong')), { kind: 'denied', status: 401 })
  await db.$session.login('ada', 'correct horse')
  t.match(await db.$session.whoami(), { user: { userName: 'ada', fullName: 'Ada Lovelace' }, privileges: ['boss'] })
  t.match(await db.Company.get(1), { name: 'Acme' })
  await db.$session.logout()
  t.match(await db.$session.whoami(), { user: null })
  t.match(await failed(db.Company.get(1)), { kind: 'missing' })
  t.match(await createClient(url, { key: 'tesser_robot' }).Company.get(1), { name: 'Acme' })
  t.match(await createClient(url, { key: async () => 'tesser_robot' }).Company.get(1), { name: 'Acme' })
  t.match(await failed(createClient(url, { key: 'tesser_other' }).Company.get(1)), { kind: 'denied' })

  await t.test('tesser client writes the client of a server', async t => {
    const out = t.testdir()
    const written = async (...args: string[]) => runTesser(out, 'client', '--out', '-', '--url', ...args)
    const guest = await written(url)
    t.match(guest, { code: 0, output: /interface \$Employee/ })
    t.notMatch(guest.output, /Company/)
    t.match(await written(`${url}/`, '--key', 'tesser_robot', '--module'), {
      code: 0,
      output: /from 'tesser\/client'.*\$Company/s,
    })
    t.match(await written(url, '--key', 'wrong'), { code: 2, output: /the key or token is invalid/ })
    t.match(await written(server.url), { code: 0, output: /interface \$Employee/ }, 'without /rest')
    t.match(await written(`${server.url}/data`), { code: 2, output: /nothing is served at \/data\/rest\/\$client/ })
    t.match(await written('http://127.0.0.1:9/rest'), { code: 1, output: /cannot be reached/ })
  })
})

t.test('the values of a generator arrive one by one', async t => {
  const server = await startServer(t, company, { config: { plugins: [streamingPlugin] } })
  const { createClient } = await moduleOf(t, server)
  const db = createClient(`${server.url}/rest`)
  const valuesOf = async (values: AsyncIterable<Db>): Promise<Db[]> => {
    const all: Db[] = []
    for await (const value of values) all.push(value)
    return all
  }
  t.same(
    await valuesOf(await db.$call('counts', [30_000])),
    Array.from({ length: 30_000 }, (_, i) => i),
  )
  t.same(await valuesOf(await db.$call('counts', [0])), [])
  t.match(await valuesOf(await db.City.query`name = ${'Paris'}`.call('each')), [{ name: 'Paris' }])
  t.same((await valuesOf(await db.City.call('names'))).at(-1), '東京')
  const seen: Db[] = []
  const failing = async () => {
    for await (const value of await db.$call('throwsAfter')) seen.push(value)
  }
  t.match(await failed(failing()), { message: 'short and stout' })
  t.same(seen, [1, 2])
  for await (const value of await db.$call('counts', [1_000_000])) if (value === 5) break
  t.match(await failed(db.$call('throwsFirst')), { message: 'short and stout' })
})
