/**
 * The reference evaluator itself, by examples that follow literally from the texts.
 */
import t from 'tap'
import { compareNumber, fits, fold } from '../support/reference/compare.ts'
import { type Comparator, type Condition, matches, type OperandValue } from '../support/reference/condition.ts'
import type { Plain, World } from '../support/reference/world.ts'

const people: Record<string, Record<string, Plain>> = {
  ada: {
    salary: 90_000,
    boss: null,
    info: {
      tags: ['x', 'y'],
      kids: [
        { age: 3, sex: 'f' },
        { age: 5, sex: 'm' },
      ],
    },
  },
  bob: { salary: null, boss: 'ada', info: { tags: [] } },
  cyd: { salary: 4, boss: 'ada', info: null },
  dee: { salary: 5, boss: 'bob', info: { tags: ['x', 'x'], kids: [{ age: 3, sex: 'm' }] } },
}
const world: World = {
  classes: new Map([
    [
      'Person',
      {
        spec: {
          name: 'Person',
          key: 'name',
          attributes: [
            { kind: 'storage', name: 'name', type: 'string' },
            { kind: 'storage', name: 'salary', type: 'number' },
            { kind: 'storage', name: 'boss', type: 'string' },
            { kind: 'storage', name: 'info', type: 'object' },
            {
              kind: 'relatedEntity',
              name: 'manager',
              target: 'Person',
              foreignKey: 'boss',
              inverse: 'staff',
              onDelete: 'setNull',
            },
            { kind: 'relatedEntities', name: 'staff', target: 'Person', inverse: 'manager' },
          ],
        },
        rows: Object.entries(people).map(([name, values], id) => ({
          id,
          stamp: 1,
          values: new Map(Object.entries({ name, ...values })),
        })),
        nextId: 4,
      },
    ],
  ]),
}

const is = (path: string, comparator: Comparator, value: OperandValue | null): Condition => ({
  kind: 'comparison',
  path: path.split('.').map(step => {
    const [, name, classIndex, element] = /^(\w+)(?:\{(\d)\})?(?:\[(\w*)\])?$/.exec(step)!
    return {
      name: name!,
      ...(classIndex && { classIndex: Number(classIndex) }),
      ...(element !== undefined && { element }),
    }
  }),
  comparator,
  operand: value === null ? { kind: 'null' } : { kind: 'value', value },
})
const not = (operand: Condition): Condition => ({ kind: 'not', operand })
const join = (kind: 'and' | 'or' | 'except', ...list: Condition[]): Condition =>
  list.reduce((left, right) => ({ kind, left, right }))
const group = (inner: Condition): Condition => ({ kind: 'group', inner })

