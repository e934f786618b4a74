/** Reads of a client: the requests that its methods send, and how it reads the answers. */
import t from 'tap'
import { declaredPlugin } from '../support/plugins/test-plugins.ts'
import { startServer, transports } from '../support/servers/test-server.ts'
import { type Db, failed, fixture, moduleOf, names } from './loaded-client.ts'

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
}
