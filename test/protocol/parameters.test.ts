/** Declared parameters of class functions: arguments must fit before anything runs. */
import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { declaredPlugin } from '../support/plugins/test-plugins.ts'
import { startServer } from '../support/servers/test-server.ts'

const config = { plugins: [declaredPlugin] }
const result = (value: unknown) => ({ result: value })

type Line = readonly [function_: string, args: unknown, outcome: RegExp | object]
const ENTITY = { __ENTITY: true, __DATACLASS: 'Company' }
const PERIOD =
  /^Employee\.plan: argument 1, "period", is missing; it has to be an object with from, days, kinds, hours$/

/** Functions, the body of their call, and the result or the message of the error. */
const calls: readonly Line[] = [
  ['/Employee/none', undefined, result('none')],
  ['/Employee/none', [], result('none')],
  ['/Employee/none', [1], /^Employee\.none takes the arguments \(\); received 1$/],
  ['/Employee/plan', undefined, PERIOD],
  ['/Employee/plan', [], PERIOD],
  ['/Employee/plan', [{ from: '2020-01-31' }], result('2020-01-31 open')],
  ['/Employee/plan', { from: '2020-01-31', days: 3 }, result('2020-01-31 3')],
  ['/Employee/plan', { params: [{ from: '2020-01-31', hours: [9, 17.5], kinds: [] }] }, result('2020-01-31 open')],
  ['/Employee/plan', ['2020'], /"period", has to be an object with from, days, kinds, hours; received "2020"$/],
  ['/Employee/plan', [[1]], /"period", has to be an object .*; received an array with 1 element$/],
  ['/Employee/plan', [{}], /argument 1, "period\.from", is missing; it has to be a text of the format date$/],
  [
    '/Employee/plan',
    [{ from: '2020-02-30' }],
    /"period\.from", has to be a text of the format date; received "2020-02-30"/,
  ],
  [
    '/Employee/plan',
    [{ from: '2020-01-31', dais: 1 }],
    /"period\.dais", is not one of its properties; did you mean "days"\?/,
  ],
  ['/Employee/plan', [{ from: '2020-01-31', 'a b"': 1 }], /"period\["a b\\""\]", is not one of its properties$/],
  [
    '/Employee/plan',
    [{ from: '2020-01-31', days: 0 }],
    /"period\.days", has to be an integer of at least 1; received 0$/,
  ],
  [
    '/Employee/plan',
    [{ from: '2020-01-31', days: 1.5 }],
    /"period\.days", has to be an integer of at least 1; received 1\.5$/,
  ],
  [
    '/Employee/plan',
    [{ from: '2020-01-31', kinds: ['work', 'rest'] }],
    /"period\.kinds\[1\]", has to be "work" or "leave"; received "rest"$/,
  ],
  [
    '/Employee/plan',
    [{ from: '2020-01-31', kinds: Array(4).fill('work') }],
    /"period\.kinds", has to be an array of at most 3 elements; received an array with 4 elements$/,
  ],
  [
    '/Employee/plan',
    [{ from: '2020-01-31', hours: [9] }],
    /"period\.hours", has to be an array of 2 elements; received an array with 1 element$/,
  ],
  [
    '/Employee/plan',
    [{ from: '2020-01-31', hours: [9, 'x'] }],
    /"period\.hours\[1\]", has to be a number; received "x"$/,
  ],
  ['/Employee/plan', [{ from: 'x'.repeat(1_000) }], /received "x{39}…$/],
  ['/Employee/code', ['aaa'], result(3)],
  [
    '/Employee/code',
    ['aab'],
    /"code", has to be a text of at most 100000 characters that matches \^\(a\+\)\+\$; received "aab"$/,
  ],
  ['/Employee/code', [`${'a'.repeat(50_000)}b`], /"code", has to be .*; received "a+…$/],
  ['/Employee(1)/raised', [50], result(135_000)],
  ['/Employee(1)/raised', [0], /^Employee\w*\.raised: argument 1, "percent", has to be a number above 0; received 0$/],
  ['/Employee(1)/raised', [10, 20], /^EmployeeEntity\.raised takes the arguments \(percent\); received 2$/],
  ['/Employee/joined?$filter="ID<3"', ['/'], result('Lovelace/Gödel')],
  ['/Employee/joined', ['long'], /"separator", has to be a text of at most 3 characters; received "long"$/],
  ['/Employee(1,2)/joined', [null], /"separator", has to be a text of at most 3 characters; received null$/],
  ['/$catalog/company', [1], { __entityModel: 'Company', name: 'Acme' }],
  ['/$catalog/company', ['99'], result(null)],
  [
    '/$catalog/company',
    [''],
    /^ds\.company: argument 1, "key", has to be an integer or a text that is not empty; received ""$/,
  ],
  ['/$catalog/company', [[]], /received an array with 0 elements$/],
  ['/$singleton/Register/set', [{ a: true }], result(['a'])],
  ['/$singleton/Register/set', { a: true, b: false }, result(['a', 'b'])],
  [
    '/$singleton/Register/set',
    [{ a: 1 }],
    /^Register\.set: argument 1, "flags\.a", has to be true or false; received 1$/,
  ],
  ['/Employee/nameOf', [{ ...ENTITY, __KEY: 1 }], result('Acme')],
  ['/Employee/nameOf', [{ ...ENTITY, name: 'New' }], result('New')],
  [
    '/Employee/nameOf',
    [{ ...ENTITY, __DATACLASS: 'Employee', __KEY: 1 }],
    /"company", has to be an entity of Company \({"__ENTITY":true,"__DATACLASS":…}\); received an object$/,
  ],
  ['/Employee/nameOf', [1], /"company", has to be an entity of Company .*; received 1$/],
  ['/Employee/nameOf', [{ __KEY: 1 }], /"company", has to be an entity of Company/],
  ['/Employee/nameOf', [], /"company", is missing; it has to be an entity of Company/],
  ['/Employee/sizes', [1], /"people", has to be an entity set of Employee \({"__DATASET":"…"}\); received 1$/],
  ['/Employee/sizes', [null], /"people", has to be an entity set of Employee/],
]

const byGet: ProtocolCase[] = [
  { spec: 'D7', name: 'the last parameters may be left out', get: '/Employee/earning?$params=[1]', count: 2 },
  { spec: 'D7', name: 'all are given', get: '/Employee/earning?$params=[1,3,"down"]', keys: ['6', '3', '1'] },
  {
    spec: 'D7',
    name: 'an integer that a double cannot hold is no number',
    get: '/Employee/earning?$params=[12345678901234567890]',
    status: 400,
    errors: [1603],
    has: {
      __ERROR: [
        {
          message:
            'Employee.earning: argument 1, "minimum", has to be a number of at least 0; received 12345678901234567890, which a double cannot hold',
        },
      ],
    },
  },
  {
    spec: 'D7',
    name: 'null stands for an omitted argument',
    get: '/Employee/earning?$params=[1,null,"down"]',
    count: 2,
  },
  {
    spec: 'D7',
    name: 'none may be missing',
    get: '/Employee/earning',
    status: 400,
    errors: [1603],
    has: {
      __ERROR: [
        { message: 'Employee.earning: argument 1, "minimum", is missing; it has to be a number of at least 0' },
      ],
    },
  },
  {
    spec: 'D7',
    name: 'a wrong one is named',
    get: '/Employee/earning?$params=[1,101]',
    status: 400,
    errors: [1603],
    has: { __ERROR: [{ message: /argument 2, "count", has to be an integer from 1 to 100; received 101$/ }] },
  },
  {
    spec: 'D7',
    name: 'so is one too many',
    get: '/Employee/earning?$params=[1,2,"up",4]',
    status: 400,
    errors: [1603],
    has: { __ERROR: [{ message: 'Employee.earning takes the arguments (minimum, count, direction); received 4' }] },
  },
]

protocolTable(
  'arguments that are checked',
  company,
  calls.map(([post, body, outcome]): ProtocolCase => {
    const name = `${post} ${JSON.stringify(body)?.slice(0, 80)}`
    const base = { spec: 'D7', name, post, body }
    if (!(outcome instanceof RegExp)) return { ...base, has: outcome }
    return { ...base, status: 400, errors: [1603], has: { __ERROR: [{ message: outcome }] } }
  }),
  { config },
)
protocolTable('arguments of a GET', company, byGet, { config })

t.test('an entity set must be of the declared dataclass', async t => {
  const server = await startServer(t, company, { config })
  const setOf = async (path: string): Promise<object> => {
    const { json } = await server.get(`${path}$method=entityset`)
    return { __DATASET: json.__ENTITYSET.split('/').at(-1), __ENTITIES: true }
  }
  const people = await setOf('/Employee?$filter="ID<4"&')
  const companies = await setOf('/Company?')
  const call = (args: unknown[]) => server.post('/Employee/sizes', args)
  t.same((await call([people])).json, result(3))
  t.same((await call([people, null])).json, result(3))
  t.same((await call([people, companies])).json, result(403))
  for (const args of [[companies], [people, people]]) {
    const { status, json } = await call(args)
    t.equal(status, 400)
    t.match(json.__ERROR[0].message, /has to be an entity set of \w+ .*received an object$/)
  }
  const unknown = await call([{ __DATASET: '0'.repeat(32) }])
  t.same([unknown.status, unknown.json.__ERROR[0].errCode], [404, 1802])
})

t.test('a message names no dataclass that the client may not see', async t => {
  const roles = {
    privileges: [{ privilege: 'boss' }],
    permissions: { allowed: [{ applyTo: 'Company', type: 'dataclass', read: ['boss'] }] },
  }
  const server = await startServer(t, company, { config, roles })
  const { status, text } = await server.post('/Employee/nameOf', [1])
  t.equal(status, 400)
  t.notMatch(text, /Company/)
  t.match(text, /"company\\", has to be an entity \(/)
})
