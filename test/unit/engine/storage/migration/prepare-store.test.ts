import t, { type Test } from 'tap'
import { checkModel } from '../../../../../engine/catalog/check-model.ts'
import { describeChange, duration } from '../../../../../engine/storage/migration/describe-change.ts'
import { planChange } from '../../../../../engine/storage/migration/prepare-store.ts'
import { openEnvironment } from '../../../../../engine/storage/environment.ts'
import { FORMAT_VERSION } from '../../../../../engine/storage/format-version.ts'
import { ISO, openTestStore, type TestStore } from '../../write/test-store.ts'

type Attributes = Record<string, object>
const person = (attributes: Attributes, others: Record<string, Attributes> = {}) => ({
  name: 'm',
  dataClasses: {
    Person: { key: 'ID', attributes: { ID: { type: 'long', autoFill: 'increment' }, ...attributes } },
    ...Object.fromEntries(Object.entries(others).map(([name, attributes]) => [name, { key: 'name', attributes }])),
  },
})

/** Fills a store of one model and opens it with another. */
async function migrate(
  t: Test,
  before: object,
  after: object,
  fill: (store: TestStore) => void,
  options: { allowLoss?: boolean } = {},
): Promise<TestStore> {
  const path = t.testdir()
  const first = openTestStore(t, { path, model: before })
  fill(first)
  await first.close()
  return reopen(t, path, after, options)
}

const reopen = async (
  t: Test,
  path: string,
  model: object,
  options: { allowLoss?: boolean } = {},
): Promise<TestStore> => openTestStore(t, { path, model, ...options })

const three = (store: TestStore): void => void store.save('Person', [{ a: '1' }, { a: '2' }, { a: null }])

t.test('vectors of another dimension are a loss that must be allowed', async t => {
  const [two, three] = [2, 3].map(dimension => person({ v: { type: 'vector', dimension } }))
  const fill = (store: TestStore): void => void store.save('Person', { v: [1, 0] })
  const error = await migrate(t, two!, three!, fill).catch(error => error)
  t.match(error, { name: 'MigrationError' })
  t.match(error.message, /Person\.v becomes vector \(dimension 3\), to which 1 value cannot be converted without loss/)
  const unchanged = await reopen(t, t.testdirName, two!)
  t.match(unchanged.all('Person'), [{ v: [1, 0] }])
  await unchanged.close()
  t.match((await reopen(t, t.testdirName, three!, { allowLoss: true })).all('Person'), [{ v: null }])
})

t.test('an integer that a double would round is a loss', async t => {
  const [before, after] = ['long64', 'number'].map(type => person({ v: { type, indexed: true } }))
  const fill = (store: TestStore): void =>
    void store.save('Person', [{ v: '9007199254740992' }, { v: '9007199254740993' }])
  const error = await migrate(t, before!, after!, fill).catch(error => error)
  t.match(error.message, /Person\.v becomes number, to which 1 value .* without loss \(9007199254740993\)/)
  const store = await reopen(t, t.testdirName, after!, { allowLoss: true })
  t.match(store.all('Person'), [{ v: 9_007_199_254_740_992 }, { v: null }])
  t.same(store.problems(), [])
})

