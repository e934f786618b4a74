import t from 'tap'
import { TEXT_LIMITS } from '../../../../engine/query/parse/limits.ts'
import { publicView } from '../../../../engine/catalog/view.ts'
import { QueryBudget } from '../../../../engine/query/scan/query-budget.ts'
import { QueryCache } from '../../../../engine/query/plan/query-cache.ts'
import { planSelection } from '../../../../engine/query/source/select.ts'
import { KeyList } from '../../../../engine/row-set/key-list.ts'
import { fakeStore } from '../../../support/engine/fake-table.ts'
import { copiesOfStaff, STAFF, staffCatalog } from '../../../support/fixtures/staff.ts'
import { type QueryOptions, runQuery } from '../../../support/engine/run-query.ts'

const catalog = staffCatalog()

interface Case {
  spec: string
  name: string
  query: QueryOptions
  rowIds: number[]
  count?: number
}

const rowsOf = (rowIds: number[], ordered = true) =>
  ({ kind: 'rows', rowIds: Uint32Array.from(rowIds), ordered }) as const

const cases: Case[] = [
  {
    spec: '1.4',
    name: 'keys are answered in the given order',
    query: { source: { kind: 'keys', keys: ['5', '1'] } },
    rowIds: [4, 0],
  },
  {
    spec: '1.4',
    name: 'a key given twice is one entity',
    query: { source: { kind: 'keys', keys: ['5', '1', '5'] } },
    rowIds: [4, 0],
  },
  {
    spec: '1.4',
    name: 'keys are filtered',
    query: { source: { kind: 'keys', keys: ['5', '1'] }, filter: 'age > 1' },
    rowIds: [0],
  },
  {
    spec: '1.5',
    name: 'an attribute and its value',
    query: { source: { kind: 'attribute', attribute: 'name', value: 'emile' } },
    rowIds: [2],
  },
  {
    spec: '1.5',
    name: 'an attribute takes @ literally',
    query: { source: { kind: 'attribute', attribute: 'name', value: '@' } },
    rowIds: [],
  },
  {
    spec: '1.5',
    name: 'a value of the wrong type is not found',
    query: { source: { kind: 'attribute', attribute: 'age', value: 'x' } },
    rowIds: [],
  },
  {
    spec: '1.5',
    name: 'one entity is the first match',
    query: { source: { kind: 'attribute', attribute: 'age', value: '20' }, output: { form: 'entity' } },
    rowIds: [1],
    count: 2,
  },
  {
    spec: '4.1',
    name: 'the end of a 1→N relation',
    query: { source: { kind: 'related', from: { dataClass: 'Company', key: '1' }, relation: 'staff' } },
    rowIds: [0, 1],
  },
  {
    spec: '4.1',
    name: 'the end of a N→1 relation',
    query: {
      dataClass: 'Company',
      source: { kind: 'related', from: { dataClass: 'Employee', key: '3' }, relation: 'employer' },
    },
    rowIds: [1],
  },
  {
    spec: '4.1',
    name: 'the end of an alias of a relation',
    query: { source: { kind: 'related', from: { dataClass: 'Employee', key: '2' }, relation: 'colleagues' } },
    rowIds: [0, 1],
  },
  {
    spec: '6.1',
    name: 'a set keeps its order and deleted entities',
    query: { source: rowsOf([5, 3, 0]) },
    rowIds: [5, 3, 0],
  },
  {
    spec: '6.1',
    name: 'a filter drops deleted entities',
    query: { source: rowsOf([5, 3, 0]), filter: 'age > 1' },
    rowIds: [5, 0],
  },
  {
    spec: '6.1',
    name: 'a filter that excludes nothing drops deleted entities too',
    query: { source: rowsOf([5, 3, 0]), filter: 'not(age in :1) or age = null', params: [[]] },
    rowIds: [5, 0],
  },
  {
    spec: '6.1',
    name: 'deleted entities are sorted as null',
    query: { source: rowsOf([5, 3, 0]), orderBy: 'age desc' },
    rowIds: [0, 5, 3],
  },
  {
    spec: '6.1',
    name: 'a set without order is ascending',
    query: { source: rowsOf([0, 3, 5], false), skip: 1 },
    rowIds: [3, 5],
    count: 3,
  },
  {
    spec: '6.1',
    name: 'an ordered set may hold an entity twice',
    query: { source: rowsOf([5, 0, 5]), filter: 'age = 20' },
    rowIds: [5, 5],
  },

  { spec: '1.6', name: 'null is lowest', query: { orderBy: 'salary' }, rowIds: [2, 4, 1, 5, 0] },
  { spec: '1.6', name: 'null is last when descending', query: { orderBy: 'salary DESC' }, rowIds: [0, 5, 1, 4, 2] },
  { spec: '1.6', name: 'texts are compared folded', query: { orderBy: 'name' }, rowIds: [5, 0, 1, 2, 4] },
  {
    spec: '1.6',
    name: 'several keys, then the original order',
    query: { orderBy: 'age desc, woman' },
    rowIds: [2, 0, 5, 1, 4],
  },
  {
    spec: '1.6',
    name: 'equal keys keep their order, descending too',
    query: { filter: 'age = 20', orderBy: 'age desc' },
    rowIds: [1, 5],
  },
  {
    spec: '1.6',
    name: 'equal keys keep the order of a set',
    query: { source: rowsOf([5, 1, 0]), orderBy: 'age' },
    rowIds: [5, 1, 0],
  },
  { spec: '1.6', name: 'through a N→1 relation', query: { orderBy: 'employer.name desc' }, rowIds: [2, 0, 1, 4, 5] },
  { spec: '1.6', name: 'by an alias', query: { orderBy: 'cityName desc' }, rowIds: [2, 0, 1, 5, 4] },
  { spec: '1.6', name: 'a long64 beyond 2^53', query: { orderBy: 'big desc' }, rowIds: [0, 1, 2, 4, 5] },
  {
    spec: '1.6',
    name: 'a property: null, then numbers, then texts',
    query: { orderBy: 'info.size' },
    rowIds: [1, 4, 5, 0, 2],
  },
  {
    spec: '1.6',
    name: 'the order in the filter has precedence',
    query: { filter: 'age > 0 order by age desc', orderBy: 'age' },
    rowIds: [2, 0, 1, 5],
  },
  {
    spec: '2.13',
    name: 'an order alone is a query',
    query: { filter: 'order by salary desc', top: 1 },
    rowIds: [0],
    count: 5,
  },

  {
    spec: '1.7',
    name: 'the default page size is that of the dataclass',
    query: { dataClass: 'Company', top: undefined },
    rowIds: [0, 1],
    count: 4,
  },
  { spec: '1.7', name: 'a page in the middle', query: { skip: 1, top: 2 }, rowIds: [1, 2], count: 5 },
  { spec: '1.7', name: 'a page of a sort', query: { orderBy: 'salary', skip: 1, top: 2 }, rowIds: [4, 1], count: 5 },
  { spec: '1.7', name: 'a page past the end', query: { skip: 10, top: 2 }, rowIds: [], count: 5 },
  {
    spec: '1.7',
    name: 'a sorted page past the end',
    query: { orderBy: 'age', skip: 10, top: 2 },
    rowIds: [],
    count: 5,
  },
  { spec: '1.7', name: 'top 0 counts', query: { filter: 'age = 20', orderBy: 'age', top: 0 }, rowIds: [], count: 2 },
]

