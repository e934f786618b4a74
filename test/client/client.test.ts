/** Clients against a running server: the requests that their methods send, and how they read the answers. */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { hashKey } from '../../kernel/auth/directory.ts'
import { quickHash } from '../support/base/password.ts'
import { connect } from '../../plugins/client/runtime/client.ts'
import { runTesser } from '../support/commands/author-package.ts'
import { company } from '../support/fixtures/company.ts'
import { declaredPlugin, staffPlugin, streamingPlugin } from '../support/plugins/test-plugins.ts'
import { startServer, temporaryFolder, type TestServer, transports } from '../support/servers/test-server.ts'
import { loadModule, writeProject } from '../support/clients/typed-client.ts'
import { until } from '../support/base/until.ts'

const fixture = {
  model: {
    ...company.model,
    dataClasses: {
      ...(company.model as { dataClasses: object }).dataClasses,
      Price: {
        key: 'ID',
        attributes: {
          ID: { type: 'long64', autoFill: 'increment' },
          amount: { type: 'decimal', scale: 2 },
          text: { type: 'decimal', scale: 3, asText: true },
          note: { type: 'string' },
          uri: { type: 'string' },
          places: { kind: 'relatedEntities', type: 'PlaceSelection', inverseName: 'price' },
        },
      },
      Place: {
        key: 'ID',
        attributes: {
          ID: { type: 'long', autoFill: 'increment' },
          name: { type: 'string' },
          vector: { type: 'vector', dimension: 2, metric: 'cosine' },
          priceID: { type: 'long64' },
          price: { kind: 'relatedEntity', type: 'Price', foreignKey: 'priceID', inverseName: 'places' },
        },
      },
    },
  },
  rows: {
    ...company.rows,
    Price: [
      { ID: 1, amount: '12.50', text: '0.100', note: 'a:12345678901234567890,"', uri: 'mine' },
      { ID: '9007199254740993', amount: '1234567890123456.89', text: '-3.000', note: '\u0000n12345678901234567890' },
    ],
    Place: [
      { ID: 1, name: 'east', vector: [1, 0], priceID: '9007199254740993' },
      { ID: 2, name: 'north', vector: [0, 1] },
      { ID: 3, name: 'north-east', vector: [1, 1] },
    ],
  },
}

// biome-ignore lint/suspicious/noExplicitAny: clients of all models
type Db = any
// biome-ignore lint/suspicious/noExplicitAny: the module of a client
type Module = any

/** The client that a server sends in answer to a request, as a module. */
async function moduleOf(t: Test, server: TestServer, query = '', headers?: Record<string, string>): Promise<Module> {
  const { status, text } = await server.get(`/$client${query}`, headers)
  t.equal(status, 200)
  const folder = t.testdir()
  writeProject(folder, { 'client.ts': text })
  return loadModule(folder, 'client.ts')
}

const failed = (promise: Promise<unknown>): Promise<Db> =>
  promise.then(
    value => ({ value }),
    error => error,
  )
const names = (rows: readonly Db[]): unknown[] => rows.map(row => row.lastName ?? row.name)

