/**
 * A property with columns and an index gives the same results in every kind of query as one that is read from the objects.
 */
import { TEXT_LIMITS } from '../../../../engine/query/parse/limits.ts'
import t from 'tap'
import { publicView } from '../../../../engine/catalog/view.ts'
import { aggregate, bindAggregates } from '../../../../engine/query/aggregate/aggregate.ts'
import { writeDistinct } from '../../../../engine/query/serialise/write-values.ts'
import { QueryBudget } from '../../../../engine/query/scan/query-budget.ts'
import { parsePathList } from '../../../../engine/query/parse/parse-path-list.ts'
import { QueryCache } from '../../../../engine/query/plan/query-cache.ts'
import { planSelection } from '../../../../engine/query/source/select.ts'
import { RowSet } from '../../../../engine/row-set/row-set.ts'
import type { Snapshot } from '../../../../engine/data/snapshot.ts'
import { type Random, randomOf } from '../../../support/base/random.ts'
import { runQuery } from '../../../support/engine/run-query.ts'
import type { TestEntity } from '../../../support/engine/write-rows.ts'
import { type MemoryWorld, openMemoryWorld } from '../../../support/engine/shared-memory.ts'
import { explainOperator } from '../../../support/engine/explain-plan.ts'

const PATHS = {
  'address.city': 'string',
  born: 'string',
  size: 'number',
  'tags.length': 'long',
  flag: 'bool',
} as const

const model = (indexed: boolean) => ({
  name: 'properties',
  dataClasses: {
    Thing: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        info: {
          type: 'object',
          properties: Object.fromEntries(Object.entries(PATHS).map(([path, type]) => [path, { type, indexed }])),
        },
        ownerID: { type: 'long' },
        owner: { kind: 'relatedEntity', type: 'Thing', foreignKey: 'ownerID', inverseName: 'owned' },
        owned: { kind: 'relatedEntities', type: 'ThingSelection', inverseName: 'owner' },
      },
    },
  },
})

const CITIES = ['Köln', 'koln', 'Bern', 'Graz', 'Łódź', 'Bern am See', '', '12']

/** @param mixed share of the values that have another type than the declared one */
function thing(random: Random, ID: number, mixed: number): TestEntity {
  const of = (value: unknown): unknown =>
    random.chance(0.1) ? null : random.chance(mixed) ? random.pick([5, 'x', true, {}, [1]]) : value
  const info = {
    ...(random.chance(0.9) && { address: of({ street: 'x"}', city: of(random.pick(CITIES)) }) }),
    born: of(`19${random.integer(10, 99)}-01-31`),
    ...(random.chance(0.9) && { size: of(random.integer(-20, 20) / 4) }),
    tags: of(Array.from({ length: random.integer(0, 3) }, () => ['a', { b: [1, 2] }])),
    flag: of(random.chance(0.5)),
  }
  return {
    ID,
    info: random.chance(0.05) ? null : info,
    ownerID: ID > 1 && random.chance(0.8) ? random.integer(1, ID - 1) : null,
  }
}

const FILTERS = [
  'info.address.city = koln',
  'info.address.city != koln',
  'info.address.city = null',
  'info.address.city != null',
  'not (info.address.city = "b@")',
  'info.address.city begin bern',
  'info.address.city in ["graz", "bern"]',
  'not (info.address.city in ["graz", "bern"])',
  'info.address.city > c and info.address.city <= l',
  'info.address.city % see',
  'info.address.city = "@"',
  'info.born >= 1950-01-01 and info.born < 1960-01-01',
  'info.size > 2 and info.size < 3.5',
  'info.size = -1',
  'info.size != 0',
  'not (info.size >= 0)',
  'info.size begin 1',
  'not (info.size begin 1)',
  'info.size = null and info.tags.length = 2',
  'info.tags.length > 1',
  'info.flag = true',
  'info.flag',
  'not (info.flag = true)',
  'info.flag = null or info.size = 1',
  'owner.info.size = 1',
  'owner.info.size != 1',
  'owner.info.address.city = null',
  'owned.info.address.city = graz',
  'not (owned.info.size > 0)',
]
const ORDERS = [
  'info.address.city',
  'info.size desc',
  'info.flag, info.born desc',
  'info.tags.length, ID desc',
  'owner.info.size',
]
const MEASURES = [...Object.keys(PATHS).map(path => `info.${path}`), 'owner.info.size', 'owner.info.address.city']

