/** Delay of events in a thread, measured with a clock that the test moves. */
import t from 'tap'
import { histogram } from '../../../../engine/base/counts/histogram.ts'
import { LOOK_MS, LoopDelay } from '../../../../engine/base/counts/loop-delay.ts'
import { COUNT, SharedCounts } from '../../../../engine/base/counts/thread-counts.ts'

function measured() {
  const shared = new SharedCounts()
  const counts = shared.claim('kernel')
  const loop = new LoopDelay(counts, shared.beats)
  const times = () => {
    const { values } = histogram('a', '', [{ labels: {}, cells: counts, start: COUNT.loopDelay }])
    return Object.fromEntries(values.map(({ metricName, labels, value }) => [labels.le ?? metricName, value]))
  }
  return { shared, loop, times, begin: loop.lookedAt }
}

t.test('a loop that is not blocked has no delay, even when a look is early', async t => {
  const { loop, times, begin, shared } = measured()
  loop.look(begin + LOOK_MS)
  loop.look(begin + 2 * LOOK_MS)
  loop.look(begin + 3 * LOOK_MS - 1)
  t.match(times(), { 0.001: 3, '+Inf': 3, a_count: 3 })
  // The time of the first look is a fraction, so a sum of differences is not exact.
  t.equal(Math.round(times().a_sum! * 1e6), 0)
  t.equal(shared.beats[0], 3, 'other threads see that it is alive')
})

t.test('a blocked loop counts every look that it missed', async t => {
  const { loop, times, begin } = measured()
  const told: number[] = []
  loop.onDelay = ms => told.push(ms)
  loop.look(begin + LOOK_MS + 1040)
  // 1040, 940, … 40 ms: half of the events of that second waited for more than half a second.
  t.match(times(), { 0.025: 0, 0.05: 1, 0.25: 3, 0.5: 5, 1: 10, 2.5: 11, a_count: 11 })
  t.equal(Math.round(times().a_sum! * 1000), 5940)
  t.same(told.map(Math.round), [1040])
  t.equal(loop.lookedAt, begin + LOOK_MS + 1040)
})

t.test('it looks periodically until it is stopped', async t => {
  const { loop, shared } = measured()
  loop.start()
  await new Promise<void>(resolve => {
    loop.onDelay = () => resolve()
    // Keeps the process alive, which the looks do not.
    const alive = setInterval(() => {}, 1_000)
    t.teardown(() => clearInterval(alive))
  })
  t.ok(shared.beats[0]! > 0)
  loop.stop()
})
