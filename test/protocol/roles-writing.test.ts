/** Data that may not be written stay as they are, and no plugin code runs for them. */
import t from 'tap'
import { hookedPlugin } from '../support/plugins/test-plugins.ts'
import { allowed, codes, employee, open } from './roles-server.ts'

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