const cases: { source: string; name: string; condition: Condition; keys: string }[] = [
  { source: 'design 2', name: 'null stays out of salary < 5', condition: is('salary', 'less', '5'), keys: 'cyd' },
  {
    source: 'design 2',
    name: 'null stays out of not(salary < 5)',
    condition: not(is('salary', 'less', '5')),
    keys: 'ada dee',
  },
  { source: 'design 2', name: '!= leaves null out', condition: is('salary', 'notEqual', '5'), keys: 'ada cyd' },
  { source: 'notes 2.8', name: 'null is found as null', condition: is('salary', 'equal', null), keys: 'bob' },
  {
    source: 'design 2',
    name: 'a path through a null relation is null',
    condition: is('manager.salary', 'equal', null),
    keys: 'ada dee',
  },
  {
    source: 'design 2',
    name: 'a path through a null relation does not differ',
    condition: is('manager.name', 'notEqual', 'x'),
    keys: 'bob cyd dee',
  },
  {
    source: 'design 2',
    name: 'not is three-valued beyond N→1',
    condition: not(is('manager.name', 'equal', 'ada')),
    keys: 'dee',
  },
  { source: 'notes 2.8', name: 'a N→1 relation is null', condition: is('manager', 'equal', null), keys: 'ada' },
  { source: 'notes 2.8', name: 'a 1→N relation is empty', condition: is('staff', 'equal', null), keys: 'cyd dee' },
  { source: 'design 2', name: 'some related entity', condition: is('staff.salary', 'greater', '3'), keys: 'ada bob' },
  {
    source: 'design 2',
    name: 'not beyond 1→N is the complement',
    condition: not(is('staff.salary', 'greater', '4')),
    keys: 'ada cyd dee',
  },
  {
    source: 'design 2',
    name: 'some related entity differs',
    condition: is('staff.name', 'notEqual', 'cyd'),
    keys: 'ada bob',
  },
  {
    source: 'design 2',
    name: 'null beyond 1→N needs a related entity',
    condition: is('staff.salary', 'equal', null),
    keys: 'ada',
  },
  {
    source: 'design 2',
    name: 'a run of AND shares the related entity',
    condition: join('and', is('staff.name', 'equal', 'bob'), is('staff.salary', 'equal', '4')),
    keys: '',
  },
  {
    source: 'design 2',
    name: 'a nested group does not share it',
    condition: join('and', is('staff.name', 'equal', 'bob'), group(is('staff.salary', 'equal', '4'))),
    keys: 'ada',
  },
  {
    source: 'notes 2.9',
    name: 'a class index asks for another related entity',
    condition: join('and', is('staff.name', 'equal', 'bob'), is('staff{2}.salary', 'equal', '4')),
    keys: 'ada',
  },
  {
    source: 'notes 2.9',
    name: 'a class index behind a 1→N relation names another path to it',
    condition: join(
      'and',
      is('staff.manager.staff.name', 'equal', 'bob'),
      is('staff.manager{2}.staff.name', 'equal', 'cyd'),
    ),
    keys: 'ada',
  },
  {
    source: 'notes 2.4',
    name: 'from left to right',
    condition: join(
      'and',
      join('or', is('name', 'equal', 'ada'), is('name', 'equal', 'cyd')),
      is('salary', 'equal', '4'),
    ),
    keys: 'cyd',
  },
  {
    source: 'notes 2.4',
    name: 'except takes away',
    condition: join('except', is('name', 'equal', '@'), is('salary', 'less', '6')),
    keys: 'ada bob',
  },
  { source: 'design 2', name: 'some element is equal', condition: is('info.tags[]', 'equal', 'Y'), keys: 'ada' },
  {
    source: 'design 2',
    name: 'all elements differ, of at least one',
    condition: is('info.tags[]', 'notEqual', 'y'),
    keys: 'dee',
  },
  {
    source: 'design 2',
    name: 'not over [] is the complement',
    condition: not(is('info.tags[]', 'equal', 'y')),
    keys: 'bob cyd dee',
  },
  {
    source: 'notes 2.10',
    name: 'a letter links conditions to one element',
    condition: join('and', is('info.kids[a].age', 'equal', 3), is('info.kids[a].sex', 'equal', 'm')),
    keys: 'dee',
  },
  {
    source: 'notes 2.10',
    name: 'without a letter each condition has its element',
    condition: join('and', is('info.kids[].age', 'equal', 3), is('info.kids[].sex', 'equal', 'm')),
    keys: 'ada dee',
  },
  {
    source: 'notes 2.10',
    name: 'some linked element differs',
    condition: is('info.kids[a].sex', 'notEqual', 'f'),
    keys: 'ada dee',
  },
  { source: 'notes 2.10', name: 'length counts elements', condition: is('info.tags.length', 'less', 1), keys: 'bob' },
  {
    source: 'notes 2.8',
    name: 'a missing property is null',
    condition: is('info.kids', 'equal', null),
    keys: 'bob cyd',
  },
]
for (const { source, name, condition, keys } of cases) {
  t.test(`${source}: ${name}`, async t => {
    const { spec, rows } = world.classes.get('Person')!
    const found = rows.filter(row => matches(world, spec, row, condition) === true)
    t.equal(found.map(row => row.values.get('name')).join(' '), keys)
  })
}

t.test('a fold drops case and accents and nothing else', async t => {
  t.equal(fold('É'), fold('e\u0301'))
  t.equal(fold('İ'), 'i')
  t.not(fold('ø'), fold('o'))
  t.not(fold('ß'), fold('ss'))
})

t.test('a wildcard stands for any number of characters', async t => {
  for (const pattern of ['@', 'abc', '@abc', 'a@', '@b@', 'a@c', 'a@@c', '@@']) t.ok(fits('abc', pattern), pattern)
  for (const pattern of ['', 'b', 'a@b', '@a', 'abc@c', 'ab']) t.notOk(fits('abc', pattern), pattern)
  t.ok(fits('', '@'))
})

t.test('whole numbers compare without rounding', async t => {
  t.equal(compareNumber('long64', 9_007_199_254_740_993n, '9007199254740992'), 1)
  t.equal(compareNumber('long64', 9_007_199_254_740_993n, '9007199254740993.5'), -1)
  t.equal(compareNumber('long', 5, '5.0'), 0)
  t.equal(compareNumber('long', 500, '5e2'), 0)
  t.equal(compareNumber('number', 0.1, '0.1'), 0)
})
