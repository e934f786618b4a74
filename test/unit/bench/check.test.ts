import t from 'tap'
import { difference, problemOf } from '../../../bench/http/check.ts'
import { HTTP_CASES } from '../../../bench/http/cases.ts'
import { World } from '../../../bench/world/world.ts'

const world = new World(1, 10_000)

const entity = (row: number) => {
  const values = world.employee(row)
  const __KEY = String(values.employerID)
  return {
    __KEY: String(row + 1),
    __TIMESTAMP: '2026-01-31T10:00:00.000Z',
    __STAMP: 1,
    ...values,
    employer: { __deferred: { uri: `/rest/Company(${__KEY})`, __KEY } },
  }
}

t.test('the entity of the row is accepted with any time of saving', async t => {
  t.equal(problemOf(world, { kind: 'employee', row: 5 }, { __entityModel: 'Employee', ...entity(5) }), undefined)
})

t.test('a wrong value is reported with its path', async t => {
  const answer = { __entityModel: 'Employee', ...entity(5), woman: null }
  t.equal(
    problemOf(world, { kind: 'employee', row: 5 }, answer),
    `the answer.woman is null and not ${world.employee(5).woman}`,
  )
})

t.test('a page must have the expected rows in order', async t => {
  const page = (...rows: number[]) => ({
    __entityModel: 'Employee',
    __GlobalStamp: 9,
    __COUNT: 40,
    __FIRST: 0,
    __ENTITIES: rows.map(entity),
    __SENT: rows.length,
  })
  const expectation = { kind: 'page', count: 40, first: 0, rows: [3, 4] } as const
  t.equal(problemOf(world, expectation, page(3, 4)), undefined)
  t.match(problemOf(world, expectation, page(4, 3)), '__ENTITIES.0.__KEY is "5" and not "4"')
  t.match(problemOf(world, expectation, page(3)), '__SENT is 1')
})

t.test('missing and additional values are differences', async t => {
  t.equal(difference({ a: 1 }, {}), 'the answer.a is absent and not 1')
  t.equal(difference({}, { a: 1 }), 'the answer.a is 1 and not absent')
  t.equal(difference([1, 2], [1]), 'the answer.1 is absent and not 2')
})

t.test('only the last digits of a number may differ', async t => {
  t.equal(difference(0.1 + 0.2, 0.3), undefined)
  t.match(difference(1.000001, 1), 'is 1 and not')
})

for (const { name, requests, kind } of HTTP_CASES) {
  t.test(`${name}: consecutive requests differ`, async t => {
    const { at, size } = requests(world)
    t.ok(size >= 2)
    for (const target of ['ours', 'baseline'] as const) {
      t.strictNotSame(at(0)[target], at(1)[target])
      // Functions take their arguments from the body too.
      if (kind !== 'read') t.ok(at(1)[target].body)
    }
  })
}
