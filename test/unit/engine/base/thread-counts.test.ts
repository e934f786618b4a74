/** Counters that threads share: owners of blocks, and sums. */
import t from 'tap'
import { histogram, observe } from '../../../../engine/base/counts/histogram.ts'
import { COUNT, ownCounts, SharedCounts } from '../../../../engine/base/counts/thread-counts.ts'

const BLOCKS = 128
const gone = () => false

t.test('each claim has a separate block, and the sum covers all', async t => {
  const shared = new SharedCounts()
  const [kernel, pool, other] = [shared.claim('kernel'), shared.claim('pool'), shared.claim('pool')]
  kernel[COUNT.parseHits] = 1
  pool[COUNT.parseHits] = 10
  other[COUNT.parseHits] = 100
  other[COUNT.parseMisses] = 5
  t.equal(shared.sum()[COUNT.parseHits], 111)
  t.equal(shared.sum()[COUNT.parseMisses], 5)
  t.equal(shared.sum('pool')[COUNT.parseHits], 110)
  t.equal(shared.sum('writer')[COUNT.parseHits], 0)
  t.same(
    shared.threads().map(({ role }) => role),
    ['kernel', 'pool', 'pool'],
  )
})

t.test('another thread finds the same counters in the same memory', async t => {
  const shared = new SharedCounts()
  const counts = new SharedCounts(shared.buffer).claim('writer')
  counts[COUNT.commits] = 3
  t.equal(shared.sum('writer')[COUNT.commits], 3)
  shared.beats[0] = 7
  t.equal(new SharedCounts(shared.buffer).beats[0], 7)
  t.equal(shared.sum()[COUNT.loopDelay], 0, 'beats are outside the blocks')
})

t.test('the counts of a thread that has ended are kept, and the next one of its role continues them', async t => {
  const shared = new SharedCounts()
  shared.claim('function')[COUNT.columnHits] = 4
  shared.claim('pool')[COUNT.columnHits] = 40
  shared.freeBlocksOfOthers(gone)
  t.same(shared.threads(), [])
  t.equal(shared.sum('function')[COUNT.columnHits], 4)
  const next = shared.claim('pool')
  t.equal(next[COUNT.columnHits], 40)
  next[COUNT.columnHits]!++
  t.equal(shared.sum('pool')[COUNT.columnHits], 41)
  t.equal(shared.claim('vector')[COUNT.columnHits], 0, 'a block of another role is not taken')
  t.equal(shared.sum('function')[COUNT.columnHits], 4)
  shared.freeBlocksOfOthers(() => true)
  t.equal(shared.threads().length, 2, 'live threads keep theirs')
})

t.test('short-lived threads need no more blocks than run at the same time', async t => {
  const shared = new SharedCounts()
  for (let i = 0; i < 10 * BLOCKS; i++) {
    shared.claim(i % 2 === 0 ? 'pool' : 'function')[COUNT.planHits]!++
    shared.freeBlocksOfOthers(gone)
  }
  t.equal(shared.sum()[COUNT.planHits], 10 * BLOCKS)
  t.equal(shared.sum('pool')[COUNT.planHits], 5 * BLOCKS)
})

t.test('a thread beyond the last block has private counts and changes no others', async t => {
  const shared = new SharedCounts()
  const all = Array.from({ length: BLOCKS }, () => shared.claim('function'))
  for (const counts of all) counts[COUNT.planHits] = 1
  const late = shared.claim('function')
  late[COUNT.planHits] = 1000
  t.equal(late.length, ownCounts().length)
  t.equal(shared.sum()[COUNT.planHits], BLOCKS)
  t.equal(shared.threads().length, BLOCKS)
  shared.freeBlocksOfOthers(gone)
  shared.claim('function')[COUNT.planHits]!++
  t.equal(shared.sum()[COUNT.planHits], BLOCKS + 1, 'a later thread has a block again')
})

/** Buckets of a histogram by `le`, and its sum and count by name. */
function shown(cells: Float64Array): Record<string, number> {
  const { values } = histogram('a', 'Help.', [{ labels: { role: 'pool' }, cells, start: COUNT.poolRunTime }])
  return Object.fromEntries(values.map(({ metricName, labels, value }) => [labels.le ?? metricName, value]))
}

t.test('a bucket of a histogram counts values up to its bound', async t => {
  const cells = ownCounts()
  for (const ms of [0, 1, 1.001, 2.5, 9.9, 10, 30_000, 30_001, 1e9]) observe(cells, COUNT.poolRunTime, ms)
  t.same(shown(cells), {
    0.001: 2,
    0.0025: 4,
    0.005: 4,
    0.01: 6,
    0.025: 6,
    0.05: 6,
    0.1: 6,
    0.25: 6,
    0.5: 6,
    1: 6,
    2.5: 6,
    5: 6,
    10: 6,
    30: 7,
    '+Inf': 9,
    a_sum: (0 + 1 + 1.001 + 2.5 + 9.9 + 10 + 30_000 + 30_001 + 1e9) / 1000,
    a_count: 9,
  })
  for (const name of ['poolWaitTime', 'functionWaitTime'] as const)
    t.equal(cells[COUNT[name]], 0, `${name} is not affected`)
})

t.test('a time may count several times, and without times there is no series', async t => {
  const cells = ownCounts()
  t.same(shown(cells), {})
  observe(cells, COUNT.poolRunTime, 4, 0)
  t.same(shown(cells), {})
  observe(cells, COUNT.poolRunTime, 4, 16)
  t.match(shown(cells), { 0.0025: 0, 0.005: 16, '+Inf': 16, a_sum: 0.064, a_count: 16 })
})
