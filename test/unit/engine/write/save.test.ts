import t from 'tap'
import { changesBetween } from '../../../../engine/storage/change-log.ts'
import { LmdbTransaction } from '../../../../engine/storage/lmdb-transaction.ts'
import { codesOf, NOW, openTestStore, saveRequest } from './test-store.ts'

t.test('a new entity gets key, stamp 1 and timestamp', async t => {
  const store = openTestStore(t)
  const { entity, codes } = store.one('Company', { name: 'Acme', code: 'FR1' })
  t.same(codes, [])
  t.match(entity, { __KEY: '1', __STAMP: 1, __TIMESTAMP: new Date(NOW).toISOString(), ID: 1, name: 'Acme', note: null })
  t.same(store.problems(), [])
})

t.test('an update changes the listed attributes, and the stamp grows by one', async t => {
  const store = openTestStore(t)
  store.one('Company', { name: 'Acme', code: 'FR1' })
  const { entity } = store.one('Company', { __KEY: '1', __STAMP: 1, name: 'Bull' })
  t.match(entity, { __STAMP: 2, name: 'Bull', code: 'FR1' })
  t.match(store.one('Company', { __KEY: 1, __STAMP: 2, code: null }).entity, { __STAMP: 3, name: 'Bull', code: null })
  t.same(store.problems(), [])
})

t.test('an update that changes nothing keeps the stamp', async t => {
  const store = openTestStore(t)
  const { entity } = store.one('Person', { name: 'Ada', extra: { a: [1] }, born: '2020-01-31' })
  const again = store.one('Person', entity)
  t.same(again.codes, [])
  t.same(again.entity, entity)
  t.equal(store.save('Person', entity).globalStamp, 1)
})

for (const [name, stamp] of [
  ['an older', { __STAMP: 1 }],
  ['a missing', {}],
  ['a wrong kind of', { __STAMP: 'new' }],
  ['a null', { __STAMP: null }],
] as const) {
  t.test(`${name} stamp is stale: 1263, 1046, 1517 and the entity as it is`, async t => {
    const store = openTestStore(t)
    store.one('Company', { name: 'Acme' })
    store.one('Company', { __KEY: '1', __STAMP: 1, name: 'Bull' })
    const answer = store.one('Company', { __KEY: '1', ...stamp, name: 'Cray' })
    t.match(answer, { codes: [1263, 1046, 1517], status: 2, httpStatus: 409, entity: { __STAMP: 2, name: 'Bull' } })
    t.match(answer.messages[0], /has __STAMP 2, the request sent/)
  })
}

t.test('an unknown key is not an insert', async t => {
  const store = openTestStore(t)
  t.match(store.one('Company', { __KEY: '9', __STAMP: 1, name: 'Acme' }), {
    codes: [1543, 1517],
    status: 5,
    httpStatus: 404,
    entity: undefined,
  })
  t.match(store.one('Company', { __KEY: 'x', __STAMP: 1, name: 'Acme' }), { codes: [1543, 1517] })
  t.match(store.one('Company', { __KEY: {}, __STAMP: 1 }), { codes: [1543, 1517] })
})

t.test('a stamp without key, or a null key, is an insert', async t => {
  const store = openTestStore(t)
  t.match(store.one('Company', { __STAMP: 0, name: 'Acme' }).entity, { __KEY: '1' })
  t.match(store.one('Company', { __KEY: null, name: 'Acme' }).entity, { __KEY: '2' })
})

t.test('an explicit key is used, and automatic ones continue after it', async t => {
  const store = openTestStore(t)
  t.equal(store.one('Company', { ID: 41, name: 'Acme' }).entity.__KEY, '41')
  t.equal(store.one('Company', { name: 'Bull' }).entity.__KEY, '42')
  t.match(store.one('Company', { ID: 41, name: 'Cray' }), { codes: [1115, 1545, 1534], httpStatus: 409 })
  store.one('Company', { ID: 2147483647, name: 'Last' })
  const { codes, messages } = store.one('Company', { name: 'Next' })
  t.same(codes, [1546, 1534])
  t.match(messages[0], /2147483648/)
  t.same(store.problems(), [])
})

