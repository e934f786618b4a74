import assert from 'node:assert/strict'
import t from 'tap'
import { simdKernels } from '../../../../engine/simd/kernels.ts'
import { plainKernels } from './plain-kernels.ts'
import { columnPlan, expectedBits, GARBAGE, LAYOUT, World } from './world.ts'
import fc from '../../../support/runner/fast-check.ts'

const memory = new WebAssembly.Memory({ initial: 16, maximum: 16, shared: true })
const world = new World(memory)
const both = [simdKernels(memory, LAYOUT)!, plainKernels(memory, LAYOUT)]

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

t.test('rows: both copy the slices of as many rows as fit', async t => {
  const slot = fc.nat(4)
  const slices = fc.uniqueArray(slot, { minLength: 2, maxLength: 4 }).map(slots => slots.sort())
  // Longer than a few vectors and a few cache lines.
  const row = fc.array(fc.string({ unit: 'binary-ascii', maxLength: 90 }), { minLength: 5, maxLength: 5 })
  fc.assert(
    fc.property(
      fc.nat(),
      fc.array(row, { maxLength: 40 }),
      slices,
      fc.nat(2),
      fc.nat(9_000),
      (seed, rows, slots, inserted, room) => {
        world.reset(seed)
        const [offsets, text] = [8, 32]
        const addresses = rows.map(([head, ...values]) => {
          const address = world.allocate(text + [head, ...values].join('').length)
          const ends = values.map((_, i) => [head, ...values.slice(0, i)].join('').length)
          world.words.set([...ends, [head, ...values].join('').length], (address + offsets) >>> 2)
          Buffer.from(memory.buffer).write([head, ...values].join(''), address + text, 'latin1')
          return address
        })
        const lastSlot = slots.at(-1)!
        const pairs = slots.length % 2 === 0 ? slots : [0xffffffff, ...slots]
        // Inserts are anywhere among the slices.
        for (let n = 0; n < inserted; n++)
          pairs.splice(2 * Math.floor((world.random() * pairs.length) / 2), 0, 0xfffffffe, n)
        const texts = Buffer.from('inserted '.repeat(20))
        const insertBytes = world.allocate(texts.length)
        Buffer.from(memory.buffer).set(texts, insertBytes)
        const ranges = world.allocate(8 * rows.length * inserted + 4)
        for (let i = 0; i < rows.length * inserted; i++) {
          const start = Math.floor(world.random() * texts.length)
          const end = start + Math.floor(world.random() * (texts.length - start))
          world.words.set([start, end], (ranges >>> 2) + 2 * i)
        }
        const list = world.allocate(rows.length * 4)
        world.words.set(addresses, list >>> 2)
        const of = world.allocate(pairs.length * 4)
        world.words.set(pairs, of >>> 2)
        const [result, out] = [world.allocate(4), world.allocate(room)]
        const [expected, found] = [plainKernels(memory, LAYOUT), simdKernels(memory, LAYOUT)!].map(kernels => {
          const end = of + pairs.length * 4
          const from = [list, rows.length, offsets, text, of, end, lastSlot, ranges, inserted, insertBytes] as const
          const count = kernels.copyRows(...from, out, out + room, result)
          const length = world.words[result >>> 2]! - out
          return [count, Buffer.from(memory.buffer, out, length).toString('latin1')]
        })
        assert.deepEqual(found, expected)
      },
    ),
    { numRuns: 300 },
  )
  t.pass()
})
