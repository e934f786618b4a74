import t from 'tap'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import { publicView } from '../../../../engine/catalog/view.ts'
import { bindFilter } from '../../../../engine/query/bind/bind-filter.ts'
import { bindOrderBy } from '../../../../engine/query/bind/bind-order-by.ts'
import { costOfEntities } from '../../../../engine/query/tasks/answer-cost.ts'
import { estimate } from '../../../../engine/query/operators/estimate.ts'
import { costOfTexts } from '../../../../engine/query/tasks/text-cost.ts'
import { MICROSECONDS } from '../../../../engine/query/estimate/costs.ts'
import { parseOrderBy } from '../../../../engine/query/parse/parse-order-by.ts'
import { parsePathList } from '../../../../engine/query/parse/parse-path-list.ts'
import { parseQuery } from '../../../../engine/query/parse/parse-query.ts'
import { buildPlan } from '../../../../engine/query/plan/build-plan.ts'
import { lower } from '../../../../engine/query/plan/lower.ts'
import { optimizePredicate } from '../../../../engine/query/plan/optimize.ts'
import { flatten } from '../../../../engine/query/plan/rules/flatten.ts'
import { foldConstants } from '../../../../engine/query/plan/rules/fold-constants.ts'
import { limitToTopN } from '../../../../engine/query/plan/rules/limit-to-top-n.ts'
import { mergeRanges } from '../../../../engine/query/plan/rules/merge-ranges.ts'
import { pushNotDown } from '../../../../engine/query/plan/rules/push-not-down.ts'
import { fakeStore } from '../../../support/engine/fake-table.ts'
import { runQuery } from '../../../support/engine/run-query.ts'
import { staffCatalog } from '../../../support/fixtures/staff.ts'
import { explainOperator, explainPlan, explainPredicate } from '../../../support/engine/explain-plan.ts'
import { modelWith } from '../../../support/fixtures/model-with.ts'

const catalog = staffCatalog()
const employee = catalog.dataClassesByName.get('Employee')!
const bind = (filter: string) => bindFilter(parseQuery(filter).condition!, employee, undefined, publicView(catalog))
const lines = (...text: string[]) => text.join('\n')

const rules = [
  {
    rule: pushNotDown,
    name: 'not over and becomes or over the negated leaves',
    filter: 'not(age > 3 and name = "a@")',
    plan: lines('or', '  age not > 3', '  name not = "a@"'),
  },
  {
    rule: pushNotDown,
    name: 'not over some related entity becomes the complement',
    filter: 'not(employer.staff.age > 3)',
    plan: lines('via employer', '  complement', '    some staff', '      age > 3'),
  },
  {
    rule: pushNotDown,
    name: 'not over elements becomes the complement, but not over a property',
    filter: 'not(info.a[].b = 1 and info.c = 2)',
    plan: lines('or', '  info.a not([some].b = 1)', '  info.c not = 2'),
  },
  {
    rule: flatten,
    name: 'an and inside an and becomes one',
    filter: '(age > 3 and woman) and (salary = 1)',
    plan: lines('and', '  age > 3', '  woman = 1', '  salary = 1'),
  },
  {
    rule: mergeRanges,
    name: 'ranges of one attribute become one with the stricter bounds',
    filter: 'age >= 20 and woman and age < 30 and age > 20',
    plan: lines('and', '  age > 20 < 30', '  woman = 1'),
  },
  {
    rule: foldConstants,
    name: 'a test that no value passes is never, and so is the and around it',
    filter: 'age in [] and woman',
    plan: 'never',
  },
  {
    rule: foldConstants,
    name: 'a condition that never holds is dropped from an or',
    filter: 'tasks.hours in [] or woman',
    plan: 'woman = 1',
  },
  {
    rule: foldConstants,
    name: 'a text that matches @ becomes not null',
    filter: 'name = "@"',
    plan: 'name is not null',
  },
]

for (const { rule, name, filter, plan } of rules) {
  t.test(`${rule.name}: ${name}`, async t => {
    t.equal(explainPredicate(rule.apply(bind(filter))), plan)
  })
}

t.test('a condition is printed with its bounds', async t => {
  for (const filter of ['age < 3', 'age <= 3', 'age > 3', 'age >= 3']) t.equal(explainPredicate(bind(filter)), filter)
})

t.test('the rules together detect that merged bounds exclude every value', async t => {
  t.equal(explainPredicate(optimizePredicate(bind('(age > 30 and woman) and age < 20'))), 'never')
})

t.test('binding merges conditions on one relation path', async t => {
  t.equal(
    explainPredicate(
      bind('tasks.title = a and employer.name = b and tasks.hours > 3 and tasks{2}.hours = 1 and employer.ID = 2'),
    ),
    lines(
      'and',
      '  some tasks',
      '    and',
      '      title = "a"',
      '      hours > 3',
      '  via employer',
      '    and',
      '      name = "b"',
      '      ID = 2',
      '  some tasks',
      '    hours = 1',
    ),
  )
})

