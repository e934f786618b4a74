import t from 'tap'
import { parseClock } from '../../../../../engine/base/time/read-clock.ts'

const cases: readonly [string, number | undefined][] = [
  ['08:30:00', 30_600_000],
  ['8:30', 30_600_000],
  [' 8:30\n', 30_600_000],
  ['+02:00:00', 7_200_000],
  ['00:00:00', 0],
  ['-00:00:00', 0],
  ['-00:01', -60_000],
  ['00:00:00.5', 500],
  ['00:00:00,25', 250],
  ['00:00:00.0019999', 1],
  ['-00:00:00.0015', -2],
  ['-00:00:00.001000', -1],
  ['838:59:59', 3_020_399_000],
  ['2562047788:00:54.775', (2_562_047_788 * 3600 + 54) * 1000 + 775],
  ['12345678901:00', undefined],
  ['8', undefined],
  ['8:3', undefined],
  ['8:60', undefined],
  ['8:30:60', undefined],
  ['8:30:5', undefined],
  ['8:30.5', undefined],
  ['8:30:00.', undefined],
  ['8:30:00+02', undefined],
  ['8:30 pm', undefined],
  ['x8:30', undefined],
  ['--8:30', undefined],
  ['', undefined],
  [`8:30${' '.repeat(64)}`, undefined],
]
for (const [text, expected] of cases) {
  t.test(`${JSON.stringify(text.slice(0, 40))} is ${expected ?? 'not a time'}`, async t => {
    t.equal(parseClock(text), expected)
  })
}
