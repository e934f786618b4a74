import t from 'tap'
import { kernels, simdKernels } from '../../../../engine/simd/kernels.ts'
import { LAYOUT, World } from './world.ts'

// In a file of its own: a module that has been compiled is kept.
t.test('where WebAssembly has no SIMD the kernels are JavaScript', async t => {
  t.intercept(WebAssembly, 'Module', {
    value: class {
      constructor() {
        throw new WebAssembly.CompileError('Wasm SIMD unsupported')
      }
    },
  })
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true })
  t.equal(simdKernels(memory, LAYOUT), undefined)
  const world = new World(memory)
  const [a, b] = [world.bitmap(9, 1), world.bitmap(9, 1)]
  t.equal(kernels(memory, LAYOUT).and(a, b, 0, 9), 288)
})
