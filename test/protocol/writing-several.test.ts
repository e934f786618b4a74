/** Saves of several entities, and stamps: which are stored when others fail. */
import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { protocolTable } from '../support/checks/protocol-table.ts'
import { startServer } from '../support/servers/test-server.ts'

const codes = (entity: { __ERROR?: { errCode: number }[] }) => (entity.__ERROR ?? []).map(error => error.errCode)

protocolTable(
  '$asArray in saves',
  company,
  [
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
  '$returning=none',
  company,
  [
    {
      spec: '4.4',
      name: 'answers an array with counts',
      post: '/City?$method=update&$returning=none&$asArray=true',
      body: [{ name: 'Oslo' }, { name: 'Rome' }],
      json: { __COUNT: 2, __SAVED: 2 },
    },
    {
      spec: '4.4',
      name: 'answers an object with counts',
      post: '/City?$method=update&$returning=none&$expand=nothing',
      body: { name: 'Oslo' },
      json: { __COUNT: 1, __SAVED: 1 },
    },
    {
      spec: '4.4',
      name: 'answers with failures, and with key and stamp of existing entities',
      post: '/City?$method=update&$returning=none',
      body: [{ name: 'Paris' }, { name: 'Oslo' }, { __KEY: 'Paris', __STAMP: 9, population: 1 }],
      status: 409,
      has: {
        __COUNT: 3,
        __SAVED: 1,
        __ENTITIES: [
          { __KEY: undefined, __STATUS: { success: false }, __ERROR: [{ errCode: 1115 }, {}, {}], __INDEX: 0 },
          { __KEY: 'Paris', __STAMP: 1, name: undefined, __STATUS: { status: 2 }, __ERROR: [{}, {}, {}], __INDEX: 2 },
        ],
      },
    },
    {
      spec: '4.4',
      name: 'without an index if the body is an object',
      post: '/City?$method=update&$returning=none',
      body: { name: 'Paris' },
      status: 409,
      has: { __COUNT: 1, __SAVED: 0, __ENTITIES: [{ __INDEX: undefined, __STATUS: { success: false } }] },
    },
    {
      spec: '4.4',
      name: 'with $atomic, nothing is saved',
      post: '/City?$method=update&$returning=none&$atomic=true',
      body: [{ name: 'Oslo' }, { name: 'Paris' }],
      status: 409,
      has: { __COUNT: 2, __SAVED: 0, __ENTITIES: [{ __INDEX: 1 }] },
    },
    {
      spec: '4.4',
      name: '$returning=entities is the default',
      post: '/City?$method=update&$returning=entities',
      body: { name: 'Oslo' },
      has: { __KEY: 'Oslo' },
    },
    {
      spec: '4.4',
      name: 'other values are refused, and nothing is saved',
      post: '/City?$method=update&$returning=all',
      body: { name: 'Oslo' },
      status: 400,
      errors: [1806],
    },
  ],
  { isolated: true },
)

for (const [prefer, isMinimal] of [
  ['return=minimal', true],
  ['respond-async, Return = "minimal"; x=1', true],
  ['return=representation', false],
  ['x-return=minimal', false],
] as const) {
  t.test(`§4.4 Prefer: ${prefer}`, async t => {
    const server = await startServer(t, company)
    const { json } = await server.post('/City?$method=update', { name: 'Oslo' }, { prefer })
    t.match(json, isMinimal ? { __COUNT: 1, __SAVED: 1, __KEY: undefined } : { __KEY: 'Oslo' })
    const other = await server.post('/City?$method=update&$returning=entities', { name: 'Rome' }, { prefer })
    t.equal(other.json.__KEY, 'Rome')
  })
}

t.test('§4.4 a large save is answered with counts, too', async t => {
  const server = await startServer(t, company)
  const cities = Array.from({ length: 1_200 }, (_, i) => ({ name: i === 700 ? 'Paris' : `City ${i}` }))
  const { status, json } = await server.post('/City?$method=update&$returning=none', cities)
  t.equal(status, 409)
  t.match(json, { __COUNT: 1_200, __SAVED: 1_199, __ENTITIES: [{ __INDEX: 700 }] })
  t.equal(json.__ENTITIES.length, 1)
})

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
