/** Relations and images in saves. */
import t from 'tap'
import { openTestStore } from '../../../support/engine/test-store.ts'

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
