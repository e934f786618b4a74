import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { company } from '../support/fixtures/company.ts'
import { guardedPlugin, hookedPlugin, staffPlugin } from '../support/plugins/test-plugins.ts'
import {
  startServer,
  temporaryFolder,
  type TestAnswer,
  type TestServer,
  transports,
} from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'

/** Rights: roles.json over HTTP. Source: protocol notes, 8.2 and 8.4. */

const key = createKey()

/** A server whose one API key has these privileges. */
async function open(
  t: Test,
  roles: object,
  privileges: readonly string[],
  config: Record<string, unknown> = { plugins: [staffPlugin] },
): Promise<
  TestServer & { as: (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) => Promise<TestAnswer> }
> {
  const folder = temporaryFolder(t)
  const directory = { keys: [{ name: 'tests', hash: hashKey(key), privileges }] }
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify(directory))
  const server = await startServer(t, company, { folder, roles, config, transport: transports.at(-1)! })
  const headers = { authorization: `Bearer ${key}` }
  return { ...server, as: (method, path, body) => server.send(method, path, body, headers) }
}

const NAMES = ['hr', 'boss', 'staff'].map(privilege => ({ privilege }))
const allowed = (...permissions: object[]) => ({ privileges: NAMES, permissions: { allowed: permissions } })
const codes = ({ json }: TestAnswer): number[] => json.__ERROR?.map((error: { errCode: number }) => error.errCode)

t.test('an attribute that may not be read does not exist, in whatever way it is named', async t => {
  const salary = { applyTo: 'Employee.salary', type: 'attribute', read: ['hr'] }
  const pay = { applyTo: 'Employee.pay', type: 'attribute', read: ['hr'] }
  const server = await open(t, allowed(salary, pay), ['hr'])
  for (const [name, path] of [
    ['a filter', '/Employee?$filter="salary > 1"'],
    ['a filter over a relation', '/Company?$filter="staff.salary > 1"'],
    ['a placeholder for a path', '/Employee?$filter=":1 > 1"&$params=["salary"]'],
    ['an order', '/Employee?$orderby=salary'],
    ['an order over a relation', '/Employee?$orderby=manager.salary'],
    ['an order inside a filter', '/Employee?$filter="ID > 1 order by salary"'],
    ['a list in the path', '/Employee/lastName,salary'],
    ['$attributes', '/Employee?$attributes=salary'],
    ['$attributes over a relation', '/Company?$attributes=staff.salary'],
    ['$compute', '/Employee/salary?$compute=sum'],
    ['$distinct', '/Employee/salary?$distinct=true'],
    ['an address', '/Employee:salary(90000)'],
    ['$format=looker', '/Employee/salary?$format=looker'],
    ['an alias', '/Employee/pay'],
  ] as const) {
    const [guest, hr] = [await server.get(path), await server.as('GET', path)]
    t.equal(hr.status, 200, `${name}: ${hr.text.slice(0, 300)}`)
    const unknown = await server.get(path.replaceAll(/salary|pay/g, 'zzzzzz'))
    t.equal(guest.status, 404, `${name}: ${guest.text.slice(0, 300)}`)
    t.equal(
      guest.text.replaceAll(/salary|pay/g, 'zzzzzz'),
      unknown.text,
      `${name}: the same words as for a name that does not exist`,
    )
  }
  for (const path of [
    '/Employee(1)',
    '/Employee',
    '/Company?$expand=staff',
    '/Employee?$asArray=true',
    '/Employee/*',
  ]) {
    t.notMatch((await server.get(path)).text, /salary|"pay"/, path)
    t.match((await server.as('GET', path)).text, /salary/, path)
  }
  for (const path of ['/$catalog/Employee', '/$catalog/$all']) {
    t.notMatch((await server.get(path)).text, /salary|"pay"/, path)
    t.match((await server.as('GET', path)).text, /salary/, path)
  }
  t.notMatch((await server.get('/Employee?$filter="salari > 1"')).text, /did you mean/)
})