t.test('pages', async t => {
  const store = fakeStore(catalog, STAFF)
  for (const { spec, name, query, rowIds, count = rowIds.length } of cases) {
    t.test(`§${spec} ${name}`, async t => {
      const page = runQuery(catalog, store, query)
      t.same([...page.rowIds], rowIds)
      t.equal(page.count, count)
      t.equal(page.first, Math.max(0, query.skip ?? 0))
    })
  }
})

t.test('unknown and private names and keys are 404', async t => {
  const store = fakeStore(catalog, STAFF)
  const errors: [string, QueryOptions, number][] = [
    ['an unknown dataclass', { dataClass: 'Compan' }, 1800],
    ['a private dataclass', { dataClass: 'Hidden' }, 1800],
    ['a dataclass named like a prototype', { dataClass: '__proto__' }, 1800],
    ['an unknown key', { source: { kind: 'keys', keys: ['1', '4'] } }, 1543],
    ['a key that is not a number', { source: { kind: 'keys', keys: ['v1'] } }, 1543],
    [
      'an unknown owner of a relation',
      { source: { kind: 'related', from: { dataClass: 'Company', key: '9' }, relation: 'staff' } },
      1543,
    ],
    [
      'an unknown relation',
      { source: { kind: 'related', from: { dataClass: 'Company', key: '1' }, relation: 'x' } },
      1500,
    ],
    [
      'the one entity behind a null relation',
      {
        source: { kind: 'related', from: { dataClass: 'Employee', key: '5' }, relation: 'employer' },
        output: { form: 'entity' },
      },
      1543,
    ],
  ]
  for (const [name, query, errCode] of errors) {
    t.test(name, async t => {
      t.throws(() => runQuery(catalog, store, query), {
        httpStatus: 404,
        entries: [{ errCode }],
        message: /cannot|not found/,
      })
    })
  }
})

