import fc from '../../../support/runner/fast-check.ts'
import t from 'tap'
import { significant } from '../../../../engine/base/decimal-digits.ts'
import { doubleOf, isLongNumber, parseExact, roundNumbers, stringifyExact } from '../../../../engine/base/exact-json.ts'

t.test('integers beyond 2^53 keep their digits', async t => {
  t.strictSame(
    parseExact(
      '[9007199254740991,9007199254740992,-9223372036854775808,{"a":9223372036854775807},1e20,9007199254740993.0,-9.007199254740993e15]',
    ),
    [
      9_007_199_254_740_991,
      9_007_199_254_740_992n,
      -9_223_372_036_854_775_808n,
      { a: 9_223_372_036_854_775_807n },
      1e20,
      9_007_199_254_740_993n,
      -9_007_199_254_740_993n,
    ],
  )
  t.strictSame(parseExact('12345678901234567890'), 12_345_678_901_234_567_890n)
})

t.test('digits in texts and names stay texts', async t => {
  const json = '{"12345678901234567":"12345678901234567","\\"12345678901234567":[12345678901234567,"\\\\"]}'
  t.strictSame(parseExact(json), {
    '12345678901234567': '12345678901234567',
    '"12345678901234567': [12_345_678_901_234_567n, '\\'],
  })
})

t.test('a number with more digits than any attribute holds is a double', async t => {
  t.equal(parseExact('1'.repeat(300)), Number('1'.repeat(300)))
})

t.test('other numbers keep their digits on request when a double would lose them', async t => {
  // `always`: without the request too, as a double would be zero, infinite or an integer
  const cases: readonly [name: string, json: string, isLong: boolean | 'always'][] = [
    // A double shows them unchanged
    ['15 digits', '123456789.012345', false],
    ['a sum of doubles', '0.30000000000000004', false],
    ['zeros around 15 digits', '0.00001234567890123450000', false],
    ['another exponent', '30000000000000004e-17', false],
    ['a large double', '1.7976931348623157e308', false],
    ['zero', '-0.00000000000000000000e-999', false],
    // A double loses digits
    ['17 digits', '1234567890123456.71', true],
    ['a digit far to the right', '0.1000000000000000055', true],
    ['many digits', `0.${'1'.repeat(500)}`, true],
    ['too small', '1e-400', 'always'],
    ['too small, written out', `-0.${'0'.repeat(400)}1`, 'always'],
    ['too large', '-1e400', 'always'],
    ['too large, with many digits', '1234567890123456e+400', 'always'],
    ['no integer', '1.0000000000000000001', 'always'],
    ['nines', '99999.9999999999999999', 'always'],
    ['no integer, large', '9007199254740991.4', 'always'],
    ['no integer, beyond 2^53', '12345678901234567.5', 'always'],
    ['no integer, with an exponent', '0.100000000000000000001e1', 'always'],
    ['no integer, with a negative exponent', '99999999999999999999e-20', 'always'],
    ['no integer, with both', '-9.99999999999999999999e-1', 'always'],
    ['many zeros', `0.1${'0'.repeat(500)}`, true],
  ]
  for (const [name, json, isLong] of cases) {
    const [value] = parseExact(`[${json},"${json}"]`, 'numbers') as [unknown]
    t.equal(isLongNumber(value), isLong !== false, name)
    t.equal(String(value), isLong ? json : String(Number(json)), name)
    t.ok(Object.is(roundNumbers(value), doubleOf(json)), name)
    for (const kept of ['doubles', 'integers'] as const) {
      const [other] = parseExact(`[${json}]`, kept) as [unknown]
      if (isLong === 'always') t.equal(String(other), json, `${name}, ${kept}`)
      else t.equal(other, Number(json), `${name}, ${kept}`)
    }
    if (isLong) t.equal(stringifyExact({ a: [value] }), `{"a":[${json}]}`, name)
    t.equal(isLongNumber(structuredClone(value)), isLong !== false, `${name} in another thread`)
  }
})

