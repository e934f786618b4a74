import t from 'tap'
import { addCalculated, type CalculatedDeclaration } from '../../../../engine/catalog/add-calculated.ts'
import type { CalculatedAttribute } from '../../../../engine/catalog/attribute.ts'
import { Suspended } from '../../../../engine/data/suspended.ts'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import type { Value } from '../../../../engine/catalog/value.ts'
import { publicView } from '../../../../engine/catalog/view.ts'
import { bindAggregates } from '../../../../engine/query/aggregate/aggregate.ts'
import { writeAggregates, writeDistinct } from '../../../../engine/query/serialise/write-values.ts'
import { attachCode, type CalculatedCode, type QueryText } from '../../../../engine/query/contract/calculated-code.ts'
import { QueryBudget } from '../../../../engine/query/scan/query-budget.ts'
import { parsePathList } from '../../../../engine/query/parse/parse-path-list.ts'
import { bindProjection } from '../../../../engine/query/serialise/bind-projection.ts'
import { writeCollection } from '../../../../engine/query/serialise/write-selection.ts'
import { fakeRows } from '../../../support/engine/fake-rows.ts'
import { fakeStore } from '../../../support/engine/fake-table.ts'
import { copiesOfStaff, STAFF, staffModel } from '../../../support/fixtures/staff.ts'
import { runQuery } from '../../../support/engine/run-query.ts'

/*
 * Every value attribute of Employee has a twin, `its{Name}`, whose code returns the same value: every query of one
 * must have the same answer with the other.
 */
const TWINS = ['name', 'note', 'salary', 'age', 'born', 'hired', 'woman', 'big', 'token', 'shift', 'info'] as const
const { attributes } = staffModel.dataClasses.Employee
const twinOf = (name: string): string => `its${name[0]!.toUpperCase()}${name.slice(1)}`

const declarations: CalculatedDeclaration[] = TWINS.map(name => {
  const { type, simpleDate } = attributes[name] as { type: CalculatedDeclaration['type']; simpleDate?: boolean }
  return {
    dataClass: 'Employee',
    name: twinOf(name),
    type,
    simpleDate,
    exposed: true,
    settable: false,
    fingerprint: '1',
  }
})

function twinCatalog(entities: ReturnType<typeof copiesOfStaff>, code: Record<string, Partial<CalculatedCode>> = {}) {
  const catalog = loadModel(addCalculated(staffModel, declarations))
  const employee = catalog.dataClassesByName.get('Employee')!
  let computed = 0
  for (const name of TWINS) {
    const value = (rowId: number): Value => {
      computed++
      return entities.Employee![rowId]![name] ?? null
    }
    attachCode(employee.attributesByName.get(twinOf(name)) as CalculatedAttribute, { value, ...code[name] })
  }
  return { catalog, employee, computed: () => computed }
}

const withTwins = (text: string): string =>
  text.replaceAll(new RegExp(`\\b(${TWINS.join('|')})\\b(?![".])`, 'g'), name => twinOf(name))

const FILTERS = [
  'name = EMILE',
  'name != ada',
  'name begin "ém"',
  'name in ["a@","bob"]',
  'note % york',
  'note = null',
  'salary > 5 and age = 20',
  'age = 20 and salary > 5',
  'not(salary < 10)',
  'salary != null',
  'woman',
  'not woman',
  'born > 1986-01-01',
  'hired = "2020-01-31T15:23:00Z"',
  'big > 9007199254740992',
  'token = aabbccddeeff00112233445566778899',
  'shift = "01:30:00"',
  'info.size > 2',
  'info.tags[] = red',
  'manager.name = ada',
  'manager.salary = null',
  'reports.age = 52',
  'not(reports.age = 20)',
  'name = ada or salary = 0',
  'age > 0 except name = bob',
]
const ORDERS = ['name', 'salary desc, name', 'born desc', 'big', 'woman desc, age', 'info.size', 'manager.name desc']

