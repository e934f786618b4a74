/**
 * Kernels over shared memory give bit-identical results to loops over columns read from LMDB.
 */
import t from 'tap'
import { publicView } from '../../../../engine/catalog/view.ts'
import { aggregate, bindAggregates } from '../../../../engine/query/aggregate/aggregate.ts'
import { QueryBudget } from '../../../../engine/query/scan/query-budget.ts'
import { parsePathList } from '../../../../engine/query/parse/parse-path-list.ts'
import { RowSet } from '../../../../engine/row-set/row-set.ts'
import type { Snapshot } from '../../../../engine/data/snapshot.ts'
import { type Random, randomOf } from '../../../support/base/random.ts'
import { runQuery } from '../../../support/engine/run-query.ts'
import type { RowWriter, TestEntity } from '../../../support/engine/write-rows.ts'
import { openMemoryWorld } from '../../../support/engine/shared-memory.ts'

const COMPANIES = 300
/** Several segments, the last one partly filled. */
const PEOPLE = 9_000

const model = {
  name: 'dense',
  dataClasses: {
    Company: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        revenues: { type: 'number' },
        staff: { kind: 'relatedEntities', type: 'PersonSelection', inverseName: 'employer' },
      },
    },
    Person: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        salary: { type: 'number' },
        born: { type: 'date', simpleDate: true },
        active: { type: 'bool' },
        small: { type: 'long64' },
        big: { type: 'long64' },
        name: { type: 'string' },
        city: { type: 'string' },
        employerID: { type: 'long' },
        employer: { kind: 'relatedEntity', type: 'Company', foreignKey: 'employerID', inverseName: 'staff' },
      },
    },
  },
}

const CITIES = ['Köln', 'Bern', 'Graz', 'Łódź', 'Nice', 'Bern am See', '', 'ko\u0001ln']

function person(random: Random, ID: number): TestEntity {
  const orNull = <T>(value: T): T | null => (random.chance(0.1) ? null : value)
  return {
    ID,
    salary: orNull(random.pick([0, -0, 1e16, -1e16, random.integer(0, 1e6) / 7, random.integer(0, 200)])),
    born: orNull(random.integer(-200, 200) * 86_400_000),
    active: orNull(random.chance(0.5)),
    small: orNull(random.integer(-1e9, 1e9)),
    // Beyond 2^53 in one segment only.
    big: ID < 3_000 && random.chance(0.01) ? 2n ** 60n + BigInt(ID) : orNull(random.integer(0, 50)),
    name: orNull(`Name ${random.integer(0, 4_000)}`),
    city: orNull(random.pick(CITIES)),
    employerID: orNull(random.integer(1, COMPANIES)),
  }
}

const FILTERS = [
  undefined,
  'salary > 100',
  'salary >= 0 and salary < 50000.5',
  'salary = 0',
  'salary != 0',
  'not (salary <= 1e16)',
  'salary = null',
  'salary != null or city = null',
  'born > 1970-03-01',
  'active = true',
  'small < 0',
  'big >= 25',
  'big > 1152921504606846976',
  'ID < 4096',
  'city = koln',
  'city != BERN',
  'city in ["graz", "nice", "nowhere"]',
  'not (city in ["graz", "nice"])',
  'city = "@er@"',
  'city = "b@e"',
  'city != "@e@e@"',
  'city = "@"',
  'city > "c" and city <= "m"',
  'city % bern',
  'name = "@ 39@"',
  'name = "name 1@" and salary < 1000',
  'employer.revenues > 500',
  'employer.revenues <= 500 or employer = null',
  'not (employer.revenues > 900)',
  'employer = null',
  'employer.staff.salary > 142000',
  'salary > 100 except city = bern',
]
const ORDERS = [undefined, 'salary', 'salary desc', 'born, salary desc', 'active desc, born', 'small', 'city, ID desc']
const MEASURES = ['salary', 'born', 'active', 'small', 'big', 'city', 'employer.revenues']

/** Results of every filter as texts: count, a page in each order, and aggregates. */
function answers(snapshot: Snapshot, catalog: Parameters<typeof runQuery>[0]): string[] {
  return FILTERS.flatMap((filter, i) => {
    const all = runQuery(catalog, snapshot, { dataClass: 'Person', ...(filter && { filter }) })
    const pages = ORDERS.map(orderBy => {
      const top = [3, 100, 2_000, Number.POSITIVE_INFINITY][i % 4]!
      const request = { dataClass: 'Person', ...(filter && { filter }), ...(orderBy && { orderBy }), top, skip: i % 3 }
      return `${filter} by ${orderBy}: ${runQuery(catalog, snapshot, request).rowIds}`
    })
    return [`${filter}: ${all.count}: ${all.rowIds}`, ...pages, ...aggregates(snapshot, catalog, filter)]
  })
}

function aggregates(snapshot: Snapshot, catalog: Parameters<typeof runQuery>[0], filter: string | undefined): string[] {
  const dataClass = catalog.dataClassesByName.get('Person')!
  const set = RowSet.fromSorted(
    runQuery(catalog, snapshot, { dataClass: 'Person', ...(filter && { filter }) }).rowIds.slice(),
  )
  return MEASURES.map(path => {
    const [measure] = bindAggregates(
      parsePathList(path),
      { function: 'all', distinct: false },
      dataClass,
      publicView(catalog),
    )
    const context = { snapshot, budget: new QueryBudget() }
    const results = aggregate(measure!, { function: 'all', distinct: false }, set, context)
    return `${path} where ${filter}: ${[...results].join(' ')}`
  })
}

t.test('filters, orders and aggregates give the same from shared memory and from LMDB', async t => {
  for (const seed of [1, 2]) {
    const random = randomOf(seed)
    const world = openMemoryWorld(t, model)
    const { catalog } = world.rows
    let lastId = 0
    const insert = (rows: RowWriter, count: number) => {
      for (let i = 0; i < count; i++) rows.insert('Person', person(random, ++lastId))
    }
    world.commit(rows => {
      for (let ID = 1; ID <= COMPANIES; ID++) rows.insert('Company', { ID, revenues: random.integer(0, 1_000) })
    })
    world.commit(rows => insert(rows, PEOPLE))
    world.fill()
    const lmdb = world.rows.open()
    const shared = world.reader(0)
    const expected = lmdb.read(snapshot => answers(snapshot, catalog))
    shared.read(snapshot => {
      t.strictSame(answers(snapshot, catalog), expected, `seed ${seed}`)
      // Rows are added in place to the pages that this snapshot reads, and others are changed and deleted.
      world.commit(rows => {
        insert(rows, 700)
        for (let i = 0; i < 300; i++) {
          const rowId = i * 29 + random.integer(0, 28)
          if (i % 3 === 0) rows.delete('Person', rowId)
          else rows.update('Person', rowId, person(random, rowId + 1))
        }
      })
      t.strictSame(answers(snapshot, catalog), expected, `seed ${seed}: later commits are not seen`)
    })
    const after = lmdb.read(snapshot => answers(snapshot, catalog))
    t.strictSame(
      shared.read(snapshot => answers(snapshot, catalog)),
      after,
      `seed ${seed}: after the changes`,
    )
    t.not(after.join(), expected.join())
    shared.close()
  }
})