t.test('decimals convert to other types and back where nothing is rounded', async t => {
  const decimal = (scale: number, more: object = {}) => ({
    type: 'decimal',
    scale,
    asText: true,
    ...more,
  })
  const changes: readonly [before: object, values: unknown[], after: object, values: unknown[], losses: string][] = [
    [decimal(2), ['1.50', '-0.01', null], decimal(4), ['1.5000', '-0.0100', null], ''],
    [decimal(4), ['1.5', '0.0001'], decimal(2), ['1.50', null], '0.0001'],
    [decimal(0), ['999999999999999999'], decimal(1), [null], '999999999999999999'],
    [decimal(2, { asText: false }), ['12345678901.5'], decimal(2), ['12345678901.50'], ''],
    [decimal(2), ['12345678901.5'], decimal(2, { asText: false }), [12345678901.5], ''],
    [decimal(2), ['0.10', '12345678901234.56'], { type: 'string' }, ['0.10', '12345678901234.56'], ''],
    [{ type: 'string' }, ['1.5', ' 2 ', '1,5', '1.005'], decimal(2), ['1.50', '2.00', null, null], '"1,5", "1.005"'],
    [{ type: 'number' }, [0.1, 0.30000000000000004, 1e15], decimal(2), ['0.10', null, '1000000000000000.00'], '0.3'],
    [
      decimal(2),
      ['0.1', '9007199254740.99', '9007199254740993.5'],
      { type: 'number' },
      [0.1, 9007199254740.99, null],
      '"9007199254740993.50"',
    ],
    [decimal(2), ['7', '7.5'], { type: 'long' }, [7, null], '"7.50"'],
    [decimal(2), ['12345678901', '0.01'], { type: 'long64' }, [12345678901, null], '"0.01"'],
    [{ type: 'long64' }, ['9007199254740993'], decimal(2), ['9007199254740993.00'], ''],
  ]
  for (const [from, values, to, expected, losses] of changes) {
    await t.test(`${JSON.stringify(from)} to ${JSON.stringify(to)}`, async t => {
      const [before, after] = [from, to].map(type => person({ v: { ...type, indexed: true } }))
      const fill = (store: TestStore): void =>
        void store.save(
          'Person',
          values.map(v => ({ v })),
        )
      const path = t.testdir()
      const old = openTestStore(t, { path, model: before! })
      fill(old)
      await old.close()
      if (losses) {
        const error = await reopen(t, path, after!).catch(error => error)
        t.match(error.message, /cannot be converted without loss/)
        t.ok(error.message.includes(losses), error.message)
      }
      const store = await reopen(t, path, after!, { allowLoss: losses !== '' })
      t.strictSame(
        store.all('Person').map(({ v }) => v),
        expected,
      )
      t.same(store.problems(), [])
    })
  }
})

t.test('a decimal key keeps its scale, and may become a text in answers', async t => {
  const model = (more: object) => ({
    name: 'm',
    dataClasses: {
      Rate: { key: 'r', attributes: { r: { type: 'decimal', scale: 2, ...more } } },
      Person: {
        key: 'ID',
        attributes: {
          ID: { type: 'long' },
          rateID: { type: 'decimal', scale: 2, ...more },
          rate: { kind: 'relatedEntity', type: 'Rate', foreignKey: 'rateID' },
        },
      },
    },
  })
  const fill = (store: TestStore): void => {
    store.save('Rate', [{ r: '7.5' }, { r: 19 }])
    store.save('Person', [{ ID: 1, rate: { __KEY: '7.50' } }])
  }
  await t.rejects(migrate(t, model({}), model({ scale: 3 }), fill, { allowLoss: true }), {
    message: /primary key cannot change from r \(decimal of scale 2\) to r \(decimal of scale 3\)/,
  })
  const store = await reopen(t, t.testdirName, model({ asText: true }))
  t.match(store.all('Rate'), [
    { __KEY: '7.50', r: '7.50' },
    { __KEY: '19.00', r: '19.00' },
  ])
  t.match(store.all('Person'), [{ rateID: '7.50', rate: { __deferred: { uri: '/rest/Rate(7.50)', __KEY: '7.50' } } }])
  t.same(store.one('Person', { ID: 2, rateID: 19 }).codes, [])
  t.same(store.problems(), [])
})

t.test('a relation by a date key passes the check', async t => {
  const store = openTestStore(t, {
    model: {
      name: 'm',
      dataClasses: {
        Day: { key: 'd', attributes: { d: { type: 'date', simpleDate: true } } },
        Person: {
          key: 'ID',
          attributes: {
            ID: { type: 'long' },
            dayID: { type: 'date', simpleDate: true },
            day: { kind: 'relatedEntity', type: 'Day', foreignKey: 'dayID' },
          },
        },
      },
    },
  })
  store.save('Day', [{ d: '2020-01-31' }])
  store.save('Person', [{ ID: 1, day: '2020-01-31' }])
  t.match(store.all('Person'), [{ day: { __deferred: { __KEY: '2020-01-31' } } }])
  t.same(store.problems(), [])
})