for (const [world, entities] of [
  ['few rows', STAFF],
  ['many rows', copiesOfStaff(400)],
] as const) {
  t.test(`P3.8 ${world}: calculated attributes are filtered, sorted and aggregated by their values`, async t => {
    const { catalog, employee } = twinCatalog(entities)
    const snapshot = fakeStore(catalog, entities)
    for (const filter of FILTERS) {
      const found = [...runQuery(catalog, snapshot, { filter: withTwins(filter) }).rowIds]
      t.same(found, [...runQuery(catalog, snapshot, { filter }).rowIds], withTwins(filter))
    }
    for (const orderBy of ORDERS) {
      const sorted = [...runQuery(catalog, snapshot, { orderBy: withTwins(orderBy) }).rowIds]
      t.same(sorted, [...runQuery(catalog, snapshot, { orderBy }).rowIds], `order by ${withTwins(orderBy)}`)
    }
    const context = { snapshot, budget: new QueryBudget() }
    const { live } = snapshot.table(employee)
    const options = { maxAnswerBytes: 1e9, pretty: false }
    for (const name of TWINS) {
      if (name === 'info') continue
      for (const distinct of [false, true]) {
        const aggregation = { function: 'all', distinct } as const
        const answers = [name, twinOf(name), `manager.${name}`, `manager.${twinOf(name)}`].map(path => {
          const measures = bindAggregates(parsePathList(path), aggregation, employee, publicView(catalog))
          const all = Buffer.from(writeAggregates(measures, aggregation, live, context, options)).toString()
          const page = { skip: 1, count: 3 }
          return [
            all.slice(all.indexOf(':')),
            Buffer.from(writeDistinct(measures[0]!, page, live, context, options)).toString(),
          ]
        })
        t.same(answers[1], answers[0], `aggregates of ${twinOf(name)}`)
        t.same(answers[3], answers[2], `aggregates of manager.${twinOf(name)}`)
      }
    }
  })
}

t.test('P3.8 values of calculated attributes are sent like others, everywhere in an answer', async t => {
  const { catalog, employee } = twinCatalog(STAFF)
  const snapshot = fakeRows(catalog, STAFF)
  const rowIds = Uint32Array.of(0, 1, 2, 4, 5)
  const write = (attributes: string, form: 'collection' | 'array', expand?: string): string => {
    const output = {
      form,
      attributes: { from: expand ? 'path' : 'parameter', items: parsePathList(attributes) },
      ...(expand && { expand: parsePathList(expand) }),
    } as const
    const limits = { maxExpandDepth: 10, maxAnswerBytes: 1e9 }
    const projection = bindProjection(employee, output, publicView(catalog), snapshot.layouts, limits)
    return Buffer.from(writeCollection({ count: 5, first: 0, rowIds }, projection, snapshot)).toString()
  }
  for (const form of ['collection', 'array'] as const) {
    for (const [list, expand] of [
      [TWINS.join(',')],
      ['ID,name,age,salary'],
      ['name,manager.name,manager.info.size'],
      ['reports.name'],
      ['employer.staff.big'],
      ['name,manager.born', 'manager'],
    ] as const) {
      const twins = withTwins(list).replaceAll('info.size', 'itsInfo.size')
      const names = write(list, form, expand).replaceAll(/"(\w+)":/g, (text, name: string) =>
        (TWINS as readonly string[]).includes(name) ? `"${twinOf(name)}":` : text,
      )
      t.equal(write(twins, form, expand), names, `${form} ${twins}`)
    }
  }
})

t.test('P3.8 other conditions are tested first, so that code runs for few rows', async t => {
  const entities = copiesOfStaff(400)
  const { catalog, computed } = twinCatalog(entities)
  runQuery(catalog, fakeStore(catalog, entities), { filter: 'itsName = ada and ID = 101' })
  t.equal(computed(), 1)
})

t.test('P3.8 a query handler defines the meaning of a comparison', async t => {
  const asked: unknown[] = []
  const query = (operator: string, value: unknown) => {
    asked.push([operator, value])
    return operator === '>' ? undefined : { text: 'age = :1 or name = ada', parameters: [20], fault }
  }
  const { catalog, computed } = twinCatalog(STAFF, { salary: { query } })
  const find = (filter: string, params?: unknown) =>
    [...runQuery(catalog, fakeStore(catalog, STAFF), { filter, params }).rowIds].map(row => row + 1)
  t.same(find('itsSalary = 4'), [1, 2, 6])
  t.same(find('itsSalary = 4'), [1, 2, 6], 'the handler is called again')
  t.same(find('not(itsSalary in :1)', [[4]]), [3], 'unknown stays unknown: Émile is 52, Emily has no age')
  t.same(find('manager.itsSalary != null'), [2, 3], 'behind a relation')
  t.same(find('itsSalary begin 1'), [1, 2, 6])
  t.equal(computed(), 0)
  t.same(find('itsSalary > 5'), [1, 6], 'without a query the values are compared')
  t.same(asked, [
    ['==', 4],
    ['==', 4],
    ['IN', [4]],
    ['!=', null],
    ['==', '1@'],
    ['>', 5],
  ])
})

t.test('P2.7 a query handler of a number gets numbers, never a text that is none', async t => {
  const asked: unknown[] = []
  const query = (_: string, value: unknown) => {
    asked.push(value)
    return { text: 'age = :1', parameters: [20], fault }
  }
  const { catalog } = twinCatalog(STAFF, { salary: { query }, age: { query }, note: { query }, shift: { query } })
  const find = (filter: string, params?: unknown) => runQuery(catalog, fakeStore(catalog, STAFF), { filter, params })
  find('itsSalary = "4.0" or itsAge = 4.5 or itsNote = 1,000 or itsShift < 00:01 or itsAge in [1,000]')
  find('itsSalary = :1 or itsSalary in :2', ['4', [5, '6']])
  t.same(asked, [4, '4.5', '1,000', 60_000, [1, 0], '4', [5, '6']])
  for (const filter of ['itsSalary > 1,000', 'itsAge in [1,1_000]', 'itsAge = 0x10', 'itsShift > v20'])
    t.throws(() => find(filter), { name: 'QUERY.VALUE' }, filter)
  for (const params of ['1,000', ['1', '1,000']])
    t.throws(() => find(`itsAge ${Array.isArray(params) ? 'in' : '>'} :1`, [params]), {
      name: 'QUERY.PLACEHOLDER_TYPE',
      message: /write 1000$/,
    })
})

