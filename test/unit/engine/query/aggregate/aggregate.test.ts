import t from 'tap'
import { loadModel } from '../../../../../engine/catalog/load-model.ts'
import type { Value } from '../../../../../engine/catalog/value.ts'
import { publicView } from '../../../../../engine/catalog/view.ts'
import { type Aggregation, aggregate, bindAggregates } from '../../../../../engine/query/aggregate/aggregate.ts'
import { bindFirstScalar } from '../../../../../engine/query/aggregate/measure.ts'
import { Summary } from '../../../../../engine/query/aggregate/summary.ts'
import { writeDistinct } from '../../../../../engine/query/serialise/write-values.ts'
import { QueryBudget } from '../../../../../engine/query/scan/query-budget.ts'
import { parsePathList } from '../../../../../engine/query/parse/parse-path-list.ts'
import { RowSet } from '../../../../../engine/row-set/row-set.ts'
import { SEGMENT_ROWS } from '../../../../../engine/data/snapshot.ts'
import { fold } from '../../../../../engine/base/text/fold.ts'
import { fakeStore } from '../../../../support/engine/fake-table.ts'
import fc from '../../../../support/runner/fast-check.ts'

const catalog = loadModel({
  name: 'measures',
  dataClasses: {
    Item: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        number: { type: 'number' },
        long64: { type: 'long64' },
        date: { type: 'date', simpleDate: true },
        text: { type: 'string' },
        bool: { type: 'bool' },
        object: { type: 'object' },
        parentID: { type: 'long' },
        parent: { kind: 'relatedEntity', type: 'Item', foreignKey: 'parentID' },
      },
    },
  },
})
const Item = catalog.dataClassesByName.get('Item')!

type Entity = Record<string, Value>

/** A store of entities, and the selected row ids. */
interface World {
  readonly entities: readonly (Entity | undefined)[]
  readonly rows: readonly number[]
}

const contextOf = ({ entities }: World, maxRowsExamined?: number) => ({
  snapshot: fakeStore(catalog, { Item: entities }),
  budget: new QueryBudget({ maxRowsExamined }),
})

/** Results by name, as JSON texts. */
function computed(
  world: World,
  path: string,
  wanted: Aggregation['function'],
  distinct = false,
): Record<string, string> {
  const aggregation = { function: wanted, distinct }
  const [measure] = bindAggregates(parsePathList(path), aggregation, Item, publicView(catalog))
  return Object.fromEntries(aggregate(measure!, aggregation, RowSet.fromIds(world.rows), contextOf(world)))
}

function distinct(world: World, path: string, skip = 0, count = Number.POSITIVE_INFINITY, counted = false): string {
  const measure = bindFirstScalar(parsePathList(path), Item, publicView(catalog))
  const options = { maxAnswerBytes: 1e6, pretty: false }
  const bytes = writeDistinct(measure, { skip, count, counted }, RowSet.fromIds(world.rows), contextOf(world), options)
  return Buffer.from(bytes).toString()
}

// Eighths are exact in binary, so their sum has one correct result.
const eighth = fc.integer({ min: -(2 ** 40), max: 2 ** 40 }).map(n => n / 8)
const long64 = fc.oneof(
  fc.integer({ min: -9, max: 9 }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(n => (Number.isSafeInteger(Number(n)) ? Number(n) : n)),
)
const text = fc.oneof(fc.constantFrom('a', 'A', 'á', 'b', 'B', 'Éclair', 'eclair', 'ß', 'ss', '"', 'ø'), fc.string())
const json = fc.oneof(eighth, text, fc.boolean(), fc.constant(null), fc.constant([1]))
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })

const entity = fc.record({
  number: orNull(eighth),
  long64: orNull(long64),
  date: orNull(fc.integer({ min: -20_000, max: 20_000 }).map(day => day * 86_400_000)),
  text: orNull(text),
  bool: orNull(fc.boolean()),
  object: orNull(fc.record({ value: json }, { requiredKeys: [] })),
  parentID: orNull(fc.nat({ max: 99 })),
})

/** Up to 200 entities, some deleted; all are selected, or every second or seventh. */
const world: fc.Arbitrary<World> = fc
  .record({
    entities: fc.array(fc.option(entity, { nil: undefined, freq: 10 }), { maxLength: 200, size: 'max' }),
    every: fc.constantFrom(1, 1, 2, 7),
  })
  .map(({ entities, every }) => ({
    entities: entities.map((each, ID) => each && { ID, ...each }),
    rows: entities.flatMap((each, rowId) => (each && rowId % every === 0 ? [rowId] : [])),
  }))

type Read = (entity: Entity, world: World) => unknown

const own =
  (name: string): Read =>
  entity =>
    entity[name]
const property: Read = entity => (entity.object as { value?: unknown } | null)?.value
const ofParent =
  (name: string): Read =>
  (entity, { entities }) =>
    (entity.parentID === null ? undefined : entities[entity.parentID as number])?.[name]

