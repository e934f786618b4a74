import { toParams } from '../engine/query/parse/parse-params.ts'
import { openVectorWorld, VectorWorld } from './world/vector-world.ts'
import { pageOf } from './engine/engine-case.ts'
const [, , rows, dimension, clusters] = process.argv.map(Number)
const world = new VectorWorld({ rows: rows!, dimension: dimension!, clusters: clusters! })
let s = performance.now()
const engine = await openVectorWorld(world)
await engine.memoryFilled()
console.log('ready', performance.now() - s, engine.memoryUse())
const { readSnapshot } = engine as unknown as { readSnapshot: unknown }
const ask = (filter: string, params: unknown, more: object = {}) =>
  engine.read({
    dataClass: 'Item',
    source: { kind: 'all' },
    skip: 0,
    top: 100,
    output: { form: 'collection', attributes: { from: 'path', items: [{ path: ['ID'], range: undefined }] } },
    filter,
    params: toParams(params),
    ...more,
  } as never)
const time = async (name: string, run: (n: number) => unknown, rounds = 60) => {
  const t: number[] = []
  let count = 0
  for (let n = 0; n < rounds; n++) {
    const s = performance.now()
    count = pageOf((await run(n)) as Uint8Array).count
    t.push(performance.now() - s)
  }
  t.sort((a, b) => a - b)
  console.log(name, 'min', t[0]!.toFixed(3), 'p50', t[rounds >> 1]!.toFixed(3), 'count', count)
}
const q = (n: number) => [...world.question(n)]
const qs = Array.from({ length: 100 }, (_, n) => q(n))
await time('threshold 0.7', n => ask('embedding > :1', [{ vector: qs[n], threshold: 0.7 }]))
await time('threshold 0.7 ordered', n =>
  ask('embedding > :1', [{ vector: qs[n], threshold: 0.7 }], { orderBy: 'embedding desc' }),
)
await time('threshold < 0.0', n => ask('embedding < :1', [{ vector: qs[n], threshold: 0.0 }]))
await time('wide > 0.0 ordered', n =>
  ask('embedding > :1', [{ vector: qs[n], threshold: 0.0 }], { orderBy: 'embedding desc' }),
)
await time('nearest 100', n => ask('embedding > :1', [{ vector: qs[n], threshold: null }]))
for (const g of [500, 100, 10, 1])
  await time('nearest of ' + g / 10 + '%', n =>
    ask('group < :2 and embedding > :1', [{ vector: qs[n], threshold: null }, g]),
  )
await engine.close()