t.test('a new store gets a format, an id and numbers', async t => {
  const { environment } = openTestStore(t)
  t.equal(environment.meta.get('format'), FORMAT_VERSION)
  t.match(environment.meta.get('storeId'), /^[0-9a-f-]{36}$/)
  t.match(environment.meta.get('numbers'), { dataClasses: { Company: { tableNumber: 1, attributes: { ID: 1 } } } })
})

t.test('the same model changes nothing', async t => {
  const store = await migrate(t, person({ a: { type: 'string' } }), person({ a: { type: 'string' } }), three)
  t.equal(store.layouts.get(store.dataClass('Person'))!.version, 1)
  t.match(store.all('Person'), [{ a: '1', __STAMP: 1 }, { a: '2' }, { a: null }])
})

t.test('added attributes are null, stamps and timestamps stay', async t => {
  const after = person(
    { b: { type: 'long', indexed: true }, a: { type: 'string' } },
    { City: { name: { type: 'string' } } },
  )
  const store = await migrate(t, person({ a: { type: 'string' } }), after, three)
  t.match(store.all('Person'), [{ ID: 1, b: null, a: '1', __STAMP: 1 }, {}, {}])
  t.equal(store.one('Person', { __KEY: 1, __STAMP: 1, b: 5 }).entity.__STAMP, 2)
  t.same(store.one('City', { name: 'Oslo' }).codes, [])
  t.same(store.problems(), [])
})

t.test('an added attribute with a default gets it in all entities, also where it is mandatory', async t => {
  const before = person({ a: { type: 'string' } }, cities)
  const after = person(
    {
      a: { type: 'string', default: 'only for new ones' },
      open: { type: 'bool', mandatory: true, default: false, indexed: true },
      made: { type: 'date', autoFill: 'now' },
      cityName: { type: 'string', default: 'OSLO' },
      city: { kind: 'relatedEntity', type: 'City', foreignKey: 'cityName' },
    },
    cities,
  )
  const fill = (store: TestStore): void => {
    three(store)
    store.save('City', [{ name: 'Oslo' }])
  }
  const store = await migrate(t, before, after, fill)
  const added = { open: false, made: null, cityName: 'Oslo', city: { __deferred: { __KEY: 'Oslo' } }, __STAMP: 1 }
  t.match(store.all('Person'), [{ a: '1', ...added }, { a: '2' }, { a: null, ...added }])
  t.match(store.one('Person', {}).entity, { a: 'only for new ones', open: false, made: String })
  t.same(store.problems(), [])
})

t.test('a default does not make values of existing attributes, and its entity has to exist', async t => {
  const after = person(
    {
      a: { type: 'string', mandatory: true, default: 'x' },
      made: { type: 'date', autoFill: 'now', mandatory: true },
      cityName: { type: 'string', default: 'Rome' },
      city: { kind: 'relatedEntity', type: 'City', foreignKey: 'cityName' },
    },
    cities,
  )
  const error = await migrate(t, person({ a: { type: 'string' } }, cities), after, three).catch(error => error)
  for (const line of [
    'Person.a has new limits, which do not hold in 1 entity (a is mandatory',
    'Person.made is new and mandatory, but has neither a default nor a value in 3 entities (1, 2, 3)',
    'Person.city is a new relation, but in 3 entities cityName is the key of no City ("Rome", "Rome", "Rome")',
  ])
    t.ok(error.message.includes(line), `${line}: ${error.message}`)
})