t.test('every number is the one in the text', async () => {
  const digits = fc.string({ unit: fc.constantFrom(...'00001234567899'), minLength: 1, maxLength: 25 })
  const number = fc
    .tuple(fc.constantFrom('', '-'), digits, fc.option(digits), fc.option(fc.integer({ min: -30, max: 30 })))
    .map(([sign, whole, fraction, exponent]) => {
      const start = sign + (whole.replace(/^0+/, '') || '0')
      return `${start}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`
    })
  fc.assert(
    fc.property(number, text => {
      const value = parseExact(text, 'numbers')
      // A numerator over 10^60.
      const exact = (each: string): bigint => {
        const [mantissa, exponent = '0'] = each.split('e') as [string, string?]
        const [whole, fraction = ''] = mantissa.split('.') as [string, string?]
        return BigInt(whole + fraction) * 10n ** BigInt(60 - fraction.length + Number(exponent))
      }
      return exact(String(value)) === exact(text) && stringifyExact([value]) === `[${String(value)}]`
    }),
    { numRuns: 2000 },
  )
})

t.test('no number becomes zero, infinite or an integer that it is not', async () => {
  const run = fc
    .tuple(fc.constantFrom('0', '9', '1', '12'), fc.integer({ min: 0, max: 25 }))
    .map(([digits, count]) => digits.repeat(count))
  const number = fc
    .tuple(run, run, run, run, fc.option(fc.integer({ min: -30, max: 30 })), fc.constantFrom('', '-'))
    .map(([a, b, c, d, exponent, sign]) => {
      const whole = (a + b).replace(/^0+/, '') || '0'
      return `${sign}${whole}${c + d === '' ? '' : `.${c}${d}`}${exponent === null ? '' : `e${exponent}`}`
    })
  fc.assert(
    fc.property(number, fc.constantFrom('doubles', 'integers', 'numbers'), (text, kept) => {
      const { value } = parseExact(`{"value":${text}}`, kept) as { value: unknown }
      if (typeof value !== 'number') return significant(String(value)) === significant(text)
      if (!Number.isInteger(value) || Math.abs(value) >= 2 ** 64) return Number.isFinite(value)
      const isRounded = kept === 'doubles' && !Number.isSafeInteger(value)
      return isRounded || significant(text) === significant(String(BigInt(value)))
    }),
    { numRuns: 5000 },
  )
})

t.test('a name that would reach a prototype is refused', async t => {
  t.throws(() => parseExact('{"__proto__":{"x":12345678901234567}}'))
})

t.test('an infinite number cannot be written', async t => {
  t.throws(() => stringifyExact([Number.POSITIVE_INFINITY]), RangeError)
})

t.test('every JSON value survives a round trip', async t => {
  const value = fc.letrec(tie => ({
    any: fc.oneof(
      fc.string(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(
        fc.string().filter(name => name !== '__proto__' && name !== 'constructor'),
        tie('any'),
      ),
    ),
  })).any
  /** Expected value: a bigint that is safe as a number becomes a number. */
  const canonical = (each: unknown): unknown => {
    if (typeof each === 'bigint') return Number.isSafeInteger(Number(each)) ? Number(each) : each
    if (Array.isArray(each)) return each.map(canonical)
    if (typeof each !== 'object' || each === null) return each
    return Object.fromEntries(Object.entries(each).map(([name, inner]) => [name, canonical(inner)]))
  }
  fc.assert(
    fc.property(value, each => {
      t.strictSame(parseExact(stringifyExact(each)), canonical(each))
    }),
    { numRuns: 300 },
  )
})

t.test('numbers of a megabyte cost as much as other text of that length', async t => {
  const zeros = '0'.repeat(2 ** 20)
  // With a cost that grows by the square, each of them takes an hour.
  for (const kept of ['doubles', 'integers', 'numbers'] as const) {
    t.equal(String(parseExact(`1.${zeros}1`, kept)), `1.${zeros}1`, kept)
    t.equal(parseExact(`1.${zeros}`, kept), 1, kept)
    // Infinite, which every type refuses.
    t.equal(String(parseExact(`1${zeros}`, kept)), kept === 'doubles' ? 'Infinity' : `1${zeros}`, kept)
    t.equal(String(parseExact(`0.${zeros}1`, kept)), `0.${zeros}1`, kept)
    t.equal(Number(parseExact(`[[0.5${zeros}5]]`, kept)), 0.5, kept)
  }
})
