/** Rights: functions, logins, and files that change while the server runs. */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { company } from '../support/fixtures/company.ts'
import { guardedPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestAnswer } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'
import { allowed, codes, employee, open } from './roles-server.ts'

t.test('functions run with the rights of their callers, and with those that they promote', async t => {
  const roles = allowed(
    { applyTo: 'Employee.salary', type: 'attribute', read: ['hr'], update: ['hr'] },
    { applyTo: 'Company', type: 'dataclass', read: ['hr'] },
    employee('create', 'drop'),
    { applyTo: 'ds.promotedPayroll', type: 'method', promote: ['hr'] },
    { applyTo: 'ds.promotedFailure', type: 'method', promote: ['hr'] },
    { applyTo: 'Employee.raised', type: 'method', promote: ['hr'] },
    { applyTo: 'ds.hire', type: 'method', execute: ['boss'] },
    { applyTo: 'Employee.count', type: 'method', execute: ['hr'] },
    { applyTo: 'Vault', type: 'singleton', execute: ['hr'] },
    { applyTo: 'Vault.look', type: 'singletonMethod', execute: ['staff'] },
  )
  const server = await open(t, roles, ['hr'], { plugins: [guardedPlugin] })
  const call = (name: string, ...args: unknown[]) => server.post(`/$catalog/${name}`, args)
  t.same(codes(await call('payroll')), [1562])
  const [hidden, missing] = [await call('total', 'salary'), await call('total', 'nothing')]
  t.same(hidden.json, missing.json, 'a hidden attribute answers as one that does not exist')
  t.same([hidden.status, missing.status], [500, 500])
  t.match((await call('promotedPayroll')).json, { result: 330_000 })
  t.same(
    (await call('calls')).json.result,
    [null, 330_000, [90_000, true], null, false],
    'also a function that another one calls, while it runs',
  )
  t.match((await call('callsOneThatThrows')).json, { result: false })
  t.match((await call('selfPromoted')).json, { result: [330_000, null] })
  t.match(
    (await call('pay', 1)).json,
    { result: [null, 90_000, 'Lovelace 90000'] },
    'except for aliases and calculated attributes',
  )
  t.notMatch((await call('objects')).text, /"salary"/)
  t.same(codes(await call('companies')), [1557])
  t.notMatch((await call('companies')).text, /Company/)
  t.same((await call('employerOf', 1)).json, { result: null })
  t.match((await call('setPay', 1, 5)).json.result, { success: false, status: 1 })
  t.match((await call('dismiss', 6)).json.result, { success: false, status: 1 })
  t.same(codes(await call('hire', 'X')), [1561])
  t.same(codes(await server.post('/Employee/count')), [1561])
  t.equal((await server.post('/Employee/names')).status, 200)
  t.notMatch((await server.post('/Employee(1)/self')).text, /"salary"/)
  t.same(codes(await server.post('/$singleton/Vault/open')), [1561])
  t.same(
    codes(await server.as('POST', '/$singleton/Vault/look')),
    [1561],
    'a rule for one function replaces the rule for all',
  )
  for (const path of ['/Employee/coun', '/Employee(1)/count', '/$singleton/Vaul/look', '/$singleton/Vault/loo']) {
    const guest = await server.post(path)
    t.equal(guest.status, 404, path)
    t.notMatch(guest.text.replace(path, ''), /"count"; |did you mean "(?:count|Vault|look)"|called at/, path)
  }
  const unknown = (name: string) => server.post(`/$singleton/${name}/nothing`)
  t.equal((await unknown('Vault')).text.replaceAll('Vault', 'Cellar'), (await unknown('Cellar')).text)
  t.match((await server.as('POST', '/Employee/coun')).text, /did you mean \\"count\\"/)
  t.match((await server.as('POST', '/Employee(1)/count')).text, /\\"count\\" of Employee is called at Employee\/count/)
  t.match((await server.post('/Employee/self')).text, /\\"self\\" of Employee is called at Employee\(key\)\/self/)
  const catalog = (await server.get('/$catalog/$all')).text
  t.notMatch(catalog, /"count"|Vault/)
  t.match((await server.as('GET', '/$catalog/$all')).text, /"count".*|Vault/)
  t.match((await server.as('POST', '/$catalog/company', [1])).json, { name: 'Acme' })
  t.match((await server.as('POST', '/$catalog/setPay', [1, 5])).json.result, { success: true })
  const argument = { __ENTITY: true, __DATACLASS: 'Company', __KEY: 1 }
  t.equal((await server.post('/$catalog/pay', [argument])).status, 400)
})

