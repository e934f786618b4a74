/** How a store is made, and how a change of its model is described, interrupted and refused. */
import t from 'tap'
import { checkModel } from '../../../../../engine/catalog/check-model.ts'
import { describeChange, duration } from '../../../../../engine/storage/migration/describe-change.ts'
import { planChange } from '../../../../../engine/storage/migration/prepare-store.ts'
import { openEnvironment } from '../../../../../engine/storage/environment.ts'
import { FORMAT_VERSION } from '../../../../../engine/storage/format-version.ts'
import { ISO, openTestStore, type TestStore } from '../../../../support/engine/test-store.ts'
import { migrate, person, reopen, three } from './changed-store.ts'

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
