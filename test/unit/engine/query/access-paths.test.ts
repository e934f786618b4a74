import t from 'tap'
import { fakeStore } from '../../../support/engine/fake-table.ts'
import { staffCatalog } from '../../../support/fixtures/staff.ts'
import { runQuery } from '../../../support/engine/run-query.ts'

/**
 * A table of several segments, sparse in places: indexes, columns, rows and joins in either direction must find the same rows.
 */
const catalog = staffCatalog()
const exists = (i: number) => i % 7 !== 3 && !(i > 4_200 && i < 8_100)
const employees = Array.from({ length: 9_000 }, (_, ID) =>
  exists(ID)
    ? {
        ID,
        name: ID % 11 === 0 ? null : `n${ID % 500}`,
        note: ID % 5 === 0 ? null : `word${ID % 3} x`,
        age: ID % 13 === 0 ? null : ID % 90,
        salary: ID % 17 === 0 ? null : (ID * 7919) % 1_000,
        big: ID % 2 === 0 ? (ID > 8_990 ? 2n ** 60n : ID) : null,
        info: ID % 3 === 0 ? { n: ID % 10 } : null,
        companyID: ID % 19 === 0 ? null : ID % 40,
      }
    : undefined,
)
const companies = Array.from({ length: 40 }, (_, ID) => ({ ID, name: `c${ID}`, cityID: null }))
const entities = { Employee: employees, Company: companies }
type Row = NonNullable<(typeof employees)[number]>

const cases: { filter: string; matches: (row: Row) => boolean }[] = [
  { filter: 'name = n7', matches: r => r.name === 'n7' },
  { filter: 'name != n7', matches: r => r.name !== null && r.name !== 'n7' },
  { filter: 'name begin n1', matches: r => r.name?.startsWith('n1') ?? false },
  { filter: 'age = 4', matches: r => r.age === 4 },
  { filter: 'age = null', matches: r => r.age === null },
  { filter: 'age != null', matches: r => r.age !== null },
  { filter: 'salary > 500 and salary <= 750', matches: r => r.salary !== null && r.salary > 500 && r.salary <= 750 },
  { filter: 'not(salary > 500)', matches: r => r.salary !== null && r.salary <= 500 },
  { filter: 'salary > 0 and name = n7', matches: r => r.salary !== null && r.salary > 0 && r.name === 'n7' },
  { filter: 'note % word1 and age < 3', matches: r => r.note === 'word1 x' && r.age !== null && r.age < 3 },
  { filter: 'big >= 8000.5', matches: r => r.big !== null && r.big > 8000 },
  { filter: 'big in [4,8,9]', matches: r => r.ID === 4 || r.ID === 8 },
  { filter: 'info.n > 4', matches: r => r.info !== null && r.info.n > 4 },
  { filter: 'employer.name = c7', matches: r => r.companyID === 7 },
  { filter: 'employer.name != c7', matches: r => r.companyID !== null && r.companyID !== 7 },
  { filter: 'employer.name = null', matches: r => r.companyID === null },
  { filter: 'employer = 7 and name = n7', matches: r => r.companyID === 7 && r.name === 'n7' },
  { filter: 'age > 80 or employer.name = c7', matches: r => (r.age !== null && r.age > 80) || r.companyID === 7 },
  { filter: 'age > 80 except employer.name = c7', matches: r => r.age !== null && r.age > 80 && r.companyID !== 7 },
]

const store = fakeStore(catalog, entities)

for (const { filter, matches } of cases) {
  t.test(filter, async t => {
    const expected = employees.filter((row): row is Row => row !== undefined && matches(row)).map(row => row.ID)
    t.ok(expected.length > 0, 'the case finds something')
    t.same([...runQuery(catalog, store, { filter }).rowIds], expected)
  })
}

t.test('related entities', async t => {
  const found = runQuery(catalog, store, { dataClass: 'Company', filter: 'staff.name = n7' })
  const expected = new Set(employees.filter(row => row?.name === 'n7').map(row => row!.companyID))
  t.same(
    [...found.rowIds],
    [...expected].filter(id => id !== null).sort((a, b) => a - b),
  )
})

t.test('a segment without candidates is not read', async t => {
  const store = fakeStore(catalog, entities)
  runQuery(catalog, store, { filter: 'ID < 4000 and salary > 100 and note = "word@"' })
  t.notOk(store.segmentsRead.has('Employee.salary 1'))
  t.notOk(store.segmentsRead.has('Employee.note 2'))
})

t.test('a top-n and a full sort give the same order', async t => {
  const store = fakeStore(catalog, entities)
  const query = { filter: 'age > 10', orderBy: 'employer.name desc, salary' }
  const all = runQuery(catalog, store, query).rowIds
  t.same([...runQuery(catalog, store, { ...query, skip: 20, top: 30 }).rowIds], [...all.subarray(20, 50)])
})

t.test('numbers have the same order from columns, from rows and through a relation, null lowest', async t => {
  const bySalary = (a: Row, b: Row) => (a.salary ?? -1) - (b.salary ?? -1) || a.ID - b.ID
  const rows = employees.filter((row): row is Row => row !== undefined)
  const expected = [...rows].sort(bySalary).map(row => row.ID)
  t.same([...runQuery(catalog, store, { orderBy: 'salary', top: 50 }).rowIds], expected.slice(0, 50))
  const few = rows.filter(row => row.name === 'n7').sort(bySalary)
  t.same(
    [...runQuery(catalog, store, { filter: 'name = n7', orderBy: 'salary' }).rowIds],
    few.map(row => row.ID),
  )
  const employer = (row: Row) => row.companyID ?? -1
  const byEmployer = [...rows].sort((a, b) => employer(b) - employer(a) || a.ID - b.ID).map(row => row.ID)
  t.same([...runQuery(catalog, store, { orderBy: 'employer.ID desc, ID' }).rowIds], byEmployer)
  t.same([...runQuery(catalog, store, { orderBy: 'employer.ID desc, ID', top: 50 }).rowIds], byEmployer.slice(0, 50))
})

t.test('§1.6 later keys decide where earlier ones are equal, however the rows are read', async t => {
  const rows = employees.filter((row): row is Row => row !== undefined)
  const number = (value: number | null) => value ?? Number.NEGATIVE_INFINITY
  const compare = (a: number | null, b: number | null) => (number(a) === number(b) ? 0 : number(a) < number(b) ? -1 : 1)
  const orders: [orderBy: string, order: (a: Row, b: Row) => number][] = [
    ['age, salary desc', (a, b) => compare(a.age, b.age) || compare(b.salary, a.salary)],
    [
      'age desc, companyID, salary',
      (a, b) => compare(b.age, a.age) || compare(a.companyID, b.companyID) || compare(a.salary, b.salary),
    ],
    ['employer.ID desc', (a, b) => compare(b.companyID, a.companyID)],
    ['employer.ID', (a, b) => compare(a.companyID, b.companyID)],
  ]
  for (const [orderBy, order] of orders) {
    const expected = [...rows].sort((a, b) => order(a, b) || a.ID - b.ID).map(row => row.ID)
    t.same([...runQuery(catalog, store, { orderBy }).rowIds], expected, `all by ${orderBy}`)
    t.same([...runQuery(catalog, store, { orderBy, top: 50 }).rowIds], expected.slice(0, 50), `50 by ${orderBy}`)
  }
})