t.test('where a login is required, guests may read the catalog and log in', async t => {
  const roles = { ...allowed({ applyTo: 'ds', type: 'datastore', execute: ['boss'] }), forceLogin: true }
  const server = await open(t, roles, ['hr'], { plugins: [guardedPlugin] })
  for (const [path, status] of [
    ['/$catalog', 200],
    ['/$catalog/$all', 200],
    ['/$catalog/Employee', 200],
    ['/$directory/currentUser', 200],
    ['//health', 200],
    ['/Employee', 401],
    ['/Nowhere', 401],
    ['/$info', 401],
  ] as const) {
    const answer = await server.get(path)
    t.equal(answer.status, status, path)
    if (status === 401) t.same(codes(answer), [1822], path)
  }
  const names = (await server.get('/$catalog/$all')).json.methods.map((each: { name: string }) => each.name)
  t.same(names, ['authentify'], 'the only function that a guest may call')
  t.same(codes(await server.post('/$catalog/payroll')), [1822])
  t.equal((await server.get('/$catalog/authentify?$params=["ada","right"]')).status, 405, 'not by a link')
  const failed = await server.post('/$catalog/authentify', ['ada', 'wrong'])
  t.same(failed.json, { result: false })
  const cookie = (answer: TestAnswer) => ({ cookie: String(answer.headers['set-cookie']).split(';')[0]! })
  t.equal((await server.get('/Employee', cookie(failed))).status, 401)
  const login = await server.post('/$catalog/authentify', ['ada', 'right'], cookie(failed))
  t.same(login.json, { result: true })
  t.equal((await server.get('/Employee', cookie(login))).status, 200)
  t.equal((await server.get('/Employee', cookie(failed))).status, 401, 'the id of the guest is worth nothing')
  t.equal((await server.as('GET', '/Employee')).status, 200)
  t.same(codes(await server.get('/$info', cookie(login))), [1611])
})

t.test('resources without a permission are closed where that is the default', async t => {
  const roles = { ...allowed(employee('read')), restrictedByDefault: true }
  const server = await open(t, roles, ['hr'], { plugins: [guardedPlugin] })
  t.equal((await server.get('/Employee')).status, 404)
  t.equal((await server.as('GET', '/Employee')).status, 200)
  t.equal((await server.as('GET', '/Company')).status, 404)
  t.notMatch((await server.as('GET', '/Employee(1)')).text, /"employer"/, 'nor are there relations to it')
  t.same(codes(await server.as('POST', '/Employee/count')), [1561])
  t.same(codes(await server.as('POST', '/Employee(1)?$method=delete')), [1560])
  t.same((await server.get('/$catalog')).json, { dataClass: [], dataClasses: [] })
})

t.test('roles are read again when the file changes; invalid ones leave the previous ones in force', async t => {
  const folder = temporaryFolder(t)
  const write = (roles: object) => writeFileSync(join(folder, 'roles.json'), JSON.stringify(roles))
  const server = await startServer(t, company, { folder, roles: allowed(employee('read')) })
  const status = async () => (await server.get('/Employee')).status
  const becomes = async (wanted: number): Promise<void> => {
    await until(async () => (await status()) === wanted)
    t.equal(await status(), wanted)
  }
  t.equal(await status(), 404)
  write(allowed())
  await becomes(200)
  write(allowed({ applyTo: 'Nowhere', type: 'dataclass', read: ['hr'] }))
  write(allowed(employee('read')))
  await becomes(404)
})

t.test(
  'files of roles and users are read again when a symbolic link in their path changes, as when Kubernetes updates volumes',
  async t => {
    const folder = temporaryFolder(t)
    const key = createKey()
    const volume = (name: string, roles: object, keys: object[]): void => {
      mkdirSync(join(folder, name))
      writeFileSync(join(folder, name, 'roles.json'), JSON.stringify(roles))
      writeFileSync(join(folder, name, 'tesser.directory.json'), JSON.stringify({ users: [], keys }))
    }
    const point = (name: string, target: string): void => {
      symlinkSync(target, join(folder, 'new-link'))
      renameSync(join(folder, 'new-link'), join(folder, name))
    }
    volume('1', allowed(), [])
    volume('2', allowed(employee('read')), [{ name: 'nightly', hash: hashKey(key), privileges: ['hr'] }])
    point('..data', '1')
    for (const name of ['roles.json', 'tesser.directory.json']) point(name, `..data/${name}`)
    const server = await startServer(t, company, { folder })
    const status = async (headers = {}) => (await server.get('/Employee', headers)).status
    t.equal(await status(), 200)
    point('..data', '2')
    const asNightly = () => status({ authorization: `Bearer ${key}` })
    await until(async () => (await status()) === 404 && (await asNightly()) === 200)
    t.equal(await status(), 404, 'roles')
    t.equal(await asNightly(), 200, 'keys')
  },
)
