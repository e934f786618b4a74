import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { migrate } from '../../kernel/cli/migrate.ts'
import { company } from '../support/fixtures/company.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { type ServerOptions, startServer, type TestServer } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'

/** `$migrate`, an extension of Tesser, and the command beside it. */

const ADMINISTRATE = { auth: { guestsAdministrate: true } }

interface Model {
  dataClasses: { Company: { attributes: Record<string, object> } }
}

/** A server on the store and the model file of a folder. */
const serve = (t: Test, folder: string, { config, ...options }: ServerOptions = {}): Promise<TestServer> => {
  const file = join(folder, 'model.json')
  const model = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : company.model
  const rows = existsSync(file) ? {} : company.rows
  return startServer(t, { model, rows }, { folder, config: { ...ADMINISTRATE, ...config }, ...options })
}

function editModel(folder: string, edit: (model: Model) => void): void {
  const file = join(folder, 'model.json')
  const model = JSON.parse(readFileSync(file, 'utf8')) as Model
  edit(model)
  writeFileSync(file, JSON.stringify(model))
}

/** The state when nothing is running. */
async function ended(server: TestServer): Promise<Record<string, unknown>> {
  await until(async () => (await server.get('/$migrate')).json.state !== 'running')
  return (await server.get('/$migrate')).json as Record<string, unknown>
}

const addCity = ({ dataClasses }: Model): void => {
  dataClasses.Company.attributes.city = { type: 'string', indexed: true }
  dataClasses.Company.attributes.revenues = { type: 'string', indexed: true }
}

t.test('a running server prepares a changed model, and the next start takes it with later writes', async t => {
  const folder = temporaryFolder(t)
  const server = await serve(t, folder)
  t.same((await server.get('/$migrate')).json, { state: 'none' })
  editModel(folder, addCity)
  const begun = await server.post('/$migrate')
  t.equal(begun.status, 202)
  t.match(begun.json, { state: 'running', since: /Z$/, changes: [], step: null })
  t.match(await ended(server), { state: 'ready', changes: [/^the store changes: Company\.revenues/, /city/] })
  t.match((await server.get('//metrics', {})).text, /model_change_ready 1/)

  t.equal((await server.get('/Company(1)')).json.city, undefined, 'the server has the old model')
  await server.post('/Company?$method=update', [
    { name: 'Later & Co', revenues: 12.5 },
    { __KEY: 1, name: 'New name' },
  ])
  await server.post('/Company?$method=delete&$filter="ID=2"')
  const before = await server.get('/Company?$asArray=true&$orderby="ID"')
  await server.close()

  const next = await serve(t, folder)
  t.notOk(existsSync(join(folder, 'store', 'migrating')))
  const after = await next.get('/Company?$asArray=true&$orderby="ID"')
  t.same(
    after.json,
    before.json.map(({ revenues, ...row }: { revenues: number | null }) => ({
      ...row,
      revenues: revenues === null ? null : String(revenues),
      city: null,
    })),
  )
  t.equal((await next.get('/Company?$filter="revenues=\'12.5\'"')).json.__COUNT, 1)
  t.same((await next.get('/$migrate')).json, { state: 'none' })
})

t.test('a server with the old model goes on with the copy, and one with a third model leaves it out', async t => {
  const folder = temporaryFolder(t)
  const first = await serve(t, folder)
  const old = readFileSync(join(folder, 'model.json'))
  editModel(folder, addCity)
  await first.post('/$migrate')
  t.match(await ended(first), { state: 'ready' })
  await first.close()

  // The model file of the test server is written again at its start.
  const changed = readFileSync(join(folder, 'model.json'))
  writeFileSync(join(folder, 'model.json'), old)
  const second = await serve(t, folder)
  await until(async () => (await second.get('/$migrate')).json.state === 'none')
  t.notOk(existsSync(join(folder, 'store', 'migrating')), 'the file has the model of the server: the copy is removed')

  writeFileSync(join(folder, 'model.json'), changed)
  await second.post('/$migrate')
  t.match(await ended(second), { state: 'ready' })
  await second.close()
  editModel(folder, ({ dataClasses }) => {
    dataClasses.Company.attributes.note = { type: 'string' }
  })
  const third = await serve(t, folder)
  t.match((await third.get('/Company(1)')).json, { city: null, note: null })
  t.notOk(existsSync(join(folder, 'store', 'migrating')))
})

t.test('losses are refused with all of them listed, until they are allowed at the start too', async t => {
  const folder = temporaryFolder(t)
  const server = await serve(t, folder)
  editModel(folder, ({ dataClasses }) => {
    delete dataClasses.Company.attributes.founded
  })
  await server.post('/$migrate')
  t.match(await ended(server), { state: 'failed', error: /would lose data:\n {2}- Company\.founded is removed/ })
  t.notOk(existsSync(join(folder, 'store', 'migrating')))
  const lines: string[] = []
  const given = { url: server.url, allowLoss: false, cancel: false }
  t.notOk(await migrate(given, line => lines.push(line)))
  t.match(lines, [/^the change could not be prepared: the changed model would lose data/])

  t.ok(await migrate({ ...given, allowLoss: true }, line => lines.push(line)))
  t.match(lines.at(-1), /^the change is ready: restart the server with --allow-loss/)
  await server.close()
  await t.rejects(serve(t, folder), { name: 'MigrationError', message: /Company\.founded is removed/ })
  t.ok(existsSync(join(folder, 'store', 'migrating')))
  const next = await serve(t, folder, { config: { storage: { allowLoss: true } } })
  t.notOk('founded' in (await next.get('/Company(1)')).json)
  t.notOk(existsSync(join(folder, 'store', 'migrating')))
})

t.test('the copy is removed on request, and an unchanged model needs none', async t => {
  const folder = temporaryFolder(t)
  const server = await serve(t, folder)
  const lines: string[] = []
  const given = { url: server.url, allowLoss: false, cancel: false }
  t.ok(await migrate(given, line => lines.push(line)))
  t.match(lines, ['the server already uses the model of its file: there is nothing to prepare'])
  editModel(folder, addCity)
  t.ok(await migrate(given, line => lines.push(line)))
  t.ok(existsSync(join(folder, 'store', 'migrating', 'data.mdb')))
  t.ok(await migrate({ ...given, cancel: true }, line => lines.push(line)))
  t.notOk(existsSync(join(folder, 'store', 'migrating')))
  t.same((await server.get('/$migrate')).json, { state: 'none' })

  writeFileSync(join(folder, 'model.json'), '{"name":')
  await server.post('/$migrate')
  t.match(await ended(server), { state: 'failed', error: /model\.json/ })
  t.equal((await server.get('/$migrate/x')).json.__ERROR[0].errCode, 1806)
  t.equal((await server.post('/$migrate?$allowLoss=perhaps')).status, 400)
})

t.test('it is for administrators', async t => {
  const server = await startServer(t, company)
  for (const method of ['GET', 'POST', 'DELETE'] as const) {
    const { status, json } = await server.send(method, '/$migrate')
    t.match(
      { status, json },
      { status: 401, json: { __ERROR: [{ errCode: 1611, message: /^\$migrate is for administrators/ }] } },
    )
  }
})
