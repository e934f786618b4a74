import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import t from 'tap'
import { compile, instantiate, KERNEL_FILES } from '../../../../engine/simd/kernels.ts'
import { plainKernels } from './plain-kernels.ts'
import { columnPlan, LAYOUT, World } from './world.ts'
import fc from '../../../support/runner/fast-check.ts'

const MAX_ENTRY = 31
const memory = new WebAssembly.Memory({ initial: 64, maximum: 64, shared: true })
const world = new World(memory)
const bytes = new Uint8Array(memory.buffer)
// Node.js 20 has relaxed SIMD behind a flag, later ones without it.
if (process.versions.node.startsWith('20.')) setFlagsFromString('--experimental-wasm-relaxed-simd')
const simd = KERNEL_FILES.map(file => instantiate(compile(file)!, memory, LAYOUT))
const all = [...simd, plainKernels(memory, LAYOUT)]

/** @returns the address of a table for sketches of `sketchBytes` bytes, and its highest possible sum */
function table(sketchBytes: number, entry: () => number): { table: number; highest: number } {
  const address = world.allocate(32 * sketchBytes)
  let highest = 0
  for (let group = address; group < address + 32 * sketchBytes; group += 16) {
    for (let i = group; i < group + 16; i++) bytes[i] = entry()
    highest += Math.max(...bytes.subarray(group, group + 16))
  }
  return { table: address, highest }
}

t.test('all kernels give the same rows and sums', async t => {
  let passed = 0
  let rows = 0
  const plan = fc.record({
    column: columnPlan,
    words: fc.integer({ min: 1, max: 16 }),
    maxEntry: fc.constantFrom(1, 7, MAX_ENTRY),
    isEvery: fc.boolean(),
    isInPlace: fc.boolean(),
    withSums: fc.boolean(),
    /** Share of the highest sum. */
    least: fc.constantFrom(0, 0.3, 0.45, 0.5, 0.55, 0.7, 1),
    /** Share of the words that are examined first, and the share of the highest sum that they must reach. */
    first: fc.constantFrom(0.25, 0.5, 1),
    firstLeast: fc.constantFrom(0, 0.45, 0.55),
  })
  fc.assert(
    fc.property(plan, ({ column: plan, words, maxEntry, isEvery, isInPlace, withSums, least, first, firstLeast }) => {
      world.reset(plan.seed)
      const size = words * 4
      const column = world.column({ ...plan, segments: Math.max(plan.segments, 1) }, 4, index => {
        world.words[index] = 2 ** 32 - 8
      })
      world.addSketches(column, size)
      const { table: entries, highest } = table(size, () => Math.floor(world.random() * (maxEntry + 1)))
      const firstBytes = Math.ceil(first * words) * 4
      const room = world.allocate(64)
      const found = world.allocate(column.rows * 8)
      const wanted = world.slice(column.candidates, column.words)
      const [one, ...others] = all.map(({ filterSketches }) => {
        world.words.set(wanted, column.candidates >>> 2)
        const out = isInPlace && !isEvery ? column.candidates : column.out
        const count = filterSketches(
          column.segments,
          column.count,
          isEvery ? 0 : column.candidates,
          entries,
          size,
          Math.floor(least * highest),
          firstBytes,
          Math.floor((firstLeast * highest * firstBytes) / size),
          out,
          withSums ? found : 0,
          room,
        )
        const pairs = withSums ? [...world.slice(found, 2 * count)] : []
        return { count, rows: world.slice(out, column.words), pairs }
      })
      for (const other of others) assert.deepEqual(other, one)
      passed += one!.count
      rows += column.rows
    }),
    { numRuns: 100 },
  )
  t.ok(passed > rows / 20 && passed < rows / 2, `${passed} of ${rows} pass`)
})

t.test('the highest possible sum is reached and never exceeded', async t => {
  const size = 512
  world.reset(1)
  const column = world.column({ seed: 1, segments: 1, present: 1, candidates: 0.02 }, 4, () => {})
  world.addSketches(column, size)
  const { table: entries, highest } = table(size, () => MAX_ENTRY)
  const room = world.allocate(64)
  const found = world.allocate(column.rows * 8)
  for (const { filterSketches } of all) {
    const of = [column.segments, 1, column.candidates, entries, size] as const
    const count = filterSketches(...of, highest, size, 0, column.out, found, room)
    const pairs = world.slice(found, 2 * count)
    t.ok(count > 0 && pairs.every((sum, i) => i % 2 === 0 || sum === highest), `all have ${highest}`)
    t.equal(filterSketches(...of, highest + 1, size, 0, column.out, found, room), 0)
  }
})
