import t from 'tap'
import { ProtocolError } from '../../engine/base/errors.ts'
import { parsePath } from '../../kernel/url/parse-path.ts'
import { parseQueryString } from '../../kernel/url/parse-query-string.ts'
import { naivePairs } from '../support/reference/query-string.ts'
import { type Random, randomOf } from '../support/base/random.ts'
import { isLong, seedOf } from '../support/runner/rounds.ts'

/** Pieces of query strings and paths that their parsers treat specially. */
const PIECES = [
  ...['a', 'b', '=', '&', '$', '"', "'", '%22', '%27', '%26', '%3D', '%24', '%20', '.', ',', ';', ' ', '(', ')', 'é'],
  ...['&$', '="', "='", "O'R", '&a=', '$filter="', '/', '[', ']', ':', '%', '+'],
]
const seed = seedOf()

const some = (random: Random, count: number): string =>
  Array.from({ length: random.integer(1, count) }, () => random.pick(PIECES)).join('')

t.test('a query string is read like the naive reader does', async t => {
  const random = randomOf(seed)
  for (let i = 0; i < (isLong ? 500_000 : 20_000); i++) {
    const raw = some(random, 24)
    const { pairs, unclosed } = naivePairs(raw)
    const received = outcome(() => [...parseQueryString(raw)])
    const read = outcome(() => [...new Map(pairs.flatMap(decoded))])
    const wanted = read === 1806 || unclosed === undefined ? read : unclosed === "'" ? 1808 : 1809
    if (JSON.stringify(received) !== JSON.stringify(wanted)) {
      return t.same(received, wanted, raw)
    }
  }
  t.pass('all alike')
})

t.test('the cost of reading an address grows with its length, whatever it contains', async t => {
  const random = randomOf(seed)
  const BYTES = 64 * 1024
  const repeated = (pattern: string): string => pattern.repeat(Math.ceil(BYTES / pattern.length)).slice(0, BYTES)
  const readers = { parseQueryString, parsePath: (raw: string) => parsePath(`/${raw}`) }
  const known = [`a="b"%20c&`, `a='b'.&`, `a=('b&`, `a="`, `="&`, `'&`, `"b" `, 'a&', 'City(1)/', '("a"', `"    `]
  for (const [name, read] of Object.entries(readers)) {
    const plain = cost(() => outcome(() => read(`City("${repeated('$filter=abc = 1&')}`)), 20)
    let worst = { pattern: '', times: 0 }
    for (const pattern of [...known, ...Array.from({ length: isLong ? 5_000 : 40 }, () => some(random, 6))]) {
      for (const raw of [repeated(pattern), `City("${repeated(pattern)}`, `a="${repeated(pattern)}`]) {
        const run = () => outcome(() => read(raw))
        // A pause of the machine is not a cost of the parser: slow results are measured again.
        const times = cost(run, 3) / plain
        if (times > worst.times) worst = { pattern: raw.slice(0, 40), times }
      }
    }
    // Quadratic cost would be some 2,000 times.
    t.ok(worst.times < 100, `${name}: at most ${worst.times.toFixed(1)} times a plain filter, ${worst.pattern}`)
  }
})

/** Shortest CPU time of several runs, in microseconds. */
function cost(run: () => unknown, runs: number): number {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < runs; i++) {
    const before = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, user + system)
  }
  return Math.max(least, 50)
}

/** Returns no parameter for an empty name, whose value is not decoded then. */
function decoded([name, value]: [string, string]): [string, string][] {
  if (name === '') return []
  const text = (raw: string) => (raw.includes('%') ? decodeURIComponent(raw) : raw)
  return [[text(name), text(text(name) === '$params' ? value.replaceAll('+', ' ') : value)]]
}

/** The result, or the code of the error. */
function outcome<T>(read: () => T): T | number {
  try {
    return read()
  } catch (error) {
    if (error instanceof URIError) return 1806
    if (error instanceof ProtocolError) return error.entries[0]!.errCode
    throw error
  }
}