function answers(snapshot: Snapshot, { rows: { catalog } }: MemoryWorld): string[] {
  const query = (request: object) => runQuery(catalog, snapshot, { dataClass: 'Thing', ...request })
  return [undefined, ...FILTERS].flatMap((filter, i) => {
    const of = filter === undefined ? {} : { filter }
    const { count, rowIds } = query(of)
    const set = RowSet.fromSorted(rowIds.slice())
    const pages = ORDERS.map(orderBy => {
      const page = query({ ...of, orderBy, skip: i % 3, top: [3, 40, Number.POSITIVE_INFINITY][i % 3]! })
      return `${filter} by ${orderBy}: ${page.rowIds}`
    })
    return [`${filter}: ${count}: ${set.toIds()}`, ...pages, ...MEASURES.flatMap(path => summed(path, set))]
  })

  function summed(path: string, set: RowSet): string[] {
    const dataClass = catalog.dataClassesByName.get('Thing')!
    const all = { function: 'all', distinct: false } as const
    const [measure] = bindAggregates(parsePathList(path), all, dataClass, publicView(catalog))
    const context = { snapshot, budget: new QueryBudget() }
    const distinct = (counted: boolean) =>
      Buffer.from(
        writeDistinct(measure!, { skip: 1, count: 5, counted }, set, context, { maxAnswerBytes: 1e6, pretty: false }),
      )
    const summary = [...aggregate(measure!, all, set, context)].join(' ')
    return [`${path}: ${summary}: ${distinct(false)}: ${distinct(true)}`]
  }
}

for (const mixed of [0, 0.05]) {
  t.test(
    `indexed properties give the same answers as others, with ${mixed * 100} % of their values of other types`,
    async t => {
      const random = randomOf(7)
      const worlds = [model(true), model(false)].map(each => openMemoryWorld(t, each))
      const both = (change: (world: MemoryWorld) => void) => worlds.forEach(change)
      const things = Array.from({ length: 900 }, (_, i) => thing(random, i + 1, mixed))
      both(world => world.commit(rows => things.forEach(each => void rows.insert('Thing', each))))
      both(world => world.fill())
      const compare = (name: string) => {
        const [indexed, plain] = worlds.map(world => world.rows.open().read(snapshot => answers(snapshot, world)))
        t.strictSame(indexed, plain, `${name}: from LMDB`)
        const shared = worlds[0]!.reader(0)
        t.strictSame(
          shared.read(snapshot => answers(snapshot, worlds[0]!)),
          plain,
          `${name}: from shared memory`,
        )
        shared.close()
      }
      compare('at first')
      const changed = new Map(
        Array.from({ length: 120 }, () => {
          const rowId = random.integer(0, 899)
          return [rowId, { ...thing(random, rowId + 1, mixed), ownerID: null }]
        }),
      )
      both(world =>
        world.commit(rows => {
          for (const [rowId, entity] of changed) rows.update('Thing', rowId, entity)
        }),
      )
      compare('after changes')
    },
  )
}

t.test('an indexed property is looked up in its index, a range in one search', async t => {
  const world = openMemoryWorld(t, model(true))
  const random = randomOf(3)
  world.commit(rows => {
    for (let ID = 1; ID <= 2_000; ID++) rows.insert('Thing', thing(random, ID, 0))
  })
  world.fill()
  const shared = world.reader(0)
  const plan = (filter: string) =>
    shared.read(snapshot => {
      const request = { dataClass: 'Thing', source: { kind: 'all' }, filter } as const
      const selection = planSelection(request, publicView(world.rows.catalog), new QueryCache(TEXT_LIMITS), {
        snapshot,
      })
      return explainOperator(selection.filter!, selection.dataClass)
    })
  t.match(plan('info.size = 4.25'), /^IndexScan info\.size in \[4\.25\] \(\d+ rows\)$/)
  t.match(plan('info.address.city = "Łódź a@"'), /^IndexScan info\.address\.city begins with "łodz a" \(0 rows\)$/)
  t.match(plan('info.size > 4.5 and info.size <= 5'), /^IndexScan info\.size > 4\.5 <= 5 \(\d+ rows\)$/)
  t.match(plan('info.size != 1'), /^Union\n {2}ColumnFilter info\.size not = 1\n {2}Intersect\n/)
  t.match(plan('info.street = x'), /^JsonFilter info\.street = "x"$/)
  shared.close()
})
