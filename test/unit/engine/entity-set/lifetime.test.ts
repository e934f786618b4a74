/** Uses of entity sets and their ends. */
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { newEntitySetId } from '../../../../engine/entity-set/entity-set.ts'
import { Fixture, ids, make, numbers } from './set-stores.ts'

t.test('a release that could not be written is written by a later sweep', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open()
  const set = make(numbers(20_000))
  await store.put(set)
  fixture.fails = true
  await t.rejects(store.release([set.id]), { message: 'no room' })
  await t.rejects(store.sweep(), { message: 'no room' })
  t.equal(store.find(set.id), undefined)
  t.equal(ids(fixture.open().find(set.id))?.length, 20_000, 'it is still stored')
  fixture.fails = false
  await store.sweep()
  t.equal(fixture.open().find(set.id), undefined)
  t.equal(fixture.entries, 0)
})

t.test('uses are recorded once a minute, and all of them when the store is closed', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open()
  const set = make(numbers(10), { timeoutSeconds: 7200 })
  await store.put(set)
  for (let i = 0; i < 120; i++) {
    fixture.pass(1)
    store.use(set.id)
    await store.sweep()
  }
  t.equal(fixture.changes.length, 1 + 2)
  fixture.pass(7)
  store.use(set.id)
  await store.close()
  t.equal(fixture.changes.length, 4)
  t.equal(fixture.records.sets.header(set.id)?.expires, fixture.ms + 7_200_000)
})

t.test('the sweep removes what has expired and leaves nothing behind', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open()
  const used = make(numbers(3), { timeoutSeconds: 10 })
  await store.put(used)
  fixture.environment.root.transactionSync(() => {
    for (let i = 0; i < 1200; i++) {
      const { id, memberBytes: members } = make(numbers(3))
      const expires = fixture.ms + (i < 1100 ? 10_000 : 1_000_000)
      const header = {
        tableNumber: 1,
        timeoutSeconds: 10,
        saved: undefined,
        creator: undefined,
        hasEnded: false,
        expires,
      }
      fixture.records.sets.put({ id, header, members })
    }
  })
  t.equal(fixture.entries, 3 * 1201)
  fixture.pass(9)
  store.use(used.id)
  fixture.pass(2)
  await store.sweep()
  t.equal(fixture.entries, 3 * 101)
  t.ok(store.find(used.id))
  fixture.pass(9)
  await store.sweep()
  t.equal(fixture.entries, 3 * 100)
  t.equal(store.usage.sets, 0)
})

t.test('a saved query is kept when its set has ended, for its own time', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open()
  const saved = { source: { kind: 'all' }, filter: 'x=1' } as const
  const [expired, released] = [make(numbers(3), { saved }), make(numbers(3), { saved })]
  await store.put(expired)
  await store.put(released)
  await store.release([released.id])
  fixture.pass(100)
  t.equal(store.find(expired.id), undefined)
  for (const { id } of [expired, released]) t.same(store.findSaved(id)?.saved, saved)
  await store.sweep()
  for (const { id } of [expired, released]) t.same(fixture.open().findSaved(id)?.saved, saved)
  t.equal(fixture.entries, 2 * 2)
  fixture.pass(1000)
  await store.sweep()
  t.equal(fixture.entries, 0)
})

t.test('a released set is not found while its removal is being written', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open()
  const set = make(numbers(3))
  await store.put(set)
  const release = fixture.hold()
  const released = store.release([set.id, set.id, newEntitySetId()])
  t.equal(store.find(set.id), undefined)
  release()
  await released
  t.equal(store.find(set.id), undefined)
  t.equal(fixture.entries, 0)
})

t.test('a use that reaches the writer after the end of a set changes nothing', async t => {
  const fixture = new Fixture(t)
  const set = make(numbers(3))
  const header = {
    tableNumber: 1,
    timeoutSeconds: 1,
    saved: undefined,
    creator: undefined,
    hasEnded: false,
    expires: 5,
  }
  fixture.environment.root.transactionSync(() => fixture.records.sets.put({ id: set.id, header }))
  t.equal(fixture.entries, 0)
})

t.test('the use of a set that is not in memory is recorded at once', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open({ memoryBytes: 0 })
  const set = make(numbers(3))
  await store.put(set)
  fixture.pass(10)
  store.use(set.id)
  await store.sweep()
  fixture.pass(95)
  t.ok(store.find(set.id), 'its lifetime starts at its use')
})

t.test('a shortened lifetime applies in the next store too', async t => {
  const fixture = new Fixture(t)
  const before = fixture.open()
  const set = make(numbers(3))
  await before.put(set)
  before.use(set.id, 10)
  await before.close()
  fixture.pass(20)
  t.equal(fixture.open().find(set.id), undefined)
})

t.test('a set that expires while its release is being written ends once', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open()
  const [a, b] = [make(numbers(3), { creator: 'ada' }), make(numbers(3), { creator: 'ada', timeoutSeconds: 1000 })]
  for (const set of [a, b]) await store.put(set)
  t.equal(store.countOf('ada'), 2)
  fixture.pass(99)
  const release = fixture.hold()
  const released = store.release([a.id])
  fixture.pass(2)
  const swept = store.sweep()
  // The sweep finds expired sets before the release is written.
  await setImmediate()
  release()
  await Promise.all([released, swept])
  t.equal(store.countOf('ada'), 1)
})

t.test('a set that is used while its members are being written keeps them', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open({ memoryBytes: 0 })
  const [first, second] = [make(numbers(3)), make(numbers(3))]
  const release = fixture.hold()
  const puts = [store.put(first)]
  store.use(first.id, 50)
  puts.push(store.put(second))
  t.same(ids(store.find(first.id)), [0, 100, 200])
  release()
  await Promise.all(puts)
  t.same(ids(store.find(first.id)), [0, 100, 200])
})
