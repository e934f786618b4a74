/**
 * Decimals against a naive reference that holds each number as a scaled bigint: values of random scales in columns and
 * indexes, found by literals of any number of digits, sorted, added up, and changed in between.
 *
 *   TESSER_TEST_SEED=42 node dist/test/property/decimal.test.js      repeats one world
 */
import t from 'tap'
import { type Random, randomOf } from '../support/base/random.ts'
import { isLong, longCount, seeds, timeoutMs } from '../support/runner/rounds.ts'
import { startServer } from '../support/servers/test-server.ts'

const WORLDS = isLong ? longCount(60) : 4
const ROWS = 400
const QUESTIONS = 60

/** A number in units of 10^-60. */
type Exact = bigint
const PLACES = 60

function exact(text: string): Exact {
  const [mantissa, exponent = '0'] = text.toLowerCase().split('e') as [string, string?]
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?]
  const digits = BigInt(`${whole.replace(/[+-]/, '')}${fraction}` || '0')
  return (mantissa.startsWith('-') ? -digits : digits) * 10n ** BigInt(PLACES - fraction.length + Number(exponent))
}

/** The number with `places` digits after the point, halves rounded away from zero. */
function shown(value: Exact, places: number): string {
  const unit = 10n ** BigInt(PLACES - places)
  const absolute = ((value < 0n ? -value : value) + unit / 2n) / unit
  const digits = String(absolute).padStart(places + 1, '0')
  const point = digits.length - places
  const text = places === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`
  return value < 0n && absolute !== 0n ? `-${text}` : text
}

/** Random digits with frequent zeros and nines. */
const randomDigits = (random: Random, count: number): string =>
  Array.from({ length: count }, () => random.pick([0, 0, 9, 9, random.integer(1, 8)])).join('')

/** A value of at most 18 digits. */
function randomValue(random: Random, scale: number): string {
  const whole = randomDigits(random, random.integer(0, Math.min(18 - scale, random.pick([1, 2, 18])))) || '0'
  const fraction = randomDigits(random, random.integer(0, scale))
  return random.pick(['', '-']) + whole + (fraction && `.${fraction}`)
}

/** The number in one of its possible spellings. */
function spelled(random: Random, text: string): string {
  const [whole, fraction = ''] = text.split('.') as [string, string?]
  const shift = random.integer(1, 3)
  return random.pick([
    text,
    `${whole}.${fraction}${'0'.repeat(shift)}`,
    `${whole}${fraction}e-${fraction.length}`,
    `${whole}.${fraction.padEnd(1, '0')}e0`,
  ])
}

/** A stored value, one that differs from it in a digit within or beyond the scale, or any number. */
function randomOperand(random: Random, values: readonly (string | null)[], scale: number): string {
  const stored = random.pick(values.filter(value => value !== null))
  return random.pick([
    () => spelled(random, stored),
    () => shown(exact(stored) + 10n ** BigInt(PLACES - scale), scale),
    () => shown(exact(stored) + random.pick([1n, -1n]) * 10n ** BigInt(PLACES - scale - 3), scale + 3),
    () => randomValue(random, random.integer(0, 18)),
    () => `${randomValue(random, 0)}e${random.integer(-25, 5)}`,
  ])()
}

const COMPARATORS: Readonly<Record<string, (a: Exact, b: Exact) => boolean>> = {
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
}

const compare = (a: Exact, b: Exact): number => (a < b ? -1 : a > b ? 1 : 0)

t.setTimeout(timeoutMs)
for (const seed of seeds(WORLDS)) {
  t.test(`world ${seed}: decimals are exact`, async t => {
    const random = randomOf(seed)
    const scale = random.integer(0, 18)
    const asText = random.chance(0.5)
    const decimal = { type: 'decimal', scale, asText }
    const values: (string | null)[] = Array.from({ length: ROWS }, () =>
      random.chance(0.1) ? null : randomValue(random, scale),
    )
    const server = await startServer(t, {
      model: {
        name: 'exact',
        dataClasses: {
          A: { key: 'ID', attributes: { ID: { type: 'long' }, column: decimal, index: { ...decimal, indexed: true } } },
        },
      },
      rows: { A: values.map((value, ID) => ({ ID, column: value, index: value })) },
    })
    const keysWhere = (test: (value: string | null) => boolean): string[] =>
      values.flatMap((value, ID) => (test(value) ? [String(ID)] : []))
    const sorted = (keys: readonly string[]): string[] => [...keys].sort((a, b) => Number(a) - Number(b))
    const read = async (path: string): Promise<string[]> => {
      const { status, json, text } = await server.get(path)
      t.equal(status, 200, text.slice(0, 300))
      return json.__ENTITIES.map(({ __KEY }: { __KEY: string }) => __KEY)
    }

    for (let question = 0; question < QUESTIONS; question++) {
      if (question % 10 === 9) {
        const ID = random.integer(0, ROWS - 1)
        const value = random.chance(0.1) ? null : randomValue(random, scale)
        values[ID] = value
        const { json } = await server.get(`/A(${ID})/ID`)
        const body = { __KEY: ID, __STAMP: json.__STAMP, column: value, index: value && spelled(random, value) }
        t.equal((await server.post('/A?$method=update', body)).status, 200)
      }
      const name = random.pick(['column', 'index'])
      const comparator = random.pick(Object.keys(COMPARATORS))
      const operand = randomOperand(random, values, scale)
      const isParameter = random.chance(0.5)
      const filter = encodeURIComponent(`${name} ${comparator} ${isParameter ? ':1' : operand}`)
      const number = /^-?(0|[1-9]\d*)(\.\d+)?(e-?\d+)?$/.test(operand) && random.chance(0.5)
      const params = isParameter ? `&$params=[${number ? operand : `"${operand}"`}]` : ''
      const matches = COMPARATORS[comparator]!
      t.strictSame(
        sorted(await read(`/A?$top=-1&$filter="${filter}"${params}`)),
        keysWhere(value => value !== null && matches(exact(value), exact(operand))),
        `${name} ${comparator} ${operand} at scale ${scale}${params && (number ? ' as a number' : ' as a text')}`,
      )
    }

    const present = values.flatMap(value => (value === null ? [] : exact(value)))
    const quoted = (text: string): string => (asText ? `"${text}"` : text)
    for (const name of ['column', 'index']) {
      const all = await server.get(`/A/${name}?$compute=$all`)
      const total = present.reduce((sum, value) => sum + value, 0n)
      const ascending = [...present].sort(compare)
      t.equal(
        all.text,
        `{"${name}":{"count":${present.length},"sum":${quoted(shown(total, scale))},"average":${quoted(shown(total / BigInt(present.length), scale + 6))},"min":${quoted(shown(ascending[0]!, scale))},"max":${quoted(shown(ascending.at(-1)!, scale))}}}`,
      )
      const distinct = [...new Set(ascending)].map(value => quoted(shown(value, scale)))
      t.equal((await server.get(`/A/${name}?$distinct=true&$top=-1`)).text, `[${distinct.join(',')}]`)
      const order = sorted(keysWhere(() => true)).sort((a, b) => {
        const [x, y] = [values[Number(a)]!, values[Number(b)]!]
        return x === null || y === null ? Number(y === null) - Number(x === null) : compare(exact(x), exact(y))
      })
      t.strictSame(await read(`/A?$top=-1&$orderby="${name}, ID"`), order, `sorted by ${name}`)
    }
    const written = (await server.get('/A/column?$top=-1&$orderby="ID"')).text.match(/"column":("[^"]*"|[^},]*)/g)
    t.strictSame(
      written,
      values.map(value => `"column":${value === null ? 'null' : quoted(shown(exact(value), scale))}`),
    )
  })
}
