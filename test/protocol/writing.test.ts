import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { protocolTable } from '../support/checks/protocol-table.ts'
import { unlessRemote } from '../support/runner/setting.ts'
import { startServer, type TestServer } from '../support/servers/test-server.ts'

const codes = (entity: { __ERROR?: { errCode: number }[] }) => (entity.__ERROR ?? []).map(error => error.errCode)
const EMPLOYEES = ['1', '2', '3', '4', '5', '6']
const COMPANIES = ['1', '2', '3', '4']
const CITIES = ["L'Aquila", 'New York (NY)', 'Paris', '東京']
const PARIS = { __STAMP: 1, population: 2_100_000 }
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

protocolTable(
  '$method=update',
  company,
  [
    {
      spec: '4.4',
      name: 'a new entity is answered as it is stored',
      post: '/Employee?$method=update',
      body: {
        firstName: 'Edsger',
        lastName: 'Dijkstra',
        salary: '50000',
        hired: '11!5!2020',
        employer: { __KEY: '2' },
      },
      has: {
        __KEY: '7',
        __STAMP: 1,
        uri: '/rest/Employee(7)',
        __TIMESTAMP: TIMESTAMP,
        ID: 7,
        firstName: 'Edsger',
        lastName: 'Dijkstra',
        salary: 50_000,
        hired: '2020-05-11',
        employerID: 2,
        employer: { __deferred: { uri: '/rest/Company(2)', __KEY: '2' } },
        manager: null,
      },
    },
    {
      spec: '4.4',
      name: 'only the listed attributes change',
      post: '/Employee/?$method=update',
      body: { __KEY: '2', __STAMP: 1, salary: 46_000 },
      has: { __KEY: '2', __STAMP: 2, salary: 46_000, lastName: 'Gödel', uri: '/rest/Employee(2)' },
    },
    {
      spec: 'P5.1',
      name: '__KEY may be a number',
      post: '/Employee?$method=update',
      body: { __KEY: 2, __STAMP: 1, salary: 1 },
      has: { __STAMP: 2 },
    },
    {
      spec: 'P5.1',
      name: 'nothing changed saves nothing',
      post: '/Employee?$method=update',
      body: { __KEY: '2', __STAMP: 1, salary: 45_000, lastName: 'Gödel' },
      has: { __STAMP: 1, __STATUS: undefined },
    },
    {
      spec: '4.4',
      name: 'several are answered in their order',
      post: '/City?$method=update',
      body: [{ name: 'Oslo' }, { __KEY: 'Paris', __STAMP: 1, population: 1 }],
      has: {
        __ENTITIES: [
          { __KEY: 'Oslo', __STAMP: 1 },
          { __KEY: 'Paris', __STAMP: 2, population: 1 },
        ],
      },
    },
    {
      spec: 'P5.1',
      name: '__ENTITIES is accepted as a body',
      post: '/City?$method=update',
      body: { __ENTITIES: [{ name: 'Oslo' }] },
      has: { __ENTITIES: [{ __KEY: 'Oslo' }] },
    },
    {
      spec: 'P1.9',
      name: 'POST without $method is an update',
      post: '/City',
      body: { name: 'Oslo' },
      has: { __KEY: 'Oslo' },
    },
    { spec: 'P1.9', name: 'PUT is an update', put: '/City', body: { name: 'Oslo' }, has: { __KEY: 'Oslo' } },
    {
      spec: 'P5.1',
      name: 'an automatic uuid is filled in',
      post: '/Tag',
      body: { größe: 1 },
      has: { __KEY: /^[0-9A-F]{32}$/ },
    },
    {
      spec: 'P5.1',
      name: 'a missing key that nothing fills in is refused',
      post: '/City',
      body: { population: 1 },
      status: 422,
      has: { __ERROR: [{ errCode: 1546 }, { errCode: 1534 }], __STATUS: { success: false } },
    },
    {
      spec: 'P5.1',
      name: 'a key that exists is refused',
      post: '/City',
      body: { name: 'PARIS' },
      status: 409,
      has: { __STATUS: { success: false } },
    },
    {
      spec: 'P5.1',
      name: 'an unknown attribute is refused',
      post: '/City',
      body: { name: 'Oslo', nothing: 1 },
      status: 404,
      has: { __ERROR: [{ errCode: 1500 }, { errCode: 1534 }] },
    },
    {
      spec: '1',
      name: 'a private attribute is unknown',
      post: '/Employee',
      body: { lastName: 'x', secret: 'y' },
      status: 404,
      has: { __ERROR: [{ errCode: 1500 }, { errCode: 1534 }] },
    },
    {
      spec: 'P5.1',
      name: 'names with two underscores are skipped',
      post: '/City',
      body: { name: 'Oslo', __other: 1, __TIMESTAMP: 'x', __proto: 2 },
      has: { __KEY: 'Oslo' },
    },
    {
      spec: 'P5.1',
      name: 'an unknown key is not an insert',
      post: '/City',
      body: { __KEY: 'Oslo', __STAMP: 1, population: 1 },
      status: 404,
      has: { __STATUS: { success: false } },
    },
    {
      spec: 'P5.2',
      name: 'a relation is set by a bare key',
      post: '/Employee',
      body: { __KEY: '5', __STAMP: 1, employer: '3' },
      has: { employerID: 3, employer: { __deferred: { __KEY: '3' } } },
    },
    {
      spec: 'P5.2',
      name: 'a relation is cut by null',
      post: '/Employee',
      body: { __KEY: '1', __STAMP: 1, employer: null },
      has: { employerID: null, employer: null },
    },
    {
      spec: 'P5.2',
      name: 'a relation is set by its foreign key',
      post: '/Employee',
      body: { __KEY: '5', __STAMP: 1, employerID: 1 },
      has: { employer: { __deferred: { __KEY: '1' } } },
    },
    {
      spec: 'P5.2',
      name: 'a relation may come back as its link',
      post: '/Employee',
      body: { __KEY: '5', __STAMP: 1, employer: { __deferred: { uri: '/rest/Company(2)', __KEY: '2' } } },
      has: { employerID: 2 },
    },
    {
      spec: 'P5.2',
      name: 'a related entity must exist',
      post: '/Employee',
      body: { __KEY: '5', __STAMP: 1, employer: { __KEY: '99' } },
      status: 409,
      has: { __STATUS: { success: false } },
    },
    {
      spec: 'P5.2',
      name: 'a foreign key must exist',
      post: '/Employee',
      body: { __KEY: '5', __STAMP: 1, employerID: 99 },
      status: 409,
      has: { __ERROR: [{ errCode: 1155 }, { errCode: 1517 }] },
    },
    {
      spec: 'P5.2',
      name: 'a 1→N value is ignored',
      post: '/Company',
      body: { __KEY: '4', __STAMP: 1, name: 'Full', staff: [{ __KEY: '1' }] },
      has: { name: 'Full', __STAMP: 2 },
    },
    {
      spec: 'P4.1',
      name: '$expand works on the answer',
      post: '/Employee?$method=update&$expand=employer',
      body: { __KEY: '1', __STAMP: 1, salary: 5 },
      has: { employer: { __KEY: '1', name: 'Acme' } },
    },
    {
      spec: 'P5.9',
      name: 'a number in an object that JSON could not give back is refused',
      post: '/Company',
      body: '{"name":"x","info":{"a":[1,-1e400]}}',
      status: 422,
      has: { __ERROR: [{ errCode: 1508, message: /double/ }, { errCode: 1534 }] },
    },
    {
      spec: 'P5.9',
      name: 'a value of the wrong type is refused',
      post: '/Employee',
      body: { lastName: 'x', salary: 'much' },
      status: 422,
      has: {
        __ERROR: [
          { errCode: 1508, attribute: 'salary' },
          { errCode: 1534, attribute: undefined },
        ],
      },
    },
    {
      spec: 'P5.9',
      name: 'a mandatory value must be present',
      post: '/Company',
      body: { revenues: 1 },
      status: 422,
      has: { __ERROR: [{ errCode: 1116, attribute: 'name' }, { errCode: 1534 }] },
    },
    {
      spec: 'P5.9',
      name: 'limits hold',
      post: '/Employee',
      body: { __KEY: '1', __STAMP: 1, salary: -1 },
      status: 422,
      has: { __ERROR: [{ errCode: 1568 }, { errCode: 1517 }], salary: 90_000 },
    },
    {
      spec: 'P5.9',
      name: 'patterns hold',
      post: '/Company',
      body: { __KEY: '1', __STAMP: 1, code: 'fr-1' },
      status: 422,
      has: { __ERROR: [{ errCode: 1571 }, { errCode: 1517 }] },
    },
    {
      spec: 'P5.9',
      name: 'unique values are enforced',
      post: '/Company',
      body: { __KEY: '1', __STAMP: 1, code: 'FR/22' },
      status: 409,
      has: { __ERROR: [{ errCode: 1115 }, { errCode: 1517 }] },
    },
    {
      spec: 'P5.9',
      name: 'every problem is reported at once',
      post: '/Employee',
      body: { lastName: null, salary: 2_000_000 },
      status: 422,
      has: { __ERROR: [{}, {}, { errCode: 1534 }] },
    },
    {
      spec: 'P3.8',
      name: 'a calculated attribute cannot be written',
      post: '/Employee',
      body: { __KEY: '1', __STAMP: 1, fullName: 'x' },
      status: 422,
      has: { __ERROR: [{ errCode: 1516 }, { errCode: 1517 }] },
    },
    {
      spec: 'P3.9',
      name: 'an alias of an own attribute writes it',
      post: '/Employee',
      body: { __KEY: '1', __STAMP: 1, pay: 7 },
      has: { salary: 7, pay: 7 },
    },
    {
      spec: '3.2',
      name: 'a long64 keeps its precision',
      post: '/Tag',
      body: '{"größe": 9007199254740993}',
      text: undefined,
      has: { __STAMP: 1 },
    },
    {
      spec: '4.2',
      name: 'an attribute that several entities may share does not address one for deletion',
      post: '/Employee:lastName(Hopper)?$method=delete',
      status: 400,
      errors: [1813],
      left: { Employee: EMPLOYEES },
    },
    {
      spec: '3.2',
      name: 'a long64 may be a text too, of one digit or of all',
      post: '/Tag?$method=update&$asArray=true',
      body: [{ größe: '7' }, { größe: ' -9223372036854775808' }],
      has: [{ größe: '7' }, { größe: '-9223372036854775808' }],
    },
    {
      spec: '3.2',
      name: 'a text with something before its digits is not a long64',
      post: '/Tag?$method=validate',
      body: { größe: 'x7' },
      status: 422,
    },
    {
      spec: 'P5.6',
      name: '$method=validate saves nothing',
      post: '/Employee?$method=validate',
      body: { lastName: 'x' },
      json: { ok: true },
      left: { Employee: EMPLOYEES },
    },
    {
      spec: 'P5.6',
      name: '$method=validate changes nothing',
      post: '/City?$method=validate',
      body: [{ __KEY: 'Paris', __STAMP: 1, population: 1 }, { name: 'Oslo' }],
      json: { ok: true },
      left: { City: CITIES },
      afterwards: { '/City(Paris)': PARIS },
    },
    {
      spec: 'P5.6',
      name: '$method=validate changes nothing when one of several is wrong',
      notRemote: 'a check alone does not look for values that exist',
      post: '/City?$method=validate',
      body: [{ __KEY: 'Paris', __STAMP: 1, population: 1 }, { name: 'paris' }],
      status: 409,
      has: { __ENTITIES: [{ __ERROR: [{ errCode: 1115 }, { errCode: 1545 }, { errCode: 1534 }], __INDEX: 1 }] },
      left: { City: CITIES },
      afterwards: { '/City(Paris)': PARIS },
    },
    {
      spec: 'P5.7',
      name: '$refresh changes nothing',
      post: '/City?$method=update&$refresh=true',
      body: { __KEY: 'Paris', __STAMP: 1, population: 1 },
      has: { population: 1, __STAMP: 1 },
      afterwards: { '/City(Paris)': PARIS },
    },
    {
      spec: 'P5.6',
      name: '$method=validate reports what is wrong',
      post: '/Employee?$method=validate',
      body: { salary: -1 },
      status: 422,
      has: { __ENTITIES: [{ __ERROR: [{}, {}, {}], __INDEX: undefined }] },
      left: { Employee: EMPLOYEES },
    },
    {
      spec: 'P5.7',
      name: '$refresh answers and saves nothing',
      post: '/Employee?$method=update&$refresh=true',
      body: { lastName: 'New' },
      has: { lastName: 'New', __STAMP: 0 },
      left: { Employee: EMPLOYEES },
    },
    {
      spec: 'P5.3',
      name: 'a body that is not JSON is refused',
      post: '/City?$method=update',
      body: '{"name":',
      status: 400,
      errors: [1806],
    },
    {
      spec: 'P5.3',
      name: 'a body that is not an entity is refused',
      post: '/City?$method=update',
      body: '"x"',
      status: 400,
      errors: [1806],
    },
    {
      spec: 'P5.3',
      name: 'more names than an entity may have are refused before anything is made of them',
      post: '/City?$method=update',
      body: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`unknown${i}`, 1])),
      status: 413,
      has: { __ERROR: [{ message: 'an entity of the body has more than 1000 names (write.maxAttributes)' }] },
      left: { City: CITIES },
    },
    {
      spec: 'P5.3',
      name: 'of many problems of an entity the first are described, the others counted',
      post: '/City?$method=validate',
      body: Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`unknown${i}`, 1])),
      status: 404,
      has: {
        __ENTITIES: [
          { __ERROR: [...Array(20).fill({ errCode: 1500 }), { message: 'and 881 more problems of this entity' }, {}] },
        ],
      },
      left: { City: CITIES },
    },
    ...(['update', 'validate'] as const).map(method => ({
      spec: 'P5.3',
      name: `more elements than a body may have are refused, whatever they are (${method})`,
      post: `/City?$method=${method}`,
      body: `[${'1,'.repeat(100_000)}1]`,
      status: 413,
      has: {
        __ERROR: [
          { message: 'the body has more than 100000 entities (write.maxEntities); send them in several requests' },
        ],
      },
      left: { City: CITIES },
    })),
    {
      spec: 'P5.5',
      name: '$method=validate is one transaction, of a bounded size',
      post: '/City?$method=validate',
      body: Array.from({ length: 10_001 }, (_, i) => ({ name: `City ${i}` })),
      status: 413,
      has: { __ERROR: [{ errCode: 1806, message: /^\$method=validate .*10000/ }] },
      left: { City: CITIES },
    },
    {
      spec: 'D2',
      name: 'GET cannot update',
      get: '/City?$method=update',
      status: 405,
      errors: [1813],
      headers: { allow: 'POST' },
    },
    {
      spec: 'D2',
      name: 'PATCH is not known',
      post: '/City(Paris)?$method=update',
      body: {},
      status: 400,
      errors: [1813],
    },
    {
      spec: '4.4',
      name: 'an empty array saves nothing',
      post: '/City?$method=update',
      body: [],
      json: { __ENTITIES: [] },
    },
    {
      spec: '4.3',
      name: '$asArray=true answers an array with an array',
      notRemote: 'commits of a database have no global stamp',
      post: '/Tag?$method=update&$asArray=true',
      body: [
        { id: '00000000000000000000000000000002', byte: 5 },
        { __KEY: '00000000000000000000000000000001', __STAMP: 1, word: 7 },
      ],
      json: [
        {
          __KEY: '00000000000000000000000000000002',
          __STAMP: 1,
          id: '00000000000000000000000000000002',
          größe: null,
          byte: 5,
          word: null,
          float: null,
          __GlobalStamp: 17,
        },
        {
          __KEY: '00000000000000000000000000000001',
          __STAMP: 2,
          id: '00000000000000000000000000000001',
          größe: '9223372036854775807',
          byte: 1,
          word: 7,
          float: 0.5,
          __GlobalStamp: 18,
        },
      ],
    },
    {
      spec: '4.3',
      name: 'failures among them have their status and errors',
      notRemote: 'commits of a database have no global stamp',
      post: '/City?$method=update&$asArray=true',
      body: [{ name: 'Paris' }, { __KEY: 'Paris', __STAMP: 9 }, { name: 'Oslo' }],
      status: 409,
      has: [
        { __STATUS: { success: false }, __ERROR: [{ errCode: 1115 }, { errCode: 1545 }, { errCode: 1534 }] },
        { __KEY: 'Paris', name: 'Paris', uri: undefined, __TIMESTAMP: undefined, __STATUS: { status: 2 } },
        { __KEY: 'Oslo', __GlobalStamp: 17 },
      ],
    },
    {
      spec: '4.3',
      name: 'a single object is answered with an object',
      post: '/City?$method=update&$asArray=true',
      body: { name: 'Oslo' },
      has: { __KEY: 'Oslo', uri: '/rest/City(Oslo)' },
    },
  ],
  { isolated: true },
)

