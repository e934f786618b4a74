/**
 * Files whose rows become entities in PostgreSQL. Skipped where PostgreSQL is not installed.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadConfig } from '../../config/load-config.ts'
import { load } from '../../kernel/cli/load.ts'
import { CINEMA_MODEL, CINEMA_SQL } from '../support/fixtures/cinema.ts'
import { startPostgres } from '../support/sql-servers.ts'
import { startServer, temporaryFolder, type TestServer, usualTransports } from '../support/test-server.ts'

const CSV = { 'content-type': 'text/csv' }

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
  await server.run(CINEMA_SQL)
  const connections = { cinema: { url: server.url } }
  const open = (t: Test): Promise<TestServer> =>
    startServer(
      t,
      { model: CINEMA_MODEL, rows: {} },
      {
        transport: usualTransports[0]!,
        config: { auth: { guestsAdministrate: true }, connections },
      },
    )
  const count = async (served: TestServer, filter: string): Promise<number> =>
    (await served.get(`/Film?$filter="${filter}"`)).json.__COUNT

  t.test('rows are saved in the database, and wrong ones are in the answer', async t => {
    const served = await open(t)
    const rows = Array.from({ length: 1_200 }, (_, i) => `Imported ${i},2,PG,${i % 100}`)
    const body = `title,languageID,rated,length\n${rows.join('\n')}\nWrong,99,PG,1\nWrong,1,XX,1\nWrong,1,PG,x\n`
    const { json } = await served.post('/$import/Film', body, CSV)
    t.match(json, { read: 1_203, inserted: 1_200, rejected: 3 })
    t.same(
      json.rejectedRows.map(({ line }: { line: number }) => line),
      [1_202, 1_203, 1_204],
    )
    t.equal(await count(served, "title = 'Imported@'"), 1_200)
    t.equal(await count(served, "title = 'Wrong'"), 0)
  })

  t.test('existing entities are refused, left or changed', async t => {
    const served = await open(t)
    const send = async (existing: string): Promise<unknown> =>
      (await served.post(`/$import/Language?$existing=${existing}`, 'ID,name\n3,Italian\n4,Deutsch\n', CSV)).json
    t.match(await send('reject'), { inserted: 1, rejected: 1, rejectedRows: [{ line: 2 }] })
    t.match(await send('skip'), { inserted: 0, skipped: 2 })
    t.match((await served.get('/Language(3)')).json, { name: 'Italiano' })
    t.match(await send('update'), { updated: 2 })
    t.match((await served.get('/Language(3)')).json, { name: 'Italian' })
  })

  t.test('related entities are found by other attributes', async t => {
    const served = await open(t)
    await served.post('/Language?$method=update', [{ name: 'Double' }, { name: 'double' }])
    const columns = encodeURIComponent(JSON.stringify({ language: { attribute: 'language', by: 'Language.name' } }))
    const body = 'title,language\nBy name,english\nBy name,Klingon\nBy name,Double\n'
    t.match((await served.post(`/$import/Film?$columns=${columns}`, body, CSV)).json, { inserted: 1, rejected: 2 })
    t.equal(await count(served, "title = 'By name' and language.name = 'English'"), 1)
  })

  t.test('tesser load saves rows in the database', async t => {
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'model.json'), JSON.stringify(CINEMA_MODEL))
    writeFileSync(
      join(folder, 'tesser.config.json'),
      JSON.stringify({ model: 'model.json', data: 'store', connections }),
    )
    const file = join(folder, 'actors.csv')
    writeFileSync(file, 'firstName,lastName\nHarry,Stanton\nYaphet,Kotto\n')
    const lines: string[] = []
    const output = { write: (line: string) => lines.push(line) } as unknown as NodeJS.WriteStream
    const config = loadConfig({ env: {}, flags: {}, cwd: folder })
    t.equal(await load(config, { file, into: 'Actor', update: false, errors: join(folder, 'errors') }, output), true)
    t.match(lines.join(''), '2 rows read: 2 inserted')
    const served = await open(t)
    t.match((await served.get('/Actor?$filter="lastName=Kotto"')).json, { __COUNT: 1 })
  })
}
