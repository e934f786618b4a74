/** Filters and orders that are refused, with code, status and reason. */
import t from 'tap'
import { fakeStore } from '../../../support/engine/fake-table.ts'
import { STAFF, staffCatalog } from '../../../support/fixtures/staff.ts'
import { runQuery } from '../../../support/engine/run-query.ts'

interface Case {
  spec: string
  name: string
  filter?: string
  params?: unknown
  orderBy?: string
  codes: number[]
  status: number
  message: RegExp
}

const cases: Case[] = [
  {
    spec: '2',
    name: 'an unknown attribute, with a suggestion',
    filter: 'nam = 1',
    codes: [1500],
    status: 404,
    message: /"nam" not found in class "Employee"; did you mean "name"/,
  },
  {
    spec: '2',
    name: 'a private attribute does not exist',
    filter: 'secret = s',
    codes: [1500],
    status: 404,
    message: /"secret" not found in class "Employee"$/,
  },
  {
    spec: '2',
    name: 'a name from a prototype does not exist',
    filter: 'constructor = 1',
    codes: [1500],
    status: 404,
    message: /not found/,
  },
  {
    spec: '2',
    name: 'an unknown attribute of a related class',
    filter: 'employer.nam = 1',
    codes: [1500],
    status: 404,
    message: /class "Company"/,
  },
  {
    spec: '2.9',
    name: 'a step after a scalar',
    filter: 'name.x = 1',
    codes: [1201],
    status: 400,
    message: /neither a relation nor an object/,
  },
  {
    spec: '2.9',
    name: 'a class index where there is no relation',
    filter: 'name{2} = 1',
    codes: [1201],
    status: 400,
    message: /leave out \{2\}/,
  },
  {
    spec: '2.10',
    name: 'elements of a scalar',
    filter: 'name[] = 1',
    codes: [1201],
    status: 400,
    message: /leave out \[\]/,
  },
  {
    spec: '2.3',
    name: 'begin on a number',
    filter: 'age begin 2',
    codes: [1112],
    status: 400,
    message: /begin does not apply to "age"/,
  },
  { spec: '2.3', name: '% on a date', filter: 'born % 2', codes: [1112], status: 400, message: /% does not apply/ },
  { spec: '2.3', name: '< on null', filter: 'age < null', codes: [1112], status: 400, message: /use = or !=/ },
  {
    spec: '2.3',
    name: '< on a relation',
    filter: 'employer < 3',
    codes: [1112],
    status: 400,
    message: /is a relation/,
  },
  {
    spec: '2.3',
    name: 'a 1→N relation with a key',
    filter: 'tasks = 3',
    codes: [1112],
    status: 400,
    message: /= null/,
  },
  {
    spec: '2.3',
    name: 'an object with a value',
    filter: 'info = 3',
    codes: [1112],
    status: 400,
    message: /path of a property/,
  },
  { spec: '2.3', name: 'an image with a value', filter: 'photo = 3', codes: [1112], status: 400, message: /an image/ },
  {
    spec: '2.3',
    name: 'a text alone',
    filter: 'name',
    codes: [1508],
    status: 400,
    message: /only a bool can stand alone/,
  },
  {
    spec: '2.3',
    name: 'a list without in',
    filter: 'name = ["a"]',
    codes: [1508],
    status: 400,
    message: /a list with in/,
  },
  {
    spec: '2.3',
    name: 'in without a list',
    filter: 'name in a',
    codes: [1508],
    status: 400,
    message: /a list with in/,
  },
  {
    spec: '3.8',
    name: 'a calculated attribute without code',
    filter: 'initials = a',
    codes: [1162],
    status: 400,
    message: /calculated/,
  },
  {
    spec: '2.7',
    name: 'a text without a number',
    filter: 'age = old',
    codes: [1508],
    status: 400,
    message: /"age" with "old"; it takes a number/,
  },
  {
    spec: '2.7',
    name: 'a word that is not a date',
    filter: 'born = monday',
    codes: [1508],
    status: 400,
    message: /2020-01-31/,
  },
  { spec: '2.7', name: 'a bare true for a text', filter: 'name = true', codes: [1508], status: 400, message: /quotes/ },
  {
    spec: '2.7',
    name: 'a word that is not a bool',
    filter: 'woman = yes',
    codes: [1508],
    status: 400,
    message: /true or false/,
  },
  {
    spec: '2.11',
    name: 'a placeholder without $params',
    filter: 'age = :1',
    codes: [1279],
    status: 400,
    message: /:1 has no value/,
  },
  {
    spec: '2.11',
    name: 'a placeholder beyond $params',
    filter: 'age = :3',
    params: [1, 2],
    codes: [1279],
    status: 400,
    message: /has :1 to :2/,
  },
  {
    spec: '2.11',
    name: 'null in $params',
    filter: 'age = :1',
    params: [null],
    codes: [1279],
    status: 400,
    message: /write null into the query/,
  },
  {
    spec: '2.11',
    name: 'null in an array of $params',
    filter: 'age in :1',
    params: [[1, null]],
    codes: [1279],
    status: 400,
    message: /holds null/,
  },
  {
    spec: '2.11',
    name: 'an array for a single value',
    filter: 'age = :1',
    params: [[1]],
    codes: [1280],
    status: 400,
    message: /an array/,
  },
  {
    spec: '2.11',
    name: 'a single value for in',
    filter: 'age in :1',
    params: [1],
    codes: [1280],
    status: 400,
    message: /an array with in/,
  },
  {
    spec: '2.11',
    name: 'an object for a value',
    filter: 'age = :1',
    params: [{ a: 1 }],
    codes: [1280],
    status: 400,
    message: /an object/,
  },
  {
    spec: '2.11',
    name: 'a number for a date',
    filter: 'born = :1',
    params: [2020],
    codes: [1280],
    status: 400,
    message: /the number 2020/,
  },
  {
    spec: '2.11',
    name: 'a number for an attribute',
    filter: ':1 = 2',
    params: [1],
    codes: [1280],
    status: 400,
    message: /attribute path/,
  },
  {
    spec: '1.6',
    name: 'an order by an unknown attribute',
    orderBy: 'nam',
    codes: [1500, 1810],
    status: 404,
    message: /"nam" not found/,
  },
  {
    spec: '1.6',
    name: 'an order by a relation',
    orderBy: 'employer',
    codes: [1594, 1810],
    status: 404,
    message: /a relation/,
  },
  {
    spec: '1.6',
    name: 'an order by a calculated attribute without code',
    orderBy: 'initials',
    codes: [1594, 1810],
    status: 404,
    message: /calculated, without code/,
  },
  {
    spec: '2.7',
    name: 'a number beyond all integers',
    filter: 'age = 1e1000',
    codes: [1508],
    status: 400,
    message: /"age" with "1e1000"; it takes a number/,
  },
  { spec: '1.6', name: 'an order by an image', orderBy: 'photo', codes: [1594, 1810], status: 404, message: /image/ },
  {
    spec: '1.6',
    name: 'an order through a 1→N relation',
    orderBy: 'tasks.title',
    codes: [1594, 1810],
    status: 404,
    message: /1→N/,
  },
]

t.test('a wrong query is refused with code, status and reason', async t => {
  const catalog = staffCatalog()
  const store = fakeStore(catalog, STAFF)
  for (const { spec, name, codes, status, message, ...query } of cases) {
    t.test(`§${spec} ${name}`, async t => {
      t.throws(() => runQuery(catalog, store, query), {
        httpStatus: status,
        entries: codes.map(errCode => ({ errCode })),
        message,
      })
    })
  }
})
