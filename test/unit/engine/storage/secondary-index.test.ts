import t, { type Test } from 'tap'
import type { Value } from '../../../../engine/catalog/value.ts'
import type { Bounds, SecondaryIndex } from '../../../../engine/data/snapshot.ts'
import { fold } from '../../../../engine/base/text/fold.ts'
import { createRowStore } from '../../../support/engine/write-rows.ts'
import { testModel } from '../../../support/fixtures/every-type.ts'
import fc from '../../../support/runner/fast-check.ts'

const LONG = 'x'.repeat(1100)
const names: (string | null)[] = [
  ...[null, '', 'Ada', 'ADA', 'Adá', 'Adam', 'ad\0', 'ad', 'ad\x01', 'ad\x02', 'ø', 'o', 'ß', 'ss', '😀', '\uffff'],
  ...[
    '\ud800',
    LONG,
    `${LONG}a`,
    `${LONG}B`,
    `${LONG}b`,
    `${LONG}c`,
    `${LONG.slice(0, 1023)}`,
    `${LONG.slice(0, 1024)}`,
  ],
]
const heights: (number | null)[] = [
  null,
  0,
  -0,
  1.5,
  -1.5,
  2 ** 53,
  9.007199254740996e15,
  1e300,
  -1e300,
  Number.MIN_VALUE,
]
const bigs: (number | bigint | null)[] = [null, 0, 1, -1, 2n ** 53n + 1n, 2n ** 53n, -(2n ** 63n), 2n ** 63n - 1n]
const booleans = [null, true, false]

/** A store with these values in Person; row ids are their positions. */
function fill(path: string, attribute: string, values: readonly Value[]) {
  const store = createRowStore(path, testModel)
  store.commit(rows => values.forEach((value, i) => void rows.insert('Person', { ID: i + 1, [attribute]: value })))
  const snapshot = store.open().snapshot()
  const index = snapshot.table(store.dataClass('Person')).index(store.attribute('Person', attribute))!
  return {
    store,
    snapshot,
    index,
    ids: (keep: (value: Value) => boolean) => values.flatMap((v, i) => (keep(v) ? [i] : [])),
  }
}

type Ordered = number | bigint | string | boolean
const folded = (value: Value): Ordered => (typeof value === 'string' ? fold(value) : (value as Ordered))
/** True if two values are equal; a number may equal a bigint. */
const same = (a: Ordered, b: Ordered): boolean => !(a < b) && !(a > b)

function holds(value: Value, { lower, upper }: Bounds): boolean {
  if (value === null) return false
  const own = folded(value)
  if (lower && !(own > folded(lower.value) || (lower.inclusive && same(own, folded(lower.value))))) return false
  return !upper || own < folded(upper.value) || (upper.inclusive && same(own, folded(upper.value)))
}

function check(
  t: Test,
  values: readonly Value[],
  probes: readonly Value[],
  { index, ids }: { index: SecondaryIndex; ids: (keep: (value: Value) => boolean) => number[] },
) {
  for (const probe of [...values, ...probes]) {
    const equal = (value: Value) =>
      probe === null || value === null ? value === probe : same(folded(value), folded(probe))
    t.strictSame([...index.equal(probe)], ids(equal), `= ${String(probe).slice(-20)}`)
  }
  const given = [...values, ...probes].filter(value => value !== null)
  const bound = fc.option(fc.record({ value: fc.constantFrom(...given), inclusive: fc.boolean() }), { nil: undefined })
  fc.assert(
    fc.property(bound, bound, (lower, upper) => {
      const bounds: Bounds = { ...(lower && { lower }), ...(upper && { upper }) }
      t.strictSame(
        [...index.range(bounds)],
        ids(value => holds(value, bounds)),
      )
    }),
    { numRuns: 400 },
  )
}
t.test('an index of texts finds what a comparison of folded texts finds, even for texts longer than a key', async t => {
  const filled = fill(t.testdir(), 'name', names)
  check(t, names, ['b', 'ADAM', `${LONG}A`, `${LONG}bb`, 'zz', 'ad\0\0'], filled)
  for (const prefix of ['', 'ad', 'AD', 'ada', 'ad\0', 'x', LONG, `${LONG}b`, `${LONG}bb`, '\ud83d', 'ø', 'zz']) {
    const expected = filled.ids(value => typeof value === 'string' && fold(value).startsWith(fold(prefix)))
    t.strictSame([...filled.index.prefix(fold(prefix))], expected, `begins with ${prefix.slice(-10)}`)
  }
  filled.snapshot.release()
  await filled.store.environment.close()
})

t.test('an index of numbers compares exactly, whatever the bound is', async t => {
  const filled = fill(t.testdir(), 'height', heights)
  check(t, heights, [2, -0.1, 2n ** 53n + 1n, -(10n ** 400n), 10n ** 400n, Number.POSITIVE_INFINITY], filled)
  filled.snapshot.release()
  await filled.store.environment.close()
})

t.test('an index of 64-bit integers compares exactly, whatever the bound is', async t => {
  const filled = fill(t.testdir(), 'big', bigs)
  const probes = [0.5, -0.5, 1e300, -1e300, Number.NEGATIVE_INFINITY, 2n ** 63n, -(2n ** 63n) - 1n, 2n ** 53n - 1n]
  check(t, bigs, probes, filled)
  filled.snapshot.release()
  await filled.store.environment.close()
})

t.test('an index of booleans and one of dates find their values', async t => {
  for (const [attribute, values] of [
    ['active', booleans],
    ['born', [null, 0, -86_400_000, 253_402_300_800_000, 86_400_000]],
    ['tag', [null, '0123456789ABCDEF0123456789ABCDEF', 'F123456789ABCDEF0123456789ABCDEF']],
  ] as const) {
    const filled = fill(t.testdir({ [attribute]: {} }), attribute, values)
    check(t, values, [], filled)
    filled.snapshot.release()
    await filled.store.environment.close()
  }
})

t.test('an estimate is exact below its limit and the limit otherwise', async t => {
  const { index, snapshot, store } = fill(t.testdir(), 'height', [null, null, 1, 1, 1, 2, 3])
  t.equal(index.estimate({ equal: 1 }, 100), 3)
  t.equal(index.estimate({ equal: 1 }, 3), 3)
  t.equal(index.estimate({ equal: 1 }, 2), 2)
  t.equal(index.estimate({ equal: null }, 100), 2)
  t.equal(index.estimate({ equal: 9 }, 100), 0)
  t.equal(index.estimate({}, 100), 5)
  t.equal(index.estimate({ lower: { value: 1, inclusive: false } }, 100), 2)
  t.equal(index.estimate({ lower: { value: 3, inclusive: true }, upper: { value: 1, inclusive: true } }, 100), 0)
  t.equal(index.estimate({ equal: 1 }, 0), 0)
  snapshot.release()
  await store.environment.close()
})

t.test('only indexed attributes have an index', async t => {
  const store = createRowStore(t.testdir(), testModel)
  const snapshot = store.open().snapshot()
  const table = snapshot.table(store.dataClass('Person'))
  t.equal(table.index(store.attribute('Person', 'weight')), undefined)
  t.equal(table.index(store.attribute('Person', 'photo')), undefined)
  t.ok(table.index(store.attribute('Person', 'employerCode')), 'a foreign key has one')
  snapshot.release()
  await store.environment.close()
})
