/** Default-deny with the privilege that every caller has. Source: protocol notes, 8.4; the privilege is an extension. */
import t from 'tap'
import { guardedPlugin } from '../support/plugins/test-plugins.ts'
import { allowed, codes, open } from './roles-server.ts'

const all = ['create', 'read', 'update', 'drop', 'execute']
const roles = {
  restrictedByDefault: true,
  ...allowed(
    { applyTo: 'ds', type: 'datastore', ...Object.fromEntries(all.map(action => [action, ['hr']])) },
    { applyTo: 'Employee', type: 'dataclass', read: ['guest'], execute: ['hr'] },
    { applyTo: 'Employee.salary', type: 'attribute', read: ['hr'] },
    { applyTo: 'Employee.names', type: 'method', execute: ['Guest'] },
    { applyTo: 'ds.promotedPayroll', type: 'method', execute: ['guest'], promote: ['hr'] },
    { applyTo: 'ds.payroll', type: 'method', execute: ['guest'], promote: ['guest'] },
  ),
}

t.test('guests read one class, and what else names their privilege', async t => {
  const server = await open(t, roles, ['hr'], { plugins: [guardedPlugin] })
  const names = async (send: (path: string) => ReturnType<typeof server.get>) =>
    (await send('/$catalog')).json.dataClass.map(({ name }: { name: string }) => name)
  t.same(await names(server.get), ['Employee'])
  t.ok((await names(path => server.as('GET', path))).length > 3)
  t.equal((await server.get('/Employee')).json.__COUNT, (await server.as('GET', '/Employee')).json.__COUNT)
  for (const path of ['/Company', '/City', '/Company?$method=entityset', '/Employee?$filter="salary > 1"']) {
    t.equal((await server.get(path)).status, 404, path)
    t.equal((await server.as('GET', path)).status, 200, path)
  }
  t.notMatch((await server.get('/Employee(1)')).text, /salary|employer"/)
  const openapi = (await server.get('/$openapi')).text
  t.match(openapi, /"Employee"/)
  t.notMatch(openapi, /Company|City/)
  const set = (await server.get('/Employee?$filter="ID < 3"&$method=entityset')).json.__ENTITYSET
  t.equal((await server.get(set.replace('/rest', ''))).json.__COUNT, 2)
  t.equal(codes(await server.post('/Employee?$method=update', { lastName: 'New' }))[0], 1559)
  t.same(codes(await server.post('/Employee(1)?$method=delete')), [1560])
  t.equal(codes(await server.post('/Employee?$method=update', { __KEY: 1, __STAMP: 1, lastName: 'New' }))[0], 1558)
})

t.test('functions are open to guests where a list names their privilege', async t => {
  const server = await open(t, roles, ['hr'], { plugins: [guardedPlugin] })
  t.equal((await server.post('/Employee/names')).status, 200)
  t.same(codes(await server.post('/Employee/count')), [1561])
  t.same(codes(await server.post('/$catalog/hire', ['X'])), [1561])
  t.match((await server.post('/$catalog/promotedPayroll')).json, { result: 330_000 })
  t.same(codes(await server.post('/$catalog/payroll')), [1562], 'promoting it gives nothing that the caller lacks')
})

t.test('administrators see why a guest may do something, and a guest has no granted privileges', async t => {
  const server = await open(t, roles, ['WebAdmin'], { plugins: [guardedPlugin] })
  const { privileges, rights } = (await server.as('GET', '/$info/rights')).json
  t.same(privileges, [])
  const of = (name: string) => rights.find((right: { name: string }) => right.name === name)
  t.same(of('Employee').read, { allowed: true, setting: 'Employee', needed: ['guest'], by: 'guest' })
  t.same(of('Company').read, { allowed: false, setting: 'ds', needed: ['hr'] })
  t.same((await server.get('/$directory/currentUser')).json, { result: null, privileges: [], administrator: false })
})

t.test('where a login is required, the privilege of every caller does not replace it', async t => {
  const server = await open(t, { ...roles, forceLogin: true }, ['staff'], { plugins: [guardedPlugin] })
  t.same(codes(await server.get('/Employee')), [1822])
  t.equal((await server.as('GET', '/Employee')).status, 200, 'after it, users have the privilege too')
  t.equal((await server.as('GET', '/Company')).status, 404)
})
