/** Attributes and dataclasses that are added, renamed or calculated from now on. */
import t from 'tap'
import { openTestStore, type TestStore } from '../../../../support/engine/test-store.ts'
import { type Attributes, cities, migrate, person, reopen, three } from './changed-store.ts'

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
