/** Saves: what is stored, and the answer. */
import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { protocolTable } from '../support/checks/protocol-table.ts'
import { unlessRemote } from '../support/runner/setting.ts'
import { startServer, type TestServer } from '../support/servers/test-server.ts'

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
      name: 'names with two underscores are skipped',
      post: '/City',
      body: { name: 'Oslo', __other: 1, __TIMESTAMP: 'x', __proto: 2 },
      has: { __KEY: 'Oslo' },
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
      spec: '3.2',
      name: 'a long64 may be a text too, of one digit or of all',
      post: '/Tag?$method=update&$asArray=true',
      body: [{ größe: '7' }, { größe: ' -9223372036854775808' }],
      has: [{ größe: '7' }, { größe: '-9223372036854775808' }],
    },
    {
      spec: '4.4',
      name: 'an empty array saves nothing',
      post: '/City?$method=update',
      body: [],
      json: { __ENTITIES: [] },
    },
  ],
  { isolated: true },
)

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