t.test('a key that is not made automatically must be given', async t => {
  const store = openTestStore(t)
  t.match(store.one('City', { population: 1 }), { codes: [1546, 1534], httpStatus: 422 })
  t.equal(store.one('City', { name: '' }).entity.__KEY, '')
})

t.test('an automatic uuid has 32 upper-case hexadecimal digits', async t => {
  const store = openTestStore(t)
  store.one('Person', { name: 'Ada' })
  t.match(store.one('Pet', { ownerID: 1 }).entity.__KEY, /^[0-9A-F]{32}$/)
})

t.test('the primary key cannot change, but may be sent unchanged', async t => {
  const store = openTestStore(t)
  store.one('City', { name: 'Paris' })
  t.match(store.one('City', { __KEY: 'paris', __STAMP: 1, name: 'Rome' }), {
    codes: [1516, 1517],
    entity: { name: 'Paris' },
  })
  t.match(store.one('City', { __KEY: 'paris', __STAMP: 1, name: 'Paris', population: 2 }), {
    codes: [],
    entity: { __STAMP: 2 },
  })
})

t.test('unknown and private attributes are refused, with a public name as suggestion', async t => {
  const store = openTestStore(t)
  const { codes, messages, httpStatus } = store.one('Company', { name: 'Acme', nmae: 'x', secret: 'y' })
  t.same([codes, httpStatus], [[1500, 1500, 1534], 404])
  t.match(messages[0], /did you mean "name"/)
  t.notMatch(messages[1], /did you mean "secret"/)
  t.match(store.one('Company', { name: 'Acme', __x: 1, __proto: 2, constructor: undefined }).codes, [])
  t.same(store.one('Company', '{"name":"Bull","toString":1}').codes, [1500, 1534])
})

t.test('read-only, calculated and alias attributes are refused unless they are sent back unchanged', async t => {
  const store = openTestStore(t)
  store.one('Company', { name: 'Acme', note: 'n', secret: 's' }, { trusted: true })
  t.match(store.one('Company', { __KEY: 1, __STAMP: 1, note: 'other' }), { codes: [1516, 1517], httpStatus: 422 })
  t.match(store.one('Company', { __KEY: 1, __STAMP: 1, score: 3 }), { codes: [1516, 1517] })
  t.same(store.one('Company', { __KEY: 1, __STAMP: 1, note: 'n', score: null }).codes, [])
  t.match(store.one('Company', { __KEY: 1, __STAMP: 1, label: 'Bull' }).entity, { name: 'Bull', __STAMP: 2 })
  store.one('Person', { name: 'Ada', employer: 1 })
  t.same(store.one('Person', { __KEY: 1, __STAMP: 1, employerName: 'Bull' }).codes, [])
  t.same(store.one('Person', { __KEY: 1, __STAMP: 1, employerName: 'Cray' }).codes, [1516, 1517])
})

t.test('all problems of an entity are reported at once', async t => {
  const store = openTestStore(t)
  store.one('Company', { name: 'Acme', code: 'FR1' })
  t.same(store.one('Company', { name: 'A', code: 'x', nope: 1 }).codes, [1500, 1591, 1571, 1534])
  t.same(store.one('Company', { name: 'x'.repeat(21) }).codes, [1592, 1534])
  t.same(store.one('Company', { name: null }).codes, [1116, 1534])
  t.same(store.one('Company', { name: 'Bull', code: 'FR1' }).codes, [1115, 1534])
  t.same(store.one('Company', { __KEY: 1, __STAMP: 1, name: null, code: 'fr1' }).codes, [1116, 1571, 1517])
  t.same(store.one('Person', { age: -1 }).codes, [1568, 1534])
  t.same(store.one('Person', { age: 121 }).codes, [1569, 1534])
  t.equal(store.all('Company').length, 1)
})

