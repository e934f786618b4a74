import t from 'tap'
import { KeyList } from '../../../../engine/row-set/key-list.ts'
import fc from '../../../support/runner/fast-check.ts'

const keys = fc.uniqueArray(
  fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom('é', 'e', '🎈', '~', 'x'.repeat(200))),
  {
    maxLength: 40,
  },
)

t.test('a list has its texts in their order, also in part and after a clone', async t => {
  fc.assert(
    fc.property(keys, fc.nat(50), fc.nat(50), (texts, first, end) => {
      const list = KeyList.of(texts)
      t.strictSame(list.texts(), texts)
      t.strictSame(list.texts(first, end), texts.slice(first, end))
      t.strictSame(KeyList.revive(structuredClone(list)).texts(), texts)
      t.strictSame(KeyList.fromData(list.data, list.size).texts(), texts)
      t.equal(KeyList.problemOf(list.data, list.size), undefined)
    }),
    { numRuns: 60 },
  )
})

t.test('AND and EXCEPT keep the order of the first list, OR adds the second', async t => {
  fc.assert(
    fc.property(keys, keys, (a, b) => {
      const [left, right] = [KeyList.of(a), KeyList.of(b)]
      const both = a.filter(each => b.includes(each))
      const only = b.filter(each => !a.includes(each))
      t.strictSame(left.and(right).texts(), both)
      t.strictSame(
        left.minus(right).texts(),
        a.filter(each => !b.includes(each)),
      )
      t.strictSame(left.or(right).texts(), [...a, ...only])
      t.equal(left.intersects(right), both.length > 0)
      t.equal(KeyList.problemOf(left.or(right).data, a.length + only.length), undefined)
    }),
    { numRuns: 60 },
  )
})

t.test('data that were not made by it have a problem', async t => {
  const { data, size } = KeyList.of(['=a', '=bc'])
  const changed = (at: number, value: number) => data.slice().fill(value, at, at + 1)
  t.match(KeyList.problemOf(changed(0, 7), size), /key 0 has another hash/)
  t.match(KeyList.problemOf(changed(2, 900), size), /key 0 ends at byte 900/)
  t.match(KeyList.problemOf(data, 900), /no room/)
})
