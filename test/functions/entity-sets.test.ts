import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { staffPlugin } from '../support/plugins/test-plugins.ts'
import { startServer } from '../support/servers/test-server.ts'

let now = Date.now()
/** Shared by all tests: those that change data come last. */
const server = await startServer(t, company, {
  config: { plugins: [staffPlugin], functions: { threads: 1 } },
  now: () => now,
})
const idOf = (json: { __ENTITYSET: string }): string => json.__ENTITYSET.split('/').at(-1)!

t.test('P1.8 a selection function works on an entity set, named before or after it', async t => {
  const id = idOf((await server.get('/Employee?$filter="woman = true"&$method=entityset')).json)
  for (const path of [`/Employee/total/$entityset/${id}`, `/Employee/$entityset/${id}/total`]) {
    t.same((await server.post(path)).json, { result: 240_000 }, path)
  }
  const narrowed = await server.post(`/Employee/$entityset/${id}/total?$filter="salary > 80000"`)
  t.same(narrowed.json, { result: 210_000 })
  t.match((await server.post(`/Employee/total/$entityset/${'0'.repeat(32)}`)).json, { __ERROR: [{ errCode: 1802 }] })
})

t.test('P7.1 a selection function works on related entities, with a filter and an order of theirs', async t => {
  const staff = (await server.get('/Employee?$filter="employerID = 1"')).json.__ENTITIES
  const sum = staff.reduce((all: number, { salary }: { salary: number | null }) => all + (salary ?? 0), 0)
  for (const path of ['/Company(1)/staff/total', '/Company[1]/staff/total', '/Company:code("FR/1")/staff/total']) {
    t.same((await server.post(path)).json, { result: sum }, path)
    t.same((await server.post(`${path}?$filter="salary > 80000"`)).json, { result: 90_000 }, `${path}, filtered`)
  }
  const names = async (order: string) => (await server.get(`/Company(1)/staff/names?$orderby="lastName ${order}"`)).json
  const ascending = await names('asc')
  t.ok(ascending.result.length > 1)
  t.same(await names('desc'), { result: ascending.result.toReversed() })
  t.match((await server.get('/Company(1)/staff/women?$top=1&$attributes=lastName')).json, {
    __entityModel: 'Employee',
    __SENT: 1,
    __ENTITIES: [{ lastName: String, salary: undefined }],
  })
  const kept = await server.get('/Company(1)/staff/women?$method=entityset')
  t.equal((await server.get(`/Employee/$entityset/${idOf(kept.json)}`)).json.__COUNT, kept.json.__COUNT)
  t.same((await server.post('/Company(4)/staff/total')).json, { result: 0 }, 'without related entities')
})

t.test('P7.1 an entity function works on a related entity', async t => {
  const { json: managed } = await server.get('/Employee?$filter="manager.ID > 0"&$expand=manager&$top=1')
  const [{ __KEY: key, manager }] = managed.__ENTITIES
  t.same((await server.get(`/Employee(${key})/manager/greet`)).json, { result: `Hello ${manager.firstName}` })
  const { json: unmanaged } = await server.get('/Employee?$filter="managerID = null"&$top=1')
  t.equal((await server.get(`/Employee(${unmanaged.__ENTITIES[0].__KEY})/manager/greet`)).status, 404)
})

t.test(
  'P7.1 without a relation of one entity, or without a function of that name, the path is a list of attributes',
  async t => {
    for (const path of [
      '/Company(9)/staff/total',
      '/Company(1)/staff/wellPaid',
      '/Company(1)/staff/greet',
      '/Company(1)/name/total',
      '/Company(1)/staff,name/total',
      '/Company/staff/total',
      '/Company(1,2)/staff/total',
      '/Company(1)/staff/nothing',
      '/Employee(1)/manager/total',
    ]) {
      const { status, json } = await server.post(path)
      t.ok(status >= 400, `${path}: ${status}`)
      t.notOk(json.result)
    }
  },
)

t.test('P7.4 a selection that a function returns is kept as an entity set', async t => {
  const { json, headers } = await server.get(
    "/Employee/wellPaid?$params='[50000]'&$method=entityset&$top=1&$attributes=lastName&$timeout=120",
  )
  t.match(json, { __COUNT: 2, __SENT: 1, __ENTITIES: [{ __KEY: '4', lastName: String, salary: undefined }] })
  t.equal(Object.keys(json)[0], '__ENTITYSET')
  t.equal(headers['content-location'], json.__ENTITYSET)
  t.same((await server.get(`/Employee/$entityset/${idOf(json)}`)).json.__COUNT, 2)
  now += 121_000
  t.equal((await server.get(`/Employee/$entityset/${idOf(json)}`)).status, 404)
})

t.test('P7.4 the order of the selection is that of the set', async t => {
  const { json } = await server.post('/Employee/wellPaid?$method=entityset', [40_000])
  const keys = ({ json }: { json: { __ENTITIES: { __KEY: string }[] } }) => json.__ENTITIES.map(({ __KEY }) => __KEY)
  t.same(keys(await server.get(`/Employee/$entityset/${idOf(json)}`)), keys({ json }))
})

t.test('P7.4 with another result, the selection that the function was called on is kept', async t => {
  const { json } = await server.post('/Employee/total?$filter="woman = true"&$method=entityset')
  t.equal(json.result, 240_000)
  const kept = await server.get(`/Employee/$entityset/${idOf(json)}`)
  const filtered = await server.get('/Employee?$filter="woman = true"')
  t.equal(kept.json.__COUNT, filtered.json.__COUNT)
})

t.test('P7.3 an entity set is an argument, with its deleted members as in __COUNT', async t => {
  const id = idOf((await server.get('/Employee?$filter="ID > 3"&$method=entityset')).json)
  const argument = { __DATASET: id, __ENTITIES: true }
  t.same((await server.post('/Employee/countOf', [argument])).json, { result: 3 })
  t.equal((await server.send('DELETE', '/Employee(5)')).status, 200)
  t.same((await server.post('/Employee/countOf', { params: [argument] })).json, { result: 3 })
})

t.test('P7.3 an entity that was passed and changed can be saved once', async t => {
  const argument = { __ENTITY: true, __DATACLASS: 'Employee', __KEY: 2, __STAMP: 1, lastName: 'Goedel' }
  t.match((await server.post('/Employee/keep', [argument])).json, { result: { success: true } })
  t.match((await server.get('/Employee(2)')).json, { lastName: 'Goedel', __STAMP: 2 })
  t.match((await server.post('/Employee/keep', [{ ...argument, lastName: 'G' }])).json, {
    result: { success: false, status: 2 },
  })
})

t.test('P7.1 singletons keep their state between calls, whoever calls', async t => {
  const results = await Promise.all(
    Array.from({ length: 20 }, async () => (await server.post('/$singleton/Counter/increment', [1])).json.result),
  )
  t.same(
    results.sort((a, b) => a - b),
    Array.from({ length: 20 }, (_, i) => i + 1),
  )
  t.same((await server.get('/$singleton/Counter/current')).json, { result: 20 })
})