/** Uses of a client, and the expected answers. */
const READS: Record<string, [(db: Db) => Promise<unknown>, unknown]> = {
  'a filter with values': [
    async db => names(await db.Employee.query`salary > ${40_000} and lastName begin ${'g'}`.list()),
    ['Gödel'],
  ],
  'a value with quotes and signs': [
    async db => names(await db.Employee.query`lastName = ${"O'Reilly"} or lastName = ${'" or 1=1 :1 @x'}`.list()),
    ["O'Reilly"],
  ],
  'a text with its values': [async db => names(await db.Employee.query('lastName = :2', 1, 'Gödel').list()), ['Gödel']],
  'null is written into the filter': [async db => names(await db.Employee.query`salary = ${null}`.list()), ['Turing']],
  'a list of values': [
    async db => names(await db.Employee.query`ID in ${[1, 3]}`.orderBy('lastName desc').list()),
    ["O'Reilly", 'Lovelace'],
  ],
  'an entity stands for its key': [
    async db => names(await db.Employee.query`employer = ${await db.Company.get(2)}`.list()),
    ["O'Reilly", 'Hopper'],
  ],
  'a date': [async db => names(await db.Employee.query`birthDate > ${new Date('1980-01-01')}`.list()), ['Lovelace']],
  'a bigint': [
    async db => (await db.Tag.query`größe = ${9_223_372_036_854_775_807n}`.list()).map((row: Db) => row.größe),
    [9_223_372_036_854_775_807n],
  ],
  'undefined is refused': [
    async db => (await failed((async () => db.Employee.query`salary = ${undefined}`)())).name,
    'TypeError',
  ],
  'attributes over four levels': [
    async db =>
      db.Employee.query`ID = 6`
        .select('lastName', 'manager.employer.name', 'manager.employer.staff.manager.lastName')
        .first(),
    {
      lastName: 'Smith',
      manager: {
        employer: {
          name: 'Éclair',
          staff: {
            count: 2,
            first: 0,
            entities: [{ manager: { lastName: 'Lovelace' } }, { manager: { lastName: 'Gödel' } }],
          },
        },
      },
    },
  ],
  'an entity by its key': [
    async db => db.Employee.get(1),
    {
      __KEY: '1',
      __STAMP: 1,
      lastName: 'Lovelace',
      birthDate: new Date('1985-12-10T08:30:00Z'),
      hired: '2010-01-04',
      dailyWork: 28_800_000,
      employer: { __KEY: '1' },
      manager: null,
      directReports: undefined,
      photo: { url: /\/rest\/Employee\(1\)\/photo\?/ },
    },
  ],
  'no entity': [async db => [await db.Employee.get(99), await db.City.get('x"y)z')], [null, null]],
  'a key with signs': [async db => (await db.City.get('New York (NY)')).population, 8_300_000],
  'a key with a quote': [async db => (await db.City.get("L'Aquila")).population, 69_000],
  'a key of another script': [async db => (await db.City.get('東京', ['population'])).population, 14_000_000],
  'attributes of an entity': [async db => Object.keys(await db.Company.get(3, ['code'])).includes('name'), false],
  'expanded relations': [
    async db => db.Company.query`ID = 2`.expand('staff', 'staff.manager').first(),
    {
      name: 'Éclair',
      staff: { count: 2, entities: [{ lastName: "O'Reilly", manager: { lastName: 'Lovelace' } }, {}] },
    },
  ],
  'a page': [
    async db => db.Employee.all.select('lastName').orderBy('lastName').skip(1).top(2).page(),
    { count: 6, first: 1, entities: [{ lastName: 'Hopper' }, { lastName: 'Lovelace' }] },
  ],
  'counts and aggregates': [
    async db => [
      await db.Employee.all.count(),
      await db.Employee.query`salary > 0`.sum('salary'),
      await db.Employee.all.average('salary'),
      await db.Employee.all.max('birthDate'),
      await db.Employee.all.min('lastName'),
      await db.Employee.query`salary < 0`.max('salary'),
      await db.Employee.all.distinct('employer.name'),
    ],
    [6, 330_000, 66_000, new Date('1985-12-10T08:30:00Z'), 'Gödel', null, ['Acme', 'Éclair', 'zeta']],
  ],
  'exact numbers': [
    async db =>
      (await db.Price.all.orderBy('ID').list()).map(({ ID, amount, text, note, uri }: Db) => [
        ID,
        amount,
        text,
        note,
        uri,
      ]),
    [
      [1, '12.50', '0.100', 'a:12345678901234567890,"', 'mine'],
      [9_007_199_254_740_993n, '1234567890123456.89', '-3.000', '\u0000n12345678901234567890', null],
    ],
  ],
  'exact aggregates': [
    async db => [await db.Price.all.sum('amount'), await db.Price.all.max('ID'), await db.Price.all.distinct('amount')],
    ['1234567890123469.39', 9_007_199_254_740_993n, ['12.50', '1234567890123456.89']],
  ],
  'exact numbers over relations': [
    async db => {
      const place = await db.Place.query`ID = 1`.select('price.amount', 'price.places.price.ID').first()
      const { price } = await db.Place.get(1, ['price.*'])
      const values = [await db.Place.all.distinct('price.amount'), await db.Place.all.max('price.ID')]
      return [place.price.amount, place.price.places.entities[0].price.ID, price.ID, price.amount, ...values]
    },
    [
      ...['1234567890123456.89', 9_007_199_254_740_993n, 9_007_199_254_740_993n, '1234567890123456.89'],
      ...[['1234567890123456.89'], 9_007_199_254_740_993n],
    ],
  ],
  'an exact key': [async db => (await db.Price.get(9_007_199_254_740_993n)).text, '-3.000'],
  'similar vectors': [
    async db =>
      (
        await db.Place.query`vector > ${{ vector: [1, 0.1], threshold: 0.5 }}`
          .select('name', '__SCORE')
          .orderBy('vector desc')
          .list()
      ).map(({ name, __SCORE }: Db) => [name, __SCORE > 0.5]),
    [
      ['east', true],
      ['north-east', true],
    ],
  ],
  'all pages': [
    async db => {
      const seen = []
      for await (const { entities } of db.Employee.all.select('lastName').orderBy('lastName').pages(4))
        seen.push(names(entities))
      for await (const { lastName } of db.Employee.all.orderBy('lastName').skip(4).top(1)) seen.push(lastName)
      for await (const each of db.Employee.query`ID > 1000`) seen.push(each)
      return seen
    },
    [['Gödel', 'Hopper', 'Lovelace', "O'Reilly"], ['Smith', 'Turing'], 'Smith'],
  ],
  'entity sets': [
    async db => {
      const women = await db.Employee.query`woman = ${true}`.orderBy('lastName').entitySet({ timeout: 60 })
      const rich = await db.Employee.query`salary > 80000`.entitySet()
      const poor = await db.Employee.query`salary < 1000`.entitySet()
      const [and, or, except] = [await women.and(rich), await women.or(rich), await women.except(rich)]
      const found = [and, or, except].map(set => set.orderBy('lastName').list().then(names))
      const seen = []
      for await (const { lastName } of women) seen.push(lastName)
      const answer = [
        ...(await Promise.all(found)),
        [await women.intersects(rich), await rich.intersects(poor)],
        names(await women.query`lastName begin ${'h'}`.list()),
        [await women.count(), names(await db.Employee.entitySet(women.id).top(1).list()), seen.length],
      ]
      await women.release()
      return [...answer, (await failed(women.list())).kind]
    },
    [
      ['Hopper', 'Lovelace'],
      ['Hopper', 'Lovelace', 'Smith'],
      ['Smith'],
      [true, false],
      ['Hopper'],
      [3, ['Hopper'], 3],
      'missing',
    ],
  ],
  'functions with declarations': [
    async db => [
      names((await db.Employee.call('earning', [45_000])).entities),
      await db.Employee.call('plan', [{ from: '2026-01-01' }]),
      await db.Employee.call('nameOf', [db.Company.at(1)]),
      await db.Employee.call('sizes', [await db.Employee.query`woman = ${true}`.entitySet()]),
      await db.Employee.at(1).call('raised', [50]),
      await db.Employee.query`ID < ${3}`.orderBy('ID').call('joined', ['+']),
      (await db.$call('company', [1])).name,
      await db.$call('company', ['77']),
      await db.$singleton('Register', 'set', [{ a: true }]),
    ],
    [['Gödel', 'Hopper'], '2026-01-01 open', 'Acme', 3, 135_000, 'Lovelace+Gödel', 'Acme', null, ['a']],
  ],
  'wrong arguments': [
    async db => {
      const { kind, code, message } = await failed(db.Employee.call('earning', ['much']))
      return { kind, code, message }
    },
    { kind: 'request', code: 1603, message: /argument 1, "minimum"/ },
  ],
  'names that do not exist': [
    async db => {
      const { kind, code } = await failed(db.Employee.query`lastNam = 1`.list())
      return { kind, code }
    },
    { kind: 'missing', code: 1500 },
  ],
  'an abort': [async db => (await failed(db.Employee.all.list({ signal: AbortSignal.abort() }))).name, 'AbortError'],
  'the user': [async db => db.$session.whoami(), { user: null, privileges: [], administrator: false }],
  'a key for caches': [
    async db => JSON.parse(JSON.stringify(db.City.query`population > ${5}`.select('name').top(1).key)),
    ['City', { $filter: 'population > :1', $params: [5], $attributes: 'name', $top: 1 }],
  ],
}

