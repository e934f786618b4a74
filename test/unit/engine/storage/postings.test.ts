import t from 'tap'
import { openEnvironment } from '../../../../engine/storage/environment.ts'
import { prefixEnd } from '../../../../engine/storage/keys.ts'
import fc from '../../../support/runner/fast-check.ts'
import {
  addPostings,
  estimatePostings,
  firstPosting,
  hasPosting,
  postingCount,
  postingLists,
  postings,
  postingsInRange,
  removePosting,
} from '../../../../engine/storage/postings.ts'

const PREFIXES = ['a', 'b', 'c'].map(letter => Buffer.from(`${letter}\0`))
const START = Buffer.from('a')
const END = Buffer.from('d')

/** Steps that add or remove rows of one of three values. */
const steps = fc.array(
  fc.record({
    prefix: fc.nat(2),
    /** Number of rows from `first` on, every `step`th. */
    count: fc.nat(700),
    first: fc.nat(3000),
    step: fc.integer({ min: 1, max: 3 }),
    isRemoved: fc.boolean(),
  }),
  { maxLength: 12 },
)

t.test('posting lists hold what sets of row ids hold, whatever is added and removed', async t => {
  const environment = openEnvironment({ path: t.testdir(), mapSizeBytes: 2 ** 30 })
  t.teardown(() => environment.close())
  const { index, root } = environment
  fc.assert(
    fc.property(steps, steps => {
      index.clearSync()
      const model = PREFIXES.map(() => new Set<number>())
      for (const { prefix: n, count, first, step, isRemoved } of steps) {
        const rowIds = Array.from({ length: count }, (_, i) => first + i * step)
        const [prefix, rows] = [PREFIXES[n]!, model[n]!]
        root.transactionSync(() => {
          if (isRemoved) for (const rowId of rowIds) removePosting(index, prefix, rowId)
          else if (count > 0) addPostings(index, prefix, rowIds)
        })
        for (const rowId of rowIds) isRemoved ? rows.delete(rowId) : rows.add(rowId)

        const sorted = model.map(rows => [...rows].sort((a, b) => a - b))
        const expect = (what: string, actual: unknown, expected: unknown) => {
          if (JSON.stringify(actual) !== JSON.stringify(expected)) throw new Error(`${what} of ${prefix} differ`)
        }
        expect('rows', [...postings(index, prefix)], sorted[n])
        expect('counts', postingCount(index, prefix), rows.size)
        expect('first rows', firstPosting(index, prefix), sorted[n]![0])
        for (const rowId of [first, first + 1, 0, 4_000]) {
          expect(`row ${rowId}`, hasPosting(index, prefix, rowId), rows.has(rowId))
        }
        expect('ranges', [...postingsInRange(index, START, END)], sorted.flat())
        expect('ends', [...postingsInRange(index, PREFIXES[1]!, prefixEnd(PREFIXES[1]!))], sorted[1])
        expect('estimates', estimatePostings(index, START, END, 1e6), sorted.flat().length)
        for (const list of postingLists(index, START, END)) expect('problems', list.problem, undefined)
      }
    }),
    { numRuns: 150 },
  )
  t.pass()
})
