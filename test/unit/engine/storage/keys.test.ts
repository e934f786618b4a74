import t from 'tap'
import type { StorageAttribute } from '../../../../engine/catalog/attribute.ts'
import type { StorageType } from '../../../../engine/catalog/value-type.ts'
import type { Value } from '../../../../engine/catalog/value.ts'
import { isCut, MAX_TEXT_BYTES } from '../../../../engine/row-format/index-key.ts'
import { indexPrefix, postingKey, prefixEnd, rowIdOfKey, textIndexPrefix } from '../../../../engine/storage/keys.ts'
import { fold } from '../../../../engine/base/text/fold.ts'
import fc from '../../../support/runner/fast-check.ts'

/** Attribute with only the properties that key encoding reads. */
const attributeOf = (type: StorageType) =>
  ({ kind: 'storage', type, position: 3, dataClass: { tableNumber: 7 } }) as unknown as StorageAttribute

const sign = (n: number): number => Math.sign(n)
const compare = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)

const indexKey = (attribute: StorageAttribute, value: Value, bound: number): Buffer =>
  postingKey(indexPrefix(attribute, value), bound)

/** Checks that keys sort as their values. */
function ordersLikeValues<T extends Value & (number | bigint | string | boolean)>(
  type: StorageType,
  values: fc.Arbitrary<T>,
  order: (a: T, b: T) => number = compare,
) {
  const attribute = attributeOf(type)
  fc.assert(
    fc.property(values, values, fc.nat(0xfffffffe), fc.nat(0xfffffffe), (a, b, rowA, rowB) => {
      const expected = order(a, b)
      const keys = sign(indexKey(attribute, a, rowA).compare(indexKey(attribute, b, rowB)))
      if (keys !== (expected === 0 ? compare(rowA, rowB) : expected)) throw new Error(`keys compare as ${keys}`)
      if (sign(indexPrefix(attribute, a).compare(indexPrefix(attribute, b))) !== expected) throw new Error('prefixes')
    }),
    { numRuns: 2000 },
  )
}

const unit = fc.oneof(
  fc.constantFrom('\0', '\x01', '\x02', 'a', 'A', 'b', 'é', 'E\u0301', 'ß', 'Σ', 'ς', '\u07ff', '\u0800', '\uffff'),
  fc.constantFrom('\ud800', '\udbff', '\udc00', '😀', '\ue000'),
)
const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.string({ unit, maxLength: 6 }))

t.test('keys of numbers sort as the numbers', async t => {
  const edges = fc.constantFrom(0, -0, 1, -1, 0.5, Number.MIN_VALUE, -Number.MIN_VALUE, Number.MAX_VALUE, 2 ** 53)
  ordersLikeValues('number', fc.oneof(fc.double({ noNaN: true }), edges))
  ordersLikeValues('date', fc.integer({ min: -8.64e15, max: 8.64e15 }))
  ordersLikeValues('byte', fc.integer({ min: 0, max: 255 }))
  t.pass()
})

t.test('0 and -0 have one key', async t => {
  t.strictSame(indexKey(attributeOf('number'), -0, 1), indexKey(attributeOf('number'), 0, 1))
})

t.test('keys of 64-bit integers sort as the integers, beyond 2^53 too', async t => {
  const big = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  ordersLikeValues<number | bigint>('long64', fc.oneof(big, fc.maxSafeInteger(), fc.constantFrom(2n ** 63n - 1n, 0)))
  t.pass()
})

t.test('keys of booleans sort false before true', async t => {
  ordersLikeValues('bool', fc.boolean())
  t.pass()
})

t.test('keys of texts sort as the code units of the folded texts', async t => {
  ordersLikeValues('string', text, (a, b) => compare(fold(a), fold(b)))
  t.pass()
})

t.test('null sorts before every value', async t => {
  for (const [type, value] of [
    ['string', ''],
    ['number', Number.NEGATIVE_INFINITY],
    ['long64', -(2n ** 63n)],
    ['bool', false],
  ] as const) {
    const attribute = attributeOf(type)
    t.ok(indexKey(attribute, null, 0xfffffffe).compare(indexKey(attribute, value, 0)) < 0, type)
  }
})

t.test('the row id can be read from a key', async t => {
  for (const rowId of [0, 1, 255, 256, 2 ** 31, 0xfffffffe]) {
    t.equal(rowIdOfKey(indexKey(attributeOf('string'), 'Ada', rowId)), rowId)
  }
})

t.test('a key is in the prefix range of exactly those texts that its text begins with', async t => {
  const attribute = attributeOf('string')
  fc.assert(
    fc.property(text, text, fc.nat(), (a, b, rowId) => {
      for (const candidate of [b, a + b]) {
        const start = textIndexPrefix(attribute, fold(a))
        const key = indexKey(attribute, candidate, rowId)
        const inside = start.compare(key) <= 0 && key.compare(prefixEnd(start)) < 0
        if (inside !== fold(candidate).startsWith(fold(a)))
          throw new Error(`${inside} for ${JSON.stringify(candidate)}`)
      }
    }),
    { numRuns: 2000 },
  )
  t.pass()
})

t.test('a text counts as cut from the length at which two different ones can share a key', async t => {
  const attribute = attributeOf('string')
  const longest = 'x'.repeat(MAX_TEXT_BYTES - 1)
  t.notOk(isCut(longest))
  t.ok(isCut(`${longest}x`))
  t.not(indexPrefix(attribute, longest).compare(indexPrefix(attribute, `${longest}x`)), 0)
  t.equal(indexPrefix(attribute, `${longest}xa`).compare(indexPrefix(attribute, `${longest}xb`)), 0)
})