protocolTable(
  '$method=delete',
  company,
  [
    {
      spec: '4.4',
      name: 'an entity',
      post: '/Employee(5)?$method=delete',
      json: { ok: true },
      left: { Employee: ['1', '2', '3', '4', '6'] },
    },
    {
      spec: '4.4',
      name: 'several by a list of their keys',
      post: '/Employee?$filter="__KEY in :1"&$params=[["5","6"]]&$method=delete',
      json: { ok: true },
      left: { Employee: ['1', '2', '3', '4'] },
    },
    {
      spec: '4.4',
      name: 'several',
      post: '/Employee(5,6)?$method=delete',
      json: { ok: true },
      left: { Employee: ['1', '2', '3', '4'] },
    },
    {
      spec: '4.2',
      name: 'one by a unique attribute',
      post: '/Company:code("FR/22")?$method=delete&$atomic=false',
      status: 409,
      errors: [1120, 1518],
      left: { Company: COMPANIES },
    },
    {
      spec: '4.4',
      name: 'a filter',
      post: '/Employee?$filter="ID>4"&$method=delete',
      json: { ok: true },
      left: { Employee: ['1', '2', '3', '4'] },
    },
    {
      spec: '4.4',
      name: 'a filter with values',
      post: '/Employee?$filter="ID>:1"&$params=[4]&$method=delete',
      json: { ok: true },
      left: { Employee: ['1', '2', '3', '4'] },
    },
    {
      spec: 'P5.7',
      name: 'a filter without matches',
      post: '/Employee?$filter="ID>400"&$method=delete',
      json: { ok: true },
      left: { Employee: EMPLOYEES },
    },
    {
      spec: 'P5.7',
      name: 'a whole dataclass whose entities refer to one another',
      post: '/Employee?$method=delete',
      json: { ok: true },
      left: { Employee: [], Company: COMPANIES },
    },
    {
      spec: 'P5.7',
      name: 'an empty object counts as no body',
      post: '/Employee?$method=delete',
      body: {},
      json: { ok: true },
      left: { Employee: [] },
    },
    {
      spec: 'P1.9',
      name: 'the verb DELETE',
      delete: '/City(Paris)',
      json: { ok: true },
      left: { City: CITIES.filter(name => name !== 'Paris') },
    },
    {
      spec: 'P5.7',
      name: 'an unknown key',
      post: '/City(Oslo)?$method=delete',
      status: 404,
      errors: [1543],
      left: { City: CITIES },
    },
    {
      spec: 'P5.7',
      name: 'GET cannot delete',
      get: '/City(Paris)?$method=delete',
      status: 405,
      left: { City: CITIES },
    },
    {
      spec: 'P5.9',
      name: 'an entity that others refer to stays',
      post: '/Company(1)?$method=delete',
      status: 409,
      errors: [1120, 1518],
      left: { Company: COMPANIES, Employee: EMPLOYEES },
    },
    {
      spec: 'P5.7',
      name: 'deletable entities are deleted, the others are reported',
      post: '/Company?$method=delete',
      status: 409,
      errors: [1120, 1518, 1121],
      left: { Company: ['1', '2', '3'] },
    },
    {
      spec: 'P5.7',
      name: '$atomic deletes nothing when one has to stay',
      post: '/Company?$method=delete&$atomic=true',
      status: 409,
      errors: [1120, 1518, 1121],
      left: { Company: COMPANIES },
    },
    {
      spec: 'P5.7',
      name: 'an attribute in the address does not delete the entity',
      delete: '/Employee(1)/photo',
      status: 400,
      errors: [1813],
      left: { Employee: EMPLOYEES },
    },
  ],
  { isolated: true },
)

