import { existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { createTestServer } from '../../kernel/testing.ts'
import { company } from '../support/fixtures/company.ts'
import { staffPlugin } from '../support/test-plugins.ts'

t.test('a server of the test kit has model, entities and plugins that it is given', async t => {
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

t.test('several servers at a time have nothing in common', async t => {
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

t.test('a closed server leaves nothing behind, unless it is told where its store is', async t => {
  process.env.TMPDIR = t.testdir({})
  t.teardown(() => delete process.env.TMPDIR)
  const server = await createTestServer({ model: company.model })
  t.strictSame(readdirSync(tmpdir()).length, 1)
  await server.close()
  t.strictSame(readdirSync(tmpdir()), [])
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
  t.strictSame(readdirSync(tmpdir()), [])
})
