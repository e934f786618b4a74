import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { createTestServer } from '../../kernel/testing.ts'
import { company } from '../support/fixtures/company.ts'
import { staffPlugin } from '../support/plugins/test-plugins.ts'

t.test('a server of the test kit has the model, entities and plugins that it is given', async t => {
  const server = await createTestServer({
    model: company.model,
    data: company.rows,
    plugins: [{ plugin: pathToFileURL(staffPlugin), options: { bonus: 5 } }],
  })
  t.teardown(() => server.close())
  const read = await server.get('/rest/Employee(1)/lastName')
  t.match(read, { status: 200, json: { lastName: 'Lovelace' } })
  t.equal(read.headers.get('content-type'), 'application/json; charset=UTF-8')
  t.match(await server.post('/rest/Employee/bonus', []), { status: 200, json: { result: 5 } })
  t.match(await server.send('DELETE', '/rest/Employee(5)'), { status: 200 })
  t.match(await server.get('/rest/Employee(5)'), { status: 404 })
})

t.test('options of plugins refer to variables that the test gives', async t => {
  const start = (env?: Record<string, string>) =>
    createTestServer({
      model: company.model,
      data: company.rows,
      plugins: [{ plugin: pathToFileURL(staffPlugin), options: { bonus: { env: 'BONUS_OF_THE_TEST' } } }],
      env,
    })
  await t.rejects(start(), { message: /option bonus: the variable BONUS_OF_THE_TEST is not set/ })
  const server = await start({ BONUS_OF_THE_TEST: '7', TESSER_LOG_LEVEL: 'no level' })
  t.teardown(() => server.close())
  t.match(await server.post('/rest/Employee/bonus', []), { status: 200, json: { result: 7 } })
})

t.test('requests are sent as users with roles and privileges', async t => {
  const roles = {
    privileges: [{ privilege: 'viewStaff' }, { privilege: 'editStaff', includes: ['viewStaff'] }],
    roles: [{ role: 'clerk', privileges: ['viewStaff'] }],
    permissions: {
      allowed: [{ applyTo: 'Employee', type: 'dataclass', read: ['viewStaff'], update: ['editStaff'] }],
    },
  }
  const server = await createTestServer({
    model: company.model,
    data: company.rows,
    roles,
    users: { ada: { roles: ['clerk'] }, kurt: { privileges: ['editStaff'] } },
  })
  t.teardown(() => server.close())
  const change = { __KEY: '1', __STAMP: 1, salary: 1 }
  const [ada, kurt] = [server.as('ada'), server.as('kurt')]
  // Answered as a class that does not exist.
  t.equal((await server.get('/rest/Employee(1)')).status, 404)
  t.equal((await ada.get('/rest/Employee(1)')).status, 200)
  t.equal((await ada.post('/rest/Employee?$method=update', change)).status, 401)
  t.match((await ada.get('/rest/$directory/currentUser')).text, /"userName":"ada"/)
  t.equal((await kurt.post('/rest/Employee?$method=update', change)).status, 200)
  t.throws(() => server.as('grace'), { message: /no user grace; .* has ada, kurt/ })
})

t.test('users with roles or privileges that the roles do not declare are refused', async t => {
  const roles = { privileges: [{ privilege: 'viewStaff' }], roles: [{ role: 'clerk', privileges: ['viewStaff'] }] }
  const users = { ada: { roles: ['Clerk'] }, kurt: { roles: ['clrk'], privileges: ['editStaff'] } }
  await t.rejects(createTestServer({ model: company.model, roles, users }), {
    message: 'user kurt: there is no role "clrk"; did you mean "clerk"?\nuser kurt: there is no privilege "editStaff"',
  })
})

t.test('relative paths in the config are relative to the working directory', async t => {
  const here = relative(process.cwd(), t.testdir({}))
  const allowed = [{ applyTo: 'Company', type: 'dataclass', read: ['nobody'] }]
  const roles = { privileges: [{ privilege: 'nobody' }], permissions: { allowed } }
  writeFileSync(join(here, 'roles.json'), JSON.stringify(roles))
  const server = await createTestServer({
    model: company.model,
    data: company.rows,
    folder: here,
    config: {
      auth: { rolesFile: join(here, 'roles.json') },
      data: join(here, 'elsewhere'),
      plugins: [`./${relative(process.cwd(), staffPlugin)}`],
    },
  })
  t.teardown(() => server.close())
  t.equal((await server.get('/rest/Company')).status, 404, 'the file of roles')
  t.match(await server.post('/rest/Employee/add', [1, 2]), { status: 200, json: { result: 3 } }, 'a plugin')
  t.ok(existsSync(join(here, 'elsewhere')), 'the store')
})

t.test('concurrent servers share nothing', async t => {
  const servers = await Promise.all(
    ['Ada', 'Kurt'].map(name =>
      createTestServer({ model: company.model, data: { Company: [{ ID: 1, name }], Employee: [] } }),
    ),
  )
  t.teardown(() => Promise.all(servers.map(server => server.close())))
  const answers = await Promise.all(servers.map(server => server.get('/rest/Company(1)/name')))
  t.strictSame(
    answers.map(({ json }) => json.name),
    ['Ada', 'Kurt'],
  )
})

/** Folders that the test kit has made; Node.js and compilers put caches next to them. */
const ownFolders = (): string[] => readdirSync(tmpdir()).filter(name => name.startsWith('tesser-'))

t.test('a closed server leaves nothing behind, unless it is given a path for its store', async t => {
  process.env.TMPDIR = t.testdir({})
  t.teardown(() => delete process.env.TMPDIR)
  const server = await createTestServer({ model: company.model })
  t.equal(ownFolders().length, 1)
  await server.close()
  t.strictSame(ownFolders(), [])
  const folder = mkdtempSync(join(tmpdir(), 'kept-'))
  await (await createTestServer({ model: company.model, folder })).close()
  t.ok(existsSync(join(folder, 'store')))
})

t.test('entities that cannot be saved are refused with the reason, and nothing is left behind', async t => {
  process.env.TMPDIR = t.testdir({})
  t.teardown(() => delete process.env.TMPDIR)
  const data = { Company: [{ ID: 1, name: 'Acme' }, { ID: 'x' }] }
  await t.rejects(createTestServer({ model: company.model, data }), { message: /entity of Company was refused: .*"x"/ })
  await t.rejects(createTestServer({ model: company.model, plugins: ['./nowhere.ts'] }), { message: /nowhere\.ts/ })
  t.strictSame(ownFolders(), [])
})