t.test('renamed dataclasses and attributes keep their values, indexes and relations', async t => {
  const path = t.testdir()
  const info = (more: object) => ({ type: 'object', properties: { 'a.b': { type: 'string', indexed: true } }, ...more })
  const before = {
    name: 'm',
    dataClasses: {
      Firm: {
        key: 'ID',
        attributes: {
          ID: { type: 'long' },
          staff: { kind: 'relatedEntities', type: 'ManSelection', inverseName: 'firm' },
        },
      },
      Man: {
        key: 'ID',
        attributes: {
          ID: { type: 'long', autoFill: 'increment' },
          nme: { type: 'string', unique: true, mandatory: true },
          data: info({}),
          photo: { type: 'blob' },
          firmID: { type: 'long' },
          firm: { kind: 'relatedEntity', type: 'Firm', foreignKey: 'firmID', inverseName: 'staff' },
        },
      },
    },
  }
  const after = {
    name: 'm',
    dataClasses: {
      Company: {
        formerName: 'Firm',
        key: 'number',
        attributes: {
          number: { type: 'long', formerName: 'ID' },
          people: { kind: 'relatedEntities', type: 'PersonSelection', inverseName: 'employer', formerName: 'staff' },
        },
      },
      Person: {
        formerName: 'Man',
        key: 'ID',
        attributes: {
          ID: { type: 'long', autoFill: 'increment' },
          name: { type: 'string', unique: true, mandatory: true, formerName: 'nme' },
          info: info({ formerName: 'data' }),
          picture: { type: 'blob', formerName: 'photo' },
          employerID: { type: 'long', formerName: 'firmID' },
          employer: {
            kind: 'relatedEntity',
            type: 'Company',
            foreignKey: 'employerID',
            inverseName: 'people',
            formerName: 'firm',
          },
        },
      },
    },
  }
  const first = openTestStore(t, { path, model: before })
  first.save('Firm', [{ ID: 7 }, { ID: 8 }])
  first.save('Man', [{ nme: 'Ada', firmID: 7, data: { a: { b: 'x' } } }, { nme: 'Bob' }, { nme: 'Cid', firmID: 7 }])
  const { numbers, entries } = stored(first)
  await first.close()
  for (const model of [after, after, before]) {
    // After the renaming former names have no effect; in the old model the new names are unknown.
    if (model === before) {
      await t.rejects(async () => openTestStore(t, { path, model }), /Company is removed with its 2 entities/)
      break
    }
    const store = openTestStore(t, { path, model })
    t.match(store.all('Person'), [
      {
        name: 'Ada',
        info: { a: { b: 'x' } },
        employerID: 7,
        employer: { __deferred: { uri: '/rest/Company(7)', __KEY: '7' } },
        nme: undefined,
        __STAMP: 1,
      },
      { name: 'Bob', employer: null },
      { name: 'Cid', employerID: 7 },
    ])
    t.match(store.all('Company'), [
      { __KEY: '7', number: 7, people: { __deferred: { uri: '/rest/Company(7)/people?$expand=people' } } },
      { number: 8 },
    ])
    t.same(store.problems(), [])
    t.same(stored(store), {
      entries,
      numbers: {
        Company: { tableNumber: numbers.Firm!.tableNumber, attributes: numbers.Firm!.attributes },
        Person: { tableNumber: numbers.Man!.tableNumber, attributes: numbers.Man!.attributes },
      },
    })
    t.same(store.one('Person', { name: 'Ada' }).codes.slice(0, 1), [1115])
    await store.close()
  }
})

/** Numbers of the store, and its count of index entries. */
function stored({ environment }: TestStore) {
  const { dataClasses } = environment.meta.get('numbers') as {
    dataClasses: Record<string, { tableNumber: number; attributes: Record<string, number> }>
  }
  const numbers = Object.fromEntries(
    Object.entries(dataClasses).map(([name, { tableNumber, attributes }]) => {
      return [name, { tableNumber, attributes: Object.values(attributes) }]
    }),
  )
  return { numbers, entries: [...environment.index.getKeys()].length }
}

t.test('an added index is built, a removed one is deleted', async t => {
  const before = person({ a: { type: 'string' }, b: { type: 'long', indexed: true } })
  const after = person({ a: { type: 'string', indexed: true }, b: { type: 'long' } })
  const store = await migrate(t, before, after, store => void store.save('Person', [{ a: 'x', b: 1 }, { b: 2 }]))
  t.equal([...store.environment.index.getKeys()].length, 4)
  t.same(store.problems(), [])
})

t.test('an added index over a property is built, a removed one is deleted', async t => {
  const info = (properties: object) => person({ info: { type: 'object', properties } })
  const before = info({ 'a.b': { type: 'string' }, size: { type: 'long', indexed: true } })
  const after = info({ 'a.b': { type: 'string', indexed: true }, size: { type: 'long' } })
  const fill = (store: TestStore) =>
    void store.save('Person', [{ info: { a: { b: 'x' }, size: 1 } }, { info: { a: { b: 5 } } }, { info: null }])
  const store = await migrate(t, before, after, fill)
  // Two values of the key and one of the property, and null for the other rows.
  t.equal([...store.environment.index.getKeys()].length, 3 + 2)
  store.one('Person', { __KEY: 2, __STAMP: 1, info: { a: { b: 'y' } } })
  t.equal([...store.environment.index.getKeys()].length, 3 + 3)
  t.same(store.problems(), [])
})