for (const transport of transports) {
  t.test(`reads, ${transport}`, async t => {
    const server = await startServer(t, fixture, { transport, config: { plugins: [declaredPlugin] } })
    const { createClient } = await moduleOf(t, server)
    const db = createClient(`${server.url}/rest/`)
    for (const [name, [run, expected]] of Object.entries(READS)) {
      await t.test(name, async t => {
        const answer = await run(db)
        if (Array.isArray(expected)) t.strictSame(answer, expected)
        else t.match(answer, expected as object)
      })
    }
  })

  t.test(`writes, ${transport}`, async t => {
    const server = await startServer(t, fixture, { transport })
    const client = await moduleOf(t, server)
    const db: Db = client.createClient(`${server.url}/rest`)
    await t.test('create, save, conflict, delete', async t => {
      const made = await db.Company.create({
        name: 'New',
        revenues: 5,
        founded: new Date('2020-02-29T00:00:00Z'),
        info: { a: [1] },
      })
      t.match(made, { name: 'New', founded: '2020-02-29', info: { a: [1] }, __STAMP: 1 })
      t.notOk('uri' in made)
      const saved = await db.Company.save({ ...made, name: 'Newer' })
      t.match(saved, { name: 'Newer', __STAMP: 2 })
      const conflict = await failed(db.Company.save({ ...made, name: 'Other' }))
      t.ok(
        conflict instanceof client.ConflictError &&
          db.Company.isConflict(conflict) &&
          !db.Employee.isConflict(conflict),
      )
      t.match(conflict, {
        kind: 'conflict',
        status: 409,
        code: 1263,
        current: { name: 'Newer', __STAMP: 2, staff: undefined },
      })
      await db.Company.delete(made.__KEY)
      t.equal(await db.Company.get(made.ID), null)
      t.match(await failed(db.Company.delete(made.ID)), { kind: 'missing', code: 1543 })
    })
    await t.test('read-only attributes of an entity are not sent back when it is saved', async t => {
      const [row] = await db.Employee.query`ID = 2`.select('*', 'employer.*', 'directReports.*').list()
      const saved = await db.Employee.save({ ...row, salary: 46_000, manager: await db.Employee.get(4) })
      t.match(saved, { salary: 46_000, manager: { __KEY: '4' }, employer: { __KEY: '1' }, __STAMP: 2 })
      t.match(await db.Employee.save({ ...saved, employer: '3' }), { employer: { __KEY: '3' } })
      t.match(await db.Employee.query`employer = ${{ __KEY: '3' }}`.count(), 2)
    })
    await t.test('refused values', async t => {
      const error = await failed(db.Employee.create({ lastName: null, salary: -1 }))
      t.ok(error instanceof client.ValidationError && error instanceof client.TesserError && error instanceof Error)
      t.match(error, { kind: 'validation', name: 'ValidationError', attribute: String, faults: [{ errCode: Number }] })
      t.match(Object.keys(error.byAttribute).length > 0, true)
      t.match(await failed(db.Company.create({ name: 'x', code: 'FR/1' })), {
        kind: 'validation',
        attribute: 'code',
        code: 1115,
      })
      t.match(await failed(db.Company.create({ nam: 'x' })), { kind: 'missing', attribute: 'nam', code: 1500 })
      t.match(await failed(db.Company.validate({ name: 'x', code: 'wrong' })), {
        kind: 'validation',
        attribute: 'code',
      })
      t.equal(await db.Company.validate({ name: 'x' }), undefined)
    })
    await t.test('values that JSON would replace by null are refused before anything is sent', async t => {
      const employee = await db.Employee.get(3)
      const never = new Date('x')
      for (const [send, message] of [
        [() => db.Employee.save({ ...employee, salary: Number('12,5') }), /^salary is NaN/],
        [() => db.Employee.save({ ...employee, birthDate: never }), /^birthDate is an invalid Date/],
        [() => db.Company.create({ name: 'x', info: { deep: [Number.POSITIVE_INFINITY] } }), /is Infinity/],
        [() => db.Employee.query`birthDate > ${never}`.list(), /filter is an invalid Date/],
        [() => db.Employee.query`salary in ${[1, Number.NaN]}`.list(), /is NaN/],
        [() => db.Employee.get(undefined), /the key is undefined/],
        [() => db.Employee.delete(undefined), /the key is undefined/],
      ] as const) {
        const error = await failed((async () => send())())
        t.match(error, { name: 'TypeError', message })
      }
      t.match(await db.Employee.get(3), {
        salary: employee.salary,
        birthDate: employee.birthDate,
        __STAMP: employee.__STAMP,
      })
    })
    await t.test('exact numbers', async t => {
      const made = await db.Price.create({ amount: '0.10', ID: 9_007_199_254_740_995n, text: 7, uri: 'here' })
      t.match(made, { ID: 9_007_199_254_740_995n, amount: '0.10', text: '7.000', uri: 'here' })
      t.match(await db.Price.create({ amount: 1_234_567_890_123_456n }), { amount: '1234567890123456.00' })
    })
    await t.test('batches', async t => {
      const city = await db.City.get('Paris')
      const outcomes = await db.City.saveAll([
        { name: 'Lyon' },
        { ...city, name: 'Paris', population: 1.5 },
        { name: 'Paris' },
      ])
      t.match(outcomes, [
        { entity: { name: 'Lyon' } },
        { error: { kind: 'validation', attribute: 'population', index: 1 } },
        { error: { kind: 'validation', index: 2 } },
      ])
      const error = await failed(db.City.saveAtomic([{ name: 'Nice' }, { name: 'Paris' }]))
      t.ok(error instanceof client.BatchError)
      t.match(error, { index: 1, failures: [{ index: 1, kind: 'validation' }] })
      t.equal(await db.City.get('Nice'), null)
      t.match(names(await db.City.saveAtomic([{ name: 'Nice' }, { name: 'Brest' }])), ['Nice', 'Brest'])
      t.strictSame(await db.City.saveAll([]), [])
      await db.City.delete(['Nice', 'Brest'], { atomic: true })
      await db.City.delete([])
      await db.City.query`name = ${'Lyon'}`.delete()
      t.equal(await db.City.all.count(), 4)
      t.match(await failed(db.City.all.delete()), { kind: 'request', code: 1806 }, 'not everything by mistake')
    })
    await t.test('files', async t => {
      const { photo } = await db.Employee.get(1)
      const image = await db.$download(photo)
      t.equal(image.type, 'image/png')
      t.match(client.imageUrl(photo, { width: 8, format: 'gif' }), /imageformat=gif.*&\$width=8$/)
      const shares: number[] = []
      const upload = await db.$upload(image, { onProgress: (share: number) => shares.push(share) })
      t.equal(shares.at(-1), 1)
      const saved = await db.Employee.save({ ...(await db.Employee.get(2)), photo: upload })
      t.equal((await db.$download(saved.photo)).size, image.size)
      t.match(await db.Employee.save({ ...saved, photo: null }), { photo: null })
      const large = new Uint8Array(300_000).fill(7)
      const parts: number[] = []
      const file = await db.$upload(large, { onProgress: (share: number) => parts.push(share) })
      t.ok(parts.length > 1 && parts.every((share, index) => share >= (parts[index - 1] ?? 0)))
      const company = await db.Company.save({ ...(await db.Company.get(2)), contract: file })
      t.equal((await db.$download(company.contract)).size, 300_000)
      t.match(await failed(db.$download({ url: `${server.url}/rest/Employee(77)/photo` })), { kind: 'missing' })
      t.match(await failed(db.$upload(new Uint8Array(0))), { kind: 'request', code: 1806 })
    })
    await t.test('locks belong to the session that a client keeps', async t => {
      const other: Db = client.createClient(`${server.url}/rest`)
      t.match(await db.Employee.at(3).lock(), { ok: true })
      t.match(await other.Employee.at(3).lock(), { ok: false, lockInfo: Object })
      const row = await other.Employee.get(3)
      t.match(await failed(other.Employee.save({ ...row, salary: 1 })), { kind: 'locked' })
      t.match(await db.Employee.at(3).unlock(), { ok: true })
      t.match(await db.Employee.at(3).unlock(), { wasNotLocked: true })
    })
  })
}

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
    t.match(await written(server.url), { code: 2, output: /nothing is served at \/\$client/ })
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
