import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { simdKernels } from '../../../../engine/simd/kernels.ts'
import { plainKernels } from './plain-kernels.ts'
import { columnPlan, LAYOUT, World } from './world.ts'

const memory = new WebAssembly.Memory({ initial: 32, maximum: 32, shared: true })
const world = new World(memory)
const singles = new Float32Array(memory.buffer)
const both = [simdKernels(memory, LAYOUT)!, plainKernels(memory, LAYOUT)]
const EXTREMES = [0, -0, 1e-45, 3.4e38, -3.4e38, 1e20]

function vector(dimension: number): number {
  const address = world.allocate(LAYOUT.vectorNumbers + dimension * 4)
  const at = (address + LAYOUT.vectorNumbers) >>> 2
  for (let i = 0; i < dimension; i++) {
    singles[at + i] = world.random() < 0.98 ? world.random() * 2 - 1 : world.pick(EXTREMES)
  }
  singles[(address + LAYOUT.vectorLength) >>> 2] = world.random() < 0.9 ? world.random() : world.pick([0, 1e-20, 1e20])
  return address
}

t.test('both give the same bounds of scores, for any dimension', async t => {
  const plan = fc.tuple(columnPlan, fc.integer({ min: 1, max: 70 }), fc.integer({ min: 0, max: 2 }), fc.boolean())
  fc.assert(
    fc.property(plan, ([plan, dimension, metric, all]) => {
      world.reset(plan.seed)
      const vectors = Array.from({ length: 20 }, () => vector(dimension))
      const query = vector(dimension) + LAYOUT.vectorNumbers
      const column = world.column({ ...plan, segments: Math.min(plan.segments, 1) }, 4, (index, isPresent) => {
        world.words[index] = isPresent ? world.pick(vectors) : 2 ** 32 - 8
      })
      const candidates = all ? 0 : column.candidates
      const out = world.allocate(column.rows * 8)
      const [simd, plain] = both.map(kernels => {
        const count = kernels.scoreVectors(
          column.segments,
          column.count,
          candidates,
          query,
          dimension,
          metric,
          1.5,
          1e-6,
          out,
        )
        return [...singles.slice(out >>> 2, (out >>> 2) + 2 * count)]
      })
      assert.deepEqual(simd, plain)
    }),
    { numRuns: 100 },
  )
  t.pass()
})
