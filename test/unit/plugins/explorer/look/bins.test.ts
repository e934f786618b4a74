import t from 'tap'
import {
  countInRanges,
  dateRanges,
  durationRanges,
  niceStep,
  numberRanges,
  STEPS,
  stepOf,
  ticks,
} from '../../../../../plugins/explorer/page/look/bins.ts'
import fc from '../../../../support/runner/fast-check.ts'

const date = (text: string): number => Date.parse(`${text}T00:00:00Z`)
const iso = (time: number): string => new Date(time).toISOString().slice(0, 10)

t.test('steps are 1, 2 or 5 times a power of ten', async t => {
  t.equal(niceStep(100, 10), 10)
  t.equal(niceStep(100, 9), 20)
  t.equal(niceStep(0.3, 10), 0.05)
  t.equal(niceStep(7e9, 24), 5e8)
})

t.test('ranges of numbers begin and end at round ones', async t => {
  t.same(numberRanges(0.1, 0.32, 3, false), [
    { from: 0.1, to: 0.2 },
    { from: 0.2, to: 0.3 },
    { from: 0.3, to: 0.4 },
  ])
  t.same(numberRanges(1, 3, 24, true), [
    { from: 1, to: 2 },
    { from: 2, to: 3 },
    { from: 3, to: 4 },
  ])
  t.same(numberRanges(5, 5, 24, true), [{ from: 5, to: 6 }])
  t.same(numberRanges(0, 0, 24, true), [{ from: 0, to: 1 }])
})

t.test('every value is counted in the range that contains it', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e12, max: 1e12 })), {
        minLength: 1,
      }),
      fc.integer({ min: 1, max: 60 }),
      (values, most) => {
        const [min, max] = [Math.min(...values), Math.max(...values)]
        const isInteger = values.every(Number.isInteger)
        const ranges = numberRanges(min, max, most, isInteger)
        const counted = values.map(value => ({ value, count: 1 }))
        const naive = ranges.map(({ from, to }) => values.filter(value => value >= from && value < to).length)
        const counts = countInRanges(ranges, counted).map(({ count }) => count)
        return ranges.length <= most + 2 && counts.join() === naive.join()
      },
    ),
    { numRuns: 1_000 },
  )
})

t.test('ranges of durations have steps in units of time', async t => {
  t.same(durationRanges(0, 3_600_000, 4)[1], { from: 900_000, to: 1_800_000 })
  t.same(durationRanges(0, 40 * 86_400_000, 10)[1], { from: 5 * 86_400_000, to: 10 * 86_400_000 })
})

t.test('time series follow the calendar', async t => {
  const months = dateRanges(date('2023-12-24'), date('2024-03-01'), 'month', 60)!
  t.same(
    months.map(({ from }) => iso(from)),
    ['2023-12-01', '2024-01-01', '2024-02-01', '2024-03-01'],
  )
  t.equal(iso(dateRanges(date('0044-03-15'), date('0044-03-15'), 'year', 9)![0]!.from), '0044-01-01')
  t.same(dateRanges(date('1999-01-01'), date('2001-01-01'), 'decade', 9)!.length, 2)
  t.equal(dateRanges(0, date('2020-01-01'), 'day', 100), undefined)
  t.equal(stepOf(date('1915-02-08'), date('2011-12-23'), 120), 'year')
  t.equal(stepOf(0, 0, 10), 'hour')
  for (const step of STEPS) {
    const ranges = dateRanges(date('1999-11-30'), date('2000-03-02'), step, 1e4)!
    t.ok(ranges[0]!.from <= date('1999-11-30') && ranges.at(-1)!.to > date('2000-03-02'))
    t.ok(ranges.every(({ from }, i) => i === 0 || ranges[i - 1]!.to === from))
  }
})

t.test('marks of an axis are round numbers within it', async t => {
  t.same(ticks(0, 47, 5), [0, 10, 20, 30, 40])
  t.same(ticks(0, 0, 5), [0])
  t.same(ticks(-3, 3, 6), [-3, -2, -1, 0, 1, 2, 3])
})
