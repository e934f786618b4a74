/** Saves as transactions: all or nothing, slices, records of changes and failures. */
import t from 'tap'
import { changesBetween } from '../../../../engine/storage/change-log.ts'
import { LmdbTransaction } from '../../../../engine/storage/lmdb-transaction.ts'
import { codesOf, openTestStore, saveRequest } from '../../../support/engine/test-store.ts'

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
