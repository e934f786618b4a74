/** Indexes, unique attributes and relations that are added or removed. */
import t from 'tap'
import { openTestStore, type TestStore } from '../../../../support/engine/test-store.ts'
import { type Attributes, cities, migrate, person, reopen, three } from './changed-store.ts'

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

t.test('texts of which the index holds the same beginning are duplicates only if they are equal', async t => {
  const long = 'x'.repeat(1_100)
  const [plain, unique] = [person({ a: { type: 'string' } }), person({ a: { type: 'string', unique: true } })]
  const fill =
    (last: string) =>
    (store: TestStore): void =>
      void store.save('Person', [{ a: `${long}a` }, { a: `${long}b` }, { a: long }, { a: last }])
  await t.rejects(migrate(t, plain, unique, fill(`${long}A`)), { message: /a value of another one is in 1 entity/ })
  const store = await migrate(t, plain, unique, fill(`${long}c`))
  t.same(store.one('Person', { a: `${long}B` }).codes, [1115, 1534])
  t.same(store.problems(), [])
})

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
