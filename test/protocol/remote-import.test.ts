/**
 * Files whose rows become entities in PostgreSQL. Skipped where PostgreSQL is not installed.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadConfig } from '../../config/load-config.ts'
import { exportEntities } from '../../kernel/cli/export.ts'
import { importFile } from '../../kernel/cli/import.ts'
import { load } from '../../kernel/cli/load.ts'
import { CINEMA_MODEL, CINEMA_SQL } from '../support/fixtures/cinema.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { cinemaPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestServer, usualTransports } from '../support/servers/test-server.ts'

/** The database makes keys and `double`; `seat` cannot be null. */
const TICKET_SQL = `
CREATE TABLE ticket (
  ticket_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, seat text NOT NULL, price int,
  double int GENERATED ALWAYS AS (price * 2) STORED, film_id int REFERENCES film
);
INSERT INTO ticket (seat, price, film_id) VALUES ('A1', 10, 1), ('A2', 12, 3);
CREATE TABLE hall (name text PRIMARY KEY, seats int NOT NULL, double int GENERATED ALWAYS AS (seats * 2) STORED);
INSERT INTO hall (name, seats) VALUES ('Große', 100);
`
const MODEL = {
  ...CINEMA_MODEL,
  dataClasses: {
    ...CINEMA_MODEL.dataClasses,
    Ticket: {
      storage: { postgres: 'cinema', table: 'ticket' },
      key: 'ID',
      attributes: {
        ID: { type: 'long', column: 'ticket_id', readOnly: true },
        seat: { type: 'string', mandatory: true },
        price: { type: 'long' },
        double: { type: 'long', readOnly: true },
        filmID: { type: 'long', column: 'film_id' },
        film: { kind: 'relatedEntity', type: 'Film', foreignKey: 'filmID' },
        filmTitle: { kind: 'alias', path: 'film.title' },
      },
    },
    Hall: {
      storage: { postgres: 'cinema', table: 'hall' },
      key: 'name',
      attributes: {
        name: { type: 'string' },
        seats: { type: 'long', mandatory: true },
        double: { type: 'long', readOnly: true },
      },
    },
  },
}

