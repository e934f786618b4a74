import t from 'tap'
import { figuresOf, readingOf } from '../../../../plugins/explorer/page/admin/figures.ts'

const TIMES = 'tesser_http_request_duration_seconds'

/** @param counts requests below 1 ms, below 10 ms, and in total */
const reading = (at: number, requests: number, seconds: number, counts: readonly number[]) =>
  readingOf(at, [
    {
      name: 'tesser_http_requests_total',
      values: [
        { labels: { method: 'GET' }, value: requests },
        { labels: { method: 'POST' }, value: 1 },
      ],
    },
    {
      name: 'tesser_memory_used_bytes',
      values: [
        { labels: { use: 'rows' }, value: 5 },
        { labels: { use: 'text' }, value: 6 },
      ],
    },
    {
      name: TIMES,
      values: [
        ...['0.001', '0.01', '+Inf'].map((le, i) => ({
          metricName: `${TIMES}_bucket`,
          labels: { le },
          value: counts[i]!,
        })),
        { metricName: `${TIMES}_sum`, labels: {}, value: seconds },
        { metricName: `${TIMES}_count`, labels: {}, value: counts[2]! },
      ],
    },
  ])

t.test('figures are computed for the time between two readings', t => {
  const before = reading(1_000, 100, 1, [90, 100, 100])
  const now = reading(3_000, 140, 1.2, [95, 140, 140])
  t.match(figuresOf(before, now), { requests: 20, latency: Number, latency95: 10, memory: 11, rows: undefined })
  t.match(figuresOf(now, now), { requests: undefined, latency: undefined, latency95: undefined })
  const restarted = figuresOf(now, reading(5_000, 10, 0.1, [10, 10, 10]))
  t.equal(restarted.requests, 5.5, 'a server that has started again counts from 0')
  t.end()
})
