/** Saves: keys, stamps and what changes. */
import t from 'tap'
import { NOW, openTestStore } from '../../../support/engine/test-store.ts'

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
