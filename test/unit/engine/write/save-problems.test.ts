/** Problems of an entity in a save: attributes, unique values and keys. */
import t from 'tap'
import { codesOf, openTestStore } from '../../../support/engine/test-store.ts'

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
