import t from 'tap'
import { sortPositions, topPositions } from '../../../../engine/query/execute/top-n.ts'
import fc from '../../../support/runner/fast-check.ts'

t.test('the top n are the first n of the sort, ties in their order', async t => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 60 }), fc.nat(70), (values, count) => {
      const order = (a: number, b: number) => values[a]! - values[b]! || a - b
      t.same([...topPositions(values.length, count, order)], [...sortPositions(values.length, order)].slice(0, count))
    }),
  )
})
