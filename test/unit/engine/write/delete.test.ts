import t from 'tap'
import { codesOf, openTestStore } from '../../../support/engine/test-store.ts'

t.test('an entity is deleted with its index entries and binaries', async t => {
  const store = openTestStore(t)
  store.one('Person', { name: 'Ada', photo: 'data:image/png;base64,AAAA' }, { trusted: true })
  t.same(store.delete('Person', [0]), { kind: 'delete', deleted: 1 })
  t.same(store.all('Person'), [])
  t.equal([...store.environment.binaries.getKeys()].length, 0)
  t.equal([...store.environment.index.getKeys()].length, 0)
  t.equal(store.one('Person', { name: 'Kurt' }).entity.ID, 2, 'numbers are not assigned again')
  t.equal(store.save('Person', { name: 'Alan' }).entities[0]!.rowId, 2, 'neither are row ids')
  t.same(store.problems(), [])
})

t.test('rows that are already deleted are skipped', async t => {
  const store = openTestStore(t)
  store.one('City', { name: 'Oslo' })
  t.same(store.delete('City', [0, 7]), { kind: 'delete', deleted: 1 })
  t.same(store.delete('City', [0]), { kind: 'delete', deleted: 0 })
  t.same(store.delete('City', []), { kind: 'delete', deleted: 0 })
})

t.test('restrict keeps referenced entities, and the others are deleted', async t => {
  const store = openTestStore(t)
  store.save('Company', [{ name: 'Acme' }, { name: 'Bull' }])
  store.one('Person', { employer: 1 })
  const { deleted, error } = store.delete('Company', [0, 1])
  t.equal(deleted, 1)
  t.same(codesOf(error), [1120, 1518])
  t.match(error, {
    httpStatus: 409,
    entries: [{ message: /entity 1 of Company is still referenced by Person.employer/ }],
  })
  t.same(
    store.all('Company').map(company => company.name),
    ['Acme'],
  )
  t.same(store.problems(), [])
})

t.test('a reference that is set to null prevents no deletion, even that of an entity that is kept', async t => {
  const store = openTestStore(t)
  store.save('Person', [{ name: 'Ada' }, { name: 'Kurt', manager: 1 }, { name: 'Emmy' }])
  const id = store.one('Pet', { name: 'Rex', owner: 2 }).entity.ID
  store.one('Pet', { name: 'Tom', owner: 3, friendID: id })
  const { deleted, error } = store.delete('Person', [0, 1])
  t.equal(deleted, 1)
  t.match(error, { entries: [{ message: /entity 2 of Person is still referenced by Pet\.friend$/ }, {}] })
  t.match(store.all('Person'), [{ name: 'Kurt', managerID: null }, { name: 'Emmy' }])
  t.same(
    store.all('Pet').map(({ name }) => name),
    ['Rex', 'Tom'],
  )
  t.same(store.problems(), [])
})

t.test('$atomic deletes all or nothing', async t => {
  const store = openTestStore(t)
  store.save('Company', [{ name: 'Acme' }, { name: 'Bull' }])
  store.one('Person', { employer: 1 })
  t.match(store.delete('Company', [0, 1], { atomic: true }), { deleted: 0, error: { httpStatus: 409 } })
  t.equal(store.all('Company').length, 2)
  store.delete('Person', [0])
  t.same(store.delete('Company', [0, 1], { atomic: true }), { kind: 'delete', deleted: 2 })
  t.same(store.problems(), [])
})

t.test('setNull clears references, and the referring entities get a new stamp', async t => {
  const store = openTestStore(t)
  store.save('Person', [{ name: 'Ada' }, { name: 'Kurt', manager: 1 }])
  t.match(store.delete('Person', [0]), { deleted: 1 })
  t.match(store.all('Person'), [{ name: 'Kurt', managerID: null, manager: null, __STAMP: 2 }])
  t.equal(store.one('Person', { __KEY: 2, __STAMP: 2, name: 'K' }).entity.__STAMP, 3)
  t.same(store.problems(), [])
})

t.test('cascade deletes the referring entities, transitively and in cycles', async t => {
  const store = openTestStore(t)
  store.one('Person', { name: 'Ada' })
  const pet = (extra: object) => store.one('Pet', { ownerID: 1, ...extra }).entity.ID
  const first = pet({})
  const second = pet({ friendID: first })
  store.one('Pet', { __KEY: first, __STAMP: 1, friendID: second })
  t.match(store.delete('Person', [0]), { deleted: 1 })
  t.same(store.all('Pet'), [])
  t.same(store.problems(), [])
})

t.test('an entity that restrict protects stops a cascade to it', async t => {
  const store = openTestStore(t)
  store.save('Person', [{ name: 'Ada' }, { name: 'Kurt' }])
  const { ID } = store.one('Pet', { ownerID: 1 }).entity
  store.one('Pet', { ownerID: 2, friendID: ID })
  t.match(store.delete('Person', [0]), { deleted: 0, error: { entries: [{ errCode: 1120 }, { errCode: 1518 }] } })
  t.equal(store.all('Pet').length, 2)
  t.match(store.delete('Person', [0, 1]), { deleted: 2 })
  t.equal(store.all('Pet').length, 0)
  t.same(store.problems(), [])
})

for (const sliceSize of [2, 100]) {
  t.test(`a whole dataclass whose entities refer to one another is deleted, in slices of ${sliceSize}`, async t => {
    const store = openTestStore(t, { writer: { sliceSize } })
    store.one('Person', { name: 'Ada' })
    const ids: string[] = []
    for (let i = 0; i < 9; i++) ids.push(store.one('Pet', { ownerID: 1, friendID: ids.at(-1) ?? null }).entity.ID)
    store.one('Pet', { __KEY: ids[0], __STAMP: 1, friendID: ids.at(-1) })
    t.same(store.delete('Pet', [0, 1, 2, 3, 4, 5, 6, 7, 8]), { kind: 'delete', deleted: 9 })
    t.same(store.all('Pet'), [])
    t.same(store.problems(), [])
  })
}

t.test('a key can be used again after its entity was deleted', async t => {
  const store = openTestStore(t)
  store.one('City', { name: 'Oslo' })
  store.one('Person', { city: 'Oslo' })
  store.delete('Person', [0])
  store.delete('City', [0])
  t.same(store.one('Person', { city: 'Oslo' }).codes, [1542, 1534])
  t.same(store.one('City', { name: 'OSLO' }).codes, [])
  t.match(store.one('Person', { city: 'Oslo' }).entity, { nickCity: 'OSLO' })
  t.same(store.problems(), [])
})
