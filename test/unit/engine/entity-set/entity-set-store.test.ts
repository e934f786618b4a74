/** Entity sets in memory and in LMDB. */
import t from 'tap'
import { setOf } from '../../../../engine/entity-set/members.ts'
import { RowSet } from '../../../../engine/row-set/row-set.ts'
import { Fixture, ids, make, numbers } from './set-stores.ts'

t.test('members are the same after encoding: lists, few ids, bitmaps', async t => {
  for (const members of [
    Uint32Array.of(5, 3, 9),
    RowSet.fromIds([7, 100_000]),
    RowSet.range(1000),
    RowSet.empty,
    new Uint32Array(0),
    Uint32Array.of(0xfffffffe, 0),
  ]) {
    const set = make(members)
    t.same(ids(set), [...members])
  }
  t.ok(make(Uint32Array.of(1, 2, 3)).members instanceof RowSet, 'a list that ascends is a set')
  t.notOk(make(Uint32Array.of(1, 1)).members instanceof RowSet, 'unless it has duplicates')
  t.same([...setOf(Uint32Array.of(3, 1))], [1, 3])
})

t.test('a set is durable when it has been put, and the next store finds it', async t => {
  const fixture = new Fixture(t)
  const set = make(Uint32Array.of(3, 1, 2))
  await fixture.open().put(set)
  t.same(ids(fixture.open().find(set.id)), [3, 1, 2])
})

t.test('a set that replaces another one counts once, in memory and in the list', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open()
  const set = make(RowSet.fromIds([1]), { creator: 'ada' })
  await store.put(set)
  const { usage } = store
  await store.put({ ...make(RowSet.fromIds([2]), { creator: 'ada' }), id: set.id })
  t.same(store.usage, usage)
  t.equal(store.countOf('ada'), 1)
  t.same(ids(store.find(set.id)), [2])
  t.equal(store.list(10).count, 1)
})

t.test('a set that replaces a larger one leaves nothing of it in LMDB', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open()
  const small = make(Uint32Array.of(1))
  await store.put(small)
  const { entries } = fixture
  await store.put({ ...make(Uint32Array.from({ length: 5_000 }, (_, i) => 7 * i)), id: small.id })
  t.ok(fixture.entries > entries, 'its members take several entries')
  await store.put(small)
  t.equal(fixture.entries, entries)
})

t.test('the list has the sets that have not ended', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open()
  const sets = [make(RowSet.range(1)), make(RowSet.range(2), { timeoutSeconds: 10 }), make(RowSet.range(3))]
  for (const set of sets) await store.put(set)
  await store.release([sets[2]!.id])
  t.equal(store.list(10).count, 2)
  t.equal(store.list(1).sets.length, 1)
  fixture.pass(11)
  const { count, sets: listed } = store.list(10)
  t.equal(count, 1)
  t.same(
    listed.map(({ id }) => id),
    [sets[0]!.id],
  )
})

t.test('a set that could not be written is not found', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open()
  fixture.fails = true
  const set = make(RowSet.fromIds([1]))
  await t.rejects(store.put(set), { message: 'no room' })
  t.equal(store.find(set.id), undefined)
  t.same(store.usage, { sets: 0, bytes: 0 })
})

t.test('sets beyond the memory budget are read from LMDB, and uses extend their lifetime', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open({ memoryBytes: 3 * (4008 + 512) })
  const sets = Array.from({ length: 10 }, () => make(numbers(1000)))
  for (const set of sets) await store.put(set)
  t.equal(store.usage.sets, 3)
  for (let round = 0; round < 5; round++) {
    fixture.pass(99)
    for (const set of sets) t.equal(ids(store.use(set.id))?.length, 1000)
    t.ok(store.usage.sets <= 3)
  }
  fixture.pass(100)
  for (const set of sets) t.equal(store.use(set.id), undefined)
})

t.test('with no memory at all every use is recorded', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open({ memoryBytes: 0 })
  const set = make(numbers(10))
  await store.put(set)
  for (let i = 0; i < 10; i++) {
    fixture.pass(60)
    t.ok(store.use(set.id))
  }
})

t.test('the least recently used set is evicted from memory first', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open({ memoryBytes: 2 * (4008 + 512) })
  const [a, b, c] = [make(numbers(1000)), make(numbers(1000)), make(numbers(1000))]
  await store.put(a)
  await store.put(b)
  store.use(a.id)
  await store.put(c)
  const before = store.find(a.id)
  t.equal(store.find(a.id), before, 'still the same object')
  t.equal(store.usage.sets, 2)
})
