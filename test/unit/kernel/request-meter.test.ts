/** Requests that are timed, slow, or counted with the time of others; the test makes the looks of threads at the clock. */
import t from 'tap'
import { LoopDelay } from '../../../engine/base/counts/loop-delay.ts'
import { SharedCounts } from '../../../engine/base/counts/thread-counts.ts'
import { RequestCounts } from '../../../kernel/metrics/request-counts.ts'
import { requestMeter } from '../../../kernel/metrics/request-meter.ts'
import type { FinishedRequest } from '../../../kernel/transport/transport.ts'
import { logSink } from '../../support/base/log-sink.ts'

const SLOW_MS = 60_000

function measured(slowMs = SLOW_MS) {
  const shared = new SharedCounts()
  const loopDelay = new LoopDelay(shared.claim('kernel'), shared.beats)
  const counts = new RequestCounts(['read'])
  const { lines, logger } = logSink()
  const meter = requestMeter(
    counts,
    logger,
    { loopDelay, queries: { outline: () => ({}) } },
    { slowQueryMs: slowMs, slowQueryValues: false },
  )!
  return {
    meter,
    lines,
    loopDelay,
    /** Simulates that the thread was blocked for some time while another one continued. */
    standStill(ms: number): void {
      loopDelay.lookedAt = performance.now() - ms
      shared.beats[0]!++
    },
    answer(request: Partial<FinishedRequest>, isSameTurn = true): void {
      const client = { address: '' }
      const numbers = { receivedBytes: 0, answerBytes: 0, rowsExamined: 0, rowsSent: 0 }
      const whole = { method: 'GET', path: '/rest/A', query: '', plugin: 'read', status: 200, client, work: [] }
      meter.finished({ startedAt: 0, ...whole, ...numbers, ...request } as unknown as FinishedRequest, isSameTurn)
    },
    /** Numbers of requests by the upper bound of their time in seconds, the label `le`. */
    times(): Record<string, number> {
      const { values } = counts.read().find(({ name }) => name === 'tesser_http_request_duration_seconds')!
      return Object.fromEntries(values.map(({ metricName, labels, value }) => [labels.le ?? metricName, value]))
    },
  }
}

t.test('a turn in which other threads did not look at the clock counts as a short one', async t => {
  const { meter, lines, answer, times, loopDelay } = measured()
  t.equal(meter.timedEvery, 16)
  // The thread was held up, and no other thread has looked at its clock since.
  loopDelay.lookedAt = performance.now() - 2 * SLOW_MS
  answer({ beat: meter.beats[0]! })
  t.same(lines, [])
  t.match(times(), { 0.001: 1 }, 'it counts with the times of others, of which there are none')
})

t.test('a slow request is detected in every turn', async t => {
  const { meter, lines, answer, times, standStill } = measured()
  for (let i = 0; i < 20; i++) {
    const beat = meter.beats[0]!
    standStill(SLOW_MS)
    answer({ beat, path: `/rest/A${i}` })
  }
  t.equal(lines.length, 10, 'the number that is logged in a second')
  t.match(lines[0], { msg: 'slow request', address: '/rest/A0', plugin: 'read' })
  t.ok(Number(lines[0]!.ms) >= SLOW_MS)
  t.match(times(), { 0.001: 0, 30: 0, '+Inf': 20 })
})

t.test('a turn that is long and not slow has its own time, and is not a sample for others', async t => {
  const { meter, lines, answer, times, standStill } = measured()
  answer({ beat: meter.beats[0]! })
  const beat = meter.beats[0]!
  standStill(20_000)
  answer({ beat })
  answer({ startedAt: performance.now() })
  t.same(lines, [])
  t.match(times(), { 0.25: 2, 10: 2, 30: 3, '+Inf': 3 })
})

t.test('a slow request that was timed is not a sample either', async t => {
  const { meter, answer, times } = measured()
  answer({ beat: meter.beats[0]! })
  answer({ startedAt: performance.now() - SLOW_MS })
  t.match(times(), { 0.001: 1, 30: 1, '+Inf': 2 })
})

t.test('a look of another thread in a short turn makes no difference', async t => {
  const { meter, lines, answer, times, standStill } = measured()
  const beat = meter.beats[0]!
  standStill(0)
  answer({ beat })
  t.same(lines, [])
  t.match(times(), { 0.001: 1 })
})

t.test('a request that continues later counts from before its turn if that was a long one', async t => {
  const { meter, lines, answer, standStill } = measured()
  standStill(0)
  const before = performance.now()
  t.ok(meter.turnBegan() >= before)
  standStill(SLOW_MS)
  answer({ startedAt: meter.turnBegan() }, false)
  t.match(lines, [{ msg: 'slow request' }])
})

t.test('all requests are timed if the bound of slow ones is below that of a long turn', async t => {
  t.equal(measured(199).meter.timedEvery, 1)
  t.equal(measured(200).meter.timedEvery, 16)
  t.equal(measured(0).meter.timedEvery, 16)
})

t.test('a thread that was held up is logged, whatever the cause', async t => {
  const { loopDelay, lines } = measured()
  loopDelay.lookedAt = 0
  loopDelay.look(SLOW_MS)
  t.same(lines, [], 'a look is due a tenth of a second after the last one')
  loopDelay.look(2 * SLOW_MS + 100)
  t.match(lines, [{ level: 40, ms: SLOW_MS, msg: 'the thread that serves requests was held up' }])
})

t.test('no request is slow without a bound', async t => {
  const { loopDelay, lines, answer } = measured(0)
  loopDelay.look(loopDelay.lookedAt + SLOW_MS + 100)
  answer({ startedAt: 1 })
  t.same(lines, [])
})
