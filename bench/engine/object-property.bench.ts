import { toParams } from '../../engine/query/parse/parse-params.ts'
import { syllableName } from '../world/names.ts'
import { insert } from '../world/tesser-store.ts'
import { World } from '../world/world.ts'
import { differs, type EngineCase, engineCase, pageOf, readPage } from './engine-case.ts'
import { openOwnStore } from './own-store.ts'

const ROWS = 100_000
const MODEL = {
  name: 'objects',
  dataClasses: {
    Item: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        name: { type: 'string', indexed: true },
        price: { type: 'number', indexed: true },
        info: {
          type: 'object',
          properties: { 'maker.name': { type: 'string', indexed: true }, price: { type: 'number', indexed: true } },
        },
      },
    },
  },
}

interface Question {
  /** The filter, with `@` in place of the attribute. */
  filter: string
  params: readonly unknown[]
  passes(world: World, row: number): boolean
}

/** Compares the same values in an object and in attributes beside it: the cost of the object. */
const objectCase = (
  name: string,
  title: string,
  paths: { property: string; attribute: string },
  question: (world: World, n: number) => Question,
): EngineCase =>
  engineCase({
    name,
    title,
    goals: { against: 1.5 },
    prepare: async ({ world: { seed } }) => {
      const world = new World(seed, ROWS)
      const { engine, close } = await openOwnStore(MODEL, 2 ** 29)
      await engine.parts.writer.memoryFilled
      await insert(
        engine,
        'Item',
        ROWS,
        row => {
          const [name, price] = [syllableName(world.nameOf(row)), world.salaryOf(row)]
          return { ID: row + 1, name, price, info: { maker: { name, town: 'Oslo' }, price, tags: ['a', 'b'] } }
        },
        () => {},
      )
      const count = (path: string) => (n: number) => {
        const { filter, params } = question(world, n)
        return readPage(engine, { dataClass: 'Item', filter: filter.replaceAll('@', path), params: toParams(params) })
      }
      return {
        units: ROWS,
        unit: 'rows',
        run: count(paths.property),
        against: { what: 'by an attribute', run: count(paths.attribute) },
        problemOf: (answer, n) => {
          const { passes } = question(world, n)
          let expected = 0
          for (let row = 0; row < ROWS; row++) if (passes(world, row)) expected++
          return differs('the count', pageOf(answer as Uint8Array).count, expected)
        },
        close,
      }
    },
  })

export const objectEquality = objectCase(
  'object-equality',
  'equality of an indexed property of an object, about 50 hits',
  { property: 'info.maker.name', attribute: 'name' },
  (world, n) => {
    const name = (n * 7919) % world.names
    return { filter: '@ = :1', params: [syllableName(name)], passes: (_, row) => world.nameOf(row) === name }
  },
)

export const objectRange = objectCase(
  'object-range',
  'count of a range of 10 % of an indexed property of an object',
  { property: 'info.price', attribute: 'price' },
  (world, n) => {
    const from = 20_000 + world.pick(n, 90_000)
    const to = from + 10_000
    return {
      filter: '@ >= :1 and @ < :2',
      params: [from, to],
      passes: (_, row) => world.salaryOf(row) >= from && world.salaryOf(row) < to,
    }
  },
)