const valuesOf = (world: World, read: Read): unknown[] =>
  world.rows.map(row => read(world.entities[row]!, world)).filter(value => value !== null && value !== undefined)

const exactSum = (values: unknown[]): number =>
  Number(values.reduce<bigint>((sum, v) => sum + BigInt((v as number) * 8), 0n)) / 8
const identity = (value: unknown): unknown => (typeof value === 'string' ? fold(value) : value)
const isScalar = (value: unknown): boolean => typeof value !== 'object'

/** Distinct values, the first of each group of equal ones, ascending: numbers, texts, bools. */
function differing(values: unknown[]): unknown[] {
  const first = new Map<unknown, unknown>()
  for (const value of values) if (isScalar(value) && !first.has(identity(value))) first.set(identity(value), value)
  const rank = (value: unknown) => ['number', 'bigint', 'string', 'boolean'].indexOf(typeof value) || 1
  return [...first.entries()]
    .sort(([a], [b]) => rank(a) - rank(b) || ((a as number) < (b as number) ? -1 : 1))
    .map(([, value]) => value)
}

const jsonText = (value: unknown): string => (typeof value === 'bigint' ? String(value) : JSON.stringify(value))
const dateText = (value: unknown): string => JSON.stringify(new Date(value as number).toISOString().slice(0, 10))

const paths: { path: string; read: Read; numbers?: true; bigints?: true; write?: typeof jsonText }[] = [
  { path: 'number', read: own('number'), numbers: true },
  { path: 'long64', read: own('long64'), bigints: true },
  { path: 'date', read: own('date'), write: dateText },
  { path: 'text', read: own('text') },
  { path: 'object.value', read: property },
  { path: 'parent.number', read: ofParent('number'), numbers: true },
  { path: 'parent.text', read: ofParent('text') },
]

/** True if no double is nearer to the quotient. The doubles beside this one differ from it by at most this factor. */
function isNearest(double: number, sum: bigint, count: bigint): boolean {
  const UNIT = 2 ** 100
  const distance = (candidate: number): bigint => {
    const difference = BigInt(candidate * UNIT) * count - sum * BigInt(UNIT)
    return difference < 0n ? -difference : difference
  }
  return [1 - 2 ** -53, 1 + 2 ** -52].every(factor => distance(double) <= distance(double * factor))
}

for (const { path, read, numbers, bigints, write = jsonText } of paths) {
  t.test(`${path} is aggregated as by a plain loop`, async t => {
    fc.assert(
      fc.property(world, world => {
        const all = valuesOf(world, read)
        for (const isDistinct of [false, true]) {
          const values = isDistinct ? differing(all) : all
          const ordered = differing(values).filter(value => typeof value !== 'boolean')
          const found = computed(world, path, 'all', isDistinct)
          t.equal(found.count, String(values.length))
          t.equal(computed(world, path, 'count', isDistinct).count, found.count)
          t.equal(found.min, ordered.length > 0 ? write(ordered[0]) : 'null')
          t.equal(found.max, ordered.length > 0 ? write(ordered.at(-1)) : 'null')
          if (numbers) {
            t.equal(found.sum, String(exactSum(values)))
            t.equal(found.average, values.length > 0 ? String(exactSum(values) / values.length) : 'null')
          }
          if (bigints) {
            const sum = values.reduce<bigint>((sum, v) => sum + BigInt(v as bigint), 0n)
            t.equal(found.sum, String(sum))
            if (values.length > 0)
              t.ok(isNearest(Number(found.average), sum, BigInt(values.length)), `${found.average} of ${values}`)
          }
        }
        return t.passing()
      }),
      { numRuns: 60 },
    )
  })

  t.test(`the distinct values of ${path} are listed as by a plain loop`, async t => {
    fc.assert(
      fc.property(world, fc.nat({ max: 20 }), fc.nat({ max: 20 }), (world, skip, count) => {
        const all = valuesOf(world, read)
        const values = differing(all)
        const expected = values.map(write)
        t.equal(distinct(world, path), `[${expected}]`)
        t.equal(distinct(world, path, skip, count), `[${expected.slice(skip, skip + count)}]`)
        const frequent = values
          .map(value => ({ value, count: all.filter(each => identity(each) === identity(value)).length }))
          .sort((a, b) => b.count - a.count)
          .map(each => `{"value":${write(each.value)},"count":${each.count}}`)
        t.equal(distinct(world, path, skip, count, true), `[${frequent.slice(skip, skip + count)}]`)
        return t.passing()
      }),
      { numRuns: 60 },
    )
  })
}

t.test('only the numbers of a property are summed', async t => {
  const entities = [1, '2', true, null, [3], 4.5].map((value, ID) => ({ ID, object: { value } }))
  const world = { entities, rows: entities.map(({ ID }) => ID) }
  t.same(computed(world, 'object.value', 'all'), { count: '5', sum: '5.5', average: '2.75', min: '1', max: '"2"' })
})