t.test('a dataclass that may not be read does not exist, and neither do relations to it', async t => {
  const server = await open(t, allowed({ applyTo: 'Company', type: 'dataclass', read: ['hr'] }), ['hr'])
  for (const path of [
    '/Company',
    '/Company(1)',
    '/Company/name?$compute=count',
    '/Company/$entityset/00000000000000000000000000000000',
    '/$catalog/Company',
    '/Company(1)/staff?$expand=staff&$method=subentityset',
    '/Company?$method=entityset',
  ]) {
    const guest = await server.get(path)
    t.equal(
      guest.text.replaceAll('Company', 'Zzzzzzz'),
      (await server.get(path.replace('Company', 'Zzzzzzz'))).text,
      path,
    )
    t.equal(guest.status, 404, path)
  }
  t.same(codes(await server.get('/Employee?$expand=employer')), [1500, 1805])
  t.same(codes(await server.get('/Employee?$filter="employer.name = Acme"')), [1500])
  t.notMatch((await server.get('/Employee(1)')).text, /"employer"/)
  t.match(
    (await server.get('/Employee(1)')).json,
    { employerName: 'Acme' },
    'an alias can be read whatever it leads to',
  )
  t.same(
    (await server.get('/$catalog')).json.dataClass.map(({ name }: { name: string }) => name),
    ['Employee', 'Tag', 'City'],
  )
  t.match((await server.as('GET', '/Employee(1)?$expand=employer')).json, { employer: { name: 'Acme' } })
})

t.test('the catalog does not name what an alias leads to, when that may not be read', async t => {
  const salary = { applyTo: 'Employee.salary', type: 'attribute', read: ['hr'] }
  const company = { applyTo: 'Company', type: 'dataclass', read: ['hr'] }
  const server = await open(t, allowed(salary, company), ['hr'])
  for (const path of ['/$catalog/Employee', '/$catalog/$all']) {
    const [guest, hr] = [await server.get(path), await server.as('GET', path)]
    t.match(guest.text, /"name":"pay"/, path)
    t.notMatch(guest.text, /salary|"employer"|employer\./, path)
    t.match(hr.text, /"path":"salary"/, path)
    t.match(hr.text, /"path":"employer.name"/, path)
  }
})

t.test('an error of a save does not name what an alias leads to, when that may not be read', async t => {
  const server = await open(t, allowed({ applyTo: 'Company', type: 'dataclass', read: ['hr'] }), ['hr'])
  const change = ['POST', '/Employee?$method=update', { __KEY: '1', __STAMP: 1, employerName: 'Other' }] as const
  const [guest, hr] = [await server.send(...change), await server.as(...change)]
  t.same([codes(guest), codes(hr)], [codes(hr), codes(hr)])
  t.match(hr.text, /employerName.*it is an alias, change employer\.name/)
  t.match(guest.text, /employerName.*it is an alias/)
  t.notMatch(guest.text, /employer\.name|employer\b/)
})

