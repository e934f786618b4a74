import t from 'tap'
import { Histogram } from '../../../bench/load/histogram.ts'

t.test('a quantile is within 1 % of the exact one', async t => {
  const histogram = new Histogram()
  for (let i = 1; i <= 10_000; i++) histogram.add(i)
  for (const [share, exact] of [
    [0.5, 5_000],
    [0.99, 9_900],
    [1, 10_000],
  ] as const) {
    const found = histogram.quantile(share)
    t.ok(found >= exact && found <= exact * 1.01, `${share}: ${found}`)
  }
})

t.test('latencies outside the range count in the first and the last bucket', async t => {
  const histogram = new Histogram()
  histogram.add(0)
  t.equal(histogram.quantile(1), 1)
  histogram.add(1e15)
  t.ok(histogram.quantile(1) >= 1e9)
  t.equal(histogram.count, 2)
})

t.test('without latencies there is no quantile', async t => {
  t.ok(Number.isNaN(new Histogram().quantile(0.5)))
})