t.test('a count does not read columns that only a sort needs', async t => {
  const store = fakeStore(catalog, copiesOfStaff(50))
  runQuery(catalog, store, { filter: 'woman', orderBy: 'salary', top: 0 })
  t.same([...store.segmentsRead], ['Employee.woman 0'])
})

t.test('the whole selection is in order, whatever the page', async t => {
  const store = fakeStore(catalog, STAFF)
  const request = { dataClass: 'Employee', source: { kind: 'all' }, filter: 'salary >= 5', orderBy: 'salary' } as const
  const context = { snapshot: store, budget: new QueryBudget() }
  const view = publicView(catalog)
  const selection = planSelection(request, view, new QueryCache(TEXT_LIMITS), context)
  t.same([...selection.finder.all(selection, view, context).rowIds], [1, 5, 0])
})

t.test('a set of keys, whose entities have been elsewhere, is refused', async t => {
  const members = KeyList.of(['=1'])
  const refused = { httpStatus: 400, entries: [{ errCode: 1200 }] } as unknown as Error
  t.throws(() => runQuery(catalog, fakeStore(catalog, STAFF), { source: { kind: 'keyList', members } }), refused)
})

t.test('a query that examines too many rows ends with 413', async t => {
  const store = fakeStore(catalog, STAFF)
  const budget = () => new QueryBudget({ maxRowsExamined: 7 })
  t.equal(runQuery(catalog, store, { filter: 'salary > 1', budget: budget() }).count, 3)
  t.throws(() => runQuery(catalog, store, { filter: 'salary > 1 or note = b', budget: budget(), orderBy: 'note' }), {
    httpStatus: 413,
    message: /7 rows/,
  })
})

t.test('a query that runs out of time ends with 503', async t => {
  const store = fakeStore(catalog, STAFF)
  let now = 1_000
  const budget = new QueryBudget({ timeoutMs: 50 }, () => now)
  runQuery(catalog, store, { filter: 'salary > 1', budget })
  now = 1_051
  t.throws(() => runQuery(catalog, store, { filter: 'salary > 1', budget }), { httpStatus: 503, message: /50 ms/ })
})

t.test('the deadline is checked while long texts are compared, in every kind of condition', async t => {
  const long = 'a word and '.repeat(20_000)
  const Employee = Array.from({ length: 10 }, (_, i) => ({ ID: i, note: long, info: { tags: [long, long] } }))
  const store = fakeStore(catalog, { ...STAFF, Employee })
  const list = Array.from({ length: 50 }, (_, i) => `@no ${i}@`)
  const asked: QueryOptions[] = [
    { filter: 'note in :1', params: [list] },
    { filter: 'note % "@x y@z"' },
    { filter: 'info.tags[] in :1', params: [list] },
  ]
  for (const query of asked) {
    let now = 0
    const budget = new QueryBudget({ timeoutMs: 5 }, () => now++)
    t.throws(() => runQuery(catalog, store, { ...query, budget }), { httpStatus: 503, message: /5 ms/ })
  }
})

t.test('the deadline is checked during a sort', async t => {
  const store = fakeStore(catalog, copiesOfStaff(2_000))
  // Each check advances the clock by a millisecond; reading the rows needs few checks.
  const looks = (timeoutMs: number) => {
    let now = 0
    const budget = new QueryBudget({ timeoutMs }, () => now++)
    return () => runQuery(catalog, store, { orderBy: 'note, salary desc', budget })
  }
  t.doesNotThrow(looks(1_000))
  t.throws(looks(12), { httpStatus: 503, message: /12 ms/ })
})