t.test('a description of a query does not name what an alias leads to, when that may not be read', async t => {
  const salary = { applyTo: 'Employee.salary', type: 'attribute', read: ['hr'] }
  const company = { applyTo: 'Company', type: 'dataclass', read: ['hr'] }
  const server = await open(t, allowed(salary, company), ['hr'])
  const path = '/Employee?$filter="pay > 50000 and employerName = Acme"&$queryplan=true&$querypath=true'
  const [guest, hr] = [await server.get(path), await server.as('GET', path)]
  t.equal(guest.json.__COUNT, hr.json.__COUNT)
  t.match(JSON.stringify([hr.json.__queryPlan, hr.json.__queryPath]), /Join on Table : Company.*Employee\.salary/)
  const told = JSON.stringify([guest.json.__queryPlan, guest.json.__queryPath])
  t.notMatch(told, /salary|Company|employer/)
  t.match(told, /"item":"not shown","subquery":\[\{"item":"not shown"/)
})

const employee = (...actions: string[]) => ({
  applyTo: 'Employee',
  type: 'dataclass',
  ...Object.fromEntries(actions.map(action => [action, ['hr']])),
})

t.test('what may not be created, changed or deleted stays as it is, with 401 and its code', async t => {
  const server = await open(
    t,
    allowed(
      employee('create', 'update', 'drop'),
      { applyTo: 'Company.revenues', type: 'attribute', update: ['boss'], create: ['boss'], drop: ['boss'] },
      { applyTo: 'Company.founded', type: 'attribute', read: ['boss'] },
    ),
    ['hr'],
  )
  const update = (values: object) => server.post('/Employee?$method=update', values)
  const changed = await update({ __KEY: '1', __STAMP: 1, salary: 1 })
  t.equal(changed.status, 401)
  t.same(codes(changed), [1558, 1517])
  t.match(changed.json, { __STATUS: { status: 1, statusText: 'Permission Error', success: false }, salary: 90_000 })
  t.same(codes(await update({ lastName: 'New' })), [1559, 1534])
  for (const method of ['update', 'validate']) {
    const many = await server.post(`/Employee?$method=${method}`, `[${'{"name":1},'.repeat(50_000)}{}]`)
    t.same([many.status, codes(many)], [401, [1559, 1558]], 'nothing of it may be saved, so it is not examined')
  }
  t.same(codes(await server.post('/Employee(1)?$method=delete')), [1560])
  t.same(codes(await server.post('/Employee?$method=delete')), [1560])
  t.same(codes(await server.post('/Employee(1)?$lock=true')), [1558], 'a lock requires the right to change')
  t.same(codes(await server.send('DELETE', '/Employee(1)/photo?$imageformat=best')), [1558, 1517])
  t.same(codes(await update({ __KEY: '999', __STAMP: 1, salary: 1 })), [1543, 1517])
  const both = await server.post('/Employee?$method=update&$atomic=true', [
    { lastName: 'A' },
    { __KEY: '1', __STAMP: 1 },
  ])
  t.same(
    both.json.__ENTITIES.map((each: { __STATUS: { status: number } }) => each.__STATUS.status),
    [1, 1],
  )
  t.equal((await server.get('/Employee?$compute=count')).json, 6)

  const company = (values: object) => server.post('/Company?$method=update', { __KEY: '2', __STAMP: 1, ...values })
  const denied = await company({ revenues: 5 })
  t.same(codes(denied), [1608, 1517])
  t.equal(denied.json.__ERROR[0].attribute, 'revenues')
  t.equal((await company({ revenues: 20_000 })).status, 200, 'an unchanged value is not a change')
  t.same(codes(await company({ founded: '2001-02-28' })), [1500, 1517], 'an unreadable attribute cannot be named')
  t.same(codes(await server.post('/Company?$method=update', { name: 'X', revenues: 1 })), [1608, 1534])
  t.equal((await server.post('/Company?$method=update', { name: 'X', revenues: null })).status, 200)
  t.same(codes(await server.post('/Company(4)?$method=delete')), [1560, 1518])
  const named = async () => (await server.as('GET', '/Company?$filter="name = X"')).json.__COUNT
  t.equal(await named(), 1)
  t.match(await server.post('/Company?$filter="name = X"&$method=delete'), { status: 200 })
  t.equal(await named(), 0, 'deletable entities are gone')

  t.match((await server.as('POST', '/Employee?$method=update', { __KEY: '1', __STAMP: 1, salary: 1 })).json, {
    salary: 1,
  })
  t.match(await server.as('POST', '/Employee(6)?$method=delete'), { status: 200 })
  t.equal((await server.as('GET', '/Employee(6)')).status, 404, 'deletable entities are gone')
})

t.test('no plugin code runs on entities that a client may not write', async t => {
  const lastName = { applyTo: 'Employee.lastName', type: 'attribute', update: ['boss'], create: ['boss'] }
  const fullName = { ...lastName, applyTo: 'Employee.fullName' }
  const salary = { ...lastName, applyTo: 'Employee.salary', update: ['hr'] }
  const config = { plugins: [hookedPlugin], functions: { threads: 1 } }
  const server = await open(t, allowed(employee('create'), lastName, fullName, salary), ['hr', 'boss'], config)
  const update = (values: object) => server.post('/Employee?$method=update', { __KEY: '2', __STAMP: 1, ...values })
  t.equal((await server.post('/City(constructed)?$method=delete')).status, 200, 'by the entities of the fixture')
  const failing = await update({ firstName: 'throws' })
  t.equal(failing.status, 200, 'only the last name makes the event fail')
  const { __STAMP } = failing.json
  for (const values of [{ lastName: 'throws' }, { fullName: 'Kurt throws' }, { salary: 5, lastName: 'mild' }]) {
    const answer = await update({ __STAMP, ...values })
    t.equal(answer.status, 401, JSON.stringify(values))
    t.same(
      codes(answer).filter(code => code !== 1608),
      [1517],
      'the refusal, and no error of an event',
    )
  }
  for (const method of ['update', 'validate', 'update&$refresh=true']) {
    const created = await server.post(`/Employee?$method=${method}`, [{ notes: 'fails' }, { __KEY: '999', __STAMP: 1 }])
    const first = created.json.__ENTITIES[0].__ERROR.map((error: { errCode: number }) => error.errCode)
    t.same(first, [1559, 1534], method)
  }
  t.match((await server.get('/Employee(2)')).json, { lastName: 'Gödel', __STAMP })
  t.equal((await server.get('/City(constructed)')).status, 404, 'not even a constructor')
  t.match(await server.as('POST', '/Employee?$method=update', { notes: 'fails' }), { status: 500 })
  t.equal((await server.get('/City(constructed)')).status, 404, 'nothing that it writes stays of a save that fails')
  t.match(await server.as('POST', '/Employee?$method=update', { lastName: 'New' }), { status: 200 })
  t.equal((await server.get('/City(constructed)')).status, 200, 'it runs where entities may be created')
})

t.test('no plugin code runs on entities that a client may not see', async t => {
  const config = { plugins: [hookedPlugin], functions: { threads: 1 } }
  const server = await open(t, allowed(employee('read')), ['hr'], config)
  const countLog = async () => (await server.get('/City?$compute=count')).json
  const before = await countLog()
  for (const lastName of ['throws', 'log hidden']) {
    const update = (key: string) => server.post('/Employee?$method=update', { __KEY: key, __STAMP: 1, lastName })
    const [hidden, missing] = [await update('2'), await update('9')]
    t.equal(hidden.status, 404)
    t.equal(hidden.text.replaceAll('2', '9'), missing.text.replaceAll('2', '9'), lastName)
  }
  t.equal(await countLog(), before, 'nor an event after it')
  const seen = { __KEY: '2', __STAMP: 1, lastName: 'log seen' }
  t.equal((await server.as('POST', '/Employee?$method=update', seen)).status, 200)
  t.equal((await server.get('/City(success%20log%20seen)')).status, 200)
})

t.test('a missing or invalid value is not named if its attribute may not be read', async t => {
  const server = await open(t, allowed({ applyTo: 'Company.name', type: 'attribute', read: ['hr'] }), ['hr'])
  const saved = await server.post('/Company?$method=update', { code: 'FR/9' })
  t.same(codes(saved), [1570, 1534])
  t.notMatch(saved.text, /name/)
})

t.test('creating does not require read permission, and reveals nothing about other entities', async t => {
  const server = await open(t, allowed({ applyTo: 'Company', type: 'dataclass', read: ['hr'] }), ['hr'])
  const saved = await server.post('/Company?$method=update', { name: 'Drop' })
  t.equal(saved.status, 200)
  t.same(Object.keys(saved.json), ['__KEY', '__STAMP', 'uri', '__TIMESTAMP'])
  const [taken, free] = [
    await server.post('/Company?$method=update', { name: 'Drop', code: 'FR/1' }),
    await server.post('/Company?$method=update', { name: 'Drop', code: 'FR/9' }),
  ]
  t.equal(taken.text, free.text, 'a unique value is refused whether it is taken or not')
  t.same(codes(taken), [1500, 1534])
  const [known, unknown] = [
    await server.post('/Company?$method=update', { __KEY: '1', __STAMP: 1 }),
    await server.post('/Company?$method=update', { __KEY: '8', __STAMP: 1 }),
  ]
  t.equal(known.text.replaceAll('1', '8'), unknown.text.replaceAll('1', '8'), 'nor does a key')
  const employee = (employerID: number) => server.post('/Employee?$method=update', { lastName: 'X', employerID })
  t.same(codes(await employee(1)), [1608, 1534])
  t.same(codes(await employee(99)), [1608, 1534], 'a foreign key reveals nothing')
  t.match((await server.as('GET', '/Company?$filter="name = Drop"')).json, { __COUNT: 1 })
})

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