t.test('a newly unique attribute is enforced', async t => {
  const unique = person({ a: { type: 'string', unique: true } })
  const store = await migrate(t, person({ a: { type: 'string' } }), unique, three)
  t.same(store.one('Person', { a: '1' }).codes, [1115, 1534])
  t.same(store.problems(), [])
})

t.test('duplicates prevent a newly unique attribute, even if losses are allowed', async t => {
  const unique = person({ a: { type: 'string', unique: true } })
  const fill = (store: TestStore): void => void store.save('Person', [{ a: 'x' }, { a: 'X' }])
  await t.rejects(migrate(t, person({ a: { type: 'string' } }), unique, fill, { allowLoss: true }), {
    name: 'MigrationError',
    message: /Person.a becomes unique, but a value of another one is in 1 entity .*"X"/,
  })
})

t.test('types change where every value converts', async t => {
  const store = await migrate(
    t,
    person({ a: { type: 'string', indexed: true } }),
    person({ a: { type: 'long', indexed: true } }),
    three,
  )
  t.match(store.all('Person'), [{ a: 1 }, { a: 2 }, { a: null }])
  t.same(store.problems(), [])
  await store.close()
  const back = await reopen(t, t.testdirName, person({ a: { type: 'string', indexed: true } }))
  t.match(back.all('Person'), [{ a: '1' }, { a: '2' }, { a: null }])
  t.same(back.problems(), [])
})

t.test('all losses are reported at once, and nothing is changed', async t => {
  const before = person(
    { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'long' }, d: { type: 'date' }, e: { type: 'string' } },
    { City: { name: { type: 'string' } } },
  )
  const after = person({
    b: { type: 'long' },
    c: { type: 'long', maxValue: 10 },
    d: { type: 'date', simpleDate: true },
    e: { type: 'string', mandatory: true },
    f: { type: 'string', mandatory: true },
  })
  const fill = (store: TestStore): void => {
    store.save('Person', { a: 'x', b: 'y', c: 11, d: '2020-01-31T10:00:00Z' })
    store.save('City', { name: 'Oslo' })
  }
  const error = await migrate(t, before, after, fill).catch(error => error)
  t.equal(error.name, 'MigrationError')
  for (const line of [
    'City is removed with its 1 entity',
    'Person.a is removed with its values in 1 entity (1)',
    'Person.b becomes long, to which 1 value cannot be converted without loss ("y")',
    'Person.c has new limits, which do not hold in 1 entity (c is 11; at most 10 is expected)',
    'Person.d becomes date (simpleDate), to which 1 value cannot be converted without loss',
    'Person.e has new limits, which do not hold in 1 entity (e is mandatory',
    'Person.f is new and mandatory, but has neither a default nor a value in 1 entity (1)',
  ]) {
    t.ok(error.message.includes(line), line)
  }
  const unchanged = await reopen(t, t.testdirName, before)
  t.match(unchanged.all('Person'), [{ a: 'x', b: 'y', c: 11 }])
  await unchanged.close()
  const changed = await reopen(t, t.testdirName, after, { allowLoss: true })
  t.match(changed.all('Person'), [{ a: undefined, b: null, c: 11, d: null, e: null, f: null }])
  t.same(changed.problems(), [])
  await changed.close()
  const again = await reopen(t, t.testdirName, { ...before }, { allowLoss: true })
  t.same(again.all('City'), [], 'numbers of a removed dataclass are not assigned again')
  t.match(again.all('Person'), [{ a: null }])
  t.same(again.problems(), [])
})

t.test('the primary key of a dataclass with entities cannot change', async t => {
  const after = {
    name: 'm',
    dataClasses: { Person: { key: 'a', attributes: { ID: { type: 'long' }, a: { type: 'string' } } } },
  }
  await t.rejects(migrate(t, person({ a: { type: 'string' } }), after, three, { allowLoss: true }), {
    message: /primary key cannot change from ID \(long\) to a \(string\)/,
  })
})

