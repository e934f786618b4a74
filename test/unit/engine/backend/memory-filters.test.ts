/**
 * Random filters, orders, aggregates and distinct values find the same in dataclasses in memory as in the store, whichever of them are in
 * memory.
 *
 *   TESSER_TEST_SEED=42 node dist/test/unit/engine/backend/memory-filters.test.js      repeats one world
 */
import t from 'tap'
import type { GivenBackend } from '../../../../engine/backend/backend.ts'
import { bytesOf, type Engine, parsePathList } from '../../../../engine/index.ts'
import { parseParams } from '../../../../engine/query/parse/parse-params.ts'
import type { ReadRequest } from '../../../../engine/query/contract/request.ts'
import { openTestEngine } from '../../../support/engine/test-engine.ts'
import { memoryBackend } from '../../../support/engine/memory-backend/memory-backend.ts'
import { decode, readJson } from '../../../support/engine/read-request.ts'
import { addRow } from '../../../support/reference/changes.ts'
import { request, saveRows } from '../../../support/reference/live-world.ts'
import { orderText, randomOrder } from '../../../support/reference/order.ts'
import { randomCondition } from '../../../support/reference/random-condition.ts'
import { type Random, randomOf } from '../../../support/base/random.ts'
import { randomModel, randomPools, randomRow } from '../../../support/reference/random-world.ts'
import { render } from '../../../support/reference/render.ts'
import { isLong, longCount, seeds, timeoutMs } from '../../../support/runner/rounds.ts'
import { type ClassSpec, modelOf, type World } from '../../../support/reference/world.ts'

const FILTERS = 80
const MAX_ROWS = 30

t.setTimeout(timeoutMs)

for (const seed of seeds(isLong ? longCount(100) : 6)) {
  t.test(`world ${seed}: every read finds in memory what it finds in the store`, async t => {
    const random = randomOf(seed)
    const world = randomModel(random)
    const specs = [...world.classes.values()].map(({ spec }) => spec)
    const names = specs.map(({ name }) => name)
    const inMemory = random.some(names, 0.6)
    t.comment(`in memory: ${inMemory.join()}`)
    const open = (backends: readonly GivenBackend[]): Promise<Engine> =>
      openTestEngine(t, { model: modelOf(world), pool: { threads: 1 }, backends })
    const [store, memory] = [await open([]), await open(inMemory.length > 0 ? [memoryBackend(...inMemory)] : [])]
    const pools = randomPools(random, world, MAX_ROWS)
    // Twice, so that references lead in all directions.
    for (const spec of [...specs, ...specs]) {
      const rows = Array.from({ length: random.integer(0, MAX_ROWS / 2) }, () =>
        addRow(world, spec.name, randomRow(random, world, spec, pools)),
      )
      for (const engine of [store, memory]) await saveRows(engine, spec, rows)
    }
    for (let i = 0; i < FILTERS; i++) {
      const spec = random.pick(specs)
      const { ask, shown } = randomQuestion(random, world, spec)
      const [expected, got] = [await answerOf(ask, store), await answerOf(ask, memory)]
      // Orders and aggregates do not lead from the store into memory.
      if (!inMemory.includes(spec.name) && got.includes('REMOTE.NOT_HERE')) continue
      t.equal(got, expected, shown)
    }
  })
}

type Ask = (engine: Engine) => Promise<unknown>

const answerOf = (ask: Ask, engine: Engine): Promise<string> =>
  ask(engine).then(JSON.stringify, error => `${(error as Error).name}: ${(error as Error).message}`)

function randomQuestion(random: Random, world: World, spec: ClassSpec): { ask: Ask; shown: string } {
  const { filter, params } = render(random, world, spec, randomCondition(random, world, spec))
  const order = random.chance(0.4) ? orderText(random, randomOrder(random, world, spec)) : ''
  const read = request(spec, {
    filter: filter as NonNullable<ReadRequest['filter']>,
    ...(params !== undefined && { params: parseParams(params) }),
    ...(order !== '' && { orderBy: order }),
    ...(random.chance(0.5) && { skip: random.integer(0, 5), top: random.integer(0, 10) }),
  })
  const attribute = random.pick(spec.attributes).name
  const items = parsePathList(attribute)
  const kind = random.pick(['read', 'read', 'compute', 'distinct'])
  const shown = `${kind} ${spec.name}.${attribute}: ${filter} ${JSON.stringify(params)} order by ${order}`
  return {
    shown,
    async ask(engine) {
      if (kind === 'read') {
        const { __COUNT, __ENTITIES } = await readJson(engine, read)
        return [__COUNT, __ENTITIES.map(({ __KEY }: { __KEY: string }) => __KEY)]
      }
      const answer =
        kind === 'compute'
          ? engine.queries.compute(read, items, { function: 'all', distinct: false })
          : engine.queries.distinct(read, items, undefined, { counted: true })
      return decode(answer instanceof Uint8Array ? answer : await bytesOf(await answer))
    },
  }
}
