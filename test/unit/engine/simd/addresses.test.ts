import t from 'tap'
import { simdKernels } from '../../../../engine/simd/kernels.ts'
import { plainKernels } from './plain-kernels.ts'
import { LAYOUT, World } from './world.ts'

t.test('kernels accept addresses beyond 2 GiB', async t => {
  // Only touched pages take memory.
  const memory = new WebAssembly.Memory({ initial: 65535, maximum: 65535, shared: true })
  const world = new World(memory, 3 * 2 ** 30)
  const column = world.column({ seed: 1, segments: 2, present: 1, candidates: 0.5 }, 8, index => {
    world.floats[index] = world.pick([0, 1, 2, 3])
  })
  const { segments, count, candidates, out, words } = column
  const texts = ['abc', 'b', 'aabbc'].map(text => world.text(text))
  const named = world.column({ seed: 2, segments: 2, present: 1, candidates: 0.5 }, 4, index => {
    world.words[index] = world.pick(texts)
  })
  const sketched = world.column({ seed: 3, segments: 2, present: 1, candidates: 0.5 }, 4, () => {})
  world.addSketches(sketched, 4)
  const table = world.allocate(128)
  for (let i = 0; i < 32; i++) world.words[(table >>> 2) + i] = Math.floor(world.random() * 2 ** 29) & 0x1f1f1f1f
  const found = world.allocate(sketched.rows * 8)
  const room = world.allocate(64)
  const pattern = world.pattern(['a', 'bb', 'c'])
  const [list, result, targets] = [16, 32, 4].map(bytes => world.allocate(bytes)) as [number, number, number]
  const answers = [simdKernels(memory, LAYOUT)!, plainKernels(memory, LAYOUT)].map(k => {
    world.words.set([0, 1], list >>> 2)
    world.words[targets >>> 2] = 0b0101
    const bits = () => world.slice(out, words)
    const referenced = () => world.slice(targets, 1)
    return [
      [k.filterF64(segments, count, candidates, 1, 2, true, out), bits()],
      [k.filterU32(segments, count, candidates, list, 2, true, out), bits()],
      [k.filterPattern(named.segments, count, candidates, pattern, true, out), bits()],
      [k.aggregateF64(segments, count, candidates, result), world.floats.slice(result >>> 3, (result >>> 3) + 4)],
      [k.semiJoin(segments, count, candidates, targets, 1, out), bits()],
      [k.markReferenced(segments, count, candidates, targets, 1), referenced()],
      [
        k.filterSketches(sketched.segments, count, candidates, table, 4, 120, 4, 0, out, found, room),
        bits(),
        world.slice(found, 200),
      ],
    ]
  })
  t.strictSame(answers[0], answers[1])
})
