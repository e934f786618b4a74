import t from 'tap'
import { sortKeys } from '../../../../engine/row-set/sort-keys.ts'
import fc from '../../../support/runner/fast-check.ts'

const number = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.constantFrom(0, -0, Number.NEGATIVE_INFINITY, Number.MAX_VALUE, -Number.MIN_VALUE),
)

t.test('numbers are sorted as by comparison, stably, few and many', async t => {
  fc.assert(
    fc.property(fc.array(number, { maxLength: 60 }), fc.constantFrom(1, 60), (some, copies) => {
      const keys = Float64Array.from({ length: some.length * copies }, (_, i) => some[(i * 7) % some.length]!)
      const expected = [...keys.keys()].sort((a, b) => (keys[a]! < keys[b]! ? -1 : keys[a]! > keys[b]! ? 1 : a - b))
      t.strictSame([...sortKeys(keys)], expected)
    }),
    { numRuns: 60 },
  )
})