const CSV = { 'content-type': 'text/csv' }

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
  await server.run(CINEMA_SQL + TICKET_SQL)
  const connections = { cinema: { url: server.url } }
  const open = (t: Test, plugins: readonly string[] = []): Promise<TestServer> =>
    startServer(
      t,
      { model: MODEL, rows: {} },
      {
        transport: usualTransports[0]!,
        config: { auth: { guestsAdministrate: true }, connections, plugins },
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

  const columns = 'ID,seat,price,double,filmID,filmTitle\n'
  /** Each sends rows, some of whose keys exist, to the same tables. */
  const cases = [
    { name: 'some attributes of an entity', into: 'Ticket', body: 'ID,price\n1,11\n', counts: { updated: 1 } },
    {
      name: 'rows as they are exported, with generated columns and aliases',
      into: 'Ticket',
      body: `${columns}1,B1,11,22,1,Alien\n2,B2,12,24,3,La strada\n`,
      counts: { updated: 2 },
    },
    {
      name: 'the same, left as they are',
      into: 'Ticket',
      existing: 'skip',
      body: `${columns}1,C1,11,22,1,Alien\n2,C2,12,24,3,La strada\n`,
      counts: { skipped: 2 },
    },
    {
      name: 'a new row among them',
      into: 'Ticket',
      body: 'ID,seat,price\n1,D1,13\n,D3,14\n',
      counts: { updated: 1, inserted: 1 },
    },
    {
      name: 'rows with a changed alias, a changed generated column, a key of their own, and none of mandatory values',
      into: 'Ticket',
      body: `${columns}1,E1,13,26,1,Aliens\n2,E2,12,25,3,La strada\n99,E9,1,,,\n,,1,,,\n`,
      counts: { rejected: 4 },
    },
    {
      name: 'rows with one new key, of which the last one counts',
      into: 'Hall',
      body: 'name,seats\nNew,1\nNew,3\nNew,2\n',
      counts: { inserted: 1, updated: 2 },
    },
    {
      name: 'rows with one new key that lack values',
      into: 'Hall',
      body: '{"name":"Next","seats":1}\n{"name":"Next"}\n',
      counts: { inserted: 1, updated: 1 },
    },
    {
      name: 'rows with keys in other spellings',
      into: 'Hall',
      body: 'name,seats\ngroße,7\nGrosse,8\nGroße,120\n',
      counts: { inserted: 2, updated: 1 },
    },
    {
      name: 'rows that are only tried',
      into: 'Hall',
      trial: true,
      body: 'name,seats\nGroße,1\nTried,1\n',
      counts: { inserted: 1, updated: 1 },
    },
  ]
  t.test('rows whose keys exist are not checked as new entities', async t => {
    const served = await open(t)
    for (const { name, into, body, counts, existing = 'update', trial = false } of cases) {
      const type = body.startsWith('{') ? { 'content-type': 'application/x-ndjson' } : CSV
      const { json } = await served.post(`/$import/${into}?$existing=${existing}&$trial=${trial}`, body, type)
      t.match(json, { inserted: 0, updated: 0, skipped: 0, rejected: 0, ...counts }, name)
    }
    const rows = async (path: string): Promise<unknown[]> => (await served.get(path)).json.__ENTITIES
    t.match(await rows('/Ticket?$orderby="ID"'), [
      { seat: 'D1', price: 13, double: 26, filmTitle: 'Alien' },
      { seat: 'B2', price: 12, double: 24, filmTitle: 'La strada' },
      { seat: 'D3', price: 14, double: 28, filmTitle: null },
    ])
    t.match(await rows('/Hall?$orderby="seats"'), [
      { name: 'Next', seats: 1 },
      { name: 'New', seats: 2 },
      { name: 'große', seats: 7 },
      { name: 'Grosse', seats: 8 },
      { name: 'Große', seats: 120 },
    ])
  })

  t.test('calculated attributes stay as they were read, and events see the rows', async t => {
    const served = await open(t, [cinemaPlugin])
    const send = async (existing: string, body: string): Promise<unknown> =>
      (await served.post(`/$import/Film?$existing=${existing}`, `ID,title,label,languageName\n${body}`, CSV)).json
    t.match(await send('skip', '1,Aliens,Alien (English),English\n'), { skipped: 1, rejected: 0 })
    t.match(await send('update', '1,Aliens,Alien (English),English\n2,x,Other,Français\n3,refused,,\n'), {
      updated: 1,
      rejectedRows: [{ line: 3 }, { line: 4 }],
    })
    t.match((await served.get('/Film(1)')).json, { title: 'Aliens', label: 'Aliens (English)' })
  })

  t.test('exported files are imported again', async t => {
    const served = await open(t, [cinemaPlugin])
    const folder = temporaryFolder(t)
    // An import sees the language of film 3, which is hidden from the export.
    for (const [dataClass, filter] of [['Ticket'], ['Part'], ['Film', 'ID < 3']] as const)
      for (const format of ['csv', 'ndjson']) {
        const file = join(folder, `${dataClass}.${format}`)
        await exportEntities({ dataClass, out: file, url: served.url, filter }, process.stdout)
        for (const existing of ['update', 'skip'] as const) {
          const lines: string[] = []
          const given = { file, into: dataClass, url: served.url, existing, trial: false, errors: `${file}.errors` }
          const isWhole = await importFile(given, line => lines.push(line))
          t.equal(isWhole, true, `${dataClass}.${format} ${existing}: ${lines.join(' ')}`)
        }
      }
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
    writeFileSync(join(folder, 'model.json'), JSON.stringify(MODEL))
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
    writeFileSync(file, 'ID,price,double,filmTitle\n2,20,24,La strada\n')
    t.equal(await load(config, { file, into: 'Ticket', update: true, errors: join(folder, 'errors') }, output), true)
    t.match(lines.join(''), '1 row read: 0 inserted, 1 updated')
  })
}
