import assert from 'node:assert/strict'
import t from 'tap'
import { simdKernels } from '../../../../engine/simd/kernels.ts'
import { plainKernels } from './plain-kernels.ts'
import { columnPlan, expectedBits, GARBAGE, LAYOUT, World } from './world.ts'
import fc from '../../../support/runner/fast-check.ts'

const { NEGATIVE_INFINITY, POSITIVE_INFINITY, MAX_VALUE, MIN_VALUE } = Number
const memory = new WebAssembly.Memory({ initial: 16, maximum: 16, shared: true })
const world = new World(memory)
const both = [simdKernels(memory, LAYOUT)!, plainKernels(memory, LAYOUT)]
const numRuns = 60

const FLOATS = [0, -0, 1, 1.5, -1.5, 42, 2 ** 53, MIN_VALUE, -MIN_VALUE, MAX_VALUE, -MAX_VALUE]
const POINTERS = [0, 8, 16, 0x7ffffff8, 0x80000000, 0xfffffff8]

interface Range {
  lower: number
  upper: number
  inside: boolean
}

const bits = new Float64Array(1)
const integer = new BigInt64Array(bits.buffer)
function nextUp(value: number): number {
  if (value === 0) return MIN_VALUE
  bits[0] = value
  integer[0]! += value > 0 ? 1n : -1n
  return bits[0]
}
const nextDown = (value: number): number => -nextUp(-value)

/** Every comparison of a value x with v, or with v and w, as the range that the kernels take. */
const COMPARISONS = [
  ['x < v', (x, v) => x < v, v => ({ lower: NEGATIVE_INFINITY, upper: nextDown(v), inside: true })],
  ['x <= v', (x, v) => x <= v, v => ({ lower: NEGATIVE_INFINITY, upper: v, inside: true })],
  ['x > v', (x, v) => x > v, v => ({ lower: nextUp(v), upper: POSITIVE_INFINITY, inside: true })],
  ['x >= v', (x, v) => x >= v, v => ({ lower: v, upper: POSITIVE_INFINITY, inside: true })],
  ['x = v', (x, v) => x === v, v => ({ lower: v, upper: v, inside: true })],
  ['x != v', (x, v) => x !== v, v => ({ lower: v, upper: v, inside: false })],
  ['v <= x <= w', (x, v, w) => v <= x && x <= w, (v, w) => ({ lower: v, upper: w, inside: true })],
  ['v < x < w', (x, v, w) => v < x && x < w, (v, w) => ({ lower: nextUp(v), upper: nextDown(w), inside: true })],
  ['v <= x < w', (x, v, w) => v <= x && x < w, (v, w) => ({ lower: v, upper: nextDown(w), inside: true })],
  ['not v < x <= w', (x, v, w) => !(v < x && x <= w), (v, w) => ({ lower: nextUp(v), upper: w, inside: false })],
] satisfies [string, (x: number, v: number, w: number) => boolean, (v: number, w: number) => Range][]

for (const [name, accepts, rangeOf] of COMPARISONS) {
  t.test(`f64, ${name}: both give the rows that a loop finds`, async t => {
    fc.assert(
      fc.property(
        columnPlan,
        fc.constantFrom(...FLOATS),
        fc.constantFrom(...FLOATS),
        fc.boolean(),
        (plan, v, w, all) => {
          world.reset(plan.seed)
          const values = [...FLOATS, POSITIVE_INFINITY, NEGATIVE_INFINITY]
          const column = world.column(plan, 8, (index, isPresent) => {
            world.floats[index] = world.pick(isPresent ? values : GARBAGE)
          })
          const candidates = all ? 0 : column.candidates
          const { lower, upper, inside } = rangeOf(v, w)
          const expected = expectedBits(column.rows, row => {
            const index = column.indexOf(row)
            return index !== undefined && (all || world.hasBit(candidates, row)) && accepts(world.floats[index]!, v, w)
          })
          for (const kernels of both) {
            const run = (out: number) =>
              kernels.filterF64(column.segments, column.count, candidates, lower, upper, inside, out)
            assert.equal(run(0), expected.hits, 'count only')
            assert.equal(run(column.out), expected.hits)
            assert.deepEqual(world.slice(column.out, column.words), expected.bits)
          }
        },
      ),
      { numRuns },
    )
    t.pass()
  })
}

t.test('u32: both give the rows whose value is in the list, or is not', async t => {
  fc.assert(
    fc.property(columnPlan, fc.subarray(POINTERS), fc.boolean(), fc.boolean(), (plan, list, inside, all) => {
      world.reset(plan.seed)
      const column = world.column(plan, 4, index => {
        world.words[index] = world.pick(POINTERS)
      })
      const candidates = all ? 0 : column.candidates
      const address = world.allocate(list.length * 4)
      world.words.set(list, address >>> 2)
      const expected = expectedBits(column.rows, row => {
        const index = column.indexOf(row)
        if (index === undefined || !(all || world.hasBit(candidates, row))) return false
        return list.includes(world.words[index]!) === inside
      })
      for (const kernels of both) {
        const run = (out: number) =>
          kernels.filterU32(column.segments, column.count, candidates, address, list.length, inside, out)
        assert.equal(run(0), expected.hits, 'count only')
        assert.equal(run(column.out), expected.hits)
        assert.deepEqual(world.slice(column.out, column.words), expected.bits)
      }
    }),
    { numRuns: 3 * numRuns },
  )
  t.pass()
})

t.test('both give the rows whose text has the parts of a pattern in their order, or has not', async t => {
  // Few letters, so that parts match partially and in several places; some texts are longer than a vector.
  const letters = (most: number) => fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: most })
  const pattern = fc.array(letters(3), { minLength: 2, maxLength: 4 })
  const texts = fc.array(fc.oneof(letters(8), letters(60)), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(columnPlan, pattern, texts, fc.boolean(), fc.boolean(), (plan, parts, texts, inside, all) => {
      world.reset(plan.seed)
      const pool = texts.map(text => world.text(text))
      const column = world.column(plan, 4, index => {
        world.words[index] = world.pick(pool)
      })
      const candidates = all ? 0 : column.candidates
      const address = world.pattern(parts)
      const regex = new RegExp(`^${parts.join('.*')}$`)
      const expected = expectedBits(column.rows, row => {
        const index = column.indexOf(row)
        if (index === undefined || !(all || world.hasBit(candidates, row))) return false
        return regex.test(texts[pool.indexOf(world.words[index]!)]!) === inside
      })
      for (const kernels of both) {
        const run = (out: number) =>
          kernels.filterPattern(column.segments, column.count, candidates, address, inside, out)
        assert.equal(run(0), expected.hits, 'count only')
        assert.equal(run(column.out), expected.hits)
        assert.deepEqual(world.slice(column.out, column.words), expected.bits)
      }
    }),
    { numRuns: 3 * numRuns },
  )
  t.pass()
})

t.test('the bitmap of the candidates can be overwritten with that of the rows that pass', async t => {
  for (const kernels of both) {
    world.reset(7)
    const column = world.column({ seed: 7, segments: 2, present: 0.9, candidates: 0.5 }, 8, index => {
      world.floats[index] = world.pick(FLOATS)
    })
    const { segments, count, candidates, out, words } = column
    const hits = kernels.filterF64(segments, count, candidates, 1, 42, true, out)
    t.equal(kernels.filterF64(segments, count, candidates, 1, 42, true, candidates), hits)
    t.strictSame(world.slice(candidates, words), world.slice(out, words))
  }
})
