import assert from 'node:assert/strict'
import t from 'tap'
import { simdKernels } from '../../../../engine/simd/kernels.ts'
import { plainKernels } from './plain-kernels.ts'
import { codeQuestion, codesBytes, writeCodes } from '../../../../engine/vector/math/vector-codes.ts'
import { scoreOf } from '../../../../engine/vector/math/similarity.ts'
import { columnPlan, LAYOUT, World } from './world.ts'
import fc from '../../../support/runner/fast-check.ts'

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

const METRICS = ['cosine', 'dot', 'euclidean'] as const

t.test('both give the same bounds from codes, and the exact score is never outside', async t => {
  let decided = 0
  let all = 0
  const plan = fc.tuple(columnPlan, fc.integer({ min: 1, max: 70 }), fc.integer({ min: 0, max: 2 }), fc.boolean())
  fc.assert(
    fc.property(plan, fc.double({ min: -2, max: 2, noNaN: true }), ([plan, dimension, metric, above], limit) => {
      world.reset(plan.seed)
      const vectors = Array.from({ length: 20 }, () => {
        const address = vector(dimension)
        const codes = world.allocate(codesBytes(dimension))
        const start = (address + LAYOUT.vectorNumbers) >>> 2
        writeCodes(singles, start, dimension, singles, new Uint8Array(memory.buffer), codes)
        return { start, codes }
      })
      const [compared, ...stored] = vectors as [{ start: number }, ...{ start: number; codes: number }[]]
      const question = singles.slice(compared.start, compared.start + dimension)
      const coded = codeQuestion(question)
      fc.pre(coded !== undefined)
      const { numbers, step, error, length } = coded!
      const query = world.allocate(2 * numbers.length)
      new Int16Array(memory.buffer).set(numbers, query >>> 1)
      const ofCodes = new Map(stored.map(({ start, codes }) => [codes, start]))
      const column = world.column({ ...plan, segments: Math.min(plan.segments, 1) }, 4, (index, isPresent) => {
        world.words[index] = isPresent ? world.pick(stored).codes : 2 ** 32 - 8
      })
      const entries = world.allocate(column.rows * 4)
      const bounds = world.allocate(column.rows * 8)
      const [simd, plain] = both.map(kernels => {
        const of = [column.segments, column.count, column.candidates, query, numbers.length] as const
        const count = kernels.scoreCodes(...of, metric, step, error, length, limit, above, entries, bounds)
        return {
          rows: [...world.slice(entries, count)],
          bounds: [...singles.slice(bounds >>> 2, (bounds >>> 2) + 2 * count)],
        }
      })
      assert.deepEqual(simd, plain)
      const kept = new Map(simd!.rows.map((row, i) => [row, simd!.bounds.slice(2 * i, 2 * i + 2)]))
      for (let row = 0; row < column.rows; row++) {
        const at = column.indexOf(row)
        if (at === undefined || !world.hasBit(column.candidates, row)) continue
        const score = scoreOf({ metric: METRICS[metric]!, vector: question }, singles, ofCodes.get(world.words[at]!)!)
        const [least, most] = kept.get(row) ?? []
        all++
        if (least === undefined) assert(score === undefined || (above ? score < limit : score > limit))
        else if (score !== undefined) assert(!(score < least) && !(score > most!), `${least} ${score} ${most}`)
        if (least === undefined || most! - least < 0.1 * length) decided++
      }
    }),
    { numRuns: 100 },
  )
  t.ok(decided > all / 2, 'most vectors have decisive bounds')
})