t.test('§7.2 a stale stamp is answered with the entity as it is, status 2 and 1263, 1046, 1517', async t => {
  const server = await startServer(t, company)
  await server.post('/Employee?$method=update', { __KEY: '1', __STAMP: 1, salary: 95_000 })
  const { status, json } = await server.post('/Employee?$method=update', { __KEY: '1', __STAMP: 1, salary: 10 })
  t.equal(status, 409)
  t.match(json, {
    __KEY: '1',
    __STAMP: 2,
    salary: 95_000,
    __STATUS: { status: 2, statusText: 'Stamp has changed', success: false },
  })
  t.same(codes(json), [1263, 1046, 1517])
  for (const error of json.__ERROR) t.match(error, { message: String, componentSignature: 'dbmg', errCode: Number })
})

t.test('§P5.1 a missing stamp is a stale one', async t => {
  const server = await startServer(t, company)
  const { json } = await server.post('/Employee?$method=update', { __KEY: '1', salary: 10 })
  t.same(codes(json), [1263, 1046, 1517])
  t.match(json.__ERROR[0], { message: /has __STAMP 1, the request sent none;/ })
})

t.test('§P5.4 without $atomic the good ones are saved', async t => {
  const server = await startServer(t, company)
  const { status, json } = await server.post('/City?$method=update', [
    { name: 'Oslo' },
    { name: 'Paris' },
    { name: 'Rome' },
  ])
  t.equal(status, 409)
  t.match(json.__ENTITIES, [{ __KEY: 'Oslo', __STAMP: 1 }, { __STATUS: { success: false } }, { __KEY: 'Rome' }])
  t.equal((await server.get('/City')).json.__COUNT, 6)
})