const cities = { City: { name: { type: 'string' } } }
const related = person(
  { a: { type: 'string' }, city: { kind: 'relatedEntity', type: 'City', foreignKey: 'a' } },
  cities,
)

t.test('a new relation finds its entities by the foreign key', async t => {
  const store = await migrate(t, person({ a: { type: 'string' } }, cities), related, store => {
    store.save('City', [{ name: 'Zürich' }])
    store.save('Person', [{ a: 'ZURICH' }, { a: null }])
  })
  t.match(store.all('Person'), [{ a: 'Zürich', city: { __deferred: { __KEY: 'Zürich' } } }, { city: null }])
  t.match(store.delete('City', [0]), { deleted: 0 })
  t.same(store.problems(), [])
})

t.test('a foreign key without an entity is a loss, and becomes null if losses are allowed', async t => {
  const fill = (store: TestStore): void => void store.save('Person', [{ a: 'Oslo' }])
  await t.rejects(migrate(t, person({ a: { type: 'string' } }, cities), related, fill), {
    message: /Person.city is a new relation, but in 1 entity a is the key of no City \("Oslo"\)/,
  })
  const store = await reopen(t, t.testdirName, related, { allowLoss: true })
  t.match(store.all('Person'), [{ a: null, city: null }])
  t.same(store.problems(), [])
})

t.test('a removed relation leaves its foreign key', async t => {
  const store = await migrate(t, related, person({ a: { type: 'string' } }, cities), store => {
    store.save('City', [{ name: 'Oslo' }])
    store.save('Person', [{ city: 'Oslo' }])
  })
  t.match(store.all('Person'), [{ a: 'Oslo', city: undefined }])
  t.match(store.delete('City', [0]), { deleted: 1 })
  t.same(store.problems(), [])
})

t.test('a change of the date format rewrites the rows', async t => {
  const path = t.testdir()
  const model = person({ a: { type: 'date', simpleDate: true, indexed: true } })
  const first = openTestStore(t, { path, model })
  first.save('Person', { a: '2020-01-31' })
  await first.close()
  const store = openTestStore(t, { path, model, wire: { dateOnlyFormat: 'dmy' } })
  t.match(store.all('Person'), [{ a: '31!1!2020' }])
  t.same(store.problems(), [])
})

t.test('a change of the base path rewrites the rows that have links', async t => {
  const path = t.testdir()
  const model = person(
    { city: { kind: 'relatedEntity', type: 'City', foreignKey: 'cityName' }, cityName: { type: 'string' } },
    { City: { name: { type: 'string' } } },
  )
  for (const [basePath, version] of [
    [undefined, 1],
    ['/data', 2],
    ['/data', 2],
    ['/other', 3],
    [undefined, 4],
  ] as const) {
    const store = openTestStore(t, { path, model, wire: { ...ISO, ...(basePath && { basePath }) } })
    if (version === 1) {
      store.save('City', [{ name: 'Oslo' }])
      store.save('Person', [{ city: 'Oslo' }])
    }
    t.match(store.all('Person'), [{ __STAMP: 1, city: { __deferred: { uri: `${basePath ?? ''}/rest/City(Oslo)` } } }])
    t.equal(store.layouts.get(store.dataClass('Person'))!.version, version)
    t.equal(store.layouts.get(store.dataClass('City'))!.version, 1, 'rows without links are not rewritten')
    t.same(store.problems(), [])
    await store.close()
  }
})

t.test('an interrupted migration is finished first, even when the model has changed again', async t => {
  const path = t.testdir()
  const before = person({ a: { type: 'string' }, gone: { type: 'image' } })
  const after = person({ b: { type: 'string', indexed: true }, a: { type: 'long', indexed: true } })
  const first = openTestStore(t, { path, model: before })
  const many = Array.from({ length: 12_000 }, (_, i) => ({ a: String(i) }))
  first.save('Person', many)
  await first.close()
  const checked: number[] = []
  t.throws(
    () =>
      openTestStore(t, {
        path,
        model: after,
        onProgress: ({ what, done, total }) => {
          if (what === 'check') checked.push(done / total)
          if (what === 'index' && done >= 5_000) throw new Error('interrupted')
        },
      }),
    { message: 'interrupted' },
  )
  t.strictSame(checked, [5 / 12, 10 / 12], 'the search for losses reports its progress too')
  const environment = openEnvironment({ path, mapSizeBytes: 2 ** 30 })
  t.ok(environment.meta.get('migration'), 'it has begun')
  await environment.close()
  const store = await reopen(t, path, before)
  t.notOk(store.environment.meta.get('migration'))
  t.match(store.all('Person')[11_999], { a: '11999', gone: null, b: undefined, __STAMP: 1 })
  t.same(store.problems(), [])
})

