import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type EntitySet, entitySet, newEntitySetId } from '../../../../engine/entity-set/entity-set.ts'
import { EntitySetStore, type EntitySetStoreOptions } from '../../../../engine/entity-set/entity-set-store.ts'
import type { EntitySetChange } from '../../../../engine/entity-set/entity-set-header.ts'
import { encodeMembers, type Members, type RowMembers, setOf } from '../../../../engine/entity-set/members.ts'
import { RowSet } from '../../../../engine/row-set/row-set.ts'
import { type Environment, openEnvironment } from '../../../../engine/storage/environment.ts'
import { LmdbRecords } from '../../../../engine/storage/lmdb-records.ts'

/** A store whose writer is this thread. Sets are durable when `write` resolves; `hold` delays it, and `fails` makes it throw. */
class Fixture {
  readonly environment: Environment
  readonly records: LmdbRecords
  readonly changes: EntitySetChange[] = []
  ms = 1_000_000
  fails = false
  private held: Promise<void> = Promise.resolve()

  constructor(private readonly t: Test) {
    this.environment = openEnvironment({ path: t.testdir({}), mapSizeBytes: 2 ** 28 })
    this.records = new LmdbRecords(this.environment)
    t.teardown(() => this.environment.close())
  }

  open(options: Partial<EntitySetStoreOptions> = {}): EntitySetStore {
    const store = new EntitySetStore({
      store: this.records,
      write: async changes => {
        await this.held
        if (this.fails) throw new Error('no room')
        this.changes.push(...changes)
        this.environment.root.transactionSync(() => {
          for (const change of changes) this.records.sets.put(change)
        })
      },
      memoryBytes: 2 ** 20,
      guests: { guestBytesPerAddress: 2 ** 27, maxGuestBytes: 2 ** 30 },
      savedLifetimeSeconds: 1000,
      now: () => this.ms,
      ...options,
    })
    this.t.teardown(() => store.close().catch(() => {}))
    return store
  }

  /** @returns a function that resumes the writes */
  hold(): () => void {
    let release!: () => void
    this.held = new Promise(resolve => {
      release = resolve
    })
    return release
  }

  pass(seconds: number): void {
    this.ms += seconds * 1000
  }

  get entries(): number {
    return (this.environment.entitySets.getStats() as { entryCount: number }).entryCount
  }
}

const make = (members: Members, more: Partial<EntitySet> = {}): EntitySet =>
  entitySet({
    id: newEntitySetId(),
    tableNumber: 1,
    encoded: encodeMembers(members),
    timeoutSeconds: 100,
    saved: undefined,
    creator: undefined,
    ...more,
  })

const ids = (set: EntitySet | undefined): number[] | undefined => set && [...(set.members as RowMembers)]
const numbers = (count: number): RowSet => RowSet.fromSorted(Uint32Array.from({ length: count }, (_, i) => 100 * i))

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
      const { id, encoded: members } = make(numbers(3))
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

t.test('the sets of a creator are counted, including those from before a restart', async t => {
  const fixture = new Fixture(t)
  const before = fixture.open({})
  await before.put(make(numbers(3), { creator: 'ada' }))
  await before.close()
  const store = fixture.open({})
  const [a, b] = ['ada', 'ada'].map(creator => make(numbers(3), { creator })) as [EntitySet, EntitySet]
  await store.put(a, 2)
  await t.rejects(store.put(b, 2), { name: 'ENTITY_SET.TOO_MANY_SETS', httpStatus: 429 })
  await store.put(a, 2)
  t.equal(store.countOf('ada'), 2, 'a set that replaces itself counts once')
  await store.put(make(numbers(3), { creator: 'kurt' }), 2)
  await store.release([a.id])
  t.equal(store.countOf('ada'), 1)
  await store.put(b, 2)
  fixture.pass(100)
  await store.sweep()
  t.same([store.countOf('ada'), store.countOf('kurt')], [0, 0])
})

t.test('sets are refused while too many bytes wait to be written', async t => {
  const fixture = new Fixture(t)
  const store = fixture.open({ memoryBytes: 0, unsavedBytes: 100_000 })
  const release = fixture.hold()
  const puts = [store.put(make(numbers(20_000))), store.put(make(numbers(20_000)))]
  await t.rejects(store.put(make(numbers(1))), { name: 'ENTITY_SET.TOO_MUCH_UNSAVED', httpStatus: 503 })
  release()
  await Promise.all(puts)
  await store.put(make(numbers(1)))
})

t.test('the sets of guests are bounded per network and in total; the oldest end, with their saved queries', async t => {
  const fixture = new Fixture(t)
  // A set counts 6.1 kB, including its overhead.
  const guests = { guestBytesPerAddress: 15_000, maxGuestBytes: 20_000 }
  const before = fixture.open({ guests })
  const saved = { source: { kind: 'all' }, filter: 'x' } as const
  const sets = Array.from({ length: 6 }, () => make(numbers(1000), { saved }))
  const living = (store: EntitySetStore) => sets.map(({ id }) => store.find(id) !== undefined)
  const put = (store: EntitySetStore, i: number, network: string) => {
    fixture.pass(1)
    return store.put(sets[i]!, undefined, network)
  }
  for (let i = 0; i < 3; i++) await put(before, i, 'a')
  t.same(living(before), [false, true, true, false, false, false])
  t.equal(before.findSaved(sets[0]!.id), undefined, 'its query has ended too')
  await before.release([sets[1]!.id])
  t.ok(before.findSaved(sets[1]!.id), 'a query that is saved stays, and counts')
  await put(before, 1, 'a')
  await before.close()

  const store = fixture.open({ guests })
  await store.sweep()
  await put(store, 3, 'b')
  t.same(living(store), [false, true, true, true, false, false], 'three in total')
  await put(store, 3, 'b')
  t.same(living(store), [false, true, true, true, false, false], 'a set that replaces itself counts once')
  await put(store, 4, 'c')
  t.same(living(store), [false, true, false, true, true, false], 'the oldest is one from before the restart')
  await store.put(sets[5]!)
  t.same(living(store), [false, true, false, true, true, true], 'others have no bound')
  await t.rejects(store.put(make(numbers(5000)), undefined, 'd'), { name: 'ENTITY_SET.TOO_LARGE', httpStatus: 413 })

  const { diskBytes, guestBytes } = store.stored
  t.ok(guestBytes > 6_000 && guestBytes <= guests.maxGuestBytes, `${guestBytes} bytes of guests`)
  t.ok(diskBytes >= 4 * 4_000 && diskBytes % 4096 === 0, `${diskBytes} bytes, in pages`)

  const all = [...fixture.records.sets.headers()].map(({ id }) => id)
  t.same(
    [...fixture.records.sets.headers(all[1])].map(({ id }) => id),
    all.slice(2),
  )
})
