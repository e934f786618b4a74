import fc from '../../../support/fast-check.ts'
import t from 'tap'
import { isLongNumber, parseExact, rounded, stringifyExact } from '../../../../engine/base/exact-json.ts'

t.test('integers beyond 2^53 keep their digits', async t => {
  t.strictSame(
    parseExact(
      '[9007199254740991,9007199254740992,-9223372036854775808,{"a":9223372036854775807},1e20,12345678901234567.5]',
    ),
    [
      9_007_199_254_740_991,
      9_007_199_254_740_992n,
      -9_223_372_036_854_775_808n,
      { a: 9_223_372_036_854_775_807n },
      1e20,
      12_345_678_901_234_568,
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
  const cases: readonly [name: string, json: string, isLong: boolean][] = [
    // A double shows them unchanged
    ['15 digits', '123456789.012345', false],
    ['a sum of doubles', '0.30000000000000004', false],
    ['zeros around 15 digits', '0.00001234567890123450000', false],
    ['another exponent', '30000000000000004e-17', false],
    ['a large double', '1.7976931348623157e308', false],
    ['zero', '-0.00000000000000000000e-999', false],
    // A double loses digits
    ['17 digits', '12345678901234567.5', true],
    ['a digit far to the right', '0.1000000000000000055', true],
    ['too small', '1e-400', true],
    ['too large', '1234567890123456e400', true],
    ['many digits', `0.${'1'.repeat(500)}`, true],
    ['many zeros', `0.1${'0'.repeat(500)}`, true],
  ]
  for (const [name, json, isLong] of cases) {
    const [value] = parseExact(`[${json},"${json}"]`, true) as [unknown]
    t.equal(isLongNumber(value), isLong, name)
    t.equal(String(value), isLong ? json : String(Number(json)), name)
    t.equal(rounded(value), Number(json), name)
    t.equal(parseExact(json), Number(json), `${name}, not requested`)
    if (isLong) t.equal(stringifyExact({ a: [value] }), `{"a":[${json}]}`, name)
    t.equal(isLongNumber(structuredClone(value)), isLong, `${name} in another thread`)
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
      const value = parseExact(text, true)
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
