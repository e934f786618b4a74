import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { simdKernels } from '../../../../engine/simd/kernels.ts'
import { plainKernels } from '../../../../engine/simd/plain-kernels.ts'
import { columnPlan, expectedBits, GARBAGE, LAYOUT, World } from './world.ts'

const memory = new WebAssembly.Memory({ initial: 16, maximum: 16, shared: true })
const world = new World(memory)
const both = [simdKernels(memory, LAYOUT)!, plainKernels(memory, LAYOUT)]

t.test('gather: both write the value of each candidate in order, and no byte more', async t => {
  fc.assert(
    fc.property(columnPlan, fc.constantFrom(0, -1, Number.NEGATIVE_INFINITY), (plan, missing) => {
      world.reset(plan.seed)
      const column = world.column(plan, 8, (index, isPresent) => {
        world.floats[index] = isPresent ? world.random() : world.pick(GARBAGE)
      })
      const expected: number[] = []
      for (let row = 0; row < column.rows; row++) {
        if (!world.hasBit(column.candidates, row)) continue
        const index = column.indexOf(row)
        expected.push(index === undefined ? missing : world.floats[index]!)
      }
      const out = world.allocate(expected.length * 8 + 8)
      const start = out >>> 3
      for (const kernels of both) {
        world.floats.fill(12345, start, start + expected.length + 1)
        assert.equal(kernels.gatherF64(column.segments, column.count, column.candidates, missing, out), expected.length)
        assert.deepEqual([...world.floats.slice(start, start + expected.length)], expected)
        assert.equal(world.floats[start + expected.length], 12345)
      }
    }),
    { numRuns: 100 },
  )
  t.pass()
})

/** References to the rows of a target with a bitmap of `words` words, some of them beyond it and up to the last row id. */
const references = (words: number) => () =>
  world.random() < 0.9 ? Math.floor(world.random() * words * 32) : world.pick([words * 32, 2 ** 31, 2 ** 32 - 1])

t.test('semi-join: both give the rows whose reference is in the set', async t => {
  fc.assert(
    fc.property(columnPlan, fc.integer({ min: 0, max: 40 }), fc.boolean(), (plan, targetWords, all) => {
      world.reset(plan.seed)
      const targets = world.bitmap(targetWords, 0.3)
      const reference = references(targetWords)
      const column = world.column(plan, 8, (index, isPresent) => {
        world.floats[index] = isPresent ? reference() : world.pick(GARBAGE)
      })
      const candidates = all ? 0 : column.candidates
      const expected = expectedBits(column.rows, row => {
        const index = column.indexOf(row)
        if (index === undefined || !(all || world.hasBit(candidates, row))) return false
        const target = world.floats[index]!
        return target < targetWords * 32 && world.hasBit(targets, target)
      })
      for (const kernels of both) {
        const run = (out: number) =>
          kernels.semiJoin(column.segments, column.count, candidates, targets, targetWords, out)
        assert.equal(run(0), expected.hits, 'count only')
        assert.equal(run(column.out), expected.hits)
        assert.deepEqual(world.slice(column.out, column.words), expected.bits)
      }
    }),
    { numRuns: 100 },
  )
  t.pass()
})

t.test(
  'mark referenced: both add the references of the candidates to the set, and touch no word beyond it',
  async t => {
    fc.assert(
      fc.property(columnPlan, fc.integer({ min: 0, max: 400 }), fc.boolean(), (plan, targetWords, all) => {
        world.reset(plan.seed)
        const before = world.bitmap(targetWords + 1, 0.1)
        const targets = world.allocate(targetWords * 4 + 4)
        const reference = references(targetWords)
        const column = world.column(plan, 8, (index, isPresent) => {
          world.floats[index] = isPresent ? reference() : world.pick(GARBAGE)
        })
        const candidates = all ? 0 : column.candidates
        const expected = world.slice(before, targetWords + 1)
        for (let row = 0; row < column.rows; row++) {
          const index = column.indexOf(row)
          if (index === undefined || !(all || world.hasBit(candidates, row))) continue
          const target = world.floats[index]!
          if (target < targetWords * 32) expected[target >>> 5]! |= 1 << (target & 31)
        }
        for (const kernels of both) {
          world.words.copyWithin(targets >>> 2, before >>> 2, (before >>> 2) + targetWords + 1)
          kernels.markReferenced(column.segments, column.count, candidates, targets, targetWords)
          assert.deepEqual(world.slice(targets, targetWords + 1), expected)
        }
      }),
      { numRuns: 100 },
    )
    t.pass()
  },
)

const OPERATIONS = {
  and: (a: number, b: number) => a & b,
  or: (a: number, b: number) => a | b,
  andNot: (a: number, b: number) => a & ~b,
}

for (const [name, operation] of Object.entries(OPERATIONS) as [keyof typeof OPERATIONS, (typeof OPERATIONS)['and']][]) {
  t.test(`${name}: both combine bitmaps of any length at any word`, async t => {
    const share = fc.constantFrom(0, 0.1, 0.5, 1)
    fc.assert(
      fc.property(fc.nat(), fc.nat(41), fc.nat(3), share, share, (seed, words, shift, shareA, shareB) => {
        world.reset(seed)
        const a = world.bitmap(words + shift, shareA) + shift * 4
        const b = world.bitmap(words + 3, shareB)
        const out = world.allocate(words * 4 + 4)
        const wordsOfB = world.slice(b, words)
        const expected = world.slice(a, words).map((word, i) => operation(word, wordsOfB[i]!))
        const hits = [...expected].reduce((sum, word) => sum + word.toString(2).replaceAll('0', '').length, 0)
        for (const kernels of both) {
          world.words[(out >>> 2) + words] = 12345
          assert.equal(kernels[name](a, b, 0, words), hits, 'count only')
          assert.equal(kernels[name](a, b, out, words), hits)
          assert.deepEqual(world.slice(out, words), expected)
          assert.equal(world.words[(out >>> 2) + words], 12345)
          assert.equal(kernels.popcount(out, words), hits)
        }
        // Over one of its own inputs as well.
        const copy = world.slice(a, words)
        for (const kernels of both) {
          world.words.set(copy, a >>> 2)
          kernels[name](a, b, a, words)
          assert.deepEqual(world.slice(a, words), expected)
        }
      }),
      { numRuns: 200 },
    )
    t.pass()
  })
}