for (const parameter of ['$atomic=true', '$atOnce=true', '$atonce=1']) {
  t.test(`§P5.5 with ${parameter} one failure undoes all`, async t => {
    const server = await startServer(t, company)
    const before = (await server.get('/City')).json
    const { status, json } = await server.post(`/City?$method=update&${parameter}`, [
      { __KEY: 'Paris', __STAMP: 1, population: 5 },
      { name: 'Oslo' },
      { name: 'paris' },
    ])
    t.equal(status, 409)
    t.match(json.__ENTITIES[0], { __KEY: 'Paris', population: 5, __STAMP: 1 })
    t.ok(json.__ENTITIES[2].__ERROR)
    t.same((await server.get('/City')).json, before)
  })
}

t.test('§P5.5 an entity that is sent twice is stale the second time, and nothing is saved', async t => {
  const server = await startServer(t, company)
  const twice = [
    { __KEY: 'Paris', __STAMP: 1, population: 5 },
    { __KEY: 'Paris', __STAMP: 1, population: 6 },
  ]
  const before = (await server.get('/City')).json
  for (const parameter of ['$method=update&$atomic=true', '$atOnce=true']) {
    const { status, json } = await server.post(`/City?${parameter}`, twice)
    t.equal(status, 409)
    t.match(json.__ENTITIES[1], { __STATUS: { success: false, status: 2 }, __ERROR: [{ errCode: 1263 }, {}, {}] })
    t.same((await server.get('/City')).json, before)
  }
})