t.test('unique values are compared folded, long ones too', async t => {
  const store = openTestStore(t)
  const long = 'é'.repeat(1500)
  for (const name of ['Zürich', long, `${long}x`]) t.same(store.one('City', { name }).codes, [], name.slice(0, 9))
  for (const name of ['ZURICH', long.toUpperCase(), `${'e'.repeat(1500)}X`]) {
    t.same(store.one('City', { name }).codes, [1115, 1545, 1534], name.slice(0, 9))
  }
  t.equal(store.one('City', { __KEY: `${long}x`, __STAMP: 1, population: 7 }).entity.population, 7)
  t.same(store.problems(), [])
})

t.test('a duplicate within the same body is found', async t => {
  const store = openTestStore(t)
  const { entities, many } = store.save('City', [{ name: 'Oslo' }, { name: 'oslo' }, { name: 'Rome' }])
  t.ok(many)
  t.same(
    entities.map(entity => codesOf(entity.failure?.error)),
    [[], [1115, 1545, 1534], []],
  )
  t.same(
    store.all('City').map(city => city.name),
    ['Oslo', 'Rome'],
  )
})

t.test('a unique value that was freed only by an undone save is still taken', async t => {
  const path = t.testdir()
  const before = openTestStore(t, { path })
  before.save('Company', [
    { name: 'Acme', code: 'FR1' },
    { name: 'Bull', code: 'FR9' },
  ])
  await before.close()
  const store = openTestStore(t, { path })
  const elements = [
    { __KEY: 2, __STAMP: 1, code: null },
    { name: 'Cray', code: 'FR5' },
  ]
  for (const entity of store.save('Company', elements, { mode: 'validate' }).entities) t.notOk(entity.failure)
  t.same(store.one('Company', { name: 'Dell', code: 'FR9' }).codes, [1115, 1534])
  t.same(store.problems(), [])
})

t.test('a relation is set by key object, bare key, link, foreign key or null', async t => {
  const store = openTestStore(t)
  store.save('Company', [{ name: 'Acme' }, { name: 'Bull' }])
  const set = (value: object, stamp: number) => store.one('Person', { __KEY: 1, __STAMP: stamp, ...value })
  t.match(store.one('Person', { employer: { __KEY: '1' } }).entity, {
    employerID: 1,
    employer: { __deferred: { __KEY: '1' } },
  })
  t.match(set({ employer: '2' }, 1).entity, { employerID: 2, employer: { __deferred: { __KEY: '2' } } })
  t.match(set({ employer: { __deferred: { uri: 'x', __KEY: '1' } } }, 2).entity, { employerID: 1 })
  t.match(set({ employerID: 2 }, 3).entity, { employer: { __deferred: { __KEY: '2' } } })
  t.match(set({ employer: null }, 4).entity, { employerID: null, employer: null, __STAMP: 5 })
  t.same(store.problems(), [])
})

t.test('a related entity must exist', async t => {
  const store = openTestStore(t)
  t.match(store.one('Person', { employer: { __KEY: 9 } }), { codes: [1542, 1534], httpStatus: 409 })
  t.match(store.one('Person', { employerID: 9 }), { codes: [1155, 1534], httpStatus: 409 })
  t.same(store.one('Person', { employer: {} }).codes, [1508, 1534])
  t.same(store.one('Person', { employer: [1] }).codes, [1508, 1534])
})