t.test('a store of a newer format is refused', async t => {
  const path = t.testdir()
  const environment = openEnvironment({ path, mapSizeBytes: 2 ** 30 })
  environment.meta.putSync('format', FORMAT_VERSION + 1)
  await environment.close()
  t.throws(() => openTestStore(t, { path }), { message: /has format \d+, which a newer version wrote/ })
})

t.test('a store of a format before the first release is refused', async t => {
  const path = t.testdir()
  const environment = openEnvironment({ path, mapSizeBytes: 2 ** 30 })
  environment.meta.putSync('format', 1)
  await environment.close()
  t.throws(() => openTestStore(t, { path }), { message: /has format 1, .* load its data again/ })
})

t.test('a change is described before it is made, and changes nothing until then', async t => {
  const path = t.testdir()
  const first = openTestStore(t, {
    path,
    model: {
      name: 'described',
      dataClasses: {
        Person: {
          key: 'ID',
          attributes: {
            ID: { type: 'long' },
            name: { type: 'string' },
            age: { type: 'string' },
            gone: { type: 'bool' },
          },
        },
        Old: { key: 'ID', attributes: { ID: { type: 'long' } } },
      },
    },
  })
  first.save('Person', [{ ID: 1 }, { ID: 2 }])
  const { environment } = first
  const next = checkModel({
    name: 'described',
    dataClasses: {
      Human: {
        formerName: 'Person',
        key: 'ID',
        attributes: {
          ID: { type: 'long' },
          lastName: { type: 'string', indexed: true, formerName: 'name' },
          age: { type: 'long' },
          born: { type: 'date' },
        },
      },
      New: { key: 'ID', attributes: { ID: { type: 'long' } } },
    },
  })
  const before = JSON.stringify(environment.meta.get('model'))
  t.strictSame(describeChange(environment, planChange(environment, { model: next, wire: ISO })!), [
    'New is added',
    'Old is removed with its 0 entities',
    'Person is renamed to Human',
    'Person.name is renamed to Human.lastName',
    'Human.age is converted from string to long',
    'Human.born is added',
    'Person.gone is removed',
    '2 entities of Human to rewrite (roughly less than a second)',
    'indexes of Human are built from 2 entities (roughly less than a second): lastName',
  ])
  t.equal(JSON.stringify(environment.meta.get('model')), before)
  await first.close()
  const notes: string[] = []
  const store = openTestStore(t, { path, model: next, allowLoss: true, onNote: text => notes.push(text) })
  t.match(notes, [
    'the store changes: New is added',
    'the store changes: Old is removed with its 0 entities',
    'the store changes: Person is renamed to Human',
    'the store changes: Person.name is renamed to Human.lastName',
  ])
  t.equal(planChange(store.environment, { model: next, wire: ISO }), undefined, 'no change is left afterwards')
})

t.test('losses that are allowed are named', async t => {
  const path = t.testdir()
  const first = openTestStore(t, { path, model: person({ a: { type: 'string' } }) })
  first.save('Person', { a: 'x' })
  await first.close()
  const notes: string[] = []
  openTestStore(t, { path, model: person({}), allowLoss: true, onNote: text => notes.push(text) })
  t.ok(notes.includes('the store changes: Person.a is removed'))
  t.equal(
    notes.at(-1),
    'data are lost, as storage.allowLoss permits: Person.a is removed with its values in 1 entity (1)',
  )
})

t.test('the time of a change is a rough figure', async t => {
  t.strictSame([45_000, 1_000_001, 89_000_000, 91_000_000].map(duration), [
    'less than a second',
    '2 s',
    '89 s',
    '2 min',
  ])
})

