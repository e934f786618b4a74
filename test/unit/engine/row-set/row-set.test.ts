import assert from 'node:assert/strict'
import t from 'tap'
import { RowSet } from '../../../../engine/row-set/row-set.ts'
import fc from '../../../support/runner/fast-check.ts'

/** Ids that make sparse sets, dense ones, and sets at the edges of words. */
const ids = fc.oneof(
  fc.uniqueArray(fc.nat(200), { maxLength: 150 }),
  fc.uniqueArray(fc.nat(100_000), { maxLength: 300 }),
  fc.uniqueArray(fc.constantFrom(0, 31, 32, 63, 64, 4095, 4096, 0xfffffffe), { maxLength: 8 }),
  fc.tuple(fc.nat(3000), fc.nat(3000)).map(([from, count]) => Array.from({ length: count }, (_, i) => from + i)),
)
const sorted = (set: Iterable<number>): number[] => [...set].sort((a, b) => a - b)
const both = fc.tuple(ids, ids)

t.test('a set holds exactly the ids it was made of, in ascending order', async t => {
  fc.assert(
    fc.property(ids, list => {
      for (const set of [
        RowSet.fromIds(list),
        RowSet.fromIds([...list, ...list]),
        RowSet.fromSorted(Uint32Array.from(sorted(list))),
      ]) {
        assert.deepEqual([...set.toIds()], sorted(list))
        assert.equal(set.size, list.length)
        assert.ok(list.every(id => set.has(id)))
        assert.ok(!set.has(200_001))
      }
    }),
    { numRuns: 60 },
  )
  t.pass()
})

t.test('and, or, minus and intersects match set operations', async t => {
  fc.assert(
    fc.property(both, ([left, right]) => {
      const [a, b] = [RowSet.fromIds(left), RowSet.fromIds(right)]
      const inRight = new Set(right)
      const common = left.filter(id => inRight.has(id))
      assert.deepEqual([...a.and(b)], sorted(common))
      assert.deepEqual([...a.or(b)], sorted(new Set([...left, ...right])))
      assert.deepEqual([...a.minus(b)], sorted(left.filter(id => !inRight.has(id))))
      assert.equal(a.intersects(b), common.length > 0)
      assert.equal(a.and(b).size, common.length)
      assert.equal(a.or(b).size, left.length + right.length - common.length)
    }),
    { numRuns: 150 },
  )
  t.pass()
})

t.test('an operation changes neither of its sets', async t => {
  fc.assert(
    fc.property(both, ([left, right]) => {
      const [a, b] = [RowSet.fromIds(left), RowSet.fromIds(right)]
      a.and(b)
      a.or(b)
      a.minus(b)
      assert.deepEqual([...a], sorted(left))
      assert.deepEqual([...b], sorted(right))
    }),
    { numRuns: 50 },
  )
  t.pass()
})

t.test('a slice is the part of the ascending ids', async t => {
  fc.assert(
    fc.property(
      ids,
      fc.nat(3500),
      fc.oneof(fc.nat(3500), fc.constant(Number.POSITIVE_INFINITY)),
      (list, skip, count) => {
        assert.deepEqual([...RowSet.fromIds(list).slice(skip, count)], sorted(list).slice(skip, skip + count))
      },
    ),
    { numRuns: 150 },
  )
  t.pass()
})

t.test('a slice far from the start is found by the rank directory, at any density', async t => {
  for (const share of [3, 7, 20]) {
    const list = Array.from({ length: 200_000 }, (_, id) => id).filter(id => id > 9000 && (id * 7919) % 32 < share)
    const set = RowSet.fromIds(list)
    for (let skip = 0; skip <= list.length + 5000; skip += 997) {
      assert.deepEqual([...set.slice(skip, 50)], list.slice(skip, skip + 50))
    }
  }
  t.pass()
})

t.test('a set is the same after conversion to data, and after a structured clone is revived', async t => {
  for (const set of [RowSet.empty, RowSet.fromIds([5, 100_000]), RowSet.range(5000)]) {
    t.same([...RowSet.fromData(set.data)], [...set])
    set.slice(4000, 1)
    const revived = RowSet.revive(structuredClone(set))
    t.ok(revived instanceof RowSet)
    t.same([...revived.slice(4000, 10)], [...set.slice(4000, 10)])
    t.equal(RowSet.revive(set), set)
  }
})

t.test('a word has the bits of its 32 rows', async t => {
  fc.assert(
    fc.property(ids, fc.nat(130), (list, word) => {
      const expected = list.filter(id => id >>> 5 === word).reduce((bits, id) => bits + 2 ** (id & 31), 0)
      assert.equal(RowSet.fromIds(list).word(word), expected)
    }),
    { numRuns: 100 },
  )
  t.pass()
})

t.test('a range holds every id below its limit', async t => {
  for (const limit of [0, 1, 31, 32, 33, 64, 1000]) {
    t.strictSame(
      [...RowSet.range(limit)],
      Array.from({ length: limit }, (_, i) => i),
    )
    t.equal(RowSet.range(limit).size, limit)
  }
})

t.test('many ids make a bitmap and few a list, however the set was made', async t => {
  const many = Uint32Array.from({ length: 1000 }, (_, i) => i)
  t.notOk(RowSet.fromSorted(many).isSparse)
  t.notOk(RowSet.fromIds(many).isSparse)
  t.ok(RowSet.fromIds([5, 7]).isSparse)
  t.ok(RowSet.fromSorted(many).and(RowSet.fromIds([5, 100_000])).isSparse)
  const odd = RowSet.fromSorted(Uint32Array.from({ length: 500 }, (_, i) => 2 * i + 1))
  const even = RowSet.fromSorted(Uint32Array.from({ length: 500 }, (_, i) => 2 * i))
  t.ok(odd.and(even).isSparse)
  t.notOk(odd.or(even).isSparse)
})
