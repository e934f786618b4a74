import assert from 'node:assert/strict'
import t from 'tap'
import { simdKernels } from '../../../../engine/simd/kernels.ts'
import { plainKernels } from './plain-kernels.ts'
import { type ColumnPlan, columnPlan, GARBAGE, LAYOUT, World } from './world.ts'
import fc from '../../../support/runner/fast-check.ts'

const { NEGATIVE_INFINITY, POSITIVE_INFINITY, MAX_VALUE, MIN_VALUE } = Number
const memory = new WebAssembly.Memory({ initial: 16, maximum: 16, shared: true })
const world = new World(memory)
const simd = simdKernels(memory, LAYOUT)!
const plain = plainKernels(memory, LAYOUT)

const EXTREMES = [0, -0, 1e16, -1e16, 1, 0.1, MIN_VALUE, -MIN_VALUE, MAX_VALUE, -MAX_VALUE]
const INFINITIES = [...EXTREMES, POSITIVE_INFINITY, NEGATIVE_INFINITY]

/** Writes a column. @returns aggregates of both kernels, and the values that they must have examined */
function aggregates(plan: ColumnPlan, all: boolean, value: () => number) {
  world.reset(plan.seed)
  const { floats } = world
  const column = world.column(plan, 8, (index, isPresent) => {
    floats[index] = isPresent ? value() : world.pick(GARBAGE)
  })
  const candidates = all ? 0 : column.candidates
  const values: number[] = []
  for (let row = 0; row < column.rows; row++) {
    const index = column.indexOf(row)
    if (index !== undefined && (all || world.hasBit(candidates, row))) values.push(floats[index]!)
  }
  const run = (kernels: typeof simd) => {
    const result = world.allocate(32)
    const count = kernels.aggregateF64(column.segments, column.count, candidates, result)
    const [sum, rest, min, max] = floats.slice(result >>> 3, (result >>> 3) + 4)
    return { count, sum: sum!, rest: rest!, min: min!, max: max! }
  }
  return { values, simd: run(simd), plain: run(plain) }
}

for (const [name, pool] of Object.entries({ 'very different': EXTREMES, infinite: INFINITIES })) {
  t.test(`f64: both are bit-identical when values are ${name}`, async t => {
    fc.assert(
      fc.property(columnPlan, fc.boolean(), (plan, all) => {
        const { values, simd, plain } = aggregates(plan, all, () => world.pick(pool))
        assert.deepEqual(simd, plain)
        assert.equal(simd.count, values.length)
        assert.equal(simd.min, values.reduce((a, b) => (b < a ? b : a), POSITIVE_INFINITY) + 0)
        assert.equal(simd.max, values.reduce((a, b) => (b > a ? b : a), NEGATIVE_INFINITY) + 0)
      }),
      { numRuns: 100 },
    )
    t.pass()
  })
}

t.test('f64: a sum equals that of exact arithmetic within the documented bound', async t => {
  fc.assert(
    fc.property(columnPlan, fc.integer({ min: -40, max: 40 }), (plan, exponent) => {
      // Both signs and magnitudes over 60 powers of two: most values cancel out.
      const value = () => (world.random() - 0.5) * 2 ** (exponent + Math.floor(world.random() * 60))
      const { values, simd, plain } = aggregates(plan, true, value)
      assert.deepEqual(simd, plain)
      const total = values.reduce((sum, value) => sum + exact(value), 0n)
      const magnitudes = values.reduce((sum, value) => sum + abs(exact(value)), 0n)
      const n = BigInt(values.length)
      const allowed = (abs(total) >> 53n) + ((n * n * magnitudes) >> 106n) + 1n
      assert.ok(abs(exact(simd.sum) - total) <= allowed, `${simd.sum} of ${values.length} values`)
    }),
    { numRuns: 60 },
  )
  t.pass()
})

const UNIT = 200
/** A double as an integer in units of 2^-200; no value here is finer. */
function exact(value: number): bigint {
  const scaled = value * 2 ** UNIT
  return BigInt(scaled)
}
const abs = (value: bigint): bigint => (value < 0n ? -value : value)

t.test('f64: sum and rest of integers are exact', async t => {
  fc.assert(
    fc.property(columnPlan, fc.boolean(), (plan, all) => {
      const value = () => Math.trunc((world.random() - 0.3) * 2 ** 53)
      const { values, simd, plain } = aggregates(plan, all, value)
      assert.deepEqual(simd, plain)
      const total = values.reduce((sum, value) => sum + BigInt(value), 0n)
      assert.equal(BigInt(simd.sum) + BigInt(simd.rest), total)
      assert.equal(simd.sum, Number(total))
    }),
    { numRuns: 60 },
  )
  t.pass()
})
