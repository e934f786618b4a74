import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import type { ErrorData } from '../../../../engine/base/errors.ts'
import type { DeleteResult, SaveResult, WriteRequest, WriteResult } from '../../../../engine/write/contract/requests.ts'
import { partsOf } from '../../../../engine/write/body/body-outline.ts'
import { Heartbeat } from '../../../../engine/write/contract/heartbeat.ts'
import { LinkedThread } from '../../../../engine/write/steps/linked-thread.ts'
import { SAVE_LIMITS } from '../../../../engine/write/contract/write-limits.ts'
import { isLong } from '../../../support/runner/rounds.ts'
import { openTestStore, saveRequest, type TestStore } from '../../../support/engine/test-store.ts'

/**
 * No request holds the writer for longer than 250 ms of CPU; others share its transactions meanwhile. Times on a busy machine mean
 * little, so the usual run only checks that there are slices, which are shorter there.
 */
const MAX_HOLD_MS = isLong ? 250 : Number.POSITIVE_INFINITY
const SLICE_MS = isLong ? undefined : 2
const count = (inLongRun: number): number => (isLong ? inLongRun : inLongRun / 5)

interface Held {
  readonly outcome: WriteResult | ErrorData
  readonly commits: number
  /** CPU of the longest commit, in milliseconds. */
  readonly maxMs: number
}

/** Runs a request commit by commit, as the writer thread does. */
function hold({ writer }: TestStore, request: WriteRequest): Held {
  const cpuMs = (since?: NodeJS.CpuUsage) => {
    const { user, system } = process.cpuUsage(since)
    return (user + system) / 1000
  }
  let start = process.cpuUsage()
  const job = writer.begin(request)
  let maxMs = cpuMs(start)
  let commits = 0
  while (!job.outcome) {
    start = process.cpuUsage()
    writer.commit([job])
    maxMs = Math.max(maxMs, cpuMs(start))
    commits++
  }
  return { outcome: job.outcome, commits, maxMs }
}

const large = (dataClass: string, elements: readonly object[], options: object = {}): WriteRequest => {
  const body = Buffer.from(JSON.stringify(elements))
  return saveRequest(dataClass, body.toString(), { parts: partsOf(body)!, ...options })
}

const people = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ name: `Person ${i}`, age: i % 100, height: i / 7, nickCity: 'Oslo' }))

async function world(t: Test): Promise<TestStore> {
  const store = openTestStore(t, { writer: SLICE_MS === undefined ? {} : { sliceMs: SLICE_MS } })
  store.one('City', { name: 'Oslo' })
  // Lets V8 compile the measured code.
  hold(store, large('Person', people(count(5_000))))
  return store
}

t.test('a save of 15,000 entities, valid or not', async t => {
  const store = await world(t)
  const size = count(15_000)
  const good = hold(store, large('Person', people(size)))
  t.equal((good.outcome as SaveResult).entities.filter(({ failure }) => failure).length, 0)
  t.ok(good.maxMs < MAX_HOLD_MS, `${good.maxMs} ms in one of ${good.commits}`)
  t.ok(good.commits > 4)
  const bad = hold(
    store,
    large(
      'Person',
      people(size).map(person => ({ ...person, age: 'x', nothing: 1 })),
    ),
  )
  t.equal((bad.outcome as SaveResult).entities.filter(({ failure }) => failure).length, size)
  t.ok(bad.maxMs < MAX_HOLD_MS, `${bad.maxMs} ms in one of ${bad.commits}`)
  const none = hold(store, saveRequest('Person', `[${Array(size).fill(1)}]`))
  t.ok(none.maxMs < MAX_HOLD_MS, `${none.maxMs} ms in one of ${none.commits}`)
  t.same(store.problems(), [])
})

t.test('a deletion of 12,000 entities, with and without cascades', async t => {
  const store = await world(t)
  const owners = count(7_000)
  hold(store, large('Person', people(owners)))
  const ids = Array.from({ length: owners }, (_, i) => i)
  hold(
    store,
    large(
      'Pet',
      ids.map(i => ({ name: `Pet ${i}`, ownerID: i + 1 })),
    ),
  )
  const remove = (dataClass: string, rowIds: readonly number[]) =>
    hold(store, { kind: 'delete', dataClass, rowIds: Uint32Array.from(rowIds), atomic: false })
  const before = [store.all('Person').length, store.all('Pet').length]
  const half = remove('Person', ids.slice(0, owners / 2))
  t.equal((half.outcome as DeleteResult).deleted, owners / 2)
  t.ok(half.maxMs < MAX_HOLD_MS, `${half.maxMs} ms in one of ${half.commits}`)
  t.same([store.all('Person').length, store.all('Pet').length], [before[0]! - owners / 2, before[1]! - owners / 2])
  const others = Array.from({ length: before[0]! - owners / 2 }, (_, i) => owners / 2 + i)
  const rest = remove('Person', others)
  t.equal((rest.outcome as DeleteResult).deleted, others.length)
  t.ok(rest.maxMs < MAX_HOLD_MS, `${rest.maxMs} ms in one of ${rest.commits}`)
  t.ok(rest.commits > 2)
  t.same([store.all('Person'), store.all('Pet')], [[], []])
  t.same(store.problems(), [])
})

