/** `tesser attach`: the files that it writes, and what it refuses. */
import { existsSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join, relative, resolve } from 'node:path'
import t from 'tap'
import { attachDatabase, type AttachArguments } from '../../../kernel/cli/attach-database/attach-database.ts'
import { startPostgres } from '../../support/databases/sql-servers.ts'
import { attach, attachAsItIs, EMPTY } from './attached.ts'

interface Refusal {
  readonly name: string
  readonly options: Partial<AttachArguments>
  readonly says: string
}

/** A table with a key, one without, a view, and a column of JSON. */
const SHOP = `CREATE TABLE film (id int PRIMARY KEY, data jsonb); CREATE TABLE log (line int, data jsonb); CREATE VIEW films AS SELECT id FROM film`

const REFUSALS: readonly Refusal[] = [
  {
    name: '--only',
    options: { only: ['fillm'] },
    says: '--only fillm: ADDRESS has no table or view of that name that this user may read; did you mean "film"?',
  },
  {
    name: '--table',
    options: { names: { flim: 'Film' } },
    says: '--table flim: ADDRESS has no table or view of that name that this user may read; did you mean "film"?',
  },
  {
    name: '--table with a schema',
    options: { names: { 'public.film': 'Film' } },
    says: '--table public.film: ADDRESS has no table or view of that name that this user may read; did you mean "film"?',
  },
  {
    name: '--key of a view',
    options: { keys: { film_list: 'id' } },
    says: '--key film_list: ADDRESS has no table or view of that name that this user may read',
  },
  {
    name: '--key of no column',
    options: { keys: { log: 'lines' } },
    says: '--key log=lines: there is no column "lines"; did you mean "line"?',
  },
  {
    name: '--key of several',
    options: { keys: { log: 'line,at' } },
    says: '--key log=line,at: there is no column "at"',
  },
  {
    name: '--key of JSON',
    options: { keys: { log: 'data' } },
    says: '--key log=data: data is of the type jsonb, which cannot be a key',
  },
  {
    name: '--schema',
    options: { schemas: ['publik'] },
    says: '--schema publik: ADDRESS has no tables there; did you mean "public"?',
  },
  {
    name: '--stamp',
    options: { stamp: 'data' },
    says: '--stamp data: no table has a column of that name that is a whole number that is never null',
  },
  { name: 'no table is left', options: { only: ['log'] }, says: 'ADDRESS has no tables that can be attached' },
  {
    name: 'another database',
    options: { source: 'mysql://me@host/shop' },
    says: 'only PostgreSQL databases can be attached: postgres://user@host/database; tesser clone copies other databases',
  },
  {
    name: 'an address without a meaning',
    options: { source: 'postgres://me@ho st/shop' },
    says: 'the address of the database cannot be read; it is postgres://user@host/database, with special characters percent-encoded',
  },
]

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())

  t.test('files', async t => {
    const source = server.url.replace('bench@', 'bench:sec%2Fret@localhost')
    const { model, config, text, to } = await attach(t, server, SHOP, { source, connection: 'the-shop' })
    const url = source.replace(':sec%2Fret', '')
    t.strictSame(config, {
      $schema: config.$schema,
      model: 'model.json',
      connections: { 'the-shop': { url, password: { env: 'TESSER_THE_SHOP_PASSWORD' } } },
    })
    t.match(
      text,
      'the password is not in a file: the server reads it from the environment variable TESSER_THE_SHOP_PASSWORD',
    )
    const schemas = [model, config].map(({ $schema }) => relative('.', resolve(to, $schema)))
    const folder = join('node_modules', 'tesser', 'config')
    t.same(schemas, [join(folder, 'model.schema.json'), join(folder, 'tesser.config.schema.json')], 'of the package')
    t.match(text, 'next: TESSER_THE_SHOP_PASSWORD=… npx tesser start --config TO/tesser.config.json')
    t.notMatch(text, /sec/)
    const hidden = await attach(t, server, SHOP, { source: `${server.url}&password=secret` })
    t.same(hidden.config.connections.main.password, { env: 'TESSER_MAIN_PASSWORD' })
    t.notMatch(JSON.stringify(hidden), /secret/)
    const bare = await attach(t, server, SHOP)
    t.same(Object.keys(bare.config.connections.main), ['url'])
    t.match(bare.text, 'next: npx tesser start --config TO/tesser.config.json')
  })

  t.test('a password that is missing', async t => {
    // The driver notices it when the server continues the handshake.
    const asking = createServer(socket => {
      const answer = (state: number, text: string): void => {
        const message = Buffer.alloc(9 + text.length)
        message.write('R')
        message.writeInt32BE(message.length - 1, 1)
        message.writeInt32BE(state, 5)
        message.write(text, 9)
        socket.write(message)
      }
      socket.once('data', () => {
        answer(10, 'SCRAM-SHA-256\0\0')
        socket.once('data', () => answer(11, 'r=x,s=x,i=1'))
      })
    })
    await new Promise<void>(done => asking.listen(0, '127.0.0.1', done))
    t.teardown(() => asking.close())
    const { port } = asking.address() as AddressInfo
    const given = { to: t.testdir({}), connection: 'main', names: {}, keys: {} }
    await t.rejects(
      attachDatabase({ source: `postgres://me@127.0.0.1:${port}/shop`, ...given }, () => {}),
      {
        name: 'SourceError',
        message: /^PostgreSQL: the database asks for a password, and there is none in the address, in PGPASSWORD/,
      },
    )
  })

  t.test('refusals, which write nothing', async t => {
    await server.run(EMPTY)
    await server.run(SHOP)
    for (const { name, options, says } of REFUSALS) {
      const to = join(t.testdir({}), name)
      const given = { source: server.url, to, connection: 'main', names: {}, keys: {}, ...options }
      const address = server.url.replace('@/', '@localhost/')
      await t.rejects(
        attachDatabase(given, () => {}),
        { name: 'SourceError', message: says.replace('ADDRESS', address) },
        name,
      )
      t.notOk(existsSync(to), name)
    }
    for (const name of ['model.json', 'tesser.config.json', 'prepare.sql']) {
      const to = t.testdir({ [name]: 'kept' })
      const given = { source: server.url, to, connection: 'main', names: {}, keys: {} }
      await t.rejects(
        attachDatabase(given, () => {}),
        { name: 'SourceError', message: `${join(to, name)} exists; write to another folder with --to` },
      )
      t.equal(readFileSync(join(to, name), 'utf8'), 'kept')
    }
  })

  t.test('prepare.sql has indexes for searches and relations without one, and can run twice', async t => {
    const long = 'x'.repeat(60)
    const { sql, text } = await attach(
      t,
      server,
      `CREATE TYPE mood AS ENUM ('good'); CREATE TABLE country (code char(2) PRIMARY KEY, name text UNIQUE, mood mood UNIQUE, remark text);
      CREATE TABLE city (id int PRIMARY KEY, code char(2) REFERENCES country, twin_id int REFERENCES city, capital_of_id int REFERENCES city);
      CREATE INDEX ON city (twin_id);
      CREATE TABLE "${long}" (id int PRIMARY KEY, "${long}1" varchar, "${long}2" varchar); CREATE INDEX ON "${long}" ("${long}1"); CREATE INDEX ON "${long}" ("${long}2");
      CREATE TABLE event (id int PRIMARY KEY, name text) PARTITION BY RANGE (id); CREATE INDEX ON event (name);
      CREATE VIEW names AS SELECT name FROM country; CREATE TABLE link (a int REFERENCES city, b int REFERENCES city, PRIMARY KEY (a, b))`,
      { keys: { names: 'name' } },
    )
    t.equal(sql.split('CREATE SCHEMA').length, 2)
    const indexes = sql.split('\n').filter(line => line.startsWith('CREATE INDEX'))
    const cut = long.slice(0, 56)
    t.strictSame(indexes, [
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS "tesser_city_code_key" ON "public"."city" ("code");',
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS "tesser_city_capital_of_id_key" ON "public"."city" ("capital_of_id");',
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS "tesser_country_code_fold" ON "public"."country" (tesser.fold("code"::text) COLLATE "C");',
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS "tesser_country_name_fold" ON "public"."country" (tesser.fold("name"::text) COLLATE "C");',
      'CREATE INDEX IF NOT EXISTS "tesser_event_name_fold" ON "public"."event" (tesser.fold("name"::text) COLLATE "C");',
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS "tesser_link_b_key" ON "public"."link" ("b");',
      `CREATE INDEX CONCURRENTLY IF NOT EXISTS "tesser_${cut}" ON "public"."${long}" (tesser.fold("${long}1"::text) COLLATE "C");`,
      `CREATE INDEX CONCURRENTLY IF NOT EXISTS "tesser_${cut.slice(2)}_2" ON "public"."${long}" (tesser.fold("${long}2"::text) COLLATE "C");`,
    ])
    t.match(
      text,
      '-f TO/prepare.sql lets text searches and relations use indexes, with the function tesser.fold and 8 indexes',
    )
    const [first] = sql.split('CREATE INDEX')
    t.match(first, 'GRANT USAGE ON SCHEMA tesser TO "bench";')
    for (let times = 0; times < 2; times++) {
      await server.run(first!)
      for (const index of indexes) await server.run(index)
    }
  })

  t.test('tables are not read: one that is locked does not hold it up', async t => {
    await server.run(EMPTY)
    await server.run('CREATE TABLE rate (id int PRIMARY KEY, a numeric, b interval)')
    await server.run('BEGIN')
    await server.run('LOCK TABLE rate IN ACCESS EXCLUSIVE MODE')
    const { model } = await attachAsItIs(t, server.url)
    await server.run('ROLLBACK')
    t.same(Object.keys(model.dataClasses), ['rate'])
  })

  t.test('a user who may read some tables', async t => {
    await server.run(EMPTY)
    await server.run(`DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA public TO reader;
      CREATE TABLE seen (id int PRIMARY KEY); CREATE TABLE hidden (id int PRIMARY KEY); CREATE TABLE open (id int PRIMARY KEY, seen_id int REFERENCES seen, hidden_id int REFERENCES hidden);
      GRANT SELECT ON seen TO reader; GRANT SELECT, INSERT ON open TO reader`)
    const { model, text } = await attachAsItIs(t, server.url.replace('bench@', 'reader@'))
    await server.run('DROP OWNED BY reader; DROP ROLE reader')
    t.strictSame(model.dataClasses.seen.storage, { postgres: 'main', readOnly: true })
    t.strictSame(model.dataClasses.open.storage, { postgres: 'main' })
    t.notOk(model.dataClasses.hidden)
    t.match(text, 'table hidden is left out: this user may not read it')
    t.match(text, 'seen is read-only: this user may not change it')
    t.notOk(model.dataClasses.open.attributes.hidden)
  })

  t.test('500 tables', async t => {
    const tables = Array.from(
      { length: 500 },
      (_, i) => `CREATE TABLE t${i} (id int PRIMARY KEY, name text, t_id int REFERENCES t${Math.floor(i / 2)})`,
    )
    const { model } = await attach(t, server, tables.join(';'))
    t.equal(Object.keys(model.dataClasses).length, 500)
  })
}