t.test('attributes become unique together, are renamed, and are no longer so', async t => {
  const model = (unique: string[][], attributes: Attributes) => {
    const { name, dataClasses } = person(attributes)
    return { name, dataClasses: { Person: { ...dataClasses.Person, unique } } }
  }
  const [string, long] = [{ type: 'string' }, { type: 'long' }]
  const fill = (store: TestStore): void =>
    void store.save('Person', [{ a: 'x', b: 1 }, { a: 'x', b: 2 }, { a: 'Y', b: 1 }, { a: 'x' }, { a: 'x' }])
  const two = { a: string, b: long }
  const error = await migrate(t, model([], two), model([['a', 'b']], two), store => {
    fill(store)
    store.save('Person', { a: 'y', b: 1 })
  }).catch(error => error)
  t.match(
    error.message,
    /Person\.a and Person\.b become unique together, but values of another one are in 1 entity \("y" and 1\)/,
  )

  const filled = { ...two, open: { type: 'bool', default: true } }
  const same = (store: TestStore): void => void store.save('Person', [{ a: 'x' }, { a: 'X' }])
  const another = await migrate(t, model([], two), model([['a', 'open']], filled), same).catch(error => error)
  t.match(another.message, /become unique together, but values of another one are in 1 entity \("X" and true\)/)

  const path = t.testdir()
  const next = (model: object) => openTestStore(t, { path, model })
  const check = async (store: TestStore, body: object, codes: number[]): Promise<void> => {
    t.same(store.one('Person', body).codes, codes, JSON.stringify(body))
    t.same(store.problems(), [])
    await store.close()
  }
  const first = next(model([], two))
  fill(first)
  await first.close()
  await check(next(model([['a', 'b']], two)), { a: 'X', b: 2 }, [1115, 1534])
  const renamed = { a: string, c: { ...long, formerName: 'b' } }
  await check(next(model([['a', 'c']], renamed)), { a: 'X', c: 2 }, [1115, 1534])
  await check(next(model([['a', 'c']], { a: string, c: string })), { a: 'X', c: '2' }, [1115, 1534])
  await check(next(model([], { a: string, c: string })), { a: 'X', c: '2' }, [])
})

t.test('an attribute that becomes calculated, or is no longer, keeps its values and indexes', async t => {
  const model = (open: object, others: Attributes = {}) => {
    const { name, dataClasses } = person({ a: { type: 'string' }, open, ...others })
    return { name, dataClasses: { Person: { ...dataClasses.Person, unique: [['a', 'open']] } } }
  }
  const more = { more: { type: 'bool', default: true } }
  const [plain, calculated] = [{}, { kind: 'calculated', stored: true }].map(kind => (type: string) => ({
    ...{ ...kind, type },
    indexed: true,
  }))
  const fill = (store: TestStore): void =>
    void store.save('Person', [{ a: 'x', open: true }, { a: 'x', open: false }, { a: 'x' }])
  for (const others of [{}, more]) {
    const path = t.testdir()
    const first = openTestStore(t, { path, model: model(plain!('bool')) })
    fill(first)
    await first.close()
    const second = await reopen(t, path, model(calculated!('bool'), others), { allowLoss: true })
    t.match(second.all('Person'), [{ open: true }, { open: false }, { open: null }])
    t.same(second.problems(), [])
    await second.close()
    const third = await reopen(t, path, model({ ...plain!('bool'), default: true }, others))
    t.match(third.all('Person'), [{ open: true }, { open: false }, { open: null }])
    t.same(third.one('Person', { a: 'X' }).codes, [1115, 1534])
    t.same(third.problems(), [])
    await third.close()
    const mandatory = model({ ...plain!('bool'), mandatory: true }, others)
    t.match((await reopen(t, path, mandatory).catch(error => error)).message, /Person\.open has new limits/)
  }
  const path = t.testdir()
  const before = openTestStore(t, { path, model: model(calculated!('bool')) })
  before.save('Person', [{ a: 'x' }])
  await before.close()
  const another = await reopen(t, path, model({ ...plain!('string'), mandatory: true })).catch(error => error)
  t.match(another.message, /Person\.open is new and mandatory, but has neither a default nor a value in 1 entity/)
})