t.test('§P5.5 a flag that is neither true nor false is refused before anything is written', async t => {
  const server = await startServer(t, company)
  const before = (await server.get('/City')).json
  const cities = [{ name: 'Oslo' }, { name: 'Paris' }]
  for (const parameter of ['$atomic=yes', '$atOnce=', '$atonce=2', '$method=validate&$atomic=tru', '$refresh=on']) {
    const { status, json } = await server.post(`/City?${parameter}`, cities)
    const flag = parameter.slice(parameter.lastIndexOf('$'))
    t.equal(status, 400, parameter)
    t.match(json.__ERROR, [{ errCode: 1806, message: `${flag} is neither true nor false; send true or false` }])
  }
  t.match(await server.send('DELETE', '/City?$filter="population > 0"&$atomic=x'), { status: 400 })
  t.same((await server.get('/City')).json, before)
  t.equal((await server.post('/City?$atomic=True', cities)).status, 409, 'Python sends True')
  t.same((await server.get('/City')).json, before)
  t.same((await server.post('/City?$atomic=FALSE', cities)).json.__ENTITIES[0].__KEY, 'Oslo')
})

t.test('§P5.4 a large body is saved whole or refused whole, and says where its fault is', async t => {
  const server = await startServer(t, company)
  const elements = Array.from({ length: 3_000 }, (_, i) => ({ name: `City ${i}` }))
  const text = JSON.stringify(elements).replaceAll('},', `},${' '.repeat(200)}`)
  const before = (await server.get('/City?$compute=count')).json
  const refused = await server.post('/City?$asArray=true', `${text.slice(0, -2)},"a":01}]`)
  t.equal(refused.status, 400)
  t.match(refused.json.__ERROR[0].message, /\(entities \d+ to 3000\)/)
  t.equal((await server.get('/City?$compute=count')).json, before)
  const saved = await server.post('/City?$asArray=true', text)
  t.same(
    saved.json.map((each: { __KEY: string }) => each.__KEY),
    elements.map(({ name }) => name),
  )
  t.equal((await server.get('/City?$compute=count')).json, before + 3_000)
  const again = await server.post('/City?$asArray=true', text)
  t.equal(again.json.length, 3_000)
  const [described, counted] = [again.json[0], again.json[2_999]]
  t.same([codes(described), codes(counted)], [codes(described), codes(described).slice(0, 1)])
  t.match(counted.__ERROR[0].message, /more than 1000 such entities/)
})