t.test(
  'if a relation and its foreign key are sent, the changed one counts, and two different changes are an error',
  async t => {
    const store = openTestStore(t)
    store.save('Company', [{ name: 'Acme' }, { name: 'Bull' }, { name: 'Cray' }])
    const { entity } = store.one('Person', { employer: 1 })
    t.match(store.one('Person', { ...entity, employer: { __KEY: '2' } }).entity, { employerID: 2, __STAMP: 2 })
    t.same(store.one('Person', { __KEY: 1, __STAMP: 2, employer: 1, employerID: 3 }).codes, [1536, 1517])
    t.match(store.one('Person', { __KEY: 1, __STAMP: 2, employer: 3, employerID: 3 }).entity, { employerID: 3 })
  },
)

t.test('a foreign key gets the spelling of the key that it refers to', async t => {
  const store = openTestStore(t)
  store.one('City', { name: 'Zürich' })
  const { entity } = store.one('Person', { nickCity: 'ZURICH' })
  t.match(entity, { nickCity: 'Zürich', city: { __deferred: { __KEY: 'Zürich' } } })
  t.equal(
    store.one('Person', { __KEY: 1, __STAMP: 1, city: 'zurich' }).entity.__STAMP,
    1,
    'the same entity is not a change',
  )
  t.same(store.problems(), [])
})

t.test('a new entity may be related to itself', async t => {
  const store = openTestStore(t)
  t.match(store.one('Person', { ID: 5, managerID: 5 }).entity, { manager: { __deferred: { __KEY: '5' } } })
  t.same(store.problems(), [])
})

t.test('1→N values and deferred images may be sent back without effect', async t => {
  const store = openTestStore(t)
  const photo = 'data:image/png;base64,iVBORw0KGgo='
  const { entity } = store.one('Person', { name: 'Ada', photo, cv: 'data:,hello' }, { trusted: true })
  t.match(entity.photo, { __deferred: { image: true } })
  t.same(store.one('Person', { ...entity, reports: [{ __KEY: 1 }] }).entity.__STAMP, 1)
  t.match(store.one('Person', { __KEY: 1, __STAMP: 1, photo: null }).entity, {
    photo: null,
    cv: { __deferred: {} },
    __STAMP: 2,
  })
  t.match(store.one('Person', { __KEY: 1, __STAMP: 2, photo: { ID: 'X' } }), { codes: [1825, 1517] })
  t.match(store.one('Person', { __KEY: 1, __STAMP: 2, cv: { ID: 'X' } }), { codes: [1826, 1517] })
  t.same(store.one('Person', { __KEY: 1, __STAMP: 2, photo }).codes, [1508, 1517], 'data URLs are for loading only')
  t.same(store.problems(), [])
})

t.test('$atomic undoes all and shows what the others would have been', async t => {
  const store = openTestStore(t)
  store.save('City', [{ name: 'Paris', population: 1 }])
  const before = store.all('City')
  const body = [{ __KEY: 'Paris', __STAMP: 1, population: 2 }, { name: 'Oslo' }, { name: 'oslo' }]
  const { entities, globalStamp } = store.save('City', body, { atomic: true })
  t.equal(globalStamp, 1)
  t.same(
    entities.map(entity => codesOf(entity.failure?.error)),
    [[], [], [1115, 1545, 1534]],
  )
  t.same(store.all('City'), before)
  t.same(store.problems(), [])
  t.match(store.save('City', body.slice(0, 2), { atomic: true }), { globalStamp: 3, entities: [{}, { rowId: Number }] })
  t.equal(store.all('City').length, 2)
  t.same(store.problems(), [])
})

t.test('validate and refresh write nothing', async t => {
  const store = openTestStore(t)
  store.one('City', { name: 'Paris' })
  t.match(store.one('Company', { name: 'Acme' }, { mode: 'refresh' }).entity, { __STAMP: 0, ID: 1, name: 'Acme' })
  t.match(store.one('City', { __KEY: 'Paris', __STAMP: 1, population: 3 }, { mode: 'refresh' }).entity, {
    __STAMP: 1,
    population: 3,
  })
  t.same(store.one('Company', { name: 'A' }, { mode: 'validate' }).codes, [1591, 1534])
  t.same(store.one('Company', { name: 'Acme' }, { mode: 'validate' }).codes, [])
  t.equal(store.all('Company').length, 0)
  t.equal(store.one('Company', { name: 'Acme' }).entity.ID, 1)
  t.same(store.problems(), [])
})

