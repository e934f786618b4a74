import t from 'tap'
import { readOptions, UsageError } from '../../../bench/options.ts'

const read = (...args: string[]) => {
  const options = readOptions(args, ['read-one', 'first-page'])
  if (options === 'help') throw new Error('no options')
  return options
}

t.test('a run has a million rows, a quick one a tenth', async t => {
  t.match(read(), { employees: 1_000_000, seconds: 2, connections: 32, cases: [] })
  t.match(read('--quick'), { employees: 100_000, seconds: 0.4 })
  t.match(read('--quick', '--rows', '250k', '--seconds', '1.5'), { employees: 250_000, seconds: 1.5 })
})

t.test('cases can be chosen', async t => {
  t.same(read('--case', 'read-one', '--case', 'first-page').cases, ['read-one', 'first-page'])
})

t.test('two reports are compared', async t => {
  t.same(read('--compare', 'a.json', 'b.json').compare, ['a.json', 'b.json'])
})

for (const [args, message] of [
  [['--case', 'read-on'], /there is no case "read-on".*read-one/],
  [['--rows', '5'], /"5" is not between 10k and 100m/],
  [['--rows', '1e6'], /"1e6" is not between/],
  [['--seconds', 'x'], /--seconds: "x" is not a number/],
  [['--connections', '0'], /--connections: "0" is not a number from 1 on/],
  [['--compare', 'a.json'], /--compare takes two JSON reports/],
  [['read-one'], /"read-one" is not an option; for a case say --case/],
  [['--fast'], /--fast/],
] as const) {
  t.test(`${args.join(' ')} is refused, and the message says what is expected`, async t => {
    t.throws(() => read(...args), { constructor: UsageError, message })
  })
}