t.test('a small save beside a large one shares its next transaction', async t => {
  const store = await world(t)
  const job = store.writer.begin(large('Person', people(count(20_000))))
  store.writer.commit([job])
  t.notOk(job.outcome)
  const small = store.writer.begin(saveRequest('City', { name: 'Rome' }))
  store.writer.commit([job, small])
  t.match(small.outcome, { kind: 'save', entities: [{ rowId: 1 }] })
  t.notOk(job.outcome)
})

t.test('the size of one transaction is bounded', async t => {
  const limits = { ...SAVE_LIMITS, maxTransactionEntities: 10 }
  const store = openTestStore(t, { writer: { limits } })
  const cities = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `City ${i}` }))
  for (const options of [{ atomic: true }, { mode: 'validate' }, { mode: 'refresh' }] as const) {
    const refused = store.writer.run([saveRequest('City', cities(11), options)])[0]
    t.match(refused, { name: 'WRITE.TOO_MANY_AT_ONCE', httpStatus: 413 })
    t.equal(store.save('City', cities(10), { ...options, mode: 'validate' }).entities.length, 10)
  }
  t.equal(store.save('City', cities(11)).entities.length, 11, 'a save in slices is not')
  const rowIds = Uint32Array.from({ length: 11 }, (_, i) => i)
  const atomic = { kind: 'delete', dataClass: 'City', rowIds, atomic: true } as const
  t.match(store.writer.run([atomic])[0], { name: 'WRITE.TOO_MANY_AT_ONCE', httpStatus: 413 })
  t.match(store.writer.run([{ ...atomic, rowIds: rowIds.subarray(1) }])[0], { deleted: 10 })
  t.match(store.writer.run([{ ...atomic, atomic: false }])[0], { deleted: 1 })
})

t.test('the cascade of one entity is bounded; beyond the bound the entity is kept', async t => {
  const limits = { ...SAVE_LIMITS, maxTransactionEntities: 10 }
  const store = openTestStore(t, { writer: { limits } })
  store.save('Person', [{ name: 'Ada' }, { name: 'Kurt' }, { name: 'Emmy' }])
  store.save(
    'Pet',
    Array.from({ length: 19 }, (_, i) => ({ name: `Pet ${i}`, ownerID: i < 10 ? 1 : 2 })),
  )
  for (const atomic of [false, true]) {
    t.match(store.delete('Person', [0], { atomic }), {
      deleted: 0,
      error: { httpStatus: 413, entries: [{ errCode: 1120 }, { errCode: 1518 }] },
    })
  }
  t.match(store.delete('Person', [0, 1, 2]), { deleted: 2, error: { entries: [{ errCode: 1120 }, {}] } })
  t.same(
    store.all('Pet').map(({ ownerID }) => ownerID),
    Array(10).fill(1),
  )
  store.save(
    'Person',
    Array.from({ length: 11 }, () => ({ name: 'Report', managerID: 1 })),
  )
  store.delete('Pet', [...Array(10).keys()])
  t.match(store.delete('Person', [0]), { deleted: 0, error: { entries: [{ errCode: 1120 }, {}] } }, 'links too')
  t.same(store.problems(), [])
})

t.test('rows that refer to one another are deleted in slices, in any order', async t => {
  const limits = { ...SAVE_LIMITS, maxTransactionEntities: 6 }
  for (const [name, order] of Object.entries({
    forwards: (ids: number[]) => ids,
    backwards: (ids: number[]) => ids.reverse(),
    mixed: (ids: number[]) => ids.sort((a, b) => (a % 7) - (b % 7) || a - b),
  })) {
    await t.test(name, async t => {
      const store = openTestStore(t, { writer: { limits, sliceSize: 3, sliceMs: 0 } })
      store.one('Person', { name: 'Ada' })
      const ids: string[] = []
      for (let i = 0; i < 50; i++) ids.push(store.one('Pet', { ownerID: 1, friendID: ids.at(-1) ?? null }).entity.ID)
      const result = store.delete('Pet', order([...Array(50).keys()]))
      t.same(result, { kind: 'delete', deleted: 50 })
      t.same(store.problems(), [])
    })
  }
})

t.test('the heartbeat of the writer continues within a transaction of any kind', async t => {
  const heartbeat = new Heartbeat()
  const store = openTestStore(t, { writer: { heartbeat } })
  const beatsOf = (run: () => unknown): number => {
    const before = heartbeat.beats
    run()
    return heartbeat.beats - before
  }
  const pets = Array.from({ length: 100 }, (_, i) => ({ name: `Pet ${i}`, ownerID: 1 }))
  store.save('Person', [{ name: 'Ada' }])
  t.ok(beatsOf(() => store.save('Pet', pets, { atomic: true })) > pets.length, 'a save')
  t.ok(beatsOf(() => store.save('Pet', pets, { mode: 'validate' })) > pets.length, 'a validation')
  t.ok(beatsOf(() => store.delete('Person', [0], { atomic: true })) > pets.length, 'the cascade of a deletion')
  t.same([store.all('Person'), store.all('Pet')], [[], []])
  const { port1, port2 } = new MessageChannel()
  const thread = new LinkedThread({ port: port1, signal: new Int32Array(new SharedArrayBuffer(12)) })
  t.ok(beatsOf(() => thread.receive(Date.now() + 300, () => heartbeat.beat())) > 0, 'a wait for function code')
  port2.close()
})
