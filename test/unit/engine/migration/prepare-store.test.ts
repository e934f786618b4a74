import t, { type Test } from 'tap'
import { FORMAT_VERSION, openEnvironment } from '../../../../engine/storage/environment.ts'
import { lockStore } from '../../../../engine/storage/store-lock.ts'
import { openTestStore, type TestStore } from '../write/test-store.ts'

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

t.test('an added index is built, a removed one goes', async t => {
  const before = person({ a: { type: 'string' }, b: { type: 'long', indexed: true } })
  const after = person({ a: { type: 'string', indexed: true }, b: { type: 'long' } })
  const store = await migrate(t, before, after, store => void store.save('Person', [{ a: 'x', b: 1 }, { b: 2 }]))
  t.equal([...store.environment.index.getKeys()].length, 4)
  t.same(store.problems(), [])
})

t.test('an added index over a property is built, a removed one goes', async t => {
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

t.test('a newly unique attribute holds, and duplicates are named', async t => {
  const unique = person({ a: { type: 'string', unique: true } })
  const store = await migrate(t, person({ a: { type: 'string' } }), unique, three)
  t.same(store.one('Person', { a: '1' }).codes, [1115, 1534])
  t.same(store.problems(), [])
})

t.test('duplicates stop a newly unique attribute, whatever is allowed', async t => {
  const unique = person({ a: { type: 'string', unique: true } })
  const fill = (store: TestStore): void => void store.save('Person', [{ a: 'x' }, { a: 'X' }])
  await t.rejects(migrate(t, person({ a: { type: 'string' } }), unique, fill, { allowLoss: true }), {
    name: 'MigrationError',
    message: /Person.a becomes unique, but 1 entities repeat .*"X"/,
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

t.test('everything that would be lost is told at once, and nothing has been changed', async t => {
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
    'City is removed with its 1 entities',
    'Person.a is removed with its values in 1 entities (1)',
    'Person.b becomes long, which 1 values do not convert to without loss ("y")',
    'Person.c has new limits, which 1 entities do not keep (c is 11; at most 10 is expected)',
    'Person.d becomes date, which 1 values do not convert to without loss',
    'Person.e has new limits, which 1 entities do not keep (e is mandatory',
    'Person.f is new and mandatory, but 1 entities have no value for it (1)',
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
  t.same(again.all('City'), [], 'numbers of what was removed are not given again')
  t.match(again.all('Person'), [{ a: null }])
  t.same(again.problems(), [])
})

t.test('the primary key of a dataclass with entities stays', async t => {
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

t.test('a foreign key that leads nowhere is a loss, and null once that is accepted', async t => {
  const fill = (store: TestStore): void => void store.save('Person', [{ a: 'Oslo' }])
  await t.rejects(migrate(t, person({ a: { type: 'string' } }, cities), related, fill), {
    message: /Person.city is a new relation, but in 1 entities a is the key of no City \("Oslo"\)/,
  })
  const store = await reopen(t, t.testdirName, related, { allowLoss: true })
  t.match(store.all('Person'), [{ a: null, city: null }])
  t.same(store.problems(), [])
})

t.test('a relation that goes leaves its foreign key', async t => {
  const store = await migrate(t, related, person({ a: { type: 'string' } }, cities), store => {
    store.save('City', [{ name: 'Oslo' }])
    store.save('Person', [{ city: 'Oslo' }])
  })
  t.match(store.all('Person'), [{ a: 'Oslo', city: undefined }])
  t.match(store.delete('City', [0]), { deleted: 1 })
  t.same(store.problems(), [])
})

t.test('another date form rewrites the rows', async t => {
  const path = t.testdir()
  const model = person({ a: { type: 'date', simpleDate: true, indexed: true } })
  const first = openTestStore(t, { path, model })
  first.save('Person', { a: '2020-01-31' })
  await first.close()
  const store = openTestStore(t, { path, model, wire: { dateOnlyFormat: 'dmy' } })
  t.match(store.all('Person'), [{ a: '31!1!2020' }])
  t.same(store.problems(), [])
})

t.test('an interrupted migration is finished first, even when the model has changed again', async t => {
  const path = t.testdir()
  const before = person({ a: { type: 'string' }, gone: { type: 'image' } })
  const after = person({ b: { type: 'string', indexed: true }, a: { type: 'long', indexed: true } })
  const first = openTestStore(t, { path, model: before })
  const many = Array.from({ length: 12_000 }, (_, i) => ({ a: String(i) }))
  first.save('Person', many)
  await first.close()
  t.throws(
    () =>
      openTestStore(t, {
        path,
        model: after,
        onProgress: ({ what, done }) => {
          if (what === 'index' && done >= 5_000) throw new Error('interrupted')
        },
      }),
    { message: 'interrupted' },
  )
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
  t.throws(() => openTestStore(t, { path }), { message: /has format 1, .* load its data anew/ })
})

t.test('a store is taken by one process, and a killed holder does not keep it', async t => {
  const environment = openEnvironment({ path: t.testdir(), mapSizeBytes: 2 ** 30 })
  t.teardown(() => environment.close())
  const take = (token: string, ...otherTokens: string[]) => lockStore(environment, { token, otherTokens })
  const release = take('a')
  t.throws(() => take('b', 'a'), { message: /in use by process/ })
  take('c')
  release()
  t.match(environment.meta.get('holder'), { token: 'c' }, 'only its own lock is released')
  environment.meta.putSync('holder', { pid: process.ppid, started: '', token: 'x' })
  t.throws(() => take('d'), { message: new RegExp(`in use by process ${process.ppid};`) })
  if (process.platform === 'linux') {
    environment.meta.putSync('holder', { pid: process.ppid, started: '1', token: 'x' })
    take('e')()
  }
  environment.meta.putSync('holder', { pid: 2 ** 22 + 1, started: '1', token: 'x' })
  take('f')()
  t.notOk(environment.meta.get('holder'))
})
