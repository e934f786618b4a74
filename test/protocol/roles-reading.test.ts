/** Data that may not be read do not exist for a client, in whatever way they are named. */
import t from 'tap'
import { allowed, codes, open } from './roles-server.ts'

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
