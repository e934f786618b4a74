import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { company } from '../support/fixtures/company.ts'
import { staffPlugin } from '../support/test-plugins.ts'
import { startServer, temporaryFolder, type TestAnswer, type TestServer, transports } from '../support/test-server.ts'

/** Who may do what: roles.json over HTTP. Source: protocol notes, 8.2 and 8.4. */

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
      `${name}: the same words as for a name that is none`,
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
