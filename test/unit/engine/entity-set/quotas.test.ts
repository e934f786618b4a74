/** How many entity sets a user and all guests may have. */
import t from 'tap'
import type { EntitySet } from '../../../../engine/entity-set/entity-set.ts'
import type { EntitySetStore } from '../../../../engine/entity-set/entity-set-store.ts'
import { Fixture, make, numbers } from './set-stores.ts'

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

  const { diskBytes, guestBytes } = store.sizes
  t.ok(guestBytes > 6_000 && guestBytes <= guests.maxGuestBytes, `${guestBytes} bytes of guests`)
  t.ok(diskBytes >= 4 * 4_000 && diskBytes % 4096 === 0, `${diskBytes} bytes, in pages`)

  const all = [...fixture.records.sets.headers()].map(({ id }) => id)
  t.same(
    [...fixture.records.sets.headers(all[1])].map(({ id }) => id),
    all.slice(2),
  )
})