t.test('P3.8 an order handler defines the order', async t => {
  const orderBy = (descending: boolean) => ({ text: `age ${descending ? 'desc' : 'asc'}, ID desc`, fault })
  const { catalog } = twinCatalog(STAFF, { name: { orderBy } })
  const order = (orderBy: string) =>
    [...runQuery(catalog, fakeStore(catalog, STAFF), { orderBy }).rowIds].map(r => r + 1)
  t.same(order('itsName'), order('age, ID desc'))
  t.same(order('itsName desc'), order('age desc, ID desc'))
  t.same(order('manager.itsName desc'), order('manager.age desc, manager.ID desc'))
})

t.test('P3.8 an order handler may lead through further relations', async t => {
  const { catalog } = twinCatalog(STAFF, { name: { orderBy: () => ({ text: 'employer.city.name', fault }) } })
  const order = (orderBy: string) =>
    [...runQuery(catalog, fakeStore(catalog, STAFF), { orderBy }).rowIds].map(r => r + 1)
  t.same(order('itsName, ID desc'), order('employer.city.name, ID desc'))
  t.same(order('manager.itsName, ID desc'), order('manager.employer.city.name, ID desc'))
})

t.test('P3.8 a query handler with except, behind a relation that is null', async t => {
  const find = (text: string) => {
    const { catalog } = twinCatalog(STAFF, { salary: { query: () => ({ text, parameters: [], fault }) } })
    return [...runQuery(catalog, fakeStore(catalog, STAFF), { filter: 'manager.itsSalary = 1' }).rowIds].map(r => r + 1)
  }
  t.same(find('token = null except age > 1'), find('token = null and (age = null or age <= 1)'))
  t.ok(find('token = null except age > 1').includes(6), 'all attributes of no entity are null')
  t.same(find('token = null except age = null'), [5])
})

t.test(
  '4.3.1 in the query of a handler a bare word is no attribute either, unless the caller may not know it',
  async t => {
    const find = (text: string) => {
      const { catalog } = twinCatalog(STAFF, { name: { query: () => ({ text, parameters: [], fault }) } })
      return runQuery(catalog, fakeStore(catalog, STAFF), { filter: 'itsName = a' }).count
    }
    t.throws(() => find('name = note'), /^fault of code: gives a query that cannot be used/)
    t.equal(find('name = secret'), 0)
  },
)

t.test('P3.8 invalid or endless queries of handlers are faults of their code', async t => {
  const cases = [
    [
      { query: () => ({ text: 'nmae = 1', parameters: [], fault }) },
      'itsName = a',
      /gives a query that cannot be used, nmae = 1: .*"nmae"/,
    ],
    [{ query: () => ({ text: 'age = 1 order by age', parameters: [], fault }) }, 'itsName = a', /gives an order/],
    [{ query: () => ({ text: 'itsName = a', parameters: [], fault }) }, 'itsName = a', /lead to themselves/],
    [{ orderBy: () => ({ text: 'itsName', fault }) }, 'order by itsName', /lead to themselves/],
    [{ orderBy: () => ({ text: 'a b c', fault }) }, 'order by itsName', /gives an order that cannot be used, a b c: /],
  ] as const
  for (const [code, filter, message] of cases) {
    const { catalog } = twinCatalog(STAFF, { name: code })
    t.throws(() => runQuery(catalog, fakeStore(catalog, STAFF), { filter }), message)
  }
})

const fault: QueryText['fault'] = (problem, cause) =>
  new Error(`fault of code: ${problem}${cause ? `: ${cause.message}` : ''}`)

t.test('a thread without the code throws before it reads a row', async t => {
  const catalog = loadModel(addCalculated(staffModel, declarations))
  const store = fakeStore(catalog, STAFF)
  for (const query of [
    { filter: 'age = 20 and itsName = ada' },
    { filter: 'itsName = null' },
    { orderBy: 'itsName' },
    { filter: 'manager.itsInfo.size = 3' },
    { source: { kind: 'attribute', attribute: 'itsName', value: 'ada' } },
  ] as const) {
    t.throws(() => runQuery(catalog, store, query), Suspended, JSON.stringify(query))
  }
  t.same(store.segmentsRead.size, 0)
})