t.test('limit-to-top-n: a page of a sort becomes a top-n, without a sort when nothing is sent', async t => {
  const orderBy = bindOrderBy(parseOrderBy('age desc, employer.name'), employer(), publicView(catalog))
  const plan = (count: number) =>
    explainPlan(
      limitToTopN.apply(
        buildPlan({ dataClass: employee, predicate: bind('woman'), orderBy, page: { skip: 10, count } }),
      ),
    )
  t.equal(
    plan(5),
    lines('TopN skip 10 count 5 by age desc, employer.name asc', '  Filter', '    woman = 1', '    Source Employee'),
  )
  t.equal(plan(0), lines('Limit skip 10 count 0', '  Filter', '    woman = 1', '    Source Employee'))
  t.match(plan(Number.POSITIVE_INFINITY), /^ {2}Sort by/m)

  function employer() {
    return employee
  }
})

t.test('lower', async t => {
  const store = fakeStore(catalog, {
    Company: Array.from({ length: 10 }, (_, ID) => ({ ID, name: `company ${ID}` })),
    Employee: Array.from({ length: 200 }, (_, ID) => ({
      ID,
      name: `n${ID}`,
      age: ID % 4,
      salary: ID,
      companyID: ID % 10,
    })),
  })
  const physical = (filter: string) =>
    explainOperator(lower(optimizePredicate(bind(filter)), employee, store), employee)

  t.test('a value with few hits is looked up in the index', async t => {
    t.equal(physical('name = n7'), 'IndexScan name in ["n7"] (1 rows)')
  })
  t.test('a bool is looked up as it is stored', async t => {
    const flags = loadModel(modelWith({ Flag: { on: { type: 'bool', indexed: true } } }))
    const store = fakeStore(flags, { Flag: Array.from({ length: 200 }, (_, ID) => ({ ID, on: ID % 100 === 7 })) })
    const find = (filter: string) => runQuery(flags, store, { dataClass: 'Flag', filter })
    t.same([...find('on = true').rowIds], [7, 107])
    t.same([...find('on in [true]').rowIds], [7, 107])
    t.equal(find('on = false').count, 198)
  })
  t.test('a value with many hits is searched in the column', async t => {
    t.equal(physical('age = 3'), 'ColumnFilter age = 3')
  })
  t.test('index scans come first, then cheap and selective conditions', async t => {
    t.equal(
      physical('info.x = 1 and note % a and salary > 3 and name begin "n19" and woman'),
      lines(
        'Intersect',
        '  IndexScan name begins with "n19" (11 rows)',
        '  ColumnFilter woman = 1',
        '  ColumnFilter salary > 3',
        '  JsonFilter info.x = 1',
        '  ColumnFilter note % "a"',
      ),
    )
  })
  t.test('a pattern uses the index for its start and is checked after it', async t => {
    t.equal(physical('name = "n1@9@"'), 'ColumnFilter name = "n1@9@"', 'more than 1/32 of the rows have this prefix')
    t.equal(
      physical('name = "n12@5"'),
      lines('Intersect', '  IndexScan name begins with "n12" (11 rows)', '  ColumnFilter name = "n12@5"'),
    )
  })
  t.test('a join that starts from an index comes before a scan', async t => {
    t.equal(
      physical('salary = 3 and employer.name = "company 1"'),
      lines(
        'Intersect',
        '  SemiJoin employer',
        '    IndexScan name in ["company 1"] (1 rows)',
        '  ColumnFilter salary = 3',
      ),
    )
  })
  t.test('a join that includes null is marked', async t => {
    t.match(physical('employer.name = null'), /^SemiJoin employer or null/)
  })
})

t.test('estimates of costs grow with the work', async t => {
  const store = fakeStore(catalog, {
    Company: Array.from({ length: 10 }, (_, ID) => ({ ID })),
    Employee: Array.from({ length: 10_000 }, (_, ID) => ({ ID, companyID: ID % 10 })),
  })
  const company = catalog.dataClassesByName.get('Company')!
  const writing = (names: string) =>
    costOfEntities(
      { form: 'collection', attributes: { from: 'parameter', items: parsePathList(names) } },
      employee,
      10,
      store,
    )
  t.ok(writing('employer.name') > writing('name'))
  t.equal(writing('employerName.x'), writing('employer.name'), 'an alias costs what the relations of its path cost')
  t.equal(writing('colleagues.name'), writing('employer.staff.name'))
  t.equal(writing('info.size'), writing('name'), 'a property is in the row')

  const text = (length: number) => costOfTexts({ params: { text: 'x'.repeat(length) } })
  t.equal(text(2_000), 2 * text(1_000))

  const input = { kind: 'All' } as const
  const staff = company.attributesByName.get('staff')
  if (staff?.kind !== 'relatedEntities') throw new Error('staff is a relation')
  const joining = (candidates: number) =>
    estimate({ kind: 'ReverseSemiJoin', relation: staff, input }, company, candidates, store).microseconds
  const hits = (candidates: number) => candidates * 1_000 * MICROSECONDS.indexHit
  t.ok(joining(0.1) >= hits(0.1), 'for few entities, each referring entity costs an index hit')
})