t.test('requests of one run share a transaction and see writes of one another', async t => {
  const store = openTestStore(t)
  const [a, b, c] = store.writer.run([
    saveRequest('Company', { name: 'Acme' }),
    saveRequest('Person', { employer: 1 }),
    saveRequest('Company', '{"name":'),
  ])
  t.match(
    [a, b],
    [
      { entities: [{ rowId: 0 }], globalStamp: 2 },
      { entities: [{ rowId: 0 }], globalStamp: 2 },
    ],
  )
  t.match(c, { httpStatus: 400, entries: [{ errCode: 1806 }] })
  t.equal([...store.environment.changes.getKeys()].length, 1)
})

t.test('a large array is saved in slices', async t => {
  const store = openTestStore(t, { writer: { sliceSize: 10 } })
  const body = Array.from({ length: 35 }, (_, i) => ({ name: `City ${i}` }))
  const { entities, globalStamp } = store.save('City', body)
  t.equal(entities.length, 35)
  t.equal(globalStamp, 35)
  t.equal([...store.environment.changes.getKeys()].length, 4)
  t.same(store.problems(), [])
})

t.test('a stale stamp in a later slice of a large array is refused, and the others are saved', async t => {
  const store = openTestStore(t, { writer: { sliceSize: 10 } })
  const companies = store.save(
    'Company',
    Array.from({ length: 35 }, (_, i) => ({ name: `Old ${i}` })),
  )
  t.equal(companies.entities.length, 35)
  store.one('Company', { __KEY: '29', __STAMP: 1, name: 'changed meanwhile' })
  const renamed = Array.from({ length: 35 }, (_, i) => ({ __KEY: `${i + 1}`, __STAMP: 1, name: `New ${i}` }))
  const { entities } = store.save('Company', renamed)
  t.same(
    entities.map((_, i) => i).filter(i => codesOf(entities[i]!.failure?.error).includes(1263)),
    [28],
  )
  t.same(
    store.all('Company').map(({ name }) => name),
    renamed.map(({ name }, i) => (i === 28 ? 'changed meanwhile' : name)),
  )
  t.same(store.problems(), [])
})

t.test('the changes of a large commit are read in order, from records of a page each', async t => {
  const store = openTestStore(t)
  const { globalStamp } = store.save('City', { name: 'first' })
  const names = Array.from({ length: 1_500 }, (_, i) => ({ name: `city ${i}` }))
  const after = store.save('City', names)
  const { environment } = store
  environment.root.resetReadTxn()
  const changes = changesBetween(environment, globalStamp, after.globalStamp)
  t.same(
    changes?.map(({ rowId }) => rowId),
    names.map((_, i) => i + 1),
  )
  for (const { value } of environment.changes.getRange({ start: Buffer.alloc(8) })) t.ok(value.length <= 4072)
})

t.test('change records are pruned to the newest', async t => {
  const store = openTestStore(t, { writer: { keptChangeRecords: 10 } })
  for (let i = 0; i < 30; i++) store.one('City', { name: `City ${i}` })
  const stamps = [...store.environment.changes.getKeys()].map(key => key.readDoubleBE(0))
  t.same(stamps, [21, 22, 23, 24, 25, 26, 27, 28, 29, 30])
})