t.test(
  '§2.6 __GlobalStamp grows by one with every change',
  unlessRemote('commits of a database have no global stamp'),
  async t => {
    const server = await startServer(t, company)
    const stamp = async () => (await server.get('/City?$top=0')).json.__GlobalStamp as number
    const before = await stamp()
    await server.post('/City', [{ name: 'Oslo' }, { name: 'Rome' }])
    t.equal(await stamp(), before + 2)
    await server.post('/City(Oslo)?$method=delete')
    t.equal(await stamp(), before + 3)
  },
)

t.test('written values are read, found and sorted at once', async t => {
  const server = await startServer(t, company)
  const keys = async (path: string) =>
    (await server.get(path)).json.__ENTITIES.map((entity: { __KEY: string }) => entity.__KEY)
  t.same(await keys('/Employee?$filter="salary>80000"&$orderby=salary'), ['1', '4'])
  await server.post('/Employee', { __KEY: '5', __STAMP: 1, salary: 100_000 })
  t.same(await keys('/Employee?$filter="salary>80000"&$orderby=salary'), ['1', '5', '4'])
  await server.post('/Employee(1)?$method=delete')
  t.same(await keys('/Employee?$filter="salary>80000"&$orderby=salary'), ['5', '4'])
  t.equal((await server.get('/Employee(2)')).json.manager, null, 'onDelete setNull cuts the link')
  t.equal((await server.get('/Employee(2)')).json.__STAMP, 2)
})

t.test('a reopened store answers the same', async t => {
  const first = await startServer(t, company)
  await roundTrip(t, first)
})

async function roundTrip(t: Test, server: TestServer): Promise<void> {
  const entity = (await server.get('/Employee(1)')).json
  const { json } = await server.post('/Employee?$method=update', entity)
  t.equal(json.__STAMP, 1, 'a whole entity sent back unchanged is not a change')
  t.notOk(json.__ERROR)
}