const numbers = (values: number[]): World => ({
  entities: values.map((number, ID) => ({ ID, number })),
  rows: values.map((_, row) => row),
})

const averages: readonly (readonly [name: string, values: readonly (number | bigint)[], average: string])[] = [
  ['a tie is even', [2n ** 53n + 1n, 2n ** 53n + 1n, 2n ** 53n + 1n], '9007199254740992'],
  ['above a tie', [2n ** 53n + 1n, 2n ** 53n + 1n, 2n ** 53n + 2n], '9007199254740994'],
  ['below zero', [-(2n ** 53n) - 1n, -(2n ** 53n) - 1n, -(2n ** 53n) - 1n], '-9007199254740992'],
  ['the greatest', [2n ** 63n - 1n, 2n ** 63n - 1n], '9223372036854776000'],
  ['nothing is left', [2n ** 63n - 1n, -(2n ** 63n) + 1n, 1], '0.3333333333333333'],
  ['a sum beyond 64 bits', [2n ** 63n - 1n, 2n ** 63n - 1n, 2n ** 62n, -(2n ** 63n)], '3458764513820541000'],
]
for (const [name, values, average] of averages) {
  t.test(`the average of integers of 64 bits is rounded once: ${name}`, async t => {
    const world = { entities: values.map((long64, ID) => ({ ID, long64 })), rows: values.map((_, row) => row) }
    t.equal(computed(world, 'long64', 'average').average, average)
  })
}

t.test('small numbers are not lost next to large ones', async t => {
  t.equal(computed(numbers(Array(10).fill(0.1)), 'number', 'sum').sum, '1')
  t.equal(computed(numbers([1e16, 1, -1e16]), 'number', 'sum').sum, '1')
  t.equal(
    computed(numbers([...Array(200).fill(1e16), ...Array(200).fill(1), ...Array(200).fill(-1e16)]), 'number', 'sum')
      .sum,
    '200',
  )
})

t.test('a sum that no double can hold is null', async t => {
  t.equal(computed(numbers([1e308, 1e308]), 'number', 'sum').sum, 'null')
  t.equal(computed(numbers([1e308, 1e308]), 'number', 'average').average, 'null')
})

t.test('a sum may leave the range of doubles on the way to its result', async t => {
  const values = [1e308, 0, 1e308, 0, 1e308, 0, -1e308, -1e308]
  t.equal(computed(numbers(values), 'number', 'sum').sum, '1e+308')
  t.equal(computed(numbers([...values, -1e308, 0.5]), 'number', 'sum').sum, '0.5')
  const many = values.flatMap(value => Array(3000).fill(value))
  t.equal(computed(numbers(many), 'number', 'sum').sum, 'null')
  t.equal(computed(numbers([...many, ...Array(2999).fill(-1e308)]), 'number', 'sum').sum, '1e+308')
})

t.test('sums cover several segments, and segments without a selected row are not read', async t => {
  const entities = Array.from({ length: 3 * SEGMENT_ROWS }, (_, ID) => ({ ID, number: ID, text: `t${ID}` }))
  const rows = [...Array(SEGMENT_ROWS).keys()].map(row => (row < 2_000 ? row : row + 2 * SEGMENT_ROWS))
  const aggregation = { function: 'all', distinct: false } as const
  const [measure] = bindAggregates(parsePathList('number'), aggregation, Item, publicView(catalog))
  const context = contextOf({ entities, rows })
  const found = aggregate(measure!, aggregation, RowSet.fromIds(rows), context)
  t.equal(found.get('sum'), String(rows.reduce((sum, row) => sum + row, 0)))
  t.equal(found.get('max'), String(3 * SEGMENT_ROWS - 1))
  t.same([...context.snapshot.segmentsRead], ['Item.number 0', 'Item.number 2'])
})

t.test('an aggregate of more rows than a query may examine is refused', async t => {
  const world = numbers(Array(200).fill(1))
  for (const path of ['number', 'parent.number', 'number,ID']) {
    const aggregation = { function: 'sum', distinct: false } as const
    const [measure] = bindAggregates(parsePathList(path), aggregation, Item, publicView(catalog))
    t.throws(() => aggregate(measure!, aggregation, RowSet.fromIds(world.rows), contextOf(world, 100)), {
      name: 'QUERY.TOO_MANY_ROWS',
    })
  }
})

t.test('§4.6 bools, objects and arrays are counted, but neither added up nor compared', async t => {
  const summary = new Summary()
  for (const [rowId, value] of [true, { a: 1 }, 5, false, [9]].entries()) summary.add(value, rowId)
  t.equal(summary.count, 5)
  t.equal(summary.numbers.count, 1)
  t.same(
    [summary.min, summary.max],
    [
      { value: 5, rowId: 2 },
      { value: 5, rowId: 2 },
    ],
  )
})