t.test('an internal failure leaves the store unchanged and does not affect other requests', async t => {
  const errors: unknown[] = []
  const store = openTestStore(t, { writer: { onInternalError: error => errors.push(error) } })
  store.one('City', { name: 'Paris' })
  const { insert } = LmdbTransaction.prototype
  t.intercept(LmdbTransaction.prototype, 'insert', {
    value(this: LmdbTransaction, ...args: Parameters<typeof insert>) {
      if (args[0].name === 'Company') throw new Error('broken')
      return insert.apply(this, args)
    },
  })
  const [oslo, acme] = store.writer.run([
    saveRequest('City', { name: 'Oslo' }),
    saveRequest('Company', { name: 'Acme' }),
  ])
  t.match(oslo, { kind: 'save', entities: [{ rowId: 1 }] })
  t.match(acme, { httpStatus: 500, entries: [{ errCode: 1046 }] })
  t.equal(errors.length, 1)
  t.same(
    store.all('City').map(city => city.name),
    ['Paris', 'Oslo'],
  )
  t.same(store.problems(), [])
})

t.test('the reason of a failed write to the disk is reported, and the store stays readable', async t => {
  const store = openTestStore(t, { writer: { onInternalError: () => {} } })
  store.one('City', { name: 'Paris' })
  const reasons: [number | string, RegExp][] = [
    [5, /^the disk of the store is full or failing; nothing of this was written, reading still works$/],
    [28, /^the disk of the store is full;/],
    [-30792, /^the store has reached the address space reserved for it \(storage\.mapSizeBytes\);/],
    ['EROFS', /^the folder of the store is on a disk that is mounted read-only;/],
    ['EACCES', /^the user of the server has no permission to write to the folder of the store/],
  ]
  for (const [code, message] of reasons) {
    const { restore } = t.intercept(LmdbTransaction.prototype, 'insert', {
      value() {
        throw Object.assign(new Error('as the system says it'), { code })
      },
    })
    t.match(store.refusal('City', { name: 'Oslo' }), { name: 'WRITER.DISK', httpStatus: 503, entries: [{ message }] })
    restore()
  }
  t.equal(store.all('City').length, 1)
})

t.test('an entity with a bool as its key is addressed by the text of that key', t => {
  const attributes = { flag: { type: 'bool' }, name: { type: 'string' } }
  const store = openTestStore(t, { model: { name: 'm', dataClasses: { Switch: { key: 'flag', attributes } } } })
  store.one('Switch', { flag: true, name: 'on' })
  t.match(store.one('Switch', { __KEY: 'true', __STAMP: 1, name: 'On' }).entity, { __KEY: 'true', name: 'On' })
  t.match(store.one('Switch', { __KEY: 'yes', __STAMP: 1, name: 'On' }), { codes: [1543, 1517] })
  t.end()
})

t.test('a key with a lone surrogate is refused, other texts may have one', t => {
  const attributes = { name: { type: 'string' }, note: { type: 'string' } }
  const store = openTestStore(t, { model: { name: 'm', dataClasses: { Word: { key: 'name', attributes } } } })
  t.match(store.one('Word', { name: 'a\ud800' }), { codes: [/\d+/] })
  t.same(store.one('Word', { name: 'a', note: 'b\udc00' }).codes, [])
  t.end()
})

t.test('an entity that has changed since code read it is not saved, so that the code can run again', async t => {
  const store = openTestStore(t)
  store.one('Person', { name: 'Ada' })
  store.one('Person', { __KEY: 1, __STAMP: 1, name: 'Kurt' })
  const hooked = (expectedStamp: number) => [{ expectedStamp, values: {}, unchanged: [] }]
  const element = { __KEY: 1, __STAMP: 2, name: 'Emmy' }
  for (const anyStamp of [false, true]) {
    t.same(store.save('Person', element, { hooked: hooked(1), anyStamp }).entities, [{ isOutdated: true }])
  }
  t.same(store.one('Person', { ...element, __STAMP: 1 }, { hooked: hooked(1) }).codes, [1263, 1046, 1517])
  t.match(store.all('Person'), [{ name: 'Kurt', __STAMP: 2 }])
  t.same(store.one('Person', element, { hooked: hooked(2) }).codes, [])
  t.match(store.all('Person'), [{ name: 'Emmy', __STAMP: 3 }])
})
