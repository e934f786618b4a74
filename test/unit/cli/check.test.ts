import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadConfig } from '../../../config/load-config.ts'
import { check } from '../../../kernel/cli/check.ts'
import { startPostgres } from '../../support/databases/sql-servers.ts'
import { ProgressDisplay } from '../../../kernel/cli/progress.ts'
import { company } from '../../support/fixtures/company.ts'
import { temporaryFolder } from '../../support/base/temporary-folder.ts'
import { startServer } from '../../support/servers/test-server.ts'

t.test('tesser check reports its progress for each dataclass', async t => {
  const folder = temporaryFolder(t)
  const server = await startServer(t, company, { folder })
  await server.close()
  const config = { model: 'model.json', data: 'store' }
  writeFileSync(join(folder, 'model.json'), JSON.stringify(company.model))
  writeFileSync(join(folder, 'tesser.config.json'), JSON.stringify(config))
  const told = new Map<string, [done: number, total: number]>()
  const progress = {
    show: (what: string, done: number, total: number) => told.set(what, [done, total]),
    stop() {},
  } as unknown as ProgressDisplay
  const problems: string[] = []
  for await (const problem of check(loadConfig({ env: {}, flags: {}, cwd: folder }), { progress }))
    problems.push(problem)
  t.strictSame(problems, [])
  t.same([...told.keys()].sort(), ['City', 'Company', 'Employee', 'Hidden', 'Tag'])
  t.same(told.get('Employee'), [6, 6])
})

t.test('what guests may do only by default is a warning, not a problem', async t => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'model.json'), JSON.stringify(company.model))
  writeFileSync(join(folder, 'roles.json'), JSON.stringify({ privileges: [{ privilege: 'hr' }] }))
  writeFileSync(join(folder, 'tesser.config.json'), JSON.stringify({ model: 'model.json', data: 'store' }))
  const config = loadConfig({ env: {}, flags: {}, cwd: folder })
  const warnings: string[] = []
  for await (const problem of check(config, { onWarning: text => warnings.push(text) })) t.fail(problem)
  t.equal(warnings.length, 1)
  t.match(warnings[0], /^warning: .*roles\.json: guests may read, create, change, delete .*Employee.* "guest"/)
})

const remote = (table: string, more: object = {}) => ({
  storage: { postgres: 'main', schema: 'public', table, ...more },
  key: 'ID',
  attributes: { ID: { type: 'long' }, name: { type: 'string', mandatory: true } },
})

/** Problems and plans of a model whose entities are in a database. */
async function checkRemote(t: Test, url: string, dataClasses: object): Promise<string[]> {
  const folder = temporaryFolder(t)
  const connections = { main: { url } }
  writeFileSync(join(folder, 'model.json'), JSON.stringify({ name: 'shop', dataClasses }))
  writeFileSync(join(folder, 'tesser.config.json'), JSON.stringify({ model: 'model.json', data: 'store', connections }))
  const lines: string[] = []
  const config = loadConfig({ env: {}, flags: {}, cwd: folder })
  for await (const problem of check(config, { onPlan: text => lines.push(text) })) lines.push(problem)
  return lines.filter(line => !line.includes('a new one is made'))
}

t.test('a database that does not answer, and one that the config file does not have, are problems', async t => {
  const [away] = await checkRemote(t, 'postgres://me@127.0.0.1:1/shop', { Film: remote('film') })
  t.match(away, /^connections: database main does not answer: .*ECONNREFUSED/)
  const [unknown] = await checkRemote(t, 'postgres://me@127.0.0.1:1/shop', {
    Film: remote('film', { postgres: 'mani' }),
  })
  t.match(unknown, /model\.json: dataClasses\.Film\.storage\.postgres: there is no connection "mani".*"main"/)
})

t.test('tables are compared with the model, and those that the server would make are shown', async t => {
  const server = await startPostgres()
  if (typeof server === 'string') return t.pass(server)
  t.teardown(() => server.stop())
  await server.run('CREATE TABLE film ("ID" integer PRIMARY KEY, name text); CREATE TABLE "Bad" ("ID" integer)')
  const found = await checkRemote(t, server.url, {
    Film: remote('film'),
    Bad: remote('Bad'),
    Gone: remote('gone'),
    Own: remote('own', { owned: true }),
  })
  t.same(found, [
    'connections: Bad cannot be used: "public"."Bad" has no column "name"',
    'connections: Gone cannot be used: there is no table or view "public"."gone", or this role may not see it',
    'a start would change databases: the table of Own in the database "main" would be made or changed',
  ])
  await t.rejects(server.run('TABLE own'), { code: '42P01' })
})

t.test('without a terminal, progress is a line after five seconds, then every ten', t => {
  const { now } = performance
  t.teardown(() => {
    performance.now = now
  })
  let seconds = 0
  performance.now = () => 1e6 + seconds * 1000
  const lines: string[] = []
  const display = new ProgressDisplay({
    isTTY: false,
    write: (line: string) => lines.push(`${seconds}: ${line}`),
  } as unknown as NodeJS.WriteStream)
  for (; seconds < 30; seconds++) display.show('Person', seconds * 10, 300)
  display.stop()
  t.same(lines, [
    '5: Person: 50 of 300 (16 %), about 25 s left\n',
    '15: Person: 150 of 300 (50 %), about 15 s left\n',
    '25: Person: 250 of 300 (83 %), about 5 s left\n',
  ])
  t.end()
})
